"""How many threads a story follows: as many as leave enough facts to compare, to order and to count days between.

A probe that adds up needs one attribute of several things, one that orders needs several things of a thread, and
one on time needs days that nothing changes. Few threads with many things serve the first two, many threads the last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from longbeam.offline.packs import AMOUNTS, Beat, Thread
from longbeam.schemas.plans import ValueKind

Cue = tuple[Thread, str, Beat]
WANTED = {"sums": 16, "days": 11, "orders": 9}
"""Candidates (of days: dates) from which on eight are left when updates and contradictions have taken theirs;
measured on the seeds of BEAM at 128K and on the catalogue's at 16K."""
_LENGTHS = (10, 8, 7, 6, 5, 4)
_NEIGHBOURS = 2
"""Beats that may share a message, and then have no order."""


def fullness(cues: Sequence[Cue], stages: int) -> float:
    """How full the scarcest pool of a story of so many stages would be, from 0 to 1 (enough)."""
    found = {"sums": _sums(cues, stages), "days": _days(cues), "orders": _orders(cues, stages)}
    return min(1.0, *(found[kind] / wanted for kind, wanted in WANTED.items()))


def _sums(cues: Sequence[Cue], stages: int) -> int:
    """Pairs of amounts of one attribute that are told in different stages, up to twelve of each attribute."""
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
    """Orders of a thread's things, and of those of two threads together, that span two stages."""
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
    """Slots of things that a story tells, with how often it sets them."""
    threads = {thread.thread: thread for thread, _, _ in cues}
    times = Counter(
        (thread.thread, thing, name)
        for thread, thing, beat in cues
        for name in (*beat.sets, *beat.fixed, *beat.updates)
    )
    return [((threads[t], thing, name), n) for (t, thing, name), n in times.items()]
