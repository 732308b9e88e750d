"""The stages of a plan: their days, people and narratives, their turning points, and how much each of them tells."""

from __future__ import annotations

import datetime as dt

import pytest

from longbeam.generators import CAST, LEADING, layout_for, narratives_for, sizes_of, stages_of, turns_told, window_of
from longbeam.schemas import Category, Gender, Narrative, Person, Relation, Timeline

LAYOUT = layout_for(128_000, Category.GENERAL, asked=2)
TIMELINE = Timeline(start=dt.date(2024, 1, 1), end=dt.date(2024, 6, 28))
NARRATIVES = tuple(Narrative(label=f"n{i}", description="d", sub_labels=("s",)) for i in range(9))
PEOPLE = tuple(
    Person(person_id=f"n{i}", first_name=name, gender=Gender.FEMALE, age=40, relation=Relation.FRIEND)
    for i, name in enumerate(("Ada", "Bea", "Cleo", "Dora", "Eva", "Fay"))
)
STAGES = stages_of(TIMELINE, LAYOUT, NARRATIVES, PEOPLE)


def test_stages_share_the_timeline_to_the_day() -> None:
    # ten days in two stages of five: 1-5 and 6-10 January
    two = LAYOUT.model_copy(update={"sub_plans": 2})
    stages = stages_of(Timeline(start=dt.date(2024, 1, 1), end=dt.date(2024, 1, 10)), two)
    assert [(s.first_day.day, s.last_day.day) for s in stages] == [(1, 5), (6, 10)]
    with pytest.raises(ValueError, match="5 days cannot hold 6 stages"):
        stages_of(
            Timeline(start=dt.date(2024, 1, 1), end=dt.date(2024, 1, 5)), LAYOUT.model_copy(update={"sub_plans": 6})
        )


def test_everybody_comes_once_before_anybody_comes_again() -> None:
    cast = [name for stage in STAGES for name in stage.cast]
    assert [len(stage.cast) for stage in STAGES] == [CAST] * 5
    assert sorted(cast[: len(PEOPLE)]) == sorted(p.first_name for p in PEOPLE)


def test_those_of_whom_the_leading_narratives_tell_are_in_every_stage() -> None:
    told = NARRATIVES[1].model_copy(update={"description": "Eva hides the bill from Ada, and Bea finds it."})
    stages = stages_of(TIMELINE, LAYOUT, (NARRATIVES[0], told, *NARRATIVES[2:]), PEOPLE)
    assert [stage.cast for stage in stages[:3]] == [
        ("Ada", "Bea", "Cleo", "Dora"),
        ("Ada", "Bea", "Eva", "Fay"),
        ("Ada", "Bea", "Cleo", "Dora"),
    ]


def test_a_narrative_brings_the_people_whom_it_names_into_its_stages() -> None:
    told = NARRATIVES[6].model_copy(update={"description": "Fay wants the seat that Ada has."})
    stages = stages_of(TIMELINE, LAYOUT, (*NARRATIVES[:6], told, *NARRATIVES[7:]), PEOPLE)
    own = [stage.cast for stage in stages if "n6" in stage.narratives]
    assert own
    assert all(cast[:2] == ("Ada", "Fay") for cast in own)


def test_people_whom_no_narrative_names_come_too() -> None:
    told = [n.model_copy(update={"description": "Ada and Bea quarrel with Cleo, Dora and Eva."}) for n in NARRATIVES]
    stages = stages_of(TIMELINE, LAYOUT, told, PEOPLE)
    assert all(len(stage.cast) == len(set(stage.cast)) == CAST for stage in stages)
    assert all("Fay" in stage.cast for stage in stages)


def test_narratives_that_lead_move_in_every_stage_and_the_others_take_turns() -> None:
    labels = [n.label for n in NARRATIVES]
    assert all(stage.narratives[:LEADING] == ("n0", "n1") for stage in STAGES)
    # 20 bullets: six narratives a stage, four of them in turn
    assert [stage.narratives[LEADING:] for stage in STAGES[:2]] == [("n2", "n3", "n4", "n5"), ("n6", "n7", "n8", "n2")]
    assert {label for stage in STAGES for label in stage.narratives} == set(labels)


@pytest.mark.parametrize(
    ("length", "counts"),
    # Two lead; 16K: 14 bullets give two others a turn in each of two stages. 128K: four others in each of five.
    [(16_000, (6, 6)), (64_000, (8, 13)), (128_000, (15, 20)), (1_000_000, (15, 20))],
)
def test_a_story_has_no_more_narratives_than_can_move_in_it(length: int, counts: tuple[int, int]) -> None:
    layout = layout_for(length, Category.GENERAL, asked=2)
    assert narratives_for(length, layout) == counts
    narratives = tuple(Narrative(label=f"n{i}", description="d", sub_labels=("s",)) for i in range(counts[1]))
    timeline = Timeline(start=dt.date(2024, 1, 1), end=dt.date(2024, 12, 1))
    moving = {label for stage in stages_of(timeline, layout, narratives) for label in stage.narratives}
    assert moving == {n.label for n in narratives}


def test_mondays_of_a_stage_are_its_calendar() -> None:
    stage = STAGES[0].model_copy(update={"first_day": dt.date(2024, 1, 24), "last_day": dt.date(2024, 2, 13)})
    assert stage.mondays == "January 29; February 5, 12"


def test_each_narrative_turns_once_in_a_stage_in_which_it_moves() -> None:
    told = turns_told([s.model_copy(update={"turns": ("n0", "n3", "no narrative")}) for s in STAGES])
    turns = [(label, stage.stage_index) for stage in told for label in stage.turns]
    assert sorted(label for label, _ in turns) == sorted({n for stage in STAGES for n in stage.narratives})
    assert all(label in STAGES[i].narratives for label, i in turns)
    # n0 was named five times: the middle one of its five stages has it
    assert dict(turns)["n0"] == 2


def test_only_the_first_stage_introduces_and_the_last_one_ends() -> None:
    sizes = sizes_of(LAYOUT, 0, is_last=True)
    # 20 bullets a stage, two of them wishes, one the introduction of the first stage
    assert [(s.events, s.closing, s.is_introduced) for s in sizes] == [
        (17, 0, True),
        *[(18, 0, False)] * 3,
        (18, 4, False),
    ]
    later = sizes_of(LAYOUT, 1, is_last=False)
    assert [s.is_introduced for s in later] == [False] * 5
    assert later[-1].closing == 3  # the last word is the last plan's


def test_the_window_of_a_stage_leaves_days_behind_its_events() -> None:
    window = window_of(STAGES[0], is_last=False, country="Norway")
    assert window.first == STAGES[0].first_day < window.going_on_until < window.last == STAGES[0].last_day
    last = window_of(STAGES[-1], is_last=True, country="")
    assert last.going_on_until < last.closing_from < last.last
