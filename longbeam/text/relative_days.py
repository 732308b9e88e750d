"""Days that a message names relative to its own day: `yesterday` in a message of May 8 is May 7.

A phrase stands for a range of days around the day of the message, because people's `last week` differs by some days.
The ranges are wide on purpose: a check asks whether a message can mean a day, and a doubt is no error.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

from longbeam.schemas import Message, Value, ValueKind
from longbeam.text.extraction import parse_value
from longbeam.text.numbers import COUNT, VAGUE_COUNTS, read_count
from longbeam.text.spoken_days import says_day
from longbeam.text.time_spans import find_times
from longbeam.text.times import DAY_WORD, DAY_WORDS, DAYS_PER_UNIT, DIRECTION, DIRECTIONS, SEASONS, weekday

_UNIT = "(?P<unit>day|week|month|year)s?"
_COUNTED = (
    re.compile(rf"\b(?P<n>{COUNT}) {_UNIT} (?P<side>ago|back|from now|earlier|now|already)\b", re.IGNORECASE),
    re.compile(rf"\bin (?P<n>{COUNT}) {_UNIT}\b", re.IGNORECASE),
)
_DAY_WORD = re.compile(rf"\b(?:{DAY_WORD})\b", re.IGNORECASE)
_VAGUE_WORD = re.compile(r"\b(?:just|recently|the other day|lately|these days)\b", re.IGNORECASE)
_DIRECTED = re.compile(
    rf"\b(?P<direction>{DIRECTION}|on|since) (?:past )?(?P<unit>week(?:end)?|few days|\w+day|month|year|"
    rf"{'|'.join(SEASONS)})\b",
    re.IGNORECASE,
)
"""`last week`, `this past Friday`, `next summer`, `on Monday`. `\\w+day` also takes `birthday` and `holiday`."""
_RANGES = {
    "week": {-1: (-14, -1), 0: (-8, 8), 1: (1, 15)},
    "month": {-1: (-62, -1), 0: (-31, 31), 1: (1, 62)},
    "year": {-1: (-730, -1), 0: (-365, 365), 1: (1, 730)},
}
"""First and last day, from the day of the message, of a phrase with a direction; weeks stand for weekdays, too."""
_RECENT = (-14, 0)
_WEEKDAY_REACH = 14
"""Days from the day of a message to a day that it calls by the weekday."""
_DAYS_NAMED = dt.timedelta(1)
"""Length of the longest span that still names a day: a weekend."""
_VAGUE_SLACK = 2
"""Units by which a vague count may be off: `a few` is 3 in the lexicon, and up to 5 when people say it."""


def is_day_meant(message: Message, value: Value) -> bool:
    """Return whether a message can mean a date, or a bare year, by a phrase that is relative to its own day."""
    sent = message.sent_at.date()
    if value.kind is ValueKind.NUMBER and value.number is not None and not value.unit:
        return _is_year_meant(message.content, sent, value.number)
    if value.kind is not ValueKind.DATE:
        return False
    # A year that is not written is that of the message.
    day = value.date or parse_value(value.text, year=sent.year).date
    if day is None:
        return False
    return says_day(message.content, day, sent) or any(
        first <= (day - sent).days <= last for first, last in _ranges(message.content)
    )


def is_day_named(message: Message, value: Value) -> bool:
    """Return whether a message names the very day of a date, as `yesterday` does and `six months ago` does not.

    A bare year is named wherever it is meant.
    """
    if value.kind is not ValueKind.DATE:
        return is_day_meant(message, value)
    sent = message.sent_at.date()
    day = value.date or parse_value(value.text, year=sent.year).date
    if day is None:
        return False
    if says_day(message.content, day, sent):
        return True
    if abs((day - sent).days) <= _WEEKDAY_REACH and re.search(rf"\b{weekday(day)}", message.content, re.IGNORECASE):
        return True
    spans = (e.span for e in find_times(message.content, sent) if e.is_relative and e.span is not None)
    slack = dt.timedelta(1)
    return any((s.last - s.first) <= _DAYS_NAMED and s.first - slack <= day <= s.last + slack for s in spans)


def _is_year_meant(text: str, sent: dt.date, year: float) -> bool:
    if not 1900 <= year <= 2100:
        return False
    return sent.year == year or any(
        (sent + dt.timedelta(first)).year <= year <= (sent + dt.timedelta(last)).year for first, last in _ranges(text)
    )


def _ranges(text: str) -> Iterator[tuple[int, int]]:
    """Yield first and last day, counted from the day of the text, that its phrases may mean."""
    for match in _DAY_WORD.finditer(text):
        days = DAY_WORDS[match[0].casefold()]
        yield days, days
    if _VAGUE_WORD.search(text):
        yield _RECENT
    for match in _DIRECTED.finditer(text):
        unit = match["unit"].casefold()
        length = "year" if unit in SEASONS else unit if unit in _RANGES else "week"
        yield _RANGES[length][DIRECTIONS.get(match["direction"].casefold(), 0)]
    for pattern in _COUNTED:
        for match in pattern.finditer(text):
            yield _counted_range(match)


def _counted_range(match: re.Match[str]) -> tuple[int, int]:
    """Return the range of `three weeks ago` or `in a few days`."""
    said, unit = match["n"].casefold(), match["unit"].casefold()
    unit_days = DAYS_PER_UNIT[f"{unit}s"]
    days = read_count(said) * unit_days
    slack = max(1, 1 if unit == "day" else days / 4)
    if said in VAGUE_COUNTS:
        slack = max(slack, _VAGUE_SLACK * unit_days)
    is_past = match.groupdict().get("side", "from now").casefold() != "from now"
    return (int(-days - slack), int(-days + slack)) if is_past else (int(days - slack), int(days + slack))
