"""Days as people say them: by weekday or number where the day of the message makes them unique, or relative to
that day.

A relative phrase stands for a range of days around the day of the message, because people's `last week` differs
by some days. The ranges are wide on purpose: a check asks whether a message can mean a day, and a doubt is no
error.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Iterator
from functools import lru_cache

from longbeam.schemas import Message, Value, ValueKind
from longbeam.text.extraction import parse_value
from longbeam.text.numbers import COUNT, VAGUE_COUNTS, read_count
from longbeam.text.time_spans import find_times
from longbeam.text.times import (
    DAY_WORD,
    DAY_WORDS,
    DAYS_PER_UNIT,
    DIRECTION,
    DIRECTIONS,
    MONTH,
    ORDINAL,
    SEASONS,
    WEEKDAYS,
    YEAR,
    format_date,
    month_number,
    weekday,
)
from longbeam.text.tuning import READING

NUMBERED = (-9, 18)
"""Days from the day of a message within which the number of a day names it: shorter than any month."""
_AFTER_DAY = (
    "and|or|is|was|at|in|on|so|but|if|to|with|for|as|when|which|that|it|we|I|then|this|by|from|until|after|before|"
    "will|would|has|had|because|since|though|while|instead|already|now|morning|evening|afternoon|night"
)
"""Words behind the number of a day, where it counts nothing else."""
_MONTH_BEFORE = re.compile(rf"(?<!\w){MONTH}\s+\Z")
_NOW_BEFORE = re.compile(r"\b(?:it|today)(?:['’]s| is)\s\Z", re.IGNORECASE)
"""Words before the weekday of today."""
_ANY_BEFORE = re.compile(r"\b(?:an?|any|each|every|most|no|some)\s\Z", re.IGNORECASE)
"""Words before a weekday that is no day of its own: `on a Sunday`."""
_OVER_BEFORE = re.compile(
    r"\b(?:did(?:n['’]t| not)|(?:was|were)(?:n['’]t)?)\b"
    r"(?:(?! (?:to|set|due|planned|supposed|meant|going|moved|booked|fixed|would) )[^.!?;:])*\bon\s\Z"
)
"""Words before the weekday of something that is over: `the books didn't close on Sunday`."""
_NEAR = {0: r"today|tonight|this (?:morning|afternoon|evening)", 1: "tomorrow", -1: "yesterday|last night"}


def spoken(date: dt.date, today: dt.date, *, is_short: bool = True) -> str:
    """Return how somebody says a date on a day: as short as it is unique, or with its month if not `is_short`.

    The year is left out of the nearest day of its name. A day of the week behind is said by its number: people who say
    `last Wednesday` on a Friday mean the day two days ago or nine.
    """
    ahead = (date - today).days
    if abs(ahead) > READING.half_year:
        return format_date(date)
    if is_short and 1 < ahead <= READING.week:
        return weekday(date)
    if is_short and NUMBERED[0] <= ahead <= NUMBERED[1] and ahead:
        return f"the {ordinal(date.day)}"
    return format_date(date, with_year=False)


def ordinal(number: int) -> str:
    """Return `1st`, `22nd`, `13th`."""
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def says_day(text: str, date: dt.date, today: dt.date) -> bool:
    """Return whether a text of a day names a date by its weekday, by its number, or as `tomorrow`.

    `Last Wednesday` names no day of the week behind: it has two readings.
    """
    ahead = (date - today).days
    if not (-READING.week <= ahead <= READING.week or NUMBERED[0] <= ahead <= NUMBERED[1]):
        return False
    return any(not _is_of_month(m) for m in _pattern(date.day, date.weekday(), ahead).finditer(text))


def _is_of_month(match: re.Match[str]) -> bool:
    """Return whether a month stands in front, as in `May the 18th`."""
    return _MONTH_BEFORE.search(match.string, 0, match.start()) is not None


@lru_cache(maxsize=1024)
def _pattern(number: int, day_of_week: int, ahead: int) -> re.Pattern[str]:
    forms = [_NEAR[ahead]] if ahead in _NEAR else []
    if 0 < abs(ahead) <= READING.week:
        forms.append(f"(?<!last )(?<!past ){'(?<!next )' if ahead < 0 else ''}{WEEKDAYS[day_of_week]}")
    if NUMBERED[0] <= ahead <= NUMBERED[1]:
        forms.append(rf"the {ordinal(number)}(?!\s+(?:of\s+)?{MONTH}|[-\w])")
    return re.compile(rf"(?<!\w)(?:{'|'.join(forms)})(?!\w)", re.IGNORECASE)


_SPOKEN = re.compile(
    rf"(?<!\w)(?:(?P<last>[Ll]ast )?(?P<weekday>{'|'.join(WEEKDAYS)})(?!\w|,? {MONTH}|,? the \d{{1,2}}(?:st|nd|rd|th))"
    rf"|[Tt]he (?P<number>\d{{1,2}})(?:st|nd|rd|th)(?!\s+(?:of\s+)?{MONTH}|[-\w])"
    rf"(?=\W*(?:\Z|[.,;:!?)]|\s(?:{_AFTER_DAY})\b))"
    rf"|(?P<month>{MONTH})\s+(?P<day>\d{{1,2}}){ORDINAL}"
    rf"(?!\w|\.\d|,?\s+{YEAR}|\s?[-–]\s?\d|,\s+\d|,?\s+(?:and|or|to|through)\s+\d))"
)


def spell_out(text: str, today: dt.date) -> str:
    """Return a text of a day with the days that it names by weekday or number, or without a year, written as dates.

    A weekday is the next one, the one before with `last` or where something is over, or today in `it's Friday` on a
    Friday, and beside a number it is left to that (`Monday the 18th`); a number is the day that `NUMBERED` allows. A
    number that may count something else (`the 3rd batch`) stays. A day without a year is the nearest of its name.
    """
    return _SPOKEN.sub(lambda match: _in_full(match, today), text)


def _in_full(match: re.Match[str], today: dt.date) -> str:
    if match["month"]:
        return _with_year(match[0], month_number(match["month"]), int(match["day"]), today)
    if _is_of_month(match):
        return match[0]
    if match["weekday"]:
        if _ANY_BEFORE.search(match.string, 0, match.start()):
            return match[0]
        if match["weekday"] == weekday(today) and _NOW_BEFORE.search(match.string, 0, match.start()):
            return format_date(today)
        steps = [n for n in range(1, READING.week + 2) if weekday(today + dt.timedelta(n)) == match["weekday"]]
        is_over = match["last"] or _OVER_BEFORE.search(match.string, 0, match.start())
        ahead = steps[0] - 7 if is_over else steps[0]
        return format_date(today + dt.timedelta(ahead or -7))
    days = (today + dt.timedelta(n) for n in range(NUMBERED[0], NUMBERED[1] + 1))
    return next((format_date(day) for day in days if day.day == int(match["number"])), match[0])


def _with_year(said: str, month: int, day: int, today: dt.date) -> str:
    years = (today.year - 1, today.year, today.year + 1)
    days = [dt.date(year, month, day) for year in years if _is_day(year, month, day)]
    return f"{said}, {min(days, key=lambda d: abs(d - today)).year}" if days else said


def _is_day(year: int, month: int, day: int) -> bool:
    return 1 <= day <= calendar.monthrange(year, month)[1]


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
_DAYS_NAMED = dt.timedelta(1)
"""Length of the longest span that still names a day: a weekend."""


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
    if abs((day - sent).days) <= READING.weekday_reach and re.search(
        rf"\b{weekday(day)}", message.content, re.IGNORECASE
    ):
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
        slack = max(slack, READING.vague_slack * unit_days)
    is_past = match.groupdict().get("side", "from now").casefold() != "from now"
    return (int(-days - slack), int(-days + slack)) if is_past else (int(days - slack), int(days + slack))


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
