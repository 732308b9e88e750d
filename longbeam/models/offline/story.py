"""The whole story of one conversation, as a pure function of its seed, persona and stages.

Every call that needs a part of the story (the outline, one stage's bullets) makes the story again and takes its
part, because nothing survives between calls. Threads are lived through with their things; the beats of all
instances are laid over the timeline, cut into stages, and given days and values.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

from longbeam.models.offline.drawing import changed, draw
from longbeam.models.offline.language import fill, within_sentence
from longbeam.models.offline.packs import Beat, Pack, Thread, pack_for
from longbeam.schemas import values
from longbeam.schemas.people import Person, Profile, Relation
from longbeam.schemas.plans import Value
from longbeam.schemas.seeds import Seed

PEOPLE = Path(__file__).parent / "data" / "people.yaml"
THINGS_PER_THREAD = 2.5
SLACK = 0.9
"""Share of a stage's days that its bullets use; the rest is left to turns that are asked for later."""


@dataclass(frozen=True)
class Scene:
    """One beat of one thread instance, with its day and values."""

    thread: Thread
    thing: str
    beat: Beat
    day: dt.date
    fields: dict[str, str]
    values: dict[str, Value]
    """Slot values that this beat says."""
    text: str

    @property
    def subject(self) -> str:
        """The subject of this scene's facts."""
        return self.thing


@dataclass(frozen=True)
class Bounds:
    """What the story of one plan may not use because of other plans, and what it knows of the earlier ones."""

    forbidden: frozenset[str] = frozenset()
    """Things of other plans, case-folded."""
    shared: frozenset[str] = frozenset()
    """Things that are divided over the plans, this plan's own included."""
    passed: int = 0
    """How many earlier plans have told of the pack's other things."""
    settled: frozenset[tuple[str, str]] = frozenset()
    """Subject and attribute of what happened once, in an earlier plan."""
    known: tuple[tuple[str, str, Value], ...] = ()
    """Subject, attribute and value of facts of earlier plans."""
    introduced: tuple[str, ...] | None = None
    """First names of the people who come in; None: everybody."""


NO_BOUNDS = Bounds()


@lru_cache(maxsize=1)
def people_thread() -> Thread:
    """The thread whose things are the people around the user."""
    return Thread.model_validate(yaml.safe_load(PEOPLE.read_text(encoding="utf-8")))


def relation_words(person: Person) -> str:
    """`my friend`, `my mother`, `my partner`, `my son`, `someone I know`."""
    female = person.gender == "female"
    return {
        Relation.PARENT: "my mother" if female else "my father",
        Relation.PARTNER: "my partner",
        Relation.CHILD: "my daughter" if female else "my son",
        Relation.FRIEND: "my friend",
        Relation.ACQUAINTANCE: "my colleague",
    }[person.relation]


@lru_cache(maxsize=8)
def story_of(
    seed: Seed,
    profile: Profile,
    people: tuple[Person, ...],
    stages: tuple[tuple[dt.date, dt.date], ...],
    room: tuple[tuple[int, int], ...],
    rng_key: str,
    bounds: Bounds = NO_BOUNDS,
) -> tuple[tuple[Scene, ...], ...]:
    """The scenes of every stage in order.

    `stages`: first and last day of each; `room`: events and relationship scenes of each.
    """
    pack = pack_for(seed)
    beats = _ordered_beats(pack, seed, people, sum(events for events, _ in room), rng_key, bounds)
    visits = _people_beats(people, sum(n for _, n in room), rng_key, bounds)
    teller = _Teller(people, rng_key, bounds)
    result = []
    for (first, last), (events, relationships) in zip(stages, room, strict=True):
        own = [next(beats) for _ in range(events)]
        met = [next(visits) for _ in range(relationships)]
        merged = _interleaved(own, met)
        days = _days(first, last, len(merged))
        result.append(
            tuple(teller.scene(t, thing, beat, day) for (t, thing, beat), day in zip(merged, days, strict=True))
        )
    return tuple(result)


Cue = tuple[Thread, str | Person, Beat]


def _interleaved(own: list[Cue], met: list[Cue]) -> list[Cue]:
    merged: list[Cue] = []
    placed = 0
    for i, cue in enumerate(own, 1):
        merged.append(cue)
        while placed < len(met) and (placed + 1) * len(own) <= i * (len(met) + 1):
            merged.append(met[placed])
            placed += 1
    return merged + met[placed:]


def _days(first: dt.date, last: dt.date, count: int) -> list[dt.date]:
    room = int((last - first).days * SLACK)
    return [first + dt.timedelta(days=room * i // max(count - 1, 1)) for i in range(count)]


def _ordered_beats(
    pack: Pack, seed: Seed, people: tuple[Person, ...], needed: int, rng_key: str, bounds: Bounds
) -> Iterator[Cue]:
    """At least `needed` beats, in the order of the story: every instance begins somewhere and takes its time."""
    rng = random.Random(f"{rng_key}/beats")
    instances = list(_instances(pack, seed, needed, rng, bounds))
    excess = sum(len(t.beats) for t, _ in instances) - needed
    timed: list[tuple[float, int, int, Cue]] = []
    for i, (thread, thing) in enumerate(instances):
        beats = list(thread.beats)
        if i == len(instances) - 1 and excess > 0:
            beats = beats[: max(1, len(beats) - excess)]
        begin = 0.72 * i / max(len(instances) - 1, 1) * rng.uniform(0.9, 1.0)
        span = rng.uniform(0.45, 0.95) * (1 - begin)
        for j, beat in enumerate(beats):
            at = begin + span * (j + rng.uniform(0.0, 0.6)) / len(beats)
            timed.append((at, i, j, (thread, thing, beat)))
    timed.sort(key=lambda entry: entry[:3])
    while len(timed) > needed:  # an instance with fewer beats than the excess: drop the latest endings
        timed.pop()
    return iter([cue for _, _, _, cue in timed])


def _instances(
    pack: Pack, seed: Seed, needed: int, rng: random.Random, bounds: Bounds = NO_BOUNDS
) -> Iterator[tuple[Thread, str]]:
    """Thread instances in turn over the threads until there are enough beats."""
    pools = {}
    for thread in pack.threads:
        things = list(thread.things) or [within_sentence(s) for s in seed.subtopics]
        rng.shuffle(things)
        pools[thread.thread] = [t for t in things if t.casefold() not in bounds.forbidden]
    # A short story follows few threads, each with several things: their facts can then be compared and summed.
    beats = sum(len(t.beats) for t in pack.threads) / len(pack.threads)
    width = min(len(pack.threads), max(3, round(needed / beats / THINGS_PER_THREAD)))
    own = [t for t in pack.threads if not t.things]
    others = [t for t in pack.threads if t.things and pools[t.thread]]
    rng.shuffle(others)
    order = (own + others)[:width]
    rng.shuffle(order)
    count, lap = 0, 0
    while count < needed:
        for thread in order:
            if count >= needed:
                return
            things = pools[thread.thread]
            thing, round_ = things[lap % len(things)], lap // len(things)
            if thing.casefold() not in bounds.shared:
                round_ += ROUNDS_PER_PASS * bounds.passed
            if round_:
                # Every thing has been lived through: the story takes it up again as a new round of its own.
                thing = f"{_ROUNDS[(round_ - 1) % len(_ROUNDS)]} of {thing}"
            yield thread, thing
            count += len(thread.beats)
        lap += 1


ROUNDS_PER_PASS = 2
"""Rounds of a pack's things that one plan may use."""
_ROUNDS = ("the second round", "the third round", "the final round", "the follow-up", "the repeat", "the last pass")


def _people_beats(people: tuple[Person, ...], needed: int, rng_key: str, bounds: Bounds = NO_BOUNDS) -> Iterator[Cue]:
    """Scenes with people, nobody twice in a row, no person-and-beat pair twice while there are others."""
    rng = random.Random(f"{rng_key}/people")
    thread = people_thread()
    pairs: list[Cue] = [(thread, p, b) for p in people for b in thread.beats if b.who == p.relation.value]
    pairs = [
        (t, p, b)
        for t, p, b in pairs
        if not isinstance(p, Person) or not any((p.first_name, t.slots[s].attribute) in bounds.settled for s in b.fixed)
    ]
    # What was told of somebody in an earlier plan comes again only when nothing else is left.
    known = {(subject, attribute) for subject, attribute, _ in bounds.known}
    fresh: list[Cue] = [(t, p, b) for t, p, b in pairs if isinstance(p, Person) and not _is_told(t, p, b, known)]
    pairs = fresh or pairs
    rng.shuffle(pairs)
    cues: list[Cue] = []
    while len(cues) < needed and pairs:
        pool = list(pairs)
        while pool:
            last = cues[-1][1] if cues else None
            pick = next((i for i, cue in enumerate(pool) if cue[1] is not last), 0)
            cues.append(pool.pop(pick))
        pairs = [p for p in pairs if not (p[2].fixed)] or pairs
    return iter(cues)


def _is_told(thread: Thread, person: Person, beat: Beat, known: set[tuple[str, str]]) -> bool:
    said = (*beat.sets, *beat.fixed, *beat.updates)
    return bool(said) and all((person.first_name, thread.slots[s].attribute) in known for s in said)


class _Teller:
    """Gives beats their values and words, remembering values set earlier and people named before."""

    def __init__(self, people: Sequence[Person], rng_key: str, bounds: Bounds = NO_BOUNDS) -> None:
        self._people = people
        self._rng_key = rng_key
        self._values: dict[tuple[str, str], Value] = {}
        self._named: set[str] = set()
        if bounds.introduced is not None:
            self._named = {p.person_id for p in people if p.first_name not in bounds.introduced}
        self._values.update(((subject, attribute), value) for subject, attribute, value in bounds.known)
        self._told: dict[tuple[str, str], int] = {}

    def scene(self, thread: Thread, thing: str | Person, beat: Beat, day: dt.date) -> Scene:
        rng_of = f"{self._rng_key}/{thread.thread}/{thing if isinstance(thing, str) else thing.person_id}"
        rng = random.Random(f"{rng_of}/{beat.beat}/{day}")
        subject = thing if isinstance(thing, str) else thing.first_name
        fields = {"it": subject, "day": values.format_date(day, with_year=False), "weekday": values.weekday(day)}
        if isinstance(thing, Person):
            fields["it"] = self._name(thing)
        elif beat.who is not None:
            fields["who"] = self._name(self._person(beat.who, rng_of))
        said: dict[str, Value] = {}
        for name in (*beat.sets, *beat.fixed, *beat.updates):
            old = self._values.get((subject, thread.slots[name].attribute))
            slot_rng = random.Random(f"{rng_of}/{name}/{beat.beat}/{len(self._told)}")
            value = (
                draw(thread.slots[name], day, slot_rng)
                if old is None
                else changed(thread.slots[name], old, slot_rng, after=day)
            )
            self._values[(subject, thread.slots[name].attribute)] = said[name] = value
            fields[name] = value.text
        for name, slot in thread.slots.items():
            known = self._values.get((subject, slot.attribute))
            if known is not None:
                fields.setdefault(name, known.text)
        # The variants of a beat are told in turn, so that two things do not share their words while there is a choice.
        turn = self._told.get((thread.thread, beat.beat), rng.randrange(len(beat.tell)))
        self._told[(thread.thread, beat.beat)] = turn + 1
        text = fill(beat.tell[turn % len(beat.tell)], fields)
        return Scene(thread, subject, beat, day, fields, said, _as_sentence(text))

    def _name(self, person: Person) -> str:
        if person.person_id in self._named:
            return person.first_name
        self._named.add(person.person_id)
        return f"{relation_words(person)} {person.first_name}"

    def _person(self, who: str, rng_key: str) -> Person:
        rng = random.Random(f"{rng_key}/{who}")
        fitting = [p for p in self._people if who in ("someone", p.relation.value) and p.age >= 12]
        grown = [p for p in self._people if p.relation in {Relation.FRIEND, Relation.ACQUAINTANCE}]
        return rng.choice(fitting or grown or list(self._people))


def _as_sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text[-1] in ".!?" else text + "."
