"""Times that a text names, resolved to days of the calendar.

The time words come from `longbeam.text.times`, full dates are read by `longbeam.text.extraction`. Phrases that are
relative to the day of the message are resolved here: dateparser reads them worse, and invents more
(docs/design/0018-parsing.md). How a phrase is resolved is one of two rules:

- `calendar`: months and years have their own lengths, and `last week` is the week of the calendar;
- `released`: as tao-hpu/cog-canvas@c7e0295 resolves them, with months of 30 days, years of 365, and no future.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Callable, Iterator
from typing import Literal

from longbeam.schemas.base import Record
from longbeam.text.extraction import parse_value
from longbeam.text.numbers import COUNT, read_count
from longbeam.text.times import (
    DAY_WORD,
    DAY_WORDS,
    DIRECTION,
    DIRECTIONS,
    MONTH,
    MONTHS,
    ORDINAL,
    WEEKDAY,
    WEEKDAYS,
    YEAR,
    format_date,
    month_number,
    weekday_number,
)

Calendar = Literal["calendar", "released"]


class TimeSpan(Record):
    """Days from first to last: a day, a week, a month, a year."""

    first: dt.date
    last: dt.date

    @property
    def text(self) -> str:
        """`May 7, 2023`, `May 2023`, `2023`, `May 1 to May 7, 2023`."""
        a, b = self.first, self.last
        if a == b:
            return format_date(a)
        if (a.day, a.month, b.day, b.month, a.year) == (1, 1, 31, 12, b.year):
            return str(a.year)
        if (a.day, a.year, a.month) == (1, b.year, b.month) and b.day == calendar.monthrange(b.year, b.month)[1]:
            return f"{MONTHS[a.month - 1]} {a.year}"
        return f"{format_date(a, with_year=a.year != b.year)} to {format_date(b)}"


class TimeExpression(Record):
    """A phrase of a text that names a time."""

    text: str
    start: int
    end: int
    is_relative: bool
    """Whether its day depends on the day of the message."""
    span: TimeSpan | None
    """None where the phrase is not resolved."""

    @property
    def confidence(self) -> float:
        """Confidence as the released code gives it."""
        if not self.is_relative:
            return 0.95
        return 0.9 if self.span else 0.85


_MONTH = rf"(?P<month>{MONTH})"
_YEAR = rf"(?P<year>{YEAR})\b"
_DAY = rf"(?P<day>\d{{1,2}}){ORDINAL}\b"
_COUNT = rf"(?P<n>{COUNT})"
_UNIT = r"(?P<unit>day|week|weekend|month|year)s?\b"
_BESIDE = rf"\b(?P<anchored>day|week|weekend|{'|'.join(WEEKDAYS)}) (?P<side>before|after)(?: the)?"
_DIRECTION = rf"\b(?P<direction>{DIRECTION})"
_DAYS_RELEASED = {"day": 1, "week": 7, "weekend": 7, "month": 30, "year": 365}
"""Days of each unit as the released code counts them."""


def _full(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan | None:
    read = parse_value(found[0].rstrip("."), year=on.year).date
    return _one(read) if read else None


def _month(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan:
    return _month_of(int(found["year"]), month_number(found["month"]))


def _year(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan:
    return _year_of(int(found["year"]))


def _beside(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan | None:
    """Return the time of `the week before June 9, 2023` or `the Friday after 14 May`."""
    try:
        anchor = dt.date(int(found["year"] or on.year), month_number(found["month"]), int(found["day"]))
    except ValueError:
        return None
    side = -1 if found["side"].casefold() == "before" else 1
    anchored = found["anchored"].casefold()
    if anchored == "day":
        return _one(anchor + dt.timedelta(side))
    if anchored == "week":
        return TimeSpan(first=anchor - dt.timedelta(7), last=anchor - dt.timedelta(1)) if side < 0 else TimeSpan(
            first=anchor + dt.timedelta(1), last=anchor + dt.timedelta(7))  # fmt: skip
    if anchored == "weekend":
        saturday = _weekday_near(anchor, 5, side)
        return TimeSpan(first=saturday, last=saturday + dt.timedelta(1))
    return _one(_weekday_near(anchor, weekday_number(anchored), side))


def _day_word(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan | None:
    word = found[0].casefold().removeprefix("the ")
    return _one(on + dt.timedelta(DAY_WORDS[word]))


def _ago(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan | None:
    return _moved(on, -read_count(found["n"]), found["unit"].casefold(), released)


def _ahead(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan | None:
    return None if released else _moved(on, read_count(found["n"]), found["unit"].casefold(), released)


def _directed_unit(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan | None:
    side, unit = DIRECTIONS[found["direction"].casefold()], found["unit"].casefold()
    if released:
        return _moved(on, -1, unit, True) if side < 0 else _moved(on, 1, unit, True) if side > 0 else None
    match unit:
        case "week":
            monday = on - dt.timedelta(on.weekday()) + dt.timedelta(7 * side)
            return TimeSpan(first=monday, last=monday + dt.timedelta(6))
        case "weekend":
            saturday = on - dt.timedelta(on.weekday()) + dt.timedelta(5 + 7 * side)
            if side < 0 and on.weekday() == 6:  # on a Sunday the weekend of its own week is not over
                saturday = on - dt.timedelta(8)
            return TimeSpan(first=saturday, last=saturday + dt.timedelta(1))
        case "month":
            month = _shifted(on, side)
            return _month_of(month.year, month.month)
        case "year":
            return _year_of(on.year + side)
    return _one(on + dt.timedelta(side))


def _directed_weekday(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan | None:
    side, day = DIRECTIONS[found["direction"].casefold()], weekday_number(found["weekday"])
    if side == 0 and not released:
        return _one(on - dt.timedelta(on.weekday()) + dt.timedelta(day))
    if side < 0 or not released:
        return _one(_weekday_near(on, day, side))
    return None


_Resolve = Callable[[re.Match[str], dt.date, bool], TimeSpan | None]
_PATTERNS: tuple[tuple[re.Pattern[str], bool, _Resolve], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), is_relative, resolve)
    for pattern, is_relative, resolve in (
        (rf"{_BESIDE} {_DAY} (?:of )?{_MONTH}(?:,? {_YEAR})?", False, _beside),
        (rf"{_BESIDE} {_MONTH} {_DAY}(?:,? {_YEAR})?", False, _beside),
        (rf"\b{_DAY} (?:of )?{_MONTH}(?:,? {_YEAR})?", False, _full),
        (rf"\b{_MONTH} {_DAY}(?:,? {_YEAR})?", False, _full),
        (r"\b\d{4}-\d{2}-\d{2}\b", False, _full),
        (rf"\b{_MONTH},? (?:of )?{_YEAR}", False, _month),
        (r"(?<![\w$€£¥.,-])(?P<year>20[0-4]\d)(?![\w%.,-]*\d|\s?(?:%|dollars|euros|people))\b", False, _year),
        (rf"\b(?:the )?(?:{DAY_WORD})\b", True, _day_word),
        (rf"\b{_COUNT} {_UNIT} ago\b", True, _ago),
        (rf"\bin {_COUNT} {_UNIT}", True, _ahead),
        (rf"\b{_COUNT} {_UNIT} from now\b", True, _ahead),
        (rf"{_DIRECTION} {_UNIT}", True, _directed_unit),
        (rf"{_DIRECTION} (?P<weekday>{WEEKDAY})", True, _directed_weekday),
    )
)  # fmt: skip
# Every pattern holds one of these; most sentences hold none, and this search spares them fourteen others.
_HINT = re.compile(r"\d|ago\b|day|week|month|year|night|morning|evening|afternoon|tomorrow|today", re.IGNORECASE)


def find_times(text: str, said_on: dt.date, how: Calendar = "calendar") -> tuple[TimeExpression, ...]:
    """Return the times that a text names, in order; where several overlap, the longest."""
    if _HINT.search(text) is None:
        return ()
    taken: list[TimeExpression] = []
    for expression in sorted(_all(text, said_on, how), key=lambda e: (e.start - e.end, e.start)):
        if all(expression.end <= t.start or t.end <= expression.start for t in taken):
            taken.append(expression)
    return tuple(sorted(taken, key=lambda e: e.start))


def _all(text: str, said_on: dt.date, how: Calendar) -> Iterator[TimeExpression]:
    for pattern, is_relative, resolve in _PATTERNS:
        for found in pattern.finditer(text):
            try:
                span = resolve(found, said_on, how == "released")
            except OverflowError:  # `in 999 years`, said in 9100
                span = None
            yield TimeExpression(
                text=found[0], start=found.start(), end=found.end(), is_relative=is_relative, span=span
            )


def _one(day: dt.date) -> TimeSpan:
    return TimeSpan(first=day, last=day)


def _month_of(year: int, month: int) -> TimeSpan:
    last = calendar.monthrange(year, month)[1]
    return TimeSpan(first=dt.date(year, month, 1), last=dt.date(year, month, last))


def _year_of(year: int) -> TimeSpan:
    return TimeSpan(first=dt.date(year, 1, 1), last=dt.date(year, 12, 31))


def _weekday_near(on: dt.date, weekday: int, side: int) -> dt.date:
    """Return the nearest such weekday strictly before (-1) or after (1) a day."""
    away = (side * (weekday - on.weekday())) % 7 or 7
    return on + dt.timedelta(side * away)


def _shifted(on: dt.date, months: int) -> dt.date:
    """Return the first day of the month that lies a number of months away."""
    number = on.year * 12 + on.month - 1 + months
    return dt.date(number // 12, number % 12 + 1, 1)


def _moved(on: dt.date, count: int, unit: str, released: bool) -> TimeSpan | None:
    """Return the time that lies a number of units from a day: a day, a week or weekend, a month, or a year."""
    if released:
        return _one(on + dt.timedelta(count * _DAYS_RELEASED[unit]))
    match unit:
        case "month":
            month = _shifted(on, count)
            return _month_of(month.year, month.month)
        case "year":
            return _year_of(on.year + count)
        case "weekend":
            saturday = on - dt.timedelta(on.weekday()) + dt.timedelta(5 + 7 * count)
            return TimeSpan(first=saturday, last=saturday + dt.timedelta(1))
        case "week" if abs(count) > 1:
            day = on + dt.timedelta(7 * count)
            return TimeSpan(first=day - dt.timedelta(3), last=day + dt.timedelta(3))
    return _one(on + dt.timedelta(count * (7 if unit == "week" else 1)))
