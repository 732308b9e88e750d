"""Review events of one probe, each a second later than the one before."""

from __future__ import annotations

import datetime as dt
import itertools
from typing import Any

from longbeam.review import probe_version
from longbeam.schemas import EventKind, ReviewEvent
from tests.tiny import tiny_conversation

PROBE = tiny_conversation().asked[1]
START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
_ids = itertools.count()


def event(kind: str, target: str = "item", after: Any = None, who: str = "ana", at: int | None = None) -> ReviewEvent:
    number = next(_ids)
    return ReviewEvent(
        event_id=f"e{number}",
        item_id="c000/information_extraction.0",
        probe_version=probe_version(PROBE),
        reviewer_id=who,
        kind=EventKind(kind),
        target=target,
        after=after,
        created_at=START + dt.timedelta(seconds=number if at is None else at),
    )


def accept(who: str = "ana") -> ReviewEvent:
    return event("judged", after={"verdict": "accept"}, who=who)
