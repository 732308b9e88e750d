"""Numbers of sub-plans, bullets and questions in a conversation of a given length.

BEAM's Table 6 gives 128K, 500K and 1M; the rows between and below are ours. A row need only be near the truth,
because the token budget drives each dialogue until its share is used.
"""

from __future__ import annotations

from itertools import pairwise

from pydantic import Field

from longbeam.schemas.base import Record
from longbeam.schemas.seeds import Category
from longbeam.schemas.spec import MAX_SINGLE_PLAN_LENGTH, MIN_LENGTH

POOL_PER_KIND = 10
"""Special bullets of each kind per plan: eight checked candidates are needed, and two may fail their checks."""


class Layout(Record):
    """The counts of one plan."""

    sub_plans: int = Field(ge=1)
    """N in BEAM's Table 6."""
    bullets_per_sub_plan: int = Field(ge=1)
    """Bullets before augmentation, with the introduction and the preferences."""
    batches: int = Field(ge=1)
    """K: groups of neighbouring bullets per sub-plan, never more than there are bullets."""
    questions: int = Field(ge=1)
    """I: main questions per batch."""
    special_per_kind: int = Field(ge=1)
    """Updates, instructions and contradictions of each kind that augmentation adds to a sub-plan."""

    @property
    def preferences_per_sub_plan(self) -> int:
        """Preference bullets among `bullets_per_sub_plan`: as many as there are specials of a kind."""
        return self.special_per_kind


class _Row(Record):
    """One length of the table."""

    length: int
    sub_plans: int
    bullets: int
    questions: int
    """K x I, per sub-plan."""
    per_batch: int
    """I, for the lengths above the row before and up to this one."""


def _rows(*rows: tuple[int, int, int, int, int]) -> tuple[_Row, ...]:
    names = ("length", "sub_plans", "bullets", "questions", "per_batch")
    return tuple(_Row.model_validate(dict(zip(names, row, strict=True))) for row in rows)


# 128K, 500K and 1M: Table 6 of BEAM (arXiv 2510.27246), and the bullet counts of its code. The others
# keep tokens per question between those of their neighbours; questions grow slower than the length below
# 128K, because exchanges get longer with it. Below 128K there are more bullets than at 128K, and several of
# them in one question: a pool of eight candidates per ability needs as many facts at 16K as at 128K.
_TABLE: dict[Category, tuple[_Row, ...]] = {
    Category.GENERAL: _rows(
        (16_000, 2, 42, 20, 2),
        (32_000, 3, 30, 20, 2),
        (64_000, 4, 24, 20, 2),
        (128_000, 5, 20, 20, 2),
        (250_000, 7, 25, 30, 4),
        (500_000, 10, 30, 40, 4),
        (1_000_000, 10, 30, 90, 9),
    ),
    Category.CODING: _rows(
        (16_000, 2, 42, 20, 1),
        (32_000, 2, 42, 22, 1),
        (64_000, 3, 30, 23, 1),
        (128_000, 3, 23, 23, 1),
        (250_000, 6, 26, 26, 3),
        (500_000, 10, 30, 30, 3),
        (1_000_000, 10, 30, 60, 6),
    ),
    Category.MATH: _rows(
        (16_000, 2, 42, 20, 1),
        (32_000, 2, 42, 22, 1),
        (64_000, 3, 30, 24, 1),
        (128_000, 3, 25, 25, 1),
        (250_000, 6, 27, 32, 4),
        (500_000, 10, 30, 40, 4),
        (1_000_000, 10, 30, 60, 6),
    ),
}


def layout_for(length: int, category: Category) -> Layout:
    """Return the counts of a one-plan conversation of `length` tokens.

    The rule: sub-plans, bullets and questions per sub-plan are interpolated linearly between the table's rows
    and rounded, half up; I is that of the row at or above the length; K is the fewest batches that hold the
    questions. Specials and preferences of each kind per sub-plan are ceil(10 / sub-plans). Sub-plans, questions
    per sub-plan and main questions never fall when the length grows.

    Raises ValueError for lengths outside 16K to 1M: `BenchmarkSpec` refuses them first.
    """
    if not MIN_LENGTH <= length <= MAX_SINGLE_PLAN_LENGTH:
        raise ValueError(f"length {length} is outside {MIN_LENGTH}..{MAX_SINGLE_PLAN_LENGTH} of one plan")
    low, high = next((a, b) for a, b in pairwise(_TABLE[category]) if length <= b.length)
    if length == low.length:
        high = low
    sub_plans = _between(length, low, high, low.sub_plans, high.sub_plans)
    questions = _between(length, low, high, low.questions, high.questions)
    return Layout(
        sub_plans=sub_plans,
        bullets_per_sub_plan=_between(length, low, high, low.bullets, high.bullets),
        batches=_ceil_div(questions, high.per_batch),
        questions=high.per_batch,
        special_per_kind=_ceil_div(POOL_PER_KIND, sub_plans),
    )


def plan_lengths(length: int) -> tuple[int, ...]:
    """Return the tokens of each plan of a conversation: ceil(length / 1M) plans, equal to the token."""
    plans = _ceil_div(length, MAX_SINGLE_PLAN_LENGTH)
    return tuple(length * (i + 1) // plans - length * i // plans for i in range(plans))


def most_sub_plans(length: int) -> int:
    """Return how many sub-plans a conversation of this length has at most, whatever its plans are about."""
    return sum(max(layout_for(part, category).sub_plans for category in Category) for part in plan_lengths(length))


def _between(length: int, low: _Row, high: _Row, first: int, last: int) -> int:
    # Integers only: a rounding that differs between machines would change every later byte.
    span = high.length - low.length
    if span == 0:
        return first
    return (2 * (first * span + (last - first) * (length - low.length)) + span) // (2 * span)


def _ceil_div(amount: int, size: int) -> int:
    return -(-amount // size)
