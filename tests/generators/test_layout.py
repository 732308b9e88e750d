from __future__ import annotations

from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longbeam.generators.layout import Layout, layout_for
from longbeam.schemas.seeds import Category

LENGTHS = st.integers(16_000, 1_000_000)


def _ordinary_questions(layout: Layout) -> int:
    """N x K x I: main questions of the whole plan that voice ordinary bullets."""
    return layout.sub_plans * layout.batches * layout.questions


def _main_questions(layout: Layout) -> int:
    """Ordinary questions, and one for each update, instruction and contradiction."""
    return _ordinary_questions(layout) + 3 * layout.special_per_kind * layout.sub_plans


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
    layout = layout_for(length, category)

    assert (layout.sub_plans, layout.bullets_per_sub_plan) == (sub_plans, bullets)
    assert (layout.batches, layout.questions) == (batches, questions)


def test_layout_of_the_shortest_length() -> None:
    # N = 2, so ceil(10 / 2) = 5 of each special kind; 2 x 10 x 2 = 40 ordinary and 2 x 3 x 5 = 30 special questions
    assert layout_for(16_000, Category.GENERAL) == Layout(
        sub_plans=2, bullets_per_sub_plan=42, batches=10, questions=2, special_per_kind=5
    )
    assert _main_questions(layout_for(16_000, Category.GENERAL)) == 70


def test_layout_between_two_rows_is_interpolated() -> None:
    # 96K lies half way from 64K (4, 24, 20) to 128K (5, 20, 20): 4.5, 22 and 20, halves rounded up;
    # 20 questions need 20 / 2 = 10 batches
    layout = layout_for(96_000, Category.GENERAL)

    assert (layout.sub_plans, layout.bullets_per_sub_plan, layout.batches) == (5, 22, 10)


@settings(derandomize=True, max_examples=400, deadline=None)
@given(LENGTHS, LENGTHS, st.sampled_from(Category))
def test_layout_never_shrinks_when_the_length_grows(first: int, second: int, category: Category) -> None:
    short, long = (layout_for(length, category) for length in sorted((first, second)))

    assert short.sub_plans <= long.sub_plans
    assert _ordinary_questions(short) <= _ordinary_questions(long)
    assert _main_questions(short) <= _main_questions(long)


@settings(derandomize=True, max_examples=400, deadline=None)
@given(LENGTHS, st.sampled_from(Category))
def test_layout_holds_a_pool_for_every_kind(length: int, category: Category) -> None:
    layout = layout_for(length, category)

    assert layout.special_per_kind * layout.sub_plans >= 10
    assert layout.preferences_per_sub_plan == layout.special_per_kind
    # no batch is empty
    assert layout.batches <= layout.bullets_per_sub_plan
    # the first sub-plan: introduction, preferences, and a target of its own for each update and contradiction
    assert layout.bullets_per_sub_plan >= 1 + 3 * layout.special_per_kind


@settings(derandomize=True, max_examples=400, deadline=None)
@given(LENGTHS, st.sampled_from(Category))
def test_ordinary_questions_fill_the_length(length: int, category: Category) -> None:
    # An exchange, follow-ups included, has about 400 tokens at 16K, where as many facts as at 128K are to be said,
    # and 1,100 from 128K up (BEAM: 128,000 / 115 and 1,000,000 / 930), growing by the same factor with each
    # doubling between; code and worked mathematics make it about 1.4 times as long (BEAM: 128,000 / 78 and
    # 1,000,000 / 630).
    doublings = min(log(length / 16_000) / log(8), 1)
    exchange = 400 * 2.75**doublings * (1 if category is Category.GENERAL else 1.4)

    assert 0.6 <= _ordinary_questions(layout_for(length, category)) * exchange / length <= 1.4


@pytest.mark.parametrize("length", [0, 15_999, 1_000_001])
def test_layout_refuses_lengths_of_no_plan(length: int) -> None:
    with pytest.raises(ValueError, match=r"outside 16000\.\.1000000"):
        layout_for(length, Category.GENERAL)
