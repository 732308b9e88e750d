"""Remarks on dates that have passed, which end a statement of the user's: that they passed, and how they went."""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache

from longbeam.offline.language import fill, pattern_of, phrases
from longbeam.schemas import Value
from longbeam.text import times

_MISSED = phrases("remarks", "missed")
_PASSED = phrases("remarks", "passed")
_MET = phrases("remarks", "met")
_WENT = phrases("remarks", "went")
_WORK_TO_END = re.compile(
    r"target|deadline|completion|finishing|decision|due|submission|hand-in|milestone|hoped|freeze"
)
"""Attributes of deadlines; other dates pass without being missed."""
_ENDINGS = tuple(
    re.compile(r"(?<=[.!?\"]) " + pattern_of(t).pattern.replace(".+?", "[^.!?]+?") + "$")
    for t in (*_MISSED, *_PASSED, *_MET, *_WENT)
)


def remark_on(attribute: str, value: Value, today: dt.date, number: int, *, goes_on: bool) -> str | None:
    """Return a sentence on a date that has passed; None for a date to come, empty where no remark is made.

    `number`: the number of earlier remarks, which chooses the wording. `goes_on`: whether the matter is still open.
    """
    if value.date is None or value.date >= today:
        return None
    if _WORK_TO_END.search(attribute.casefold()) is None and number % 3:
        return ""
    missed = goes_on and _WORK_TO_END.search(attribute.casefold()) is not None
    pool = _MISSED if missed else _PASSED
    return fill(pool[number % len(pool)], {"date": times.format_date(value.date), "attribute": attribute})


def outcome_of(it: str, attribute: str, value: Value, number: int, *, is_person: bool) -> str:
    """Return a sentence on how an announced date for a thing or with a person went; `number` chooses the wording."""
    pool = _MET if _WORK_TO_END.search(attribute.casefold()) else _WENT
    return fill(
        pool[number % len(pool)],
        {"it": it, "of": "with" if is_person else "for", "date": value.text, "attribute": attribute},
    )


@lru_cache(maxsize=4096)
def without_remark(text: str) -> str:
    """Return a statement without a remark at its end."""
    for pattern in _ENDINGS:
        found = pattern.search(text)
        if found:
            return text[: found.start()]
    return text
