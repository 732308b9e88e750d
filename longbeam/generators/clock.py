"""Times of messages: spread over the waking day as people write, and never decreasing."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby

from longbeam.text import Hours

FIRST_HOUR, LAST_HOUR = 7, 23
"""Waking hours, in which messages are sent."""
HOURS = (3, 6, 6, 6, 5, 6, 7, 6, 6, 6, 7, 9, 10, 9, 6, 2)
"""Weight of each waking hour, from FIRST_HOUR on. Chosen: some before work, most from early afternoon to evening.
LoCoMo's 86 sessions lie there, too (65 of them after 1 pm)."""
SITTING = 0.45
"""Share of the turns of a day that follow the turn before at once, in the same sitting."""
REPLY_S, ANSWER_S, NEXT_TURN_S = (8, 90), (40, 420), (90, 900)
"""Least and most seconds until a reply, an answer or a follow-up, and the next turn of a sitting."""


def sent_times(
    lines: Sequence[tuple[dt.date, int]], rng_key: str, greeted: Mapping[int, Hours] | None = None
) -> list[dt.datetime]:
    """Return one time per message, each given as its day and its turn; the days never decrease.

    `greeted`: the hours of turns that say a part of the day, which begin in these hours, or half an hour or so off.
    The times of a day depend on its own messages only, so adding days at the end changes no earlier time.
    """
    times: list[dt.datetime] = []
    for day, group in groupby(lines, key=lambda line: line[0]):
        rng = random.Random(f"{rng_key}/{day.isoformat()}")
        counts = {turn: len(list(messages)) for turn, messages in groupby(group, key=lambda line: line[1])}
        spans = [(greeted or {}).get(turn, (FIRST_HOUR, LAST_HOUR)) for turn in counts]
        midnight = dt.datetime.combine(day, dt.time())
        seconds = _seconds(list(counts.values()), spans, rng)
        times += [midnight + dt.timedelta(seconds=int(at)) for at in seconds]
    return times


def _seconds(counts: Sequence[int], spans: Sequence[Hours], rng: random.Random) -> list[float]:
    """Return the seconds from midnight of a day's messages; `counts`, `spans`: messages and hours of each turn."""
    sittings: list[list[float]] = []
    hours: list[Hours] = []
    for i, (count, (first, last)) in enumerate(zip(counts, spans, strict=True)):
        if i == 0 or rng.random() >= SITTING:
            sittings.append([0.0])
            hours.append((first, last))
        else:
            sittings[-1].append(sittings[-1][-1] + rng.uniform(*NEXT_TURN_S))
            hours[-1] = max(hours[-1][0], first), min(hours[-1][1], last)
        for j in range(1, count):
            sittings[-1].append(sittings[-1][-1] + rng.uniform(*(REPLY_S if j % 2 else ANSWER_S)))
    drawn = [rng.choices(range(len(HOURS)), _weights(span))[0] for span in _in_order(hours)]
    begins = sorted((hour + rng.random()) / len(HOURS) for hour in drawn)
    return _packed(sittings, begins)


def _in_order(spans: Sequence[Hours]) -> list[Hours]:
    """Return the hours left for each sitting: none begins before one in front of it can, or after one behind it has to.

    Where two sittings contradict each other, the one in front holds.
    """
    firsts = list(accumulate((first for first, _ in spans), max))
    lasts = list(accumulate((last for _, last in reversed(spans)), min))[::-1]
    return [(first, max(last, first + 1)) for first, last in zip(firsts, lasts, strict=True)]


def _weights(span: Hours) -> list[int]:
    return [weight if span[0] <= hour < span[1] else 0 for hour, weight in enumerate(HOURS, FIRST_HOUR)]


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
