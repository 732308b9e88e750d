"""The story of one plan: a pure function of its seed, people and stages.

Each thread of the pack is told with several of its things. The beats of all these instances are spread over the lines
of the plan's sheet, which give them their days. A call that asks for some lines takes them from the whole story.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from longbeam.offline.balance import Cue, fullness
from longbeam.offline.bounds import NO_BOUNDS, Bounds
from longbeam.offline.drawing import Span
from longbeam.offline.naming import things_of
from longbeam.offline.packs import Pack, Thread, pack_for, read_yaml
from longbeam.offline.telling import StoryScene, Teller
from longbeam.offline.visits import Visits
from longbeam.prompts.calls import SheetLine
from longbeam.schemas import BulletKind, Person, Seed

Story = tuple[tuple[StoryScene, ...], ...]
"""Scenes of each stage."""
PEOPLE = Path(__file__).parent / "data" / "people.yaml"
THINGS_PER_THREAD = 2.5
"""Width that is tried first; `balance.fullness` decides."""
AHEAD = (0.76, 0.86)
"""Where the event that the story prepares (a departure) may lie in the last stage, as shares of its days."""
DRAWS = 6
"""Draws of things to try where no number of threads leaves enough candidates for every kind of probe."""


@lru_cache(maxsize=1)
def people_thread() -> Thread:
    """Return the thread whose things are the people around the user."""
    return Thread.model_validate(read_yaml(PEOPLE))


@dataclass(frozen=True)
class StoryInputs:
    """Everything that a story depends on, besides the packs."""

    seed: Seed
    people: tuple[Person, ...]
    stages: tuple[Span, ...]
    """First and last day of each stage."""
    sheet: tuple[tuple[SheetLine, ...], ...]
    """Lines of each stage: kinds and days."""
    rng_key: str
    """Key of all random draws."""
    bounds: Bounds = NO_BOUNDS

    @cached_property
    def pack(self) -> Pack:
        """The pack that the story is told from."""
        return pack_for(self.seed)

    @cached_property
    def closing_days(self) -> tuple[dt.date, ...]:
        """Days of the scenes at the end of the last stage that tell how things came out."""
        return tuple(line.day for line in self.sheet[-1] if line.part == "closing")

    @cached_property
    def going_on(self) -> int:
        """Number of events before the closing scenes."""
        return sum(is_event(line) for lines in self.sheet for line in lines)


def is_event(line: SheetLine) -> bool:
    """Return whether a line is told by a beat of one of the pack's threads."""
    return line.kind is BulletKind.EVENT and not line.part


def story_of(inputs: StoryInputs) -> Story:
    """Return the scenes of every stage, in order."""
    cues = _ordered_beats(inputs)
    schedule = _schedule(inputs, cues)
    told_on = {(c[0].thread, c[1], c[2].beat): day for stage in schedule for c, day in stage if c is not None}
    ahead = _ahead(*inputs.stages[-1])
    visits = Visits(people_thread(), inputs.people, inputs.rng_key, inputs.bounds)
    teller = Teller(inputs.people, inputs.rng_key, told_on, ahead, inputs.bounds)
    result = []
    for stage in schedule:
        scenes = []
        for cue, day in stage:
            if cue is not None:
                scenes.append(teller.scene(*cue, day))
            else:
                meeting = visits.next(day)
                scenes.append(teller.scene(*meeting, day))
                visits.told(meeting, scenes[-1], teller)
        result.append(scenes)
    if inputs.closing_days:
        result[-1] += _ending(inputs, cues, teller, inputs.closing_days)
    return tuple(tuple(scenes) for scenes in result)


def _schedule(inputs: StoryInputs, cues: Sequence[Cue]) -> list[list[tuple[Cue | None, dt.date]]]:
    """Return the beats of each stage with their days; None stands for a scene with one of the people."""
    beats = iter(cues)
    return [
        [
            (next(beats) if is_event(line) else None, line.day)
            for line in lines
            if is_event(line) or line.kind is BulletKind.RELATIONSHIP
        ]
        for lines in inputs.sheet
    ]


def _ahead(first: dt.date, last: dt.date) -> Span:
    """Return when the prepared event may lie in the last stage."""
    days = (last - first).days
    return first + dt.timedelta(days=int(days * AHEAD[0])), first + dt.timedelta(days=int(days * AHEAD[1]))


def _ending(inputs: StoryInputs, cues: Sequence[Cue], teller: Teller, days: Sequence[dt.date]) -> list[StoryScene]:
    """Return outcomes of the threads that were followed longest and, in the last plan, the last message.

    Each outcome is of another thread, as far as there are enough threads.
    """
    told: dict[tuple[str, str], list[Cue]] = {}
    for cue in cues:
        told.setdefault((cue[0].thread, cue[1]), []).append(cue)
    instances = list(told.values())
    random.Random(f"{inputs.rng_key}/outcomes").shuffle(instances)
    # Instances told to the end come first, and among them the subjects of the seed itself.
    instances.sort(key=lambda i: (len(i) < len(i[0][0].beats), bool(i[0][0].things)))
    is_last = inputs.bounds.is_last
    scenes: list[StoryScene] = []
    for again in (False, True):
        for (thread, thing, _), *_ in instances:
            used = [s.thread.thread for s in scenes], [s.thing for s in scenes]
            if len(scenes) == len(days) - is_last or thing in used[1] or (thread.thread in used[0] and not again):
                continue
            scene = teller.outcome(thread, thing, days[len(scenes)])
            scenes += [scene] if scene else []
    if not is_last:
        return scenes
    own = next(t for t in inputs.pack.threads if not t.things)
    return [*scenes, teller.ending(inputs.pack, own, days[-1])]


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
            full = fullness(cues, len(inputs.stages))
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
