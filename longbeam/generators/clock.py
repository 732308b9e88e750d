"""Times of messages: spread over the waking day as people write, and never decreasing."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from itertools import groupby

FIRST_HOUR, LAST_HOUR = 7, 23
"""Waking hours, in which messages are sent."""
HOURS = (3, 6, 6, 6, 5, 6, 7, 6, 6, 6, 7, 9, 10, 9, 6, 2)
"""Weight of each waking hour, from FIRST_HOUR on. Chosen: some before work, most from early afternoon to evening.
LoCoMo's 86 sessions lie there, too (65 of them after 1 pm)."""
SITTING = 0.45
"""Share of the turns of a day that follow the turn before at once, in the same sitting."""
REPLY_S, ANSWER_S, NEXT_TURN_S = (8, 90), (40, 420), (90, 900)
"""Least and most seconds until a reply, an answer or a follow-up, and the next turn of a sitting."""


def sent_times(lines: Sequence[tuple[dt.date, int]], rng_key: str) -> list[dt.datetime]:
    """Return one time per message, each given as its day and its turn; the days never decrease.

    The times of a day depend on its own messages only, so adding days at the end changes no earlier time.
    """
    times: list[dt.datetime] = []
    for day, group in groupby(lines, key=lambda line: line[0]):
        rng = random.Random(f"{rng_key}/{day.isoformat()}")
        counts = [len(list(turn)) for _, turn in groupby(group, key=lambda line: line[1])]
        midnight = dt.datetime.combine(day, dt.time())
        times += [midnight + dt.timedelta(seconds=int(at)) for at in _seconds(counts, rng)]
    return times


def _seconds(counts: Sequence[int], rng: random.Random) -> list[float]:
    """Return the seconds from midnight of a day's messages; `counts`: messages of each turn, in order."""
    sittings: list[list[float]] = []
    for i, count in enumerate(counts):
        if i == 0 or rng.random() >= SITTING:
            sittings.append([0.0])
        else:
            sittings[-1].append(sittings[-1][-1] + rng.uniform(*NEXT_TURN_S))
        for j in range(1, count):
            sittings[-1].append(sittings[-1][-1] + rng.uniform(*(REPLY_S if j % 2 else ANSWER_S)))
    hours = rng.choices(range(len(HOURS)), HOURS, k=len(sittings))
    begins = sorted((hour + rng.random()) / len(HOURS) for hour in hours)
    return _packed(sittings, begins)


def _packed(sittings: Sequence[Sequence[float]], begins: Sequence[float]) -> list[float]:
    """Return the seconds of all messages; sittings begin at these shares of the free time and do not overlap."""
    day = (LAST_HOUR - FIRST_HOUR) * 3600.0
    lengths = [sitting[-1] + NEXT_TURN_S[0] for sitting in sittings]
    # A day of hundreds of messages is told faster.
    pace = min(1.0, 0.9 * day / sum(lengths))
    free, passed = day - pace * sum(lengths), 0.0
    seconds: list[float] = []
    for sitting, begin, length in zip(sittings, begins, lengths, strict=True):
        start = FIRST_HOUR * 3600 + free * begin + passed
        seconds += [start + pace * offset for offset in sitting]
        passed += pace * length
    return seconds
