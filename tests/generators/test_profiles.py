from __future__ import annotations

import random

import pytest

from longbeam.generators import MBTI_TRAITS, cities, draw_profile, professions, write_personality
from longbeam.schemas import Gender, Profile
from tests.generators.scripted import ScriptedModel, asker_for, faults_of


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_personas_share_no_name_and_no_city_with_profession(count: int) -> None:
    # 10,000 is the most conversations that a spec may ask for
    people = [draw_profile(5, index) for index in range(count)]

    assert len({p.name for p in people}) == count
    assert len({(p.city, p.profession) for p in people}) == count
    assert {p.age for p in people} == set(range(20, 71))
    assert 0.45 * count < sum(p.gender is Gender.FEMALE for p in people) < 0.55 * count


def test_the_first_hundred_and_sixty_share_no_name_and_no_place_and_neighbours_no_part_of_a_name() -> None:
    people = [draw_profile(0, index) for index in range(160)]

    for field in ("name", "city", "profession"):
        assert len({getattr(p, field) for p in people}) == 160
    for near in zip(*(people[i:] for i in range(20)), strict=False):
        assert len({p.first_name for p in near}) == 20
        assert len({p.name.removeprefix(p.first_name) for p in near}) == 20


def test_a_persona_is_a_pure_function_of_seed_and_index() -> None:
    alone = draw_profile(3, 41)
    for index in (99, 0, 7):
        draw_profile(3, index)
    random.seed(1)

    assert draw_profile(3, 41) == alone
    assert draw_profile(4, 41) != alone


def test_drawing_leaves_the_shared_generators_alone() -> None:
    random.seed(8)
    before = random.getstate()

    draw_profile(11, 0)

    assert random.getstate() == before


def test_mbti_is_six_of_sixteen() -> None:
    letters = {a + b + c + d for a in "EI" for b in "SN" for c in "TF" for d in "JP"}
    composites = {draw_profile(0, index).mbti for index in range(200)}

    assert set(MBTI_TRAITS) == letters
    assert len(set(MBTI_TRAITS.values())) == 16
    assert all(len(set(c)) == 6 and list(c) == sorted(c) and set(c) <= letters for c in composites)
    # of 8,008 composites; 200 draws collide about 200 * 199 / 2 / 8,008 = 2.5 times
    assert len(composites) > 185


def test_cities_are_many_and_each_stands_once() -> None:
    assert len(cities()) >= 150
    assert len({city for city, _ in cities()}) == len(cities())
    assert ("Bristol", "United Kingdom") in cities()


def test_professions_read_well_within_a_sentence() -> None:
    assert len(professions()) > 300
    assert {"software engineer", "IT consultant", "primary school teacher"} <= set(professions())
    assert not [p for p in professions() if "," in p or "/" in p or "(" in p or (p == p.title() and " " in p)]


def test_ages_fit_the_profession() -> None:
    people = [draw_profile(2, index) for index in range(1_000)]

    assert min(p.age for p in people if "surgeon" in p.profession and "tree" not in p.profession) >= 30
    assert min(p.age for p in people if "engineer" in p.profession) >= 24
    assert max(p.age for p in people if p.profession in ("firefighter", "dancer", "police officer")) <= 58


def test_an_employer_is_drawn_and_a_stored_profile_without_one_keeps_its_digest() -> None:
    drawn = draw_profile(0, 0)
    stored = drawn.model_copy(update={"employer": ""})

    assert drawn.employer
    assert "employer" not in stored.model_dump_json()
    assert Profile.model_validate_json(stored.model_dump_json()) == stored


async def test_a_personality_that_names_the_person_is_refused_with_the_word_and_one_that_has_its_letters_is_taken() -> (
    None
):
    profile = draw_profile(7, 0).model_copy(update={"first_name": "Carrie"})
    good = "A calm person who carries plans through and forgives much."
    model = ScriptedModel({"personality": ["A calm person; Carrie forgives much.", good]})
    told = await write_personality(asker_for(model), profile, MBTI_TRAITS)
    assert told.personality == good
    assert "names the person ('Carrie')" in faults_of(model.calls[1])
    assert len(model.calls) == 2
