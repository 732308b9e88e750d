"""Scenes: beats of the story with their day, people, values and wording."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from longbeam.offline.drawing import Span, changed, draw
from longbeam.offline.language import fill, pattern_of, phrases
from longbeam.offline.packs import Beat, Pack, PackSlot, Thread, fields_of
from longbeam.schemas import FAMILY, Person, Value, ValueKind
from longbeam.text import relation_words, times, values


@dataclass(frozen=True)
class Bounds:
    """Things that a plan's story leaves to other plans, and facts that earlier plans have told."""

    forbidden: frozenset[str] = frozenset()
    """Things reserved for other plans, case-folded."""
    shared: frozenset[str] = frozenset()
    """Things that are divided over the plans, this plan's included; case-folded."""
    passed: int = 0
    """Number of earlier plans that have told the pack's other things."""
    settled: frozenset[tuple[str, str]] = frozenset()
    """Subject and attribute of facts that happened once, in an earlier plan."""
    known: tuple[tuple[str, str, Value], ...] = ()
    """Subject, attribute and value of facts of earlier plans."""
    is_last: bool = True
    """Whether no plan follows, so that the story ends here."""


NO_BOUNDS = Bounds()


WHOLE = "the whole undertaking"
"""Topic of the last message of a story."""
COST_SLOT, END_SLOT = "own part of the cost", "last day"
ENDED = phrases("telling", "ended")
OWN_COST = phrases("telling", "own_cost")
_THANKS = phrases("telling", "thanks")
CREDITS = 3
"""People thanked in the last message, at most."""
LONG_PAST = 120
"""Days after which nobody remarks any more that a date has passed."""


@dataclass(frozen=True)
class StoryScene:
    """One beat of one thread instance, with its day and values."""

    thread: Thread
    thing: str
    beat: Beat
    day: dt.date
    fields: dict[str, str]
    values: dict[str, Value]
    """PackSlot values that the scene says."""
    text: str
    recalled: frozenset[str] = frozenset()
    """Slots among `values` that were told before and are only repeated."""
    is_closing: bool = False
    """Whether the scene tells, at the end of the story, how something came out."""

    @property
    def subject(self) -> str:
        """The subject of this scene's facts."""
        return self.thing


class Teller:
    """Gives beats their values and wording; remembers the values set and the people named before."""

    def __init__(
        self,
        people: Sequence[Person],
        rng_key: str,
        told_on: Mapping[tuple[str, str, str], dt.date] | None = None,
        ahead: Span | None = None,
        bounds: Bounds = NO_BOUNDS,
    ) -> None:
        """`told_on`: the day of each thread's, thing's and beat's telling; `ahead`: the days all is made for."""
        self._people = people
        self._told_on = told_on or {}
        self._ahead = ahead
        self._rng_key = rng_key
        self._values: dict[tuple[str, str], Value] = {}
        self._paid: dict[tuple[str, str], Value] = {}
        self._named: set[str] = set()
        self._values.update(((subject, attribute), value) for subject, attribute, value in bounds.known)
        self._told: dict[tuple[str, str], int] = {}
        self._last_told: dict[tuple[str, str], dt.date] = {}
        self._remarked: set[tuple[str, str]] = set()
        self._credits: dict[str, str] = {}

    def scene(self, thread: Thread, thing: str | Person, beat: Beat, day: dt.date) -> StoryScene:
        """Return the scene of a beat that is told on a day."""
        rng_of = f"{self._rng_key}/{thread.thread}/{thing if isinstance(thing, str) else thing.person_id}"
        rng = random.Random(f"{rng_of}/{beat.beat}/{day}")
        subject = thing if isinstance(thing, str) else thing.first_name
        fields = {"it": subject, "day": times.format_date(day, with_year=False), "weekday": times.weekday(day)}
        if isinstance(thing, Person):
            fields["it"] = self._name(thing)
            if beat.credit:
                self._credits.setdefault(thing.first_name, beat.credit)
        elif beat.who is not None:
            fields["who"] = self._name(person_for(self._people, beat.who, rng_of))
        remark, passed = self._remark(thread, subject, beat, day)
        said = {
            **self._known(thread, subject, (*beat.recalls, *passed)),
            **self._drawn(thread, subject, beat, day, rng_of),
        }
        fields |= {name: value.text for name, value in said.items()}
        for name, value in self._known(thread, subject, thread.slots).items():
            fields.setdefault(name, value.text)
        # The variants of a beat are used in turn, so that two things have different words while there are unused ones.
        turn = self._told.get((thread.thread, beat.beat), rng.randrange(len(beat.tell)))
        self._told[(thread.thread, beat.beat)] = turn + 1
        self._last_told[(thread.thread, subject)] = day
        text = f"{_as_sentence(fill(beat.tell[turn % len(beat.tell)], fields))} {remark}".strip()
        return StoryScene(thread, subject, beat, day, fields, said, text, frozenset((*beat.recalls, *passed)))

    def _known(self, thread: Thread, subject: str, names: Iterable[str]) -> dict[str, Value]:
        found = ((n, self._values.get((subject, thread.slots[n].attribute))) for n in names)
        return {name: value for name, value in found if value is not None}

    def _drawn(self, thread: Thread, subject: str, beat: Beat, day: dt.date, rng_of: str) -> dict[str, Value]:
        said: dict[str, Value] = {}
        for name in (*beat.sets, *beat.fixed, *beat.updates):
            slot = thread.slots[name]
            key = (subject, slot.attribute)
            rng = random.Random(f"{rng_of}/{name}/{beat.beat}/{len(self._told)}")
            old = self._values.get(key)
            within = self._days_for(thread, subject, slot, beat, day)
            said[name] = (
                draw(slot, day, rng, within) if old is None else changed(slot, old, rng, after=day, within=within)
            )
            self._values[key] = said[name]
            if name in beat.fixed and slot.type is ValueKind.MONEY:
                self._paid[key] = said[name]
        return said

    def _days_for(self, thread: Thread, subject: str, slot: PackSlot, beat: Beat, day: dt.date) -> Span | None:
        """Return the days on which a date may lie.

        A day to come lies before the beat that tells how it went, or at the prepared event. A day in the past lies
        after all that was told of the thing before: what was still planned then cannot have happened already.
        """
        tomorrow = day + dt.timedelta(days=1)
        if slot.in_days is not None and slot.in_days[1] <= 0:
            last = self._last_told.get((thread.thread, subject))
            return (min(last + dt.timedelta(days=1), day), day) if last is not None else None
        if slot.ahead and self._ahead is not None:
            return max(self._ahead[0], tomorrow), self._ahead[1]
        told_by = slot.told_by or next((other.beat for other in thread.beats if other.after == beat.beat), "")
        told = self._told_on.get((thread.thread, subject, told_by))
        return (tomorrow, told - dt.timedelta(days=1)) if told is not None else None

    def _remark(self, thread: Thread, subject: str, beat: Beat, day: dt.date) -> tuple[str, tuple[str, ...]]:
        """Return a remark on a date that has passed since it was named, at most one for each, and the slot it says."""
        for name, value in self._known(thread, subject, thread.slots).items():
            slot = thread.slots[name]
            to_come = slot.type is ValueKind.DATE and slot.in_days is not None and slot.in_days[0] > 0
            key = (subject, slot.attribute)
            if value.date is not None and (day - value.date).days > LONG_PAST:
                continue
            if not to_come or key in self._remarked or name in (*beat.sets, *beat.fixed, *beat.updates):
                continue
            going_on = beat is not thread.beats[-1] and beat.beat != slot.told_by
            text = remark_on(slot.attribute, value, day, len(self._remarked), goes_on=going_on)
            if text is None:
                continue
            self._remarked.add(key)
            if text and name not in beat.recalls and beat.beat != slot.told_by:
                return text, (name,)
        return "", ()

    def outcome(self, thread: Thread, thing: str, day: dt.date) -> StoryScene | None:
        """Return the scene that tells how a thread came out; None if its outcomes need values that were never told."""
        rng = random.Random(f"{self._rng_key}/{thread.thread}/{thing}/outcome")
        known = self._known(thread, thing, thread.slots)
        fitting = [t for t in thread.outcome if fields_of(t) <= {"it", *known}]
        if not fitting:
            return None
        template = rng.choice(fitting)
        said = {name: value for name, value in known.items() if name in fields_of(template)}
        fields = {"it": thing} | {name: value.text for name, value in said.items()}
        text = _as_sentence(fill(template, fields))
        beat = thread.beats[-1]
        return StoryScene(thread, thing, beat, day, fields, said, text, frozenset(said), is_closing=True)

    def ending(self, pack: Pack, thread: Thread, day: dt.date) -> StoryScene:
        """Return the scene of the last message: how the whole came out, its cost, and thanks."""
        rng = random.Random(f"{self._rng_key}/ending")
        said = {END_SLOT: values.date_value(day)}
        parts = [_as_sentence(rng.choice(pack.ending)), rng.choice(ENDED).format(day=said[END_SLOT].text)]
        currencies = {v.unit for v in self._paid.values()}
        if len(currencies) == 1:
            spent = sum(v.number or 0 for v in self._paid.values()) * rng.uniform(1.05, 1.2)
            said[COST_SLOT] = values.money(round(spent, -1) or 10, currencies.pop())
            parts.append(rng.choice(OWN_COST).format(total=said[COST_SLOT].text))
        if self._credits:
            names = list(self._credits)
            chosen = sorted(rng.sample(names, min(CREDITS, len(names))), key=names.index)
            people = [f"{name} for {self._credits[name]}" for name in chosen]
            parts.append(rng.choice(_THANKS).format(people=_listed(people)))
        return StoryScene(thread, WHOLE, thread.beats[-1], day, {"it": WHOLE}, said, " ".join(parts), is_closing=True)

    def _name(self, person: Person) -> str:
        if person.person_id in self._named:
            return person.first_name
        self._named.add(person.person_id)
        return f"{relation_words(person)} {person.first_name}"


def person_for(people: Sequence[Person], who: str, rng_key: str) -> Person:
    """Return somebody of a relation, `someone` for anybody; of no child where nobody has it."""
    rng = random.Random(f"{rng_key}/{who}")
    fitting = [p for p in people if who in ("someone", p.relation.value) and p.age >= 12]
    grown = [p for p in people if p.relation not in FAMILY]
    return rng.choice(fitting or grown or list(people))


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])}, and {names[-1]}" if len(names) > 1 else names[0]


def _as_sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text[-1] in ".!?" else text + "."


_MISSED = phrases("remarks", "missed")
_PASSED = phrases("remarks", "passed")
_MET = phrases("remarks", "met")
_WENT = phrases("remarks", "went")
_WORK_TO_END = re.compile(
    r"target|deadline|completion|finishing|decision|due|submission|hand-in|milestone|hoped|freeze"
)
"""Attributes of deadlines; other dates pass without being missed."""
_ENDINGS = tuple(
    re.compile(r"(?<=[.!?\"]) " + pattern_of(t).pattern.replace(".+?", "[^.!?]+?") + "$")
    for t in (*_MISSED, *_PASSED, *_MET, *_WENT)
)


def remark_on(attribute: str, value: Value, today: dt.date, number: int, *, goes_on: bool) -> str | None:
    """Return a sentence on a date that has passed; None for a date to come, empty where no remark is made.

    `number`: the number of earlier remarks, which chooses the wording. `goes_on`: whether the matter is still open.
    """
    if value.date is None or value.date >= today:
        return None
    if _WORK_TO_END.search(attribute.casefold()) is None and number % 3:
        return ""
    missed = goes_on and _WORK_TO_END.search(attribute.casefold()) is not None
    pool = _MISSED if missed else _PASSED
    return fill(pool[number % len(pool)], {"date": times.format_date(value.date), "attribute": attribute})


def outcome_of(it: str, attribute: str, value: Value, number: int, *, is_person: bool) -> str:
    """Return a sentence on how an announced date for a thing or with a person went; `number` chooses the wording."""
    pool = _MET if _WORK_TO_END.search(attribute.casefold()) else _WENT
    return fill(
        pool[number % len(pool)],
        {"it": it, "of": "with" if is_person else "for", "date": value.text, "attribute": attribute},
    )


@lru_cache(maxsize=4096)
def without_remark(text: str) -> str:
    """Return a statement without a remark at its end."""
    for pattern in _ENDINGS:
        found = pattern.search(text)
        if found:
            return text[: found.start()]
    return text
