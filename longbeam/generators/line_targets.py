"""Targets of a group of lines: the slots that they change, come back to or report, drawn just before wording."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from longbeam.generators.ledger import Ledger
from longbeam.generators.mentions import Mentions
from longbeam.generators.plan_seeds import SELF
from longbeam.generators.sheets import is_late, moving_on
from longbeam.prompts.calls import LedgerLine, NewSlot, SheetLine, Stage
from longbeam.schemas import AMOUNT_KINDS, CLOSING, TELLING_KINDS, Bullet, BulletKind, ValueKind

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
CHANGEABLE = AMOUNT_KINDS | {ValueKind.NAME, ValueKind.VERSION, ValueKind.RATIO}
"""Kinds of slots that a sheet changes; a day is moved by augmentation, which knows the days around it."""


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
        return Counter(b.narrative for b in own if b.kind in TELLING_KINDS)

    def _is_told_since(self, slot: LedgerLine) -> bool:
        asserting = (self.ledger.bullet[a.bullet_id] for a in self.ledger.by_fact[slot.fact_id])
        telling = (b for b in self.mentions.of(slot.subject) if b.kind in TELLING_KINDS)
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
        drawn = _with_target(_of_the_least_told(line, story, told, ended), story, state, taken, rng)
        found.append(drawn)
        told[drawn.narrative] += drawn.kind in TELLING_KINDS
        if line.is_last:
            ended.add(line.narrative)
    return tuple(found)


def _of_the_least_told(line: SheetLine, story: Story, told: Mapping[str, int], ended: Set[str]) -> SheetLine:
    """Return a line of the narrative of which the stage has told the least, its own one if several have the least.

    Outcomes and changes take the places of lines drawn for other narratives, which would hardly be told of otherwise.
    """
    if line.kind not in TELLING_KINDS or line.part or line.is_last or (stage := story.stage_of(line.day)) is None:
        return line
    labels = [label for label in moving_on(stage, line.day) or stage.narratives if label not in ended]
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
    if line.kind not in TELLING_KINDS or line.part == "opening":
        return line
    ledger = story.ledger
    related = [f for f in state if _setting(ledger, f).narrative == line.narrative]
    update: dict[str, object] = {}
    if not line.ends_narrative:
        update["sets"] = tuple(_named_alike(slot, related, rng) for slot in line.sets)
    chance = rng.random()
    if (announced := _outcome(line, story, taken, rng)) is not None:
        bullet = ledger.bullet[ledger.by_fact[announced.fact_id][-1].bullet_id]
        update |= {"recalls": announced, "outcome_of": bullet, "narrative": bullet.narrative, "person": ""}
        # It borrows no names, and a new day to come is that of what was put off, which the line may say by itself.
        update["sets"] = tuple(slot for slot in line.sets if slot.kind is not ValueKind.DATE or slot.is_fixed)
    elif line.kind is BulletKind.EVENT and not line.ends_narrative and chance < CHANGES_PER_EVENT:
        if (changes := _one_of(_changeable(ledger, state, line.day), taken, rng)) is not None:
            # The change belongs to the aspect of the story that the slot is of, whoever's turn it is.
            narrative = _setting(ledger, changes).narrative
            update |= {"changes": changes, "sets": (), "narrative": narrative, "person": ""}
    elif chance < CHANGES_PER_EVENT + RECALLS_PER_EVENT or line.ends_narrative:
        # First what was told once and never spoken of again: people forget nothing that they have begun.
        # An announced day has a line of its own that tells how it went.
        new = [f for f in related if f.fact_id not in story.recalled and not _announced(f)]
        loose = [f for f in new if len(story.mentions.of(f.subject)) == 1]
        update["recalls"] = _one_of(loose, taken, rng) or _one_of(new, taken, rng)
    return line.model_copy(update=update)


def may_tell_any_outcome(line: SheetLine) -> bool:
    """Return whether a line may tell how any announced day went; one that ends a narrative tells of no other."""
    return line.kind is BulletKind.EVENT and not line.ends_narrative


def _outcome(line: SheetLine, story: Story, taken: set[str], rng: random.Random) -> LedgerLine | None:
    """Return an announced day whose outcome an event tells, one of its own narrative if it can be; None if none is due.

    The others wait for the next events. A line that ends a narrative tells nothing of another one.
    """
    if line.kind is not BulletKind.EVENT:
        return None
    due = story.untold_on(line.day)
    own = [slot for slot in due if _setting(story.ledger, slot).narrative == line.narrative]
    found = _one_of(own, taken, rng)
    return found or (_one_of(due, taken, rng) if may_tell_any_outcome(line) else None)


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
    return day > last.last_day or (bool(last.spans) and is_late(last, day) and narrative not in moving_on(last, day))


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
    if slot.kind not in AMOUNT_KINDS or not names or rng.random() >= ALIKE:
        return slot
    return slot.model_copy(update={"like": rng.choice(names)})
