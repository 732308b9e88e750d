from __future__ import annotations

from math import log
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from longbeam.generators import Layout, SpecialCounts, drawn_layout, layout_for, pool_for
from longbeam.schemas import BenchmarkSpec, Category, PlanSettings

LENGTHS = st.integers(16_000, 1_000_000)
ASKED = st.integers(1, 8)
PAGE = (Path(__file__).parents[2] / "docs" / "seeds.md").read_text(encoding="utf-8").partition("## Layout")[2]


def _ordinary_questions(layout: Layout) -> int:
    """N x K x I: main questions of the whole plan that voice ordinary bullets."""
    return layout.sub_plans * layout.batches * layout.questions


def _main_questions(layout: Layout) -> int:
    """Ordinary questions, and one for each update, instruction and contradiction."""
    return _ordinary_questions(layout) + 3 * layout.specials


@pytest.mark.parametrize(
    ("length", "category", "sub_plans", "bullets", "batches", "questions"),
    [
        # BEAM's Table 6; bullets from its code (reference/beam.md §1.4)
        (128_000, Category.GENERAL, 5, 20, 10, 2),
        (128_000, Category.CODING, 3, 23, 23, 1),
        (128_000, Category.MATH, 3, 25, 25, 1),
        (500_000, Category.GENERAL, 10, 30, 10, 4),
        (500_000, Category.CODING, 10, 30, 10, 3),
        (500_000, Category.MATH, 10, 30, 10, 4),
        (1_000_000, Category.GENERAL, 10, 30, 10, 9),
        (1_000_000, Category.CODING, 10, 30, 10, 6),
        (1_000_000, Category.MATH, 10, 30, 10, 6),
    ],
)
def test_layout_is_beams_at_its_lengths(
    length: int, category: Category, sub_plans: int, bullets: int, batches: int, questions: int
) -> None:
    layout = layout_for(length, category, asked=2)

    assert (layout.sub_plans, layout.bullets_per_sub_plan) == (sub_plans, bullets)
    assert (layout.batches, layout.questions) == (batches, questions)


def test_layout_of_the_shortest_length() -> None:
    # N = 2, and 2 + 2 candidates: 4 of each special kind; 2 x 6 x 2 = 24 ordinary and 3 x 4 = 12 special
    layout = layout_for(16_000, Category.GENERAL, asked=2)
    assert layout == Layout(sub_plans=2, bullets_per_sub_plan=14, batches=6, questions=2, specials=4, wishes=2)
    assert _main_questions(layout) == 36


def test_eight_probes_of_an_ability_need_as_many_bullets_at_the_shortest_length_as_a_full_pool() -> None:
    # 10 of each special kind; 2 x 10 x 2 = 40 ordinary and 3 x 10 = 30 special questions
    layout = layout_for(16_000, Category.GENERAL, asked=8)
    assert layout == Layout(sub_plans=2, bullets_per_sub_plan=42, batches=10, questions=2, specials=10, wishes=8)
    assert _main_questions(layout) == 70


@pytest.mark.parametrize(
    ("length", "asked", "pool"),
    [
        (16_000, 1, 3),
        (64_000, 2, 4),
        (64_000, 8, 10),
        # half way from 64K to 128K: 4 + (10 - 4) / 2
        (96_000, 2, 7),
        (128_000, 1, 10),
        (1_000_000, 8, 10),
    ],
)
def test_pool_follows_length_and_probes_asked_for(length: int, asked: int, pool: int) -> None:
    assert pool_for(length, asked) == pool


def test_layout_between_two_rows_is_interpolated() -> None:
    # 96K lies half way from 64K (4, 24, 20) to 128K (5, 20, 20): 4.5, 22 and 20, halves rounded up; 20 questions need
    # 20 / 2 = 10 batches. The lean table has (4, 18, 18) at 64K and (5, 20, 20) at 128K: 19 of both for a
    # pool of 4; the pool of 7 lies half way to the full one: 20.5 bullets, rounded up, and 19.5 questions.
    layout = layout_for(96_000, Category.GENERAL, asked=2)

    assert (layout.sub_plans, layout.bullets_per_sub_plan, layout.batches) == (5, 21, 10)


@settings(max_examples=400)
@given(LENGTHS, LENGTHS, st.sampled_from(Category), ASKED)
def test_layout_never_shrinks_when_the_length_grows(first: int, second: int, category: Category, asked: int) -> None:
    short, long = (layout_for(length, category, asked) for length in sorted((first, second)))

    assert short.sub_plans <= long.sub_plans
    assert _ordinary_questions(short) <= _ordinary_questions(long)
    assert _main_questions(short) <= _main_questions(long)


@settings(max_examples=400)
@given(LENGTHS, st.sampled_from(Category), ASKED)
def test_layout_holds_a_pool_for_every_kind(length: int, category: Category, asked: int) -> None:
    layout = layout_for(length, category, asked)

    assert layout.specials == (10 if length >= 128_000 else pool_for(length, asked)) >= min(asked + 2, 10)
    per_stage = [layout.specials_in(i) for i in range(layout.sub_plans)]
    assert sum(per_stage) == layout.specials
    assert max(per_stage) - min(per_stage) <= 1
    # no batch is empty
    assert layout.batches <= layout.bullets_per_sub_plan
    # the first sub-plan: introduction, preferences, and a target of its own for each update and contradiction
    assert layout.bullets_per_sub_plan >= 1 + 3 * max(per_stage)


@settings(max_examples=400)
@given(LENGTHS, st.sampled_from(Category), ASKED)
def test_ordinary_questions_fill_the_length(length: int, category: Category, asked: int) -> None:
    # An exchange, follow-ups included, has about 400 tokens at 16K and 1,100 from 128K up (BEAM: 128,000 / 115 and
    # 1,000,000 / 930), growing by the same factor with each doubling between; code and worked mathematics make it
    # about 1.4 times as long (BEAM: 128,000 / 78 and 1,000,000 / 630). Below 64K there are fewer matters than that.
    doublings = min(log(length / 16_000) / log(8), 1)
    exchange = 400 * 2.75**doublings * (1 if category is Category.GENERAL else 1.4)

    assert 0.5 <= _ordinary_questions(layout_for(length, category, asked)) * exchange / length <= 1.4


@pytest.mark.parametrize("length", [0, 15_999, 1_000_001])
def test_layout_refuses_lengths_of_no_plan(length: int) -> None:
    with pytest.raises(ValueError, match=r"outside 16000\.\.1000000"):
        layout_for(length, Category.GENERAL, asked=2)


def _cell(layout: Layout) -> str:
    return f"{layout.sub_plans} · {layout.bullets_per_sub_plan} · {layout.batches}×{layout.questions}"


@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("16K", 16_000),
        ("32K", 32_000),
        ("64K", 64_000),
        ("**128K**", 128_000),
        ("250K", 250_000),
        ("**500K**", 500_000),
        ("**1M**", 1_000_000),
    ],
)
def test_the_table_of_the_documentation_is_the_layout_of_the_default(name: str, length: int) -> None:
    asked = BenchmarkSpec.model_fields["probes_per_ability"].default
    layouts = [layout_for(length, category, asked) for category in (Category.GENERAL, Category.CODING, Category.MATH)]
    (specials,) = {layout.specials for layout in layouts}

    assert f"\n| {name} | {' | '.join(map(_cell, layouts))} | {specials} |\n" in PAGE


def test_the_figures_below_the_table_of_the_documentation_are_those_of_the_layout() -> None:
    # N·K·I + 3·S
    short, usual, long = (
        _main_questions(layout_for(n, Category.GENERAL, asked=2)) for n in (16_000, 128_000, 1_000_000)
    )
    full = layout_for(16_000, Category.GENERAL, asked=8)
    text = " ".join(PAGE.split())

    assert f"main questions: {short} at 16K, {usual} at 128K and {long} at 1M (general)." in text
    assert f"16K general has {_cell(full)} and S = {full.specials}." in text


LEAST = {"update": 3, "contradiction": 3, "instruction": 2, "preference": 2}


def drawn(key: str, **settings: object) -> Layout:
    base = layout_for(32_000, Category.GENERAL, asked=2)
    return drawn_layout(base, PlanSettings.model_validate(settings), LEAST, key)


def test_plans_of_a_length_have_numbers_of_their_own() -> None:
    layouts = [drawn(f"{i}/c000") for i in range(40)]
    updates = {layout.counts.updates for layout in layouts}
    assert min(updates) == 3
    assert 5 <= max(updates) <= 6  # four, at most half as many off
    assert len({layout.bullets_per_sub_plan for layout in layouts}) > 3
    assert {layout.sub_plans for layout in layouts} == {3}
    assert drawn("7/c000") == drawn("7/c000")


def test_without_spread_all_plans_are_alike() -> None:
    base = layout_for(32_000, Category.GENERAL, asked=2)
    same = drawn("7/c000", spread=0)
    assert same.counts == base.counts
    assert same.bullets_per_sub_plan == base.bullets_per_sub_plan


def test_shares_scale_a_kind_and_leave_what_probes_need() -> None:
    counts = drawn("7/c000", spread=0, shares={"update": 2, "contradiction": 0, "preference": 1.5}).counts
    assert counts == SpecialCounts(updates=8, contradictions=3, instructions=2, preferences=3)
    assert sum(drawn("7/c000", spread=0).all_specials_in(i) for i in range(3)) == 12
