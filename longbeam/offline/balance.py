"""Measures whether a story leaves enough candidates for probes, which decides how many threads it follows.

A probe with a sum needs one attribute of several things. A probe on order needs several things of a thread. A probe
on time needs dates that do not change. Few threads with many things serve the first two, many threads the last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from longbeam.offline.packs import AMOUNTS, Beat, Thread
from longbeam.schemas import ValueKind

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
