"""The stages of a plan: their days, what moves in them, their turning points, and how much each of them tells."""

from __future__ import annotations

import datetime as dt

import pytest

from longbeam.generators import (
    StageSize,
    layout_for,
    narratives_for,
    side_ordinals,
    sizes_of,
    stages_of,
    told_somewhere,
    turns_told,
    window_of,
)
from longbeam.schemas import Category, Timeline

LAYOUT = layout_for(128_000, Category.GENERAL, asked=2)
TIMELINE = Timeline(start=dt.date(2024, 1, 1), end=dt.date(2024, 6, 28))
LABELS = tuple(f"n{i}" for i in range(9))
STAGES = tuple(s.model_copy(update={"narratives": LABELS}) for s in stages_of(TIMELINE, LAYOUT))


def test_stages_share_the_timeline_to_the_day() -> None:
    # ten days in two stages of five: 1-5 and 6-10 January
    two = LAYOUT.model_copy(update={"sub_plans": 2})
    stages = stages_of(Timeline(start=dt.date(2024, 1, 1), end=dt.date(2024, 1, 10)), two)
    assert [(s.first_day.day, s.last_day.day) for s in stages] == [(1, 5), (6, 10)]
    with pytest.raises(ValueError, match="5 days cannot hold 6 stages"):
        stages_of(
            Timeline(start=dt.date(2024, 1, 1), end=dt.date(2024, 1, 5)), LAYOUT.model_copy(update={"sub_plans": 6})
        )


def test_what_no_stage_has_comes_where_least_moves() -> None:
    told = told_somewhere([("n1", "n2", "nobody", "n1"), ("n2",)], ["n0", "n1", "n2", "n3"])
    # n0 goes to the second stage, which has one; n3 then to the first of two with two
    assert told == [("n1", "n2", "n3"), ("n2", "n0")]


def test_a_side_story_is_spread_over_the_events_before_the_ending() -> None:
    sizes = [StageSize(12, 0, True), StageSize(12, 3, False)]
    # twelve before an ending: 3, 7 and 11; nine: 2, 5 and 8 behind the first twelve
    assert side_ordinals(sizes) == (3, 7, 11, 14, 17, 20)


@pytest.mark.parametrize(
    ("length", "counts"),
    # 16K: 28 bullets have room for seven narratives with four events each
    [(16_000, (7, 7)), (64_000, (8, 13)), (128_000, (15, 20)), (1_000_000, (15, 20))],
)
def test_a_story_has_no_more_narratives_than_can_move_in_it(length: int, counts: tuple[int, int]) -> None:
    layout = layout_for(length, Category.GENERAL, asked=2)
    assert narratives_for(length, layout) == counts


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
    # 20 bullets a stage, two of them wishes, one the introduction of the first stage; three of a side story
    assert [(s.events, s.closing, s.is_introduced) for s in sizes] == [
        (20, 0, True),
        *[(21, 0, False)] * 3,
        (21, 4, False),
    ]
    later = sizes_of(LAYOUT, 1, is_last=False)
    assert [s.is_introduced for s in later] == [False] * 5
    assert later[-1].closing == 3  # the last word is the last plan's


def test_the_window_of_a_stage_leaves_days_behind_its_events() -> None:
    window = window_of(STAGES[0], is_last=False, country="Norway")
    assert window.first == STAGES[0].first_day < window.going_on_until < window.last == STAGES[0].last_day
    last = window_of(STAGES[-1], is_last=True, country="")
    assert last.spread_until is not None
    assert last.spread_until < last.going_on_until < last.closing_from < last.last  # a wedding may be on any day before
