"""Times of messages: plausible within their days, and never decreasing."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from itertools import groupby

FIRST_MINUTE, LAST_MINUTE = 7 * 60 + 30, 22 * 60 + 30


def sent_times(days: Sequence[dt.date], rng_key: str) -> list[dt.datetime]:
    """Return one time per message; `days` never decrease. Messages of a day are spread over its waking hours.

    The times of a day depend on its own messages only, so adding days at the end changes no earlier time.
    """
    times: list[dt.datetime] = []
    for day, group in groupby(days):
        count = len(list(group))
        rng = random.Random(f"{rng_key}/{day.isoformat()}")
        # A reply comes within a minute or two; the gaps between exchanges share the rest of the day.
        first = FIRST_MINUTE * 60 + rng.randrange(0, 3 * 3600)
        room = (LAST_MINUTE * 60 - first) / max(count, 1)
        at = float(first)
        for i in range(count):
            at += rng.uniform(15, min(90, room)) if i % 2 else rng.uniform(min(60, room / 2), min(room * 1.2, 3600))
            times.append(dt.datetime.combine(day, dt.time()) + dt.timedelta(seconds=int(min(at, 86_399))))
    return times
