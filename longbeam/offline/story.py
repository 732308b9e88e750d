"""The story of one plan: its events, with what must come before what, and the scenes that they become on their days.

A thread of a pack is told with several of its things. The beats of all these instances are spread over the events of
the plan's stages, with meetings between them and outcomes at the end. The days are given by whoever asked for the
events; a call that asks for some scenes takes them from the whole story.
"""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

from longbeam.offline.drawing import Span
from longbeam.offline.language import things_of, upper_first
from longbeam.offline.packs import AMOUNTS, Beat, Pack, Thread, fields_of, pack_for, read_yaml
from longbeam.offline.telling import NO_BOUNDS, WHOLE, Bounds, StoryScene, Teller, person_for
from longbeam.prompts.calls import EventDraft, Figure, LinkDraft, StoryGraph, Weight
from longbeam.schemas import CLOSING, Person, Seed, ValueKind
from longbeam.text import relation_words

Cue = tuple[Thread, str, Beat]
WANTED = {"sums": 16, "days": 11, "orders": 9}
"""Candidates of each kind (dates for `days`) that leave eight after updates and contradictions have taken theirs;
measured on BEAM's seeds at 128K and on the catalogue's at 16K."""
_LENGTHS = (10, 8, 7, 6, 5, 4)
_NEIGHBOURS = 2
"""Number of successive beats that may share a message, where they have no order."""


def fullness(cues: Sequence[Cue], stages: int) -> float:
    """Return how full the scarcest kind of candidates of a story would be, from 0 to 1 (enough)."""
    found = {"sums": _sums(cues, stages), "days": _days(cues), "orders": _orders(cues, stages)}
    return min(1.0, *(found[kind] / wanted for kind, wanted in WANTED.items()))


def _sums(cues: Sequence[Cue], stages: int) -> int:
    """Count pairs of amounts with the same attribute, told in different stages; at most twelve for each attribute."""
    told: dict[tuple[str, str], dict[tuple[str, str], int]] = {}
    for place, (thread, thing, beat) in enumerate(cues):
        for name in (*beat.sets, *beat.fixed, *beat.updates):
            slot = thread.slots[name]
            if slot.type in AMOUNTS and slot.type is not ValueKind.RATIO:
                family = told.setdefault((slot.attribute.casefold(), f"{slot.type.value} {slot.unit}"), {})
                family[thread.thread, thing] = place * stages // len(cues)
    pairs = ([a != b for a, b in combinations(family.values(), 2)] for family in told.values())
    return sum(min(sum(family), 12) for family in pairs)


def _days(cues: Sequence[Cue]) -> int:
    return sum(times == 1 and thread.slots[name].type is ValueKind.DATE for (thread, _, name), times in _slots(cues))


def _orders(cues: Sequence[Cue], stages: int) -> int:
    """Count orders that span two stages: of the things of one thread, or of two threads together."""
    places: dict[str, dict[str, int]] = {}
    for place, (thread, thing, _) in enumerate(cues):
        places.setdefault(thread.thread, {}).setdefault(thing, place)
    themes = [sorted(p.values()) for p in places.values()]
    merged = [sorted([*one, *other]) for one, other in combinations(themes, 2)]
    return sum(
        _has_order(theme[:length], len(cues), stages)
        for theme in (*themes, *merged)
        for length in {len(theme), *_LENGTHS}
        if 4 <= length <= min(10, len(theme))
    )


def _has_order(places: Sequence[int], total: int, stages: int) -> bool:
    messages = {place // _NEIGHBOURS for place in places}
    return len(messages) == len(places) and places[0] * stages // total != places[-1] * stages // total


def _slots(cues: Sequence[Cue]) -> list[tuple[tuple[Thread, str, str], int]]:
    """Return the slots of things that a story tells, with the number of times that it sets each."""
    threads = {thread.thread: thread for thread, _, _ in cues}
    times = Counter(
        (thread.thread, thing, name)
        for thread, thing, beat in cues
        for name in (*beat.sets, *beat.fixed, *beat.updates)
    )
    return [((threads[t], thing, name), n) for (t, thing, name), n in times.items()]


PEOPLE = Path(__file__).parent / "data" / "people.yaml"
SIDE_STORIES = PEOPLE.with_name("side.yaml")
THINGS_PER_THREAD = 2.5
"""Width that is tried first; `balance.fullness` decides."""
AHEAD = (0.76, 0.86)
"""Where the event that the story prepares (a departure) may lie in the last stage, as shares of its days."""
DRAWS = 6
"""Draws of things to try where no number of threads leaves enough candidates for every kind of probe."""
EVENTS_PER_MEETING, MOST_MEETINGS = 7, 3
"""Events of a stage for each scene with one of the people, and their most."""
REPORTED_AFTER, LEAST_APART = dt.timedelta(days=20), 5
"""Time after which the user reports on a meeting, and the least days that lie between."""
TOLD_BEHIND = 2
"""Least days between a beat that names a day and the one that tells how it went."""
Meeting = tuple[Thread, Person, Beat]


@lru_cache(maxsize=1)
def people_thread() -> Thread:
    """Return the thread whose things are the people around the user."""
    return Thread.model_validate(read_yaml(PEOPLE))


@dataclass(frozen=True)
class StoryInputs:
    """Everything that the events of a plan depend on, besides the packs."""

    seed: Seed
    people: tuple[Person, ...]
    stages: tuple[Span, ...]
    """First and last day of each stage."""
    counts: tuple[int, ...]
    """Events of each stage, without those of its side story."""
    closing: int
    """Events at the end of the last stage that tell how things came out."""
    rng_key: str
    """Key of all random draws."""
    bounds: Bounds = NO_BOUNDS
    opening: str = ""
    """Thing of the first event, where it says what is over and what begins; empty for a first plan."""
    side: tuple[int, ...] = ()
    """Ordinals of the events that tell side stories, among all events of the plan."""

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Ordinals of the script's events among all."""
        return tuple(n for n in range(1, sum(self.counts) + len(self.side) + 1) if n not in self.side)

    @cached_property
    def pack(self) -> Pack:
        """The pack that the story is told from."""
        return pack_for(self.seed)

    @cached_property
    def kinds(self) -> tuple[tuple[str, ...], ...]:
        """Kinds of the events of each stage: `beat`, `meeting`, `opening` or `closing`."""
        stages = []
        for i, count in enumerate(self.counts):
            closing = self.closing if i == len(self.counts) - 1 else 0
            opening = bool(self.opening) and not i
            going = count - closing - opening
            meetings = max(1, min(MOST_MEETINGS, going // EVENTS_PER_MEETING)) if self.people else 0
            own = ["beat"] * going
            for n in range(meetings):
                own[(2 * n + 1) * going // (2 * meetings)] = "meeting"
            stages.append(("opening",) * opening + tuple(own) + (CLOSING,) * closing)
        return tuple(stages)

    @cached_property
    def going_on(self) -> int:
        """Number of beats of the pack's threads."""
        return sum(kind == "beat" for stage in self.kinds for kind in stage)


@dataclass(frozen=True)
class Step:
    """One event of the script."""

    kind: str
    stage_index: int
    thread: Thread
    thing: str | Person
    beat: Beat
    after: tuple[tuple[int, int], ...] = ()
    """Ordinals of the events before it that it follows, from 1, each with the least days between."""
    opens: bool = False
    closes: bool = False

    @property
    def subject(self) -> str:
        """The thing, or the person's first name."""
        return self.thing if isinstance(self.thing, str) else self.thing.first_name


Script = tuple[Step, ...]
"""The events of a plan in the order in which they can happen."""


def script_of(inputs: StoryInputs) -> Script:
    """Return the events of every stage, in order."""
    cues = _ordered_beats(inputs)
    beats, visits = iter(cues), _Visits(inputs)
    endings = iter(_endings(inputs, cues))
    told: dict[tuple[str, str], list[int]] = defaultdict(list)
    total: dict[tuple[str, str], int] = defaultdict(int)
    for thread, thing, _ in cues:
        total[thread.thread, thing] += 1
    steps: list[Step] = []
    for i, (kinds, (first, last)) in enumerate(zip(inputs.kinds, inputs.stages, strict=True)):
        for n, kind in enumerate(kinds):
            number = len(steps) + 1
            if kind == "meeting":
                day = first + dt.timedelta(days=(last - first).days * n // len(kinds))
                (thread, person, beat), reports_on = visits.next(day, number)
                after = ((reports_on, LEAST_APART),) if reports_on else ()
                steps.append(Step(kind, i, thread, person, beat, after))
            elif kind == "beat":
                thread, thing, beat = next(beats)
                own = told[thread.thread, thing]
                own.append(number)
                is_whole = total[thread.thread, thing] == len(thread.beats)
                opens, closes = is_whole and len(own) == 1, is_whole and len(own) == len(thread.beats)
                steps.append(Step(kind, i, thread, thing, beat, tuple(_links(thread, beat, own)), opens, closes))
            elif kind == "opening":
                steps.append(Step(kind, i, inputs.pack.threads[0], inputs.opening, inputs.pack.threads[0].beats[0]))
            else:
                thread, thing = next(endings)
                steps.append(Step(kind, i, thread, thing, thread.beats[-1]))
    return tuple(steps)


def _links(thread: Thread, beat: Beat, own: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the events that a beat follows: the one before, and the one that named the day of which it tells."""
    if len(own) > 1:
        yield own[-2], 0
    named = {name for name, slot in thread.slots.items() if slot.told_by == beat.beat}
    earlier = zip(own[:-1], thread.beats, strict=False)
    naming = [number for number, other in earlier if named & {*other.sets, *other.fixed, *other.updates}]
    if naming:
        yield naming[-1], TOLD_BEHIND


def draft_of(inputs: StoryInputs, step: Step, number: int, narrative: str) -> EventDraft:
    """Return an event of the script as a reply tells it."""
    people, rng_key = inputs.people, inputs.rng_key
    with_ = [step.thing.first_name] if isinstance(step.thing, Person) else []
    if step.kind == "beat" and step.beat.who is not None:
        with_ = [person_for(people, step.beat.who, f"{rng_key}/{step.thread.thread}/{step.thing}").first_name]
    return EventDraft(
        event=f"e{number}",
        narrative=narrative,
        thing=step.subject,
        what=f"{step.subject}: {step.beat.beat.replace('_', ' ')}, as {step.thread.about} goes on ({number}).",
        people=with_,
        of_a_person=step.kind == "meeting",
        after=[LinkDraft(event=f"e{inputs.numbers[n - 1]}", least_days=days) for n, days in step.after],
        opens=[step.subject] * step.opens,
        closes=[step.subject] * step.closes,
        weight=Weight.TRIFLE if step.kind == "beat" and step.beat.deny else Weight.USUAL,
        figure=Figure.MAY_CHANGE if step.beat.sets else Figure.STAYS,
    )


@lru_cache(maxsize=1)
def _side_pack() -> Sequence[Mapping[str, Any]]:
    read: Sequence[Mapping[str, Any]] = read_yaml(SIDE_STORIES)
    return read


def side_told(people: Sequence[Person], story: int, part: int, rng_key: str) -> tuple[Person, str, str]:
    """Return the person of a plan's side story by its number, its thing, and the text of one of its events."""
    stories, around = list(_side_pack()), list(people)
    random.Random(f"{rng_key}/side").shuffle(stories)
    random.Random(f"{rng_key}/side/people").shuffle(around)
    told, person = stories[story % len(stories)], around[story % len(around)]
    called = person.first_name if part else f"{relation_words(person)} {person.first_name}"
    text = upper_first(told["tell"][part].replace("{it}", called)) + "."
    return person, f"the {told['thing']} of {person.first_name}", text


def scenes_of(inputs: StoryInputs, script: Script, graph: StoryGraph) -> dict[str, StoryScene]:
    """Return the scenes of all events by id, told in the order of their days; an opening has none."""
    days = {e.event_id: e.day for e in graph.events() if e.day is not None}
    dated = [(i, step, days[f"e{i}"]) for i, step in zip(inputs.numbers, script, strict=True) if f"e{i}" in days]
    dated.sort(key=lambda one: one[2])
    told_on = {
        (step.thread.thread, step.subject, step.beat.beat): day for _, step, day in dated if step.kind != CLOSING
    }
    teller = Teller(inputs.people, inputs.rng_key, told_on, _ahead(*inputs.stages[-1]), inputs.bounds)
    scenes: dict[str, StoryScene] = {}
    for i, step, day in dated:
        if step.kind == CLOSING:
            scene = None if step.thing == WHOLE else teller.outcome(step.thread, step.subject, day)
            scenes[f"e{i}"] = scene or teller.ending(inputs.pack, step.thread, day)
        elif step.kind != "opening":
            scenes[f"e{i}"] = teller.scene(step.thread, step.thing, step.beat, day)
    return scenes


def _ahead(first: dt.date, last: dt.date) -> Span:
    """Return when the prepared event may lie in the last stage."""
    days = (last - first).days
    return first + dt.timedelta(days=int(days * AHEAD[0])), first + dt.timedelta(days=int(days * AHEAD[1]))


def _endings(inputs: StoryInputs, cues: Sequence[Cue]) -> list[tuple[Thread, str]]:
    """Return the threads and things whose outcomes end a plan and, in the last plan, the last message.

    Those that were followed longest come first; each is of another thread, as far as there are enough threads.
    """
    told: dict[tuple[str, str], list[Cue]] = {}
    for cue in cues:
        told.setdefault((cue[0].thread, cue[1]), []).append(cue)
    instances = list(told.values())
    random.Random(f"{inputs.rng_key}/outcomes").shuffle(instances)
    # Instances told to the end come first, and among them the subjects of the seed itself.
    instances.sort(key=lambda i: (len(i) < len(i[0][0].beats), bool(i[0][0].things)))
    is_last = inputs.bounds.is_last
    found: list[tuple[Thread, str]] = []
    for again in (False, True):
        for instance in instances:
            thread, thing, _ = instance[0]
            used = [t.thread for t, _ in found], [it for _, it in found]
            if (
                len(found) < inputs.closing - is_last
                and thing not in used[1]
                and (thread.thread not in used[0] or again)
            ):
                found += [(thread, thing)] if _has_outcome(thread, instance) else []
    own = next(t for t in inputs.pack.threads if not t.things)
    return found + [(own, WHOLE)] * (inputs.closing - len(found))


def _has_outcome(thread: Thread, instance: Sequence[Cue]) -> bool:
    """Return whether one of a thread's outcomes needs no value that was never told."""
    known = {"it", *(name for _, _, beat in instance for name in (*beat.sets, *beat.fixed, *beat.updates))}
    return any(fields_of(template) <= known for template in thread.outcome)


class _Visits:
    """Chooses meetings: a report if one is due, else a new meeting; the same person not twice in a row, if possible."""

    def __init__(self, inputs: StoryInputs) -> None:
        thread, bounds = people_thread(), inputs.bounds
        pairs = [
            (thread, p, b) for p in inputs.people for b in thread.beats if b.who == p.relation.value and not b.after
        ]
        pairs = [c for c in pairs if not any(slot in bounds.settled for slot in _slots_of(c, c[2].fixed))]
        # A meeting that an earlier plan has told comes again only when nothing else is left.
        known = {(subject, attribute) for subject, attribute, _ in bounds.known}
        pairs = [c for c in pairs if not _is_told(c, known)] or pairs
        random.Random(f"{inputs.rng_key}/people").shuffle(pairs)
        self._pairs = pairs
        self._fresh = list(pairs)
        self._due: list[tuple[dt.date, Meeting, int]] = []
        self._last: Person | None = None

    def next(self, day: dt.date, number: int) -> tuple[Meeting, int]:
        """Return the meeting of about a day, and the number of the one that it reports on; 0 for a new one."""
        due = [entry for entry in self._due if entry[0] <= day]
        report = next((entry for entry in due if entry[1][1] is not self._last), None)
        reports_on = 0
        if report is not None:
            self._due.remove(report)
            meeting, reports_on = report[1], report[2]
        else:
            if not self._fresh:
                # All meetings were told: those that can happen more than once are told again.
                self._pairs = [p for p in self._pairs if not p[2].fixed] or self._pairs
                self._fresh = list(self._pairs)
            waiting = {entry[1][1].person_id for entry in self._due}
            order = [c for c in self._fresh if c[1].person_id not in waiting] or self._fresh
            meeting = next((c for c in order if c[1] is not self._last), order[0])
            self._fresh.remove(meeting)
        self._last = meeting[1]
        thread, person, beat = meeting
        reports = (other for other in thread.beats if other.after == beat.beat)
        self._due += [(day + REPORTED_AFTER, (thread, person, other), number) for other in reports]
        return meeting, reports_on


def _slots_of(meeting: Meeting, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return subject and attribute of slots of the person met."""
    thread, person, _ = meeting
    return [(person.first_name, thread.slots[name].attribute) for name in names]


def _is_told(meeting: Meeting, known: set[tuple[str, str]]) -> bool:
    beat = meeting[2]
    said = _slots_of(meeting, (*beat.sets, *beat.fixed, *beat.updates))
    return bool(said) and all(slot in known for slot in said)


def _ordered_beats(inputs: StoryInputs) -> list[Cue]:
    """Return the beats of all events before the closing scenes, in the order of the story.

    The number of threads is the first, by distance from the usual one, that leaves enough candidates for every kind
    of probe; if none does, the fullest of all draws is taken.
    """
    threads = inputs.pack.threads
    beats = sum(len(t.beats) for t in threads) / len(threads)
    usual = round(inputs.going_on / beats / THINGS_PER_THREAD)
    widths = range(min(3, len(threads)), len(threads) + 1)
    best, fullest = list[Cue](), -1.0
    for draw in range(DRAWS):
        for width in sorted(widths, key=lambda w: (abs(w - usual), w)):
            cues = _beats_of(inputs, width, random.Random(f"{inputs.rng_key}/beats/{draw}"))
            full = fullness(cues, len(inputs.counts))
            if full > fullest:
                best, fullest = cues, full
            if fullest >= 1:
                return best
    return best


def _beats_of(inputs: StoryInputs, width: int, rng: random.Random) -> list[Cue]:
    """Return the beats of `width` threads with their things; every instance has a beginning and a span of its own."""
    instances = list(_instances(inputs, width, rng))
    excess = sum(len(t.beats) for t, _ in instances) - inputs.going_on
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
    while len(timed) > inputs.going_on:  # an instance with fewer beats than the excess: drop the latest endings
        timed.pop()
    return [cue for _, _, _, cue in timed]


def _instances(inputs: StoryInputs, width: int, rng: random.Random) -> Iterator[tuple[Thread, str]]:
    """Yield pairs of thread and thing, in turn over the threads, until there are enough beats."""
    pools, pack, bounds = {}, inputs.pack, inputs.bounds
    for thread in pack.threads:
        things = [t for t in thread.things or inputs.seed.subtopics if t.casefold() not in bounds.forbidden]
        things = things if thread.things else things_of(things)
        rng.shuffle(things)
        pools[thread.thread] = things
    own = [t for t in pack.threads if not t.things and pools[t.thread]]
    others = [t for t in pack.threads if t.things and pools[t.thread]]
    rng.shuffle(others)
    order = (own + others)[:width]
    rng.shuffle(order)
    count, lap = 0, 0
    while count < inputs.going_on:
        for thread in order:
            if count >= inputs.going_on:
                return
            things = pools[thread.thread]
            thing, round_ = things[lap % len(things)], lap // len(things)
            if thread.things and thing.casefold() not in bounds.shared:
                round_ += ROUNDS_PER_PASS * bounds.passed
            if round_:
                # Every thing has been told: the story takes it up again as a new round.
                thing = f"{_ROUNDS[(round_ - 1) % len(_ROUNDS)]} of {thing}"
            yield thread, thing
            count += len(thread.beats)
        lap += 1


ROUNDS_PER_PASS = 2
"""Rounds of a pack's things that one plan may use."""
_ROUNDS = ("the second round", "the third round", "the final round", "the follow-up", "the repeat", "the last pass")
