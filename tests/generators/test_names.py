from __future__ import annotations

import unicodedata
from itertools import islice, permutations

import pytest

from longbeam.generators import LOCALES, Names, cities, romanised
from longbeam.schemas import Gender

COUNTRIES = sorted({country for _, country in cities()})


@pytest.mark.parametrize("country", COUNTRIES)
def test_names_of_every_country_are_in_latin_letters_and_of_one_gender(country: str) -> None:
    names = Names(country, "key")
    drawn = {gender: set(islice(names.first_names(gender), 300)) for gender in Gender}
    last = {name for gender in Gender for name in islice(names.last_names(gender), 30)}

    for own, other in permutations(Gender):
        assert not drawn[own] & drawn[other]
        assert not drawn[own] & {"April", "Mark", "Grant", "Will", "May"}
    for name in (*drawn[Gender.FEMALE], *drawn[Gender.MALE], *last, names.company()):
        assert name not in drawn[Gender.FEMALE] | drawn[Gender.MALE] or name[0].isupper()
        assert all(unicodedata.name(c).startswith("LATIN") for c in name if c.isalpha()), name


def test_the_same_key_gives_the_same_names_and_another_key_others() -> None:
    first, again, other = (list(islice(Names("Ireland", key).first_names(Gender.MALE), 20)) for key in "aab")

    assert first == again != other


def test_whoever_comes_after_a_small_table_has_a_name_of_the_wide_one() -> None:
    # Nigeria's table has 20 names of each kind; 60 draws are made from it.
    names = set(islice(Names("Nigeria", "key").first_names(Gender.FEMALE), 200))

    assert {"Ruth", "Victoria", "Deborah"} < names
    assert len(names) > 60


def test_a_japanese_name_is_romanised_from_its_reading() -> None:
    names = set(islice(Names("Japan", "key").last_names(Gender.MALE), 60))

    assert names & {"Suzuki", "Tanaka", "Yamada", "Nakamura"}
    assert romanised("Παπαδόπουλος") == "Papadopoulos"


def test_every_locale_belongs_to_a_country_of_the_cities() -> None:
    assert set(LOCALES) <= set(COUNTRIES)
