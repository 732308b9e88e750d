"""Greetings that name a part of the day, and the hours at which people write them. English only."""

from __future__ import annotations

import re

Hours = tuple[int, int]
"""An hour, and the hour that ends the span: (18, 24) is from 6 pm on."""

_HOURS: dict[str, Hours] = {"morning": (0, 11), "afternoon": (13, 17), "evening": (18, 24)}
_GREETING = re.compile(
    r"\A\W*(?:(?:hi|hello|hey)\W+)?(?:good\s+(?P<part>morning|afternoon|evening)\b|"
    r"(?P<short>morning|afternoon|evening)(?=[!,.]))",
    re.IGNORECASE,
)


def greeted_hours(text: str) -> Hours | None:
    """Return the hours at which a message is written that begins with such a greeting; None for other messages."""
    found = _GREETING.match(text)
    return _HOURS[(found["part"] or found["short"]).casefold()] if found else None
