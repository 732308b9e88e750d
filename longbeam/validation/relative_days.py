"""Days that nobody writes out: `yesterday` in a message of May 8 says May 7, `last year` in 2023 says 2022.

A phrase gives a range of days around the day of the message; what people mean by `last week` differs by some days.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

from longbeam.schemas.dialogue import Message
from longbeam.schemas.plans import Value, ValueKind
from longbeam.text.values import parse_value

_COUNT = r"(?P<n>\d{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten|a couple of|a few|several)"
_COUNTS = {"a": 1, "an": 1, "one": 1, "a couple of": 2, "a few": 4, "several": 4} | {
    word: n for n, word in enumerate(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 2)
}
_UNITS = {"day": 1, "week": 7, "month": 30.5, "year": 365.25}
_AGO = re.compile(
    rf"\b{_COUNT} (?P<unit>day|week|month|year)s? (?P<side>ago|back|from now|earlier|now|already)\b", re.IGNORECASE
)
_IN = re.compile(rf"\bin {_COUNT} (?P<unit>day|week|month|year)s?\b", re.IGNORECASE)
_PHRASES = tuple(
    (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), first, last)
    for pattern, first, last in (
        (r"yesterday|last night", -1, -1),
        (r"today|tonight|this (?:morning|afternoon|evening)", 0, 0),
        (r"tomorrow", 1, 1),
        (r"(?:just|recently|the other day|lately|these days)", -14, 0),
        (r"(?:last|past|previous) (?:week(?:end)?|few days)|(?:last|past) \w+day", -14, -1),
        (r"this (?:past )?(?:week(?:end)?|\w+day)|(?:on|since) \w+day", -8, 8),
        (r"(?:next|upcoming|coming) (?:week(?:end)?|\w+day)", 1, 15),
        (r"(?:last|past) month", -62, -1),
        (r"this month", -31, 31),
        (r"next month", 1, 62),
        (r"(?:last|past) (?:year|summer|winter|spring|fall|autumn)", -730, -1),
        (r"this (?:year|summer|winter|spring|fall|autumn)", -365, 365),
        (r"next (?:year|summer|winter|spring|fall|autumn)", 1, 730),
    )
)


def is_day_meant(message: Message, value: Value) -> bool:
    """Return whether a message means a date, or a bare year, by a phrase that is relative to its own day."""
    sent = message.sent_at.date()
    if value.kind is ValueKind.NUMBER and value.number is not None and not value.unit:
        if not 1900 <= value.number <= 2100:
            return False
        return sent.year == value.number or any(
            (sent + dt.timedelta(first)).year <= value.number <= (sent + dt.timedelta(last)).year
            for first, last in _ranges(message.content)
        )
    day = _date_of(value, sent)
    if value.kind is not ValueKind.DATE or day is None:
        return False
    return any(first <= (day - sent).days <= last for first, last in _ranges(message.content))


def _date_of(value: Value, near: dt.date) -> dt.date | None:
    """Return the date of a value; a year that is not written is that of the message."""
    if value.date is not None or value.kind is not ValueKind.DATE:
        return value.date
    read = parse_value(value.text, year=near.year)
    return read.date


def _ranges(text: str) -> Iterator[tuple[int, int]]:
    """Yield first and last day, counted from the day of the text, that its phrases may mean."""
    for pattern, first, last in _PHRASES:
        if pattern.search(text):
            yield first, last
    for match in (*_AGO.finditer(text), *_IN.finditer(text)):
        said = match["n"].casefold()
        days = (_COUNTS[said] if said in _COUNTS else int(said)) * _UNITS[match["unit"].casefold()]
        slack = max(1, days / 4 if match["unit"].casefold() != "day" else 1)
        is_past = match.groupdict().get("side", "from now").casefold() != "from now"
        low, high = (-days - slack, -days + slack) if is_past else (days - slack, days + slack)
        yield int(low), int(high)
