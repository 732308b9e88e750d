"""Names of people and companies, drawn with Faker in a locale of a country.

A name is stored with the person who has it, so that a stored benchmark keeps its people whatever version of Faker is
installed; a new one gets the same people from the same seed and the same version.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module

from anyascii import anyascii
from faker import Faker

from longbeam.generators.tuning import PLANNING
from longbeam.schemas import Gender

LOCALES = {
    "Austria": "de_AT",
    "Belgium": "nl_BE",
    "Czechia": "cs_CZ",
    "Denmark": "da_DK",
    "Estonia": "et_EE",
    "Finland": "fi_FI",
    "France": "fr_FR",
    "Germany": "de_DE",
    "Ghana": "tw_GH",
    "Greece": "el_GR",
    "Iceland": "is_IS",
    "India": "en_IN",
    "Ireland": "en_IE",
    "Italy": "it_IT",
    "Japan": "ja_JP",
    "Kenya": "en_KE",
    "Netherlands": "nl_NL",
    "New Zealand": "en_NZ",
    "Nigeria": "en_NG",
    "Norway": "no_NO",
    "Poland": "pl_PL",
    "Portugal": "pt_PT",
    "South Africa": "zu_ZA",
    "Spain": "es_ES",
    "Sweden": "sv_SE",
    "Switzerland": "de_CH",
    "United Kingdom": "en_GB",
}
"""Faker's locale of each country that has name tables of its own; all others have those of `WIDE`."""
WIDE = "en_US"
"""Locale of countries without tables of their own, and of whoever comes after a small table is used up."""

# First names that are also everyday words: "Mark" or "Grant" at the head of a sentence misleads every text check.
_WORD_NAMES = frozenset(
    """Amber An Angel April Autumn Bent Beta Bill Blessing Brandy Brooke Can Carol Charity Chase Cheyenne Christian
    Comfort Crystal Daisy Dakota Dale Dawn Dean Destiny Diamond Don Drew Earl Elif Else Even Faith Frank Gene
    Grace Grant Greet Guy Harry Heather Holly Hope Hunter Io Jack Jade Jasmine Jay Jean Jesus Jo Job Joy Junior
    Kent Lance Lean Levi Line Logan Marina Mark Mason Max May Melody Mercedes Mercy Meta Mile Misty My Norm
    Norma Odd Parker Pat Patience Patty Peace Peggy Penny Per Raven Ray Rich Rick Rob Robin Rose Roy Ruby Sandy
    Savannah Sierra Spencer Star Sue Summer Tanner Tom Tone Tony Virginia Wade Ward Warren Will Woody""".split()  # noqa: SIM905
)


class Names:
    """Draws of names in the locale of a country; the same key gives the same names in the same order."""

    def __init__(self, country: str, key: str) -> None:
        """Begin the draws of a key, such as `7/names/0`; a country outside LOCALES has names of `WIDE`."""
        self._key = key
        self._locale = LOCALES.get(country, WIDE)
        self._fakes: dict[str, Faker] = {}

    def first_names(self, gender: Gender) -> Iterator[str]:
        """Yield first names, with repetitions: no everyday words and no names of the other gender."""
        others = _given_to(self._locale, _other(gender)) | _given_to(WIDE, _other(gender))
        for name in self._drawn("first_name", gender):
            if name.isalpha() and len(name) > 1 and name not in _WORD_NAMES and name not in others:
                yield name

    def last_names(self, gender: Gender) -> Iterator[str]:
        """Yield family names, with repetitions, in the form that a gender has in the locale."""
        return self._drawn("last_name", gender)

    def company(self) -> str:
        """Return the name of a company."""
        return romanised(str(self._fake(self._locale).company()))

    def _drawn(self, kind: str, gender: Gender) -> Iterator[str]:
        """Yield names: `PLANNING.name_tries` of the country, then many times as many of `WIDE`."""
        for locale in dict.fromkeys((self._locale, WIDE)):
            fake = self._fake(locale)
            for _ in range(PLANNING.wide_name_tries if locale == WIDE else PLANNING.name_tries):
                yield _one(fake, kind, gender)

    def _fake(self, locale: str) -> Faker:
        if locale not in self._fakes:
            self._fakes[locale] = Faker(locale)
            self._fakes[locale].seed_instance(f"{self._key}/{locale}")
        return self._fakes[locale]


def _other(gender: Gender) -> Gender:
    return Gender.MALE if gender is Gender.FEMALE else Gender.FEMALE


def romanised(name: str) -> str:
    """Return a name in Latin letters, as it is where it has no others."""
    if all(unicodedata.name(c, "").startswith("LATIN") for c in name if c.isalpha()):
        return name
    latin = anyascii(name.replace("ου", "ou").replace("Ου", "Ou"))
    return " ".join(word[:1].upper() + word[1:] for word in latin.split())


def _one(fake: Faker, kind: str, gender: Gender) -> str:
    # Japanese names are romanised from their reading: the characters alone would be read as Chinese.
    reading = getattr(fake, kind.replace("_name", "_kana_name") + f"_{gender}", None)
    reading = reading or getattr(fake, kind.replace("_name", "_kana_name"), None)
    name: str = reading() if reading else getattr(fake, f"{kind}_{gender}")()
    return romanised(name)


@lru_cache(maxsize=64)
def _given_to(locale: str, gender: Gender) -> frozenset[str]:
    """Return the first names that a locale's table lists for a gender."""
    tables = import_module(f"faker.providers.person.{locale}").Provider
    return frozenset(romanised(name) for name in getattr(tables, f"first_names_{gender}", ()))
