"""The whole story of one conversation, as a pure function of its seed, persona and stages.

Every call that needs a part of the story (one stage's bullets) takes it from the whole. Threads are lived through with
their things; the beats of all instances are laid over the timeline, cut into stages, and given days and values.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from longbeam.offline.balance import Cue, fullness
from longbeam.offline.bounds import NO_BOUNDS, Bounds
from longbeam.offline.drawing import Span
from longbeam.offline.naming import things_of
from longbeam.offline.packs import Pack, Thread, pack_for, read_yaml
from longbeam.offline.telling import Scene, Teller
from longbeam.offline.visits import Visits
from longbeam.schemas.people import Person, Profile
from longbeam.schemas.seeds import Seed

Story = tuple[tuple[Scene, ...], ...]
"""By stage."""
PEOPLE = Path(__file__).parent / "data" / "people.yaml"
THINGS_PER_THREAD = 2.5
"""Of a usual story; `balance` decides."""
LAST_SLACK = 0.68
"""The same for the last stage, where days are left for what all is made for, and for the end."""
AHEAD = (0.76, 0.86)
CLOSING_FROM = 0.9
OUTCOMES = 3
"""Threads of which the last stage tells how they came out."""
DRAWS = 6
"""Choices of things that are tried where every width leaves a question too little."""
SLACK = 0.9
"""Share of a stage's days that its bullets use; the rest is left to turns that are asked for later."""


@lru_cache(maxsize=1)
def people_thread() -> Thread:
    """The thread whose things are the people around the user."""
    return Thread.model_validate(read_yaml(PEOPLE))


def story_of(
    seed: Seed,
    profile: Profile,
    people: tuple[Person, ...],
    stages: tuple[tuple[dt.date, dt.date], ...],
    room: tuple[tuple[int, int], ...],
    rng_key: str,
    bounds: Bounds = NO_BOUNDS,
) -> Story:
    """The scenes of every stage in order.

    `stages`: first and last day of each; `room`: events and relationship scenes of each.
    """
    pack = pack_for(seed)
    closing = _closing_scenes(room[-1][0]) - (not bounds.is_last)
    cues = _ordered_beats(pack, seed, sum(events for events, _ in room) - closing, len(stages), rng_key, bounds)
    schedule = _schedule(cues, stages, room, closing)
    told_on = {(c[0].thread, c[1], c[2].beat): day for stage in schedule for c, day in stage if c is not None}
    ahead, closing_days = _last_days(*stages[-1], closing)
    visits = Visits(people_thread(), people, rng_key, bounds)
    teller = Teller(people, rng_key, told_on, ahead, bounds)
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
    if closing:
        result[-1] += _ending(pack, cues, teller, closing_days, rng_key, is_last=bounds.is_last)
    return tuple(tuple(scenes) for scenes in result)


def _schedule(
    cues: Sequence[Cue],
    stages: Sequence[tuple[dt.date, dt.date]],
    room: Sequence[tuple[int, int]],
    closing: int,
) -> list[list[tuple[Cue | None, dt.date]]]:
    """The beats of each stage with their days; None where somebody is met."""
    beats = iter(cues)
    schedule = []
    for i, ((first, last), (events, relationships)) in enumerate(zip(stages, room, strict=True)):
        is_last = closing > 0 and i == len(stages) - 1
        own = [next(beats) for _ in range(events - closing * is_last)]
        merged = _interleaved(own, relationships)
        schedule.append(
            list(zip(merged, _days(first, last, len(merged), LAST_SLACK if is_last else SLACK), strict=True))
        )
    return schedule


def _last_days(first: dt.date, last: dt.date, closing: int) -> tuple[Span, list[dt.date]]:
    """The days that all is made for, towards the end of the last stage, and those on which the story is closed."""
    days = (last - first).days
    ahead = first + dt.timedelta(days=int(days * AHEAD[0])), first + dt.timedelta(days=int(days * AHEAD[1]))
    begin = first + dt.timedelta(days=int(days * CLOSING_FROM))
    return ahead, _days(begin, last, closing, 1.0)


def _closing_scenes(events: int) -> int:
    """How many of the last stage's scenes tell how things came out."""
    return min(OUTCOMES + 1, events // 4)


def _ending(
    pack: Pack, cues: Sequence[Cue], teller: Teller, days: Sequence[dt.date], rng_key: str, *, is_last: bool
) -> list[Scene]:
    """Outcomes of the threads that were followed longest, of different threads where it can be; then the last word."""
    told: dict[tuple[str, str], list[Cue]] = {}
    for cue in cues:
        told.setdefault((cue[0].thread, cue[1]), []).append(cue)
    instances = list(told.values())
    random.Random(f"{rng_key}/outcomes").shuffle(instances)
    # Those told to the end come first, and among them the subjects of the seed itself.
    instances.sort(key=lambda i: (len(i) < len(i[0][0].beats), bool(i[0][0].things)))
    scenes: list[Scene] = []
    for again in (False, True):
        for (thread, thing, _), *_ in instances:
            used = [s.thread.thread for s in scenes], [s.thing for s in scenes]
            if len(scenes) == len(days) - is_last or thing in used[1] or (thread.thread in used[0] and not again):
                continue
            scene = teller.outcome(thread, thing, days[len(scenes)])
            scenes += [scene] if scene else []
    if not is_last:
        return scenes
    own = next(t for t in pack.threads if not t.things)
    return [*scenes, teller.ending(pack, own, days[-1])]


def _interleaved(own: Sequence[Cue], meetings: int) -> list[Cue | None]:
    """The beats with places for meetings (None) among them."""
    merged: list[Cue | None] = []
    placed = 0
    for i, cue in enumerate(own, 1):
        merged.append(cue)
        while placed < meetings and (placed + 1) * len(own) <= i * (meetings + 1):
            merged.append(None)
            placed += 1
    return merged + [None] * (meetings - placed)


def _days(first: dt.date, last: dt.date, count: int, slack: float) -> list[dt.date]:
    room = int((last - first).days * slack)
    return [first + dt.timedelta(days=room * i // max(count - 1, 1)) for i in range(count)]


def _ordered_beats(pack: Pack, seed: Seed, needed: int, stages: int, rng_key: str, bounds: Bounds) -> list[Cue]:
    """Exactly `needed` beats, in the order of the story, of so many threads as leave every kind of question enough."""
    beats = sum(len(t.beats) for t in pack.threads) / len(pack.threads)
    usual = round(needed / beats / THINGS_PER_THREAD)
    widths = range(min(3, len(pack.threads)), len(pack.threads) + 1)
    best, fullest = list[Cue](), -1.0
    for draw in range(DRAWS):
        for width in sorted(widths, key=lambda w: (abs(w - usual), w)):
            cues = _beats_of(pack, seed, needed, width, f"{rng_key}/beats/{draw}", bounds)
            full = fullness(cues, stages)
            if full > fullest:
                best, fullest = cues, full
            if fullest >= 1:
                return best
    return best


def _beats_of(pack: Pack, seed: Seed, needed: int, width: int, rng_key: str, bounds: Bounds) -> list[Cue]:
    """The beats of `width` threads with their things: every instance begins somewhere and takes its time."""
    rng = random.Random(rng_key)
    instances = list(_instances(pack, seed, needed, width, rng, bounds))
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
    return [cue for _, _, _, cue in timed]


def _instances(
    pack: Pack, seed: Seed, needed: int, width: int, rng: random.Random, bounds: Bounds
) -> Iterator[tuple[Thread, str]]:
    """Thread instances in turn over the threads until there are enough beats."""
    pools = {}
    for thread in pack.threads:
        things = [t for t in thread.things or seed.subtopics if t.casefold() not in bounds.forbidden]
        things = things if thread.things else things_of(things)
        rng.shuffle(things)
        pools[thread.thread] = things
    own = [t for t in pack.threads if not t.things and pools[t.thread]]
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
            if thread.things and thing.casefold() not in bounds.shared:
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
