"""Numbers of sub-plans, bullets and questions in a conversation of a given length.

BEAM's Table 6 gives 128K, 500K and 1M; the rows between and below are ours. A row need only be near the truth,
because the token budget drives each dialogue until its share is used.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from pydantic import Field

from longbeam.generators.tuning import PLANNING
from longbeam.schemas import (
    CLOSING,
    FULL_POOL_LENGTH,
    MAX_SINGLE_PLAN_LENGTH,
    MIN_LENGTH,
    Category,
    Plan,
    PlanSettings,
    Record,
    SubPlan,
)

SHORT, LONG = 64_000, FULL_POOL_LENGTH
"""Lengths between which the pool grows from the probes asked for to the full one."""


class SpecialCounts(Record):
    """Special bullets of one plan by kind."""

    updates: int = Field(ge=0)
    contradictions: int = Field(ge=0)
    instructions: int = Field(ge=0)
    preferences: int = Field(ge=0)

    @property
    def total(self) -> int:
        """All of them."""
        return self.updates + self.contradictions + self.instructions + self.preferences


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
    specials: int = Field(ge=1)
    """Updates, and contradictions, in the whole plan."""
    wishes: int = Field(ge=1)
    """Instructions, and preferences, in the whole plan."""
    drawn: SpecialCounts | None = None
    """Numbers of special bullets of a plan; None: those of `specials` and `wishes`."""

    @property
    def counts(self) -> SpecialCounts:
        """Special bullets of the plan by kind."""
        return self.drawn or SpecialCounts(
            updates=self.specials,
            contradictions=self.specials,
            instructions=self.wishes,
            preferences=self.wishes,
        )

    def all_specials_in(self, stage_index: int) -> int:
        """Return the special bullets of all kinds in one sub-plan."""
        return self._share(self.counts.total, stage_index)

    def specials_in(self, stage_index: int) -> int:
        """Return the specials of each kind in one sub-plan; later ones take what cannot be divided evenly."""
        return self._share(self.specials, stage_index)

    def preferences_in(self, stage_index: int) -> int:
        """Return how many of the bullets of one sub-plan are left to preferences."""
        return self._share(self.wishes, stage_index)

    def _share(self, count: int, stage_index: int) -> int:
        return count * (stage_index + 1) // self.sub_plans - count * stage_index // self.sub_plans


class _LayoutRow(Record):
    """One length of a table."""

    length: int
    sub_plans: int
    bullets: int
    questions: int
    """K x I, per sub-plan."""
    per_batch: int
    """I, for the lengths above the row before and up to this one."""


def _rows(*rows: tuple[int, int, int, int, int]) -> tuple[_LayoutRow, ...]:
    names = ("length", "sub_plans", "bullets", "questions", "per_batch")
    return tuple(_LayoutRow.model_validate(dict(zip(names, row, strict=True))) for row in rows)


# 128K, 500K and 1M: Table 6 of BEAM (arXiv 2510.27246), and the bullet counts of its code. The others
# keep tokens per question between those of their neighbours; questions grow slower than the length below
# 128K, because exchanges get longer with it. Below 128K a full pool of eight candidates per ability needs more
# bullets than at 128K, and several of them in one question.
_FULL: dict[Category, tuple[_LayoutRow, ...]] = {
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
# For a pool of four: a bullet a question, and room for answers and follow-ups beside the questions: fewer matters, so
# that people answer each other at 16K as at 1M.
_LEAN: dict[Category, tuple[_LayoutRow, ...]] = {
    Category.GENERAL: (
        *_rows((16_000, 2, 14, 12, 2), (32_000, 3, 16, 14, 2), (64_000, 4, 18, 18, 2)),
        *_FULL[Category.GENERAL][3:4],
    ),
    Category.CODING: (
        *_rows((16_000, 2, 14, 10, 1), (32_000, 2, 20, 18, 1), (64_000, 3, 22, 22, 1)),
        *_FULL[Category.CODING][3:4],
    ),
    Category.MATH: (
        *_rows((16_000, 2, 14, 10, 1), (32_000, 2, 20, 18, 1), (64_000, 3, 23, 23, 1)),
        *_FULL[Category.MATH][3:4],
    ),
}


def pool_for(length: int, asked: int) -> int:
    """Return the number of special bullets of each kind in a plan that is asked for some probes of each ability."""
    few = min(asked + PLANNING.spare_candidates, PLANNING.pool_per_kind)
    between = min(max(length, SHORT), LONG) - SHORT
    return _rounded(few * (LONG - SHORT) + (PLANNING.pool_per_kind - few) * between, LONG - SHORT)


def wishes_for(length: int, asked: int) -> int:
    """Return the number of instructions, and of preferences, in a plan."""
    return asked if length <= SHORT else pool_for(length, asked)


def layout_for(length: int, category: Category, asked: int) -> Layout:
    """Return the counts of a one-plan conversation of `length` tokens, for `asked` probes of each ability.

    The rule: sub-plans, bullets and questions per sub-plan are interpolated linearly between the rows of a table
    and rounded, half up; I is that of the row at or above the length; K is the fewest batches that hold the
    questions. Below 128K, bullets and questions also lie between those of the lean and the full table, by the pool
    (`pool_for`), which is the number of specials and preferences of each kind. Sub-plans, questions
    per sub-plan and main questions never fall when the length grows.

    Raises ValueError for lengths outside 16K to 1M: `BenchmarkSpec` refuses them first.
    """
    if not MIN_LENGTH <= length <= MAX_SINGLE_PLAN_LENGTH:
        raise ValueError(f"length {length} is outside {MIN_LENGTH}..{MAX_SINGLE_PLAN_LENGTH} of one plan")
    pool = pool_for(length, asked)
    full = _counts_at(length, _FULL[category])
    sub_plans, bullets, questions = full
    if length < LONG:
        _, few_bullets, few_questions = _counts_at(length, _LEAN[category])
        bullets = _by_pool(few_bullets, bullets, pool)
        questions = _by_pool(few_questions, questions, pool)
    per_batch = next(row.per_batch for row in _FULL[category] if length <= row.length)
    return Layout(
        sub_plans=sub_plans,
        bullets_per_sub_plan=bullets,
        batches=_ceil_div(questions, per_batch),
        questions=per_batch,
        specials=pool,
        wishes=wishes_for(length, asked),
    )


def drawn_layout(layout: Layout, settings: PlanSettings, least: Mapping[str, int], rng_key: str) -> Layout:
    """Return a layout whose bullets and special bullets are drawn around its own, so that no two plans are alike.

    Numbers are normal around the layout's, times the share that the settings give a kind, with `spread` as relative
    deviation, at most two of them off. `least`: fewest of each kind that the probes asked for need.
    """
    rng = random.Random(f"{rng_key}/counts")

    def draw(mean: float, spread: float) -> int:
        return round(mean * (1 + max(-2.0, min(2.0, rng.gauss(0, 1))) * spread))

    means = {"update": layout.specials, "contradiction": layout.specials}
    means |= {"instruction": layout.wishes, "preference": layout.wishes}
    found = {
        f"{kind}s": max(draw(mean * getattr(settings.shares, kind), settings.spread), least.get(kind, 0))
        for kind, mean in means.items()
    }
    bullets = draw(layout.bullets_per_sub_plan, settings.spread * PLANNING.bullets_spread)
    fewest = _ceil_div(min(PLANNING.fewest_bullets, layout.bullets_per_sub_plan * layout.sub_plans), layout.sub_plans)
    drawn = SpecialCounts(**found)
    return layout.model_copy(update={"drawn": drawn, "bullets_per_sub_plan": max(bullets, fewest)})


def sub_plans_for(length: int, category: Category) -> int:
    """Return the sub-plans of a one-plan conversation of `length` tokens."""
    return layout_for(length, category, asked=1).sub_plans


def _counts_at(length: int, table: Sequence[_LayoutRow]) -> tuple[int, int, int]:
    """Return sub-plans, bullets and questions at a length of a table."""
    low, high = next((a, b) for a, b in pairwise(table) if length <= b.length)
    if length == low.length:
        high = low
    pairs = ((low.sub_plans, high.sub_plans), (low.bullets, high.bullets), (low.questions, high.questions))
    sub_plans, bullets, questions = (_between(length, low, high, *pair) for pair in pairs)
    return sub_plans, bullets, questions


def _by_pool(lean: int, full: int, pool: int) -> int:
    steps = max(pool - PLANNING.lean_pool, 0)
    between = PLANNING.pool_per_kind - PLANNING.lean_pool
    return _rounded(lean * between + (full - lean) * steps, between)


def plan_lengths(length: int) -> tuple[int, ...]:
    """Return the tokens of each plan of a conversation: ceil(length / 1M) plans, equal to the token."""
    plans = _ceil_div(length, MAX_SINGLE_PLAN_LENGTH)
    return tuple(length * (i + 1) // plans - length * i // plans for i in range(plans))


def most_sub_plans(length: int) -> int:
    """Return how many sub-plans a conversation of this length has at most, whatever its plans are about."""
    return sum(max(sub_plans_for(part, category) for category in Category) for part in plan_lengths(length))


def _between(length: int, low: _LayoutRow, high: _LayoutRow, first: int, last: int) -> int:
    span = high.length - low.length
    return first if span == 0 else _rounded(first * span + (last - first) * (length - low.length), span)


def _rounded(amount: int, parts: int) -> int:
    """Return amount / parts, rounded half up."""
    # Integers only: a rounding that differs between machines would change every later byte.
    return (2 * amount + parts) // (2 * parts)


def _ceil_div(amount: int, size: int) -> int:
    return -(-amount // size)


@dataclass(frozen=True)
class Pace:
    """Number of messages between the bullets of a plan, known before its dialogues are.

    Answers and follow-ups are left out: they only add messages.
    """

    plan: Plan
    layout: Layout

    @cached_property
    def _message_of(self) -> dict[str, float]:
        """Messages up to each bullet."""
        found: dict[str, float] = {}
        passed = 0.0
        for i, sub_plan in enumerate(self.plan.sub_plans):
            own = len(sub_plan.bullets)
            # Each special bullet has a message of its own; an ordinary message may voice several bullets.
            turns = min(self.layout.batches * self.layout.questions, own) + self.layout.all_specials_in(i)
            for bullet in sub_plan.bullets:
                passed += 2 * turns / own
                found[bullet.bullet_id] = passed
        return found

    def messages_between(self, one: str, other: str) -> float:
        """Return the least number of messages between two bullets; those of other plans are infinitely far away."""
        if one not in self._message_of or other not in self._message_of:
            return float("inf")
        return abs(self._message_of[one] - self._message_of[other])


def start_of_ending(sub_plan: SubPlan) -> int:
    """Return the ordinal of the first of the bullets that end the story; their number where there is none."""
    end = len(sub_plan.bullets)
    while end and sub_plan.bullets[end - 1].variety == CLOSING:
        end -= 1
    return end
