"""The sheet of a plan: each bullet's kind, day, narrative, people and slots, drawn by code before a model words it.

A model that has to decide all of this and word it in one reply fails on one of forty bullets, and its days, kinds and
slots clash. The sheet's frame (kinds, days, narratives, people) is drawn for the whole plan; what a group of lines
changes or comes back to is drawn from the ledger just before the group is asked for.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from longbeam.generators.layout import FEW_NARRATIVES, NARRATIVES, SHORT, Layout
from longbeam.generators.ledger import Ledger
from longbeam.generators.mentions import Mentions
from longbeam.generators.plan_seeds import SELF
from longbeam.generators.wish_forms import wish_forms
from longbeam.prompts.calls.plans import LedgerLine, NewSlot, SheetLine, Span, Stage
from longbeam.schemas.people import Person
from longbeam.schemas.plans import CLOSING, Bullet, BulletKind, Narrative, ValueKind
from longbeam.schemas.seeds import Category, Timeline

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
CHANGES_PER_EVENT = 1 / 6
"""Changed slots for each event; augmentation adds the planned updates."""
SETTLED_DAYS = 7
"""Days that a value or a preference stands before it changes."""
RECALLS_PER_EVENT = 0.3
"""Events that come back to a slot without its value."""
ALIKE = 0.5
"""Share of the new amounts that are named like an earlier amount of another thing, so that the two can be compared."""
EVOLVING = 0.25
"""Share of the later stages whose last preference replaces an earlier one."""
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
TOLD = frozenset({BulletKind.EVENT, BulletKind.RELATIONSHIP})
"""Kinds of lines that set slots."""
AMOUNTS = frozenset({ValueKind.NUMBER, ValueKind.MONEY, ValueKind.DURATION})
CHANGEABLE = AMOUNTS | {ValueKind.NAME, ValueKind.VERSION, ValueKind.RATIO}
"""Kinds of slots that a sheet changes; a day is moved by augmentation, which knows the days around it."""


_Item = TypeVar("_Item")


def stages_of(
    timeline: Timeline, layout: Layout, narratives: Sequence[Narrative] = (), people: Sequence[Person] = ()
) -> tuple[Stage, ...]:
    """Divide a timeline into stages of equal length, to the day, each with the people and narratives that it moves.

    People and narratives take turns: each comes once before any comes again. The narratives that carry the story come
    in every stage, and so do the people of whom these tell. A stage's narratives bring the people whom they name.
    """
    days, count = timeline.days + 1, layout.sub_plans
    if days < count:
        raise ValueError(f"{days} days cannot hold {count} stages")
    starts = [timeline.start + dt.timedelta(days=days * i // count) for i in range(count)]
    ends = [s - dt.timedelta(days=1) for s in starts[1:]] + [timeline.end]
    leads = _named_in(narratives[:LEADING], people)[:LEADS]
    others = [p.first_name for p in people if p.first_name not in leads]
    moving = _turns_per_stage(layout)
    stages = []
    for i, (first, last) in enumerate(zip(starts, ends, strict=True)):
        own = _turn(narratives[LEADING:], i, moving)
        cast = dict.fromkeys((*leads, *_named_in(own, people), *_turn(others, i, CAST - len(leads))))
        labels = tuple(narrative.label for narrative in (*narratives[:LEADING], *own))
        stages.append(Stage(stage_index=i, first_day=first, last_day=last, cast=tuple(cast)[:CAST], narratives=labels))
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


# --- the frame of a whole plan ----------------------------------------------------------------------------------


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
    if ending := _moving(stage, stage.last_day) or stage.narratives:
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
    closing = (_moving(stage, stage.last_day) or stage.narratives) if stage is stages[-1] else ()
    free = [i for i, (kind, _) in enumerate(drawn) if kind is BulletKind.EVENT and i]
    most, found = len(free) // 2, dict[int, str]()
    for label in narratives_over(stages, stage.stage_index):
        fitting = [i for i in free if i not in found and label in (_moving(stage, drawn[i][1]) or stage.narratives)]
        if label not in closing and fitting and len(found) < most:
            found[fitting[-1]] = label
    return found


def _part_of(ordinal: int, is_first: bool, first_closing: int) -> str:
    if is_first and ordinal == 0:
        return "opening"
    return CLOSING if ordinal >= first_closing else ""


def _moving(stage: Stage, day: dt.date) -> tuple[str, ...]:
    """Return a stage's narratives that move on a day; none where the outline does not say when they move."""
    over = Span.EARLY if _is_late(stage, day) else Span.LATE
    return tuple(n for n, span in zip(stage.narratives, stage.spans, strict=False) if span is not over)


def _is_late(stage: Stage, day: dt.date) -> bool:
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
        if kind in TOLD and part != "opening":
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
        labels = _moving(self._stage, day) or self._stage.narratives
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
        is_late = kind is ValueKind.DATE and told + dt.timedelta(days=AHEAD_DAYS[0]) > self._end
        is_fixed = self._rng.random() < FIXED_SHARE or is_closing or is_late
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


# --- what a group of lines changes and comes back to ------------------------------------------------------------


@dataclass(frozen=True)
class Story:
    """The story so far, as the next lines of a sheet need it."""

    ledger: Ledger
    """The plan's own facts, and those of earlier plans that it touched."""
    standing: Sequence[Bullet]
    """Preferences in force."""
    stages: Sequence[Stage] = ()
    recalled: frozenset[str] = frozenset()
    """Facts that lines have come back to."""
    ended: frozenset[str] = frozenset()
    """Narratives of which the stage has told the last line."""

    @cached_property
    def state(self) -> tuple[LedgerLine, ...]:
        """The slots so far, without those of the user."""
        return tuple(f for f in self.ledger.lines() if f.subject.casefold() not in SELF)

    @cached_property
    def mentions(self) -> Mentions:
        """Index of the things that the lines so far speak of."""
        return Mentions(self.ledger)

    @cached_property
    def going_on(self) -> tuple[LedgerLine, ...]:
        """The slots of things that no line has ended."""
        end = len(self.ledger.bullets)
        return tuple(f for f in self.state if not self.mentions.has_ended(_setting(self.ledger, f), end))

    def open_on(self, day: dt.date) -> list[LedgerLine]:
        """Return the slots of things and narratives that go on, on a day."""
        return [f for f in self.going_on if not _is_over(self.stages, _setting(self.ledger, f).narrative, day)]

    @cached_property
    def awaited(self) -> tuple[LedgerLine, ...]:
        """The announced days of which nothing has been told since, those to come included."""
        return tuple(f for f in self.going_on if _announced(f) and not self._is_told_since(f))

    def untold_on(self, day: dt.date) -> list[LedgerLine]:
        """Return the announced days that are past on a day, where nothing has been told of their things since."""
        return [f for f in self.awaited if _is_past(f, day)]

    def stage_of(self, day: dt.date) -> Stage | None:
        """Return the stage that a day lies in."""
        return next((stage for stage in self.stages if stage.first_day <= day <= stage.last_day), None)

    def told_in(self, day: dt.date) -> Counter[str]:
        """Return how many events and meetings of each narrative the stage of a day has so far."""
        if (stage := self.stage_of(day)) is None:
            return Counter()
        own = (b for b in self.ledger.bullets if stage.first_day <= b.happens_on <= stage.last_day)
        return Counter(b.narrative for b in own if b.kind in TOLD)

    def _is_told_since(self, slot: LedgerLine) -> bool:
        asserting = (self.ledger.bullet[a.bullet_id] for a in self.ledger.by_fact[slot.fact_id])
        telling = (b for b in self.mentions.of(slot.subject) if b.kind in TOLD)
        return any(_is_past(slot, b.happens_on) for b in (*asserting, *telling))


def until_due(lines: Sequence[SheetLine]) -> Sequence[SheetLine]:
    """Return the first lines that can be worded together: up to where one may tell how a day went that they announce.

    The last lines of a story are worded when everything before them is known.
    """
    days: list[dt.date] = []
    for i, line in enumerate(lines):
        ends = line.part == CLOSING and lines[0].part != CLOSING
        if ends or (line.kind is BulletKind.EVENT and any(day < line.day for day in days)):
            return lines[:i]
        days += [slot.day for slot in line.sets if slot.day is not None and not slot.is_fixed]
    return lines


def with_targets(lines: Sequence[SheetLine], story: Story, rng_key: str) -> tuple[SheetLine, ...]:
    """Return lines that know what they change, come back to, name alike or replace; drawn from the story so far.

    A slot is changed once, and never one that happened once. The opening and the end of a story change nothing. The
    next event tells how an announced day went; a narrative that a line ends is not ended by another one.
    """
    taken: set[str] = set()
    told, ended = story.told_in(lines[0].day) if lines else Counter[str](), set(story.ended)
    found: list[SheetLine] = []
    for line in lines:
        rng = random.Random(f"{rng_key}/targets/{line.line}")
        state = [f for f in story.open_on(line.day) if _setting(story.ledger, f).narrative not in ended]
        found.append(_with_target(_of_the_least_told(line, story, told, ended), story, state, taken, rng))
        told[found[-1].narrative] += found[-1].kind in TOLD
        ended |= {line.narrative} if line.is_last else set()
    return tuple(found)


def _of_the_least_told(line: SheetLine, story: Story, told: Mapping[str, int], ended: Set[str]) -> SheetLine:
    """Return a line of the narrative of which the stage has told the least, its own one if several have the least.

    Outcomes and changes take the places of lines drawn for other narratives, which would hardly be told of otherwise.
    """
    if line.kind not in TOLD or line.part or line.is_last or (stage := story.stage_of(line.day)) is None:
        return line
    labels = [label for label in _moving(stage, line.day) or stage.narratives if label not in ended]
    if not labels:
        return line
    least = min(labels, key=lambda label: (told[label], label != line.narrative))
    return line.model_copy(update={"narrative": least})


def _with_target(
    line: SheetLine, story: Story, state: Sequence[LedgerLine], taken: set[str], rng: random.Random
) -> SheetLine:
    """Return a line with what it is about; `state`: the slots of what goes on when it is told."""
    if line.kind is BulletKind.PREFERENCE:
        former = [
            b for b in story.standing if b.bullet_id not in taken and (line.day - b.happens_on).days >= SETTLED_DAYS
        ]
        evolves = rng.choice(former) if former and rng.random() < EVOLVING else None
        taken.update([evolves.bullet_id] if evolves else [])
        return line.model_copy(update={"evolves": evolves})
    if line.kind not in TOLD or line.part == "opening":
        return line
    ledger = story.ledger
    related = [f for f in state if _setting(ledger, f).narrative == line.narrative]
    update: dict[str, object] = {}
    ends = line.is_last or line.part == CLOSING
    if not ends:
        update["sets"] = tuple(_named_alike(slot, related, rng) for slot in line.sets)
    chance = rng.random()
    if (announced := _outcome(line, story, taken, rng)) is not None:
        bullet = ledger.bullet[ledger.by_fact[announced.fact_id][-1].bullet_id]
        update |= {"recalls": announced, "outcome_of": bullet, "narrative": bullet.narrative, "person": ""}
        # A new day to come is that of what was put off, which the line may say by itself.
        update["sets"] = tuple(slot for slot in line.sets if slot.kind is not ValueKind.DATE or slot.is_fixed)
    elif line.kind is BulletKind.EVENT and not ends and chance < CHANGES_PER_EVENT:
        if (changes := _one_of(_changeable(ledger, state, line.day), taken, rng)) is not None:
            # The change belongs to the aspect of the story that the slot is of, whoever's turn it is.
            narrative = _setting(ledger, changes).narrative
            update |= {"changes": changes, "sets": (), "narrative": narrative, "person": ""}
    elif chance < CHANGES_PER_EVENT + RECALLS_PER_EVENT or ends:
        # First what was told once and never spoken of again: people forget nothing that they have begun.
        # An announced day has a line of its own that tells how it went.
        new = [f for f in related if f.fact_id not in story.recalled and not _announced(f)]
        loose = [f for f in new if len(story.mentions.of(f.subject)) == 1]
        update["recalls"] = _one_of(loose, taken, rng) or _one_of(new, taken, rng)
    return line.model_copy(update=update)


def _outcome(line: SheetLine, story: Story, taken: set[str], rng: random.Random) -> LedgerLine | None:
    """Return an announced day whose outcome an event tells, one of its own narrative if it can be; None if none is due.

    The others wait for the next events. A line that ends a narrative tells nothing of another one.
    """
    if line.kind is not BulletKind.EVENT:
        return None
    due = story.untold_on(line.day)
    own = [slot for slot in due if _setting(story.ledger, slot).narrative == line.narrative]
    found = _one_of(own, taken, rng)
    return found if found or line.is_last or line.part == CLOSING else _one_of(due, taken, rng)


def _is_past(slot: LedgerLine, day: dt.date) -> bool:
    """Return whether a slot holds an announced day that is past on a day, so that the user knows how it went."""
    announced = _announced(slot)
    return announced is not None and announced < day


def _announced(slot: LedgerLine) -> dt.date | None:
    """Return the day that a slot announces; None for what has happened, and for other values."""
    return slot.value.date if slot.value is not None and not slot.is_fixed else None


def _is_over(stages: Sequence[Stage], narrative: str, day: dt.date) -> bool:
    """Return whether a narrative is over by a day: with its last stage, or with the half of it that it moves in."""
    last = next((s for s in reversed(stages) if narrative in s.narratives), None)
    if last is None:
        return False
    return day > last.last_day or (bool(last.spans) and _is_late(last, day) and narrative not in _moving(last, day))


def _changeable(ledger: Ledger, state: Sequence[LedgerLine], told: dt.date) -> list[LedgerLine]:
    """Return the slots that can change on a day: of a kind that a sheet changes, set once, and some time before."""
    return [
        f
        for f in state
        if not f.is_fixed
        and f.kind in CHANGEABLE
        and len(ledger.by_fact[f.fact_id]) == 1
        and (told - _setting(ledger, f).happens_on).days >= SETTLED_DAYS
    ]


def _setting(ledger: Ledger, slot: LedgerLine) -> Bullet:
    """Return the bullet that said the slot's first value in this plan."""
    return ledger.bullet[ledger.by_fact[slot.fact_id][0].bullet_id]


def _one_of(lines: Sequence[LedgerLine], taken: set[str], rng: random.Random) -> LedgerLine | None:
    free = [line for line in lines if line.fact_id not in taken and line.value is not None]
    if not free:
        return None
    line = rng.choice(free)
    taken.add(line.fact_id)
    return line


def _named_alike(slot: NewSlot, related: Sequence[LedgerLine], rng: random.Random) -> NewSlot:
    """Return a slot that may have the name of an amount of its narrative; names of other ones do not fit its things."""
    names = list(dict.fromkeys(f.attribute for f in related if f.kind is slot.kind))
    if slot.kind not in AMOUNTS or not names or rng.random() >= ALIKE:
        return slot
    return slot.model_copy(update={"like": rng.choice(names)})
