"""The sheet of a plan: each bullet's kind, day, narrative, people and slots, drawn by code before a model words it.

A model that has to decide all of this and word it in one reply fails on one of forty bullets, and its days, kinds and
slots clash. The sheet's frame (kinds, days, narratives, people) is drawn for the whole plan; what a group of lines
changes or comes back to is drawn from the ledger just before the group is asked for (`line_targets.py`).
"""

from __future__ import annotations

import datetime as dt
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from longbeam.generators.layout import FEW_NARRATIVES, NARRATIVES, SHORT, Layout
from longbeam.generators.wish_forms import wish_forms
from longbeam.prompts.calls import NewSlot, SheetLine, Span, Stage
from longbeam.schemas import CLOSING, TELLING_KINDS, BulletKind, Category, Narrative, Person, Timeline, ValueKind

SLACK = 0.9
"""Share of a stage's days that its bullets use; turns that are asked for later use the rest."""
LAST_SLACK = 0.68
"""`SLACK` of the last stage, which also holds the event that the story prepares (a departure), and the end."""
CLOSING_FROM = 0.9
"""Where the end of the story begins in the last stage."""
OUTCOMES = 3
"""Bullets of the last stage that tell how a part of the story came out; the last plan has one more, its last word."""
CAST = 4
"""People of a stage ..."""
LEADS = 2
"""... and those of them, at most, who are in every stage because the narratives that carry the story tell of them."""
BULLETS_PER_NARRATIVE = 4
"""Bullets of a stage for each narrative that moves in it."""
NARRATIVES_PER_STAGE = (3, 6)
"""Fewest and most narratives that move in a stage."""
LEADING = 2
"""Narratives that carry the story: the first ones, which move in every stage."""
WITH_SOMEBODY = 0.3
"""Share of the events that one of the stage's people takes part in."""
SECOND_SLOT = 0.4
"""Share of the events and meetings that set two slots; the others set one."""
FIXED_SHARE = 0.5
"""Share of the slots that hold what happened once."""
AHEAD_DAYS, BEHIND_DAYS = (4, 40), (1, 6)
"""Days from the telling to a planned day, and back to a day on which something happened."""
KINDS: dict[Category, dict[ValueKind, int]] = {
    Category.GENERAL: {
        ValueKind.DATE: 28,
        ValueKind.MONEY: 20,
        ValueKind.NUMBER: 20,
        ValueKind.DURATION: 14,
        ValueKind.NAME: 14,
        ValueKind.RATIO: 4,
    },
    Category.CODING: {
        ValueKind.DATE: 22,
        ValueKind.NUMBER: 24,
        ValueKind.DURATION: 16,
        ValueKind.VERSION: 14,
        ValueKind.NAME: 14,
        ValueKind.RATIO: 10,
    },
    Category.MATH: {
        ValueKind.DATE: 24,
        ValueKind.NUMBER: 28,
        ValueKind.DURATION: 20,
        ValueKind.RATIO: 12,
        ValueKind.EXPRESSION: 8,
        ValueKind.NAME: 8,
    },
}
"""Weights of the kinds of new slots."""


_Item = TypeVar("_Item")


def stages_of(
    timeline: Timeline, layout: Layout, narratives: Sequence[Narrative] = (), people: Sequence[Person] = ()
) -> tuple[Stage, ...]:
    """Divide a timeline into stages of equal length, to the day, each with the people and narratives that it moves.

    People and narratives take turns: each comes once before any comes again. The narratives that carry the story come
    in every stage, and so do the people of whom these tell. A stage's narratives bring the people whom they name, and
    one place at least is for those who came least.
    """
    days, count = timeline.days + 1, layout.sub_plans
    if days < count:
        raise ValueError(f"{days} days cannot hold {count} stages")
    starts = [timeline.start + dt.timedelta(days=days * i // count) for i in range(count)]
    ends = [s - dt.timedelta(days=1) for s in starts[1:]] + [timeline.end]
    leads = _named_in(narratives[:LEADING], people)[:LEADS]
    others = [p.first_name for p in people if p.first_name not in leads]
    moving, came = _turns_per_stage(layout), Counter[str]()
    stages = []
    for i, (first, last) in enumerate(zip(starts, ends, strict=True)):
        own = _turn(narratives[LEADING:], i, moving)
        named = [name for name in _named_in(own, people) if name not in leads]
        free = sorted((name for name in others if name not in named), key=lambda name: came[name])
        room = CAST - len(leads)
        cast = (*named[: room - bool(free)], *free)[:room]  # somebody comes whose turn it is
        came.update(cast)
        labels = tuple(narrative.label for narrative in (*narratives[:LEADING], *own))
        stages.append(Stage(stage_index=i, first_day=first, last_day=last, cast=(*leads, *cast), narratives=labels))
    return tuple(stages)


def _named_in(narratives: Sequence[Narrative], people: Sequence[Person]) -> list[str]:
    told = " ".join(narrative.description for narrative in narratives)
    return [p.first_name for p in people if re.search(rf"\b{re.escape(p.first_name)}\b", told)]


def narratives_for(length: int, layout: Layout) -> tuple[int, int]:
    """Return the fewest and the most narratives of a plan: no more than can move in one of its stages."""
    places = LEADING + _turns_per_stage(layout) * layout.sub_plans
    least, most = FEW_NARRATIVES if length <= SHORT else NARRATIVES
    return min(least, places), min(most, places)


def narratives_ahead(stages: Sequence[Stage], labels: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return for each stage the labels of the narratives that move in it or later; all where the stages name none."""
    ahead = [{label for stage in stages[i:] for label in stage.narratives} for i in range(len(stages))]
    return tuple(tuple(label for label in labels if label in moving) or tuple(labels) for moving in ahead)


def narratives_over(stages: Sequence[Stage], stage_index: int) -> tuple[str, ...]:
    """Return the labels of the narratives that no stage behind this one moves."""
    later = {label for stage in stages[stage_index + 1 :] for label in stage.narratives}
    return tuple(label for label in stages[stage_index].narratives if label not in later)


def _turns_per_stage(layout: Layout) -> int:
    """Return the number of narratives that move in a stage beside those that carry the story."""
    least, most = NARRATIVES_PER_STAGE
    return min(max(layout.bullets_per_sub_plan // BULLETS_PER_NARRATIVE, least), most) - LEADING


def _turn(items: Sequence[_Item], turn: int, count: int) -> tuple[_Item, ...]:
    """Return the next items of a round, in the turn of a stage."""
    return tuple(items[(turn * count + i) % len(items)] for i in range(min(count, len(items))))


def bullet_counts(layout: Layout, stage_index: int, plan_index: int = 0) -> dict[BulletKind, int]:
    """Return the number of bullets of each kind that one stage has before augmentation.

    The introduction is in the first stage of the first plan only. BEAM asks for one preference and two or three
    relationship bullets; this module asks for as many preferences as the probe pool needs.
    """
    preferences = layout.specials_in(stage_index)
    relationships = max(1, min(3, layout.bullets_per_sub_plan // 7))
    introduction = int(stage_index == 0 and plan_index == 0)
    events = layout.bullets_per_sub_plan - preferences - relationships - introduction
    return {
        BulletKind.INTRODUCTION: introduction,
        BulletKind.EVENT: max(events, 2),
        BulletKind.RELATIONSHIP: relationships,
        BulletKind.PREFERENCE: preferences,
    }


@dataclass(frozen=True)
class SheetInputs:
    """Everything that the frame of a plan's sheet is drawn from."""

    layout: Layout
    stages: tuple[Stage, ...]
    category: Category
    plan_index: int
    is_last: bool
    """Whether no plan follows, so that the story ends here."""
    rng_key: str


def draw_sheet(inputs: SheetInputs) -> tuple[tuple[SheetLine, ...], ...]:
    """Return the lines of each stage, in the order in which they are told.

    The last lines of the last stage tell how things came out. Preferences are spread over the lines before them.
    """
    stages = [_stage_lines(inputs, stage) for stage in inputs.stages]
    wishes = [line for lines in stages for line in lines if line.kind is BulletKind.PREFERENCE]
    forms = iter(wish_forms(f"{inputs.rng_key}/preferences", len(wishes)))
    return tuple(tuple(_with_form(line, forms) for line in lines) for lines in stages)


def _with_form(line: SheetLine, forms: Iterator[str]) -> SheetLine:
    return line.model_copy(update={"form": next(forms)}) if line.kind is BulletKind.PREFERENCE else line


def _stage_lines(inputs: SheetInputs, stage: Stage) -> tuple[SheetLine, ...]:
    counts = bullet_counts(inputs.layout, stage.stage_index, inputs.plan_index)
    is_first, is_last = stage.stage_index == 0, stage is inputs.stages[-1]
    opening = BulletKind.INTRODUCTION if counts[BulletKind.INTRODUCTION] else BulletKind.EVENT
    events = counts[BulletKind.EVENT] - (is_first and opening is BulletKind.EVENT)
    closing = max(min(OUTCOMES + 1, events // 4) - (not inputs.is_last), 0) if is_last else 0
    if ending := moving_on(stage, stage.last_day) or stage.narratives:
        closing = min(closing, len(ending))  # each narrative ends once
    going_on = _interleaved(events - closing, counts[BulletKind.RELATIONSHIP])
    told = list(zip(going_on, _days(stage, len(going_on), LAST_SLACK if is_last else SLACK), strict=True))
    told += [(BulletKind.EVENT, day) for day in _closing_days(stage, closing)]
    drawn = _with_preferences(told, counts[BulletKind.PREFERENCE], len(going_on))
    if is_first:
        drawn.insert(0, (opening, stage.first_day))
    pen = _Pen(inputs, stage, random.Random(f"{inputs.rng_key}/sheet/{stage.stage_index}"))
    first_closing = len(drawn) - closing
    last = _last_lines(inputs.stages, stage, drawn[:first_closing])
    return tuple(
        pen.line(ordinal, kind, day, part=_part_of(ordinal, is_first, first_closing), ends=last.get(ordinal, ""))
        for ordinal, (kind, day) in enumerate(drawn)
    )


def _last_lines(stages: Sequence[Stage], stage: Stage, drawn: Sequence[tuple[BulletKind, dt.date]]) -> dict[int, str]:
    """Return the events of a stage that are the last ones of the narratives which end in it, by their place.

    Those that move until the last day of the story end with its last lines. Half of the events are for what goes on.
    """
    closing = (moving_on(stage, stage.last_day) or stage.narratives) if stage is stages[-1] else ()
    free = [i for i, (kind, _) in enumerate(drawn) if kind is BulletKind.EVENT and i]
    most, found = len(free) // 2, dict[int, str]()
    for label in narratives_over(stages, stage.stage_index):
        fitting = [i for i in free if i not in found and label in (moving_on(stage, drawn[i][1]) or stage.narratives)]
        if label not in closing and fitting and len(found) < most:
            found[fitting[-1]] = label
    return found


def _part_of(ordinal: int, is_first: bool, first_closing: int) -> str:
    if is_first and ordinal == 0:
        return "opening"
    return CLOSING if ordinal >= first_closing else ""


def moving_on(stage: Stage, day: dt.date) -> tuple[str, ...]:
    """Return a stage's narratives that move on a day; none where the outline does not say when they move."""
    over = Span.EARLY if is_late(stage, day) else Span.LATE
    return tuple(n for n, span in zip(stage.narratives, stage.spans, strict=False) if span is not over)


def is_late(stage: Stage, day: dt.date) -> bool:
    """Return whether a day lies in the second half of a stage."""
    return day - stage.first_day > (stage.last_day - stage.first_day) / 2


def _interleaved(events: int, meetings: int) -> list[BulletKind]:
    """Return the kinds of events and meetings, the meetings spread evenly among the events."""
    kinds: list[BulletKind] = []
    placed = 0
    for i in range(1, events + 1):
        kinds.append(BulletKind.EVENT)
        while placed < meetings and (placed + 1) * events <= i * (meetings + 1):
            kinds.append(BulletKind.RELATIONSHIP)
            placed += 1
    return kinds + [BulletKind.RELATIONSHIP] * (meetings - placed)


def _days(stage: Stage, count: int, slack: float) -> list[dt.date]:
    return _spread(stage.first_day, int((stage.last_day - stage.first_day).days * slack), count)


def _closing_days(stage: Stage, count: int) -> list[dt.date]:
    begin = stage.first_day + dt.timedelta(days=int((stage.last_day - stage.first_day).days * CLOSING_FROM))
    return _spread(begin, (stage.last_day - begin).days, count)


def _spread(first: dt.date, room: int, count: int) -> list[dt.date]:
    return [first + dt.timedelta(days=room * i // max(count - 1, 1)) for i in range(count)]


def _with_preferences(
    told: Sequence[tuple[BulletKind, dt.date]], preferences: int, going_on: int
) -> list[tuple[BulletKind, dt.date]]:
    """Spread the preferences over the lines that go on; each is told on the day of the line before it."""
    drawn: list[tuple[BulletKind, dt.date]] = []
    placed = 0
    for i, (kind, day) in enumerate(told, 1):
        drawn.append((kind, day))
        due = preferences * i // (going_on + 1) if i < going_on else preferences
        drawn += [(BulletKind.PREFERENCE, day)] * (due - placed)
        placed = due
    return drawn


class _Pen:
    """Draws the lines of one stage: whose turn it is, and what each line sets."""

    def __init__(self, inputs: SheetInputs, stage: Stage, rng: random.Random) -> None:
        self._stage, self._rng = stage, rng
        weights = KINDS[inputs.category]
        self._kinds, self._weights = list(weights), list(weights.values())
        # A planned day comes before the last line that may tell how it went.
        last = inputs.stages[-1]
        self._end = last.first_day + dt.timedelta(days=int((last.last_day - last.first_day).days * LAST_SLACK) - 1)
        self._days: set[dt.date] = set()
        self._last_kinds: list[ValueKind] = []
        self._events = self._met = self._joined = self._ended = 0

    def line(self, ordinal: int, kind: BulletKind, day: dt.date, *, part: str, ends: str) -> SheetLine:
        """Return the next line; `ends` is the narrative of which it is the last one, if it is that."""
        sets: tuple[NewSlot, ...] = ()
        person = ""
        if kind is BulletKind.RELATIONSHIP:
            person = self._next_person()
        elif kind is BulletKind.EVENT and not part and not ends and self._rng.random() < WITH_SOMEBODY:
            person = self._next_companion()
        if kind in TELLING_KINDS and part != "opening":
            sets = self._slots(day, is_closing=part == CLOSING or bool(ends))
        return SheetLine(
            line=ordinal + 1,
            kind=kind,
            day=day,
            narrative=ends or self._narrative(kind, day, part=part),
            person=person,
            sets=sets,
            part=part,
            is_last=bool(ends),
        )

    def _next_person(self) -> str:
        """Return whose turn it is: first the people of this stage alone, who come last in its cast."""
        cast = self._stage.cast
        self._met += 1
        return cast[-self._met % len(cast)] if cast else ""

    def _next_companion(self) -> str:
        """Return who takes part in the next event that somebody takes part in: first those of every stage."""
        cast = self._stage.cast
        self._joined += 1
        return cast[(self._joined - 1) % len(cast)] if cast else ""

    def _narrative(self, kind: BulletKind, day: dt.date, *, part: str) -> str:
        labels = moving_on(self._stage, day) or self._stage.narratives
        if part == CLOSING and labels:
            self._ended += 1
            return labels[(self._ended - 1) % len(labels)]
        if not labels or kind in {BulletKind.INTRODUCTION, BulletKind.PREFERENCE}:
            return labels[0] if labels else ""
        self._events += 1
        return labels[(self._events - 1) % len(labels)]

    def _slots(self, told: dt.date, *, is_closing: bool) -> tuple[NewSlot, ...]:
        """Return slots of kinds that differ from each other and from those of the line before.

        What comes out in the end has happened, and no longer changes; it is enough to say for one line.
        """
        count = 1 + (self._rng.random() < SECOND_SLOT and not is_closing)
        kinds: list[ValueKind] = []
        while len(kinds) < count:
            drawn = self._rng.choices(self._kinds, self._weights)
            kinds += [k for k in drawn if k not in (*kinds, *self._last_kinds)]
        self._last_kinds = kinds
        return tuple(self._slot(told, kind, is_closing=is_closing) for kind in kinds)

    def _slot(self, told: dt.date, kind: ValueKind, *, is_closing: bool) -> NewSlot:
        comes_too_late = kind is ValueKind.DATE and told + dt.timedelta(days=AHEAD_DAYS[0]) > self._end
        is_fixed = self._rng.random() < FIXED_SHARE or is_closing or comes_too_late
        return NewSlot(kind=kind, is_fixed=is_fixed, day=self._day(told, is_fixed) if kind is ValueKind.DATE else None)

    def _day(self, told: dt.date, is_fixed: bool) -> dt.date:
        """Return a day that no other slot of the stage has: one just past, or one to come."""
        low, high = BEHIND_DAYS if is_fixed else AHEAD_DAYS
        sign = -1 if is_fixed else 1
        options = [told + dt.timedelta(days=sign * n) for n in range(low, high + 1)]
        fitting = [d for d in options if d <= (told if is_fixed else self._end)] or options[:1]
        day = self._rng.choice([d for d in fitting if d not in self._days] or fitting)
        self._days.add(day)
        return day
