"""Times as people write them, found and resolved to days of the calendar.

Full dates are read by `schemas.values`, as everywhere here; what is beside it are the phrases that are relative to the
day of the message, which dateparser reads worse than it invents (docs/design/0018-parsing.md). `Calendar.RELEASED`
resolves as tao-hpu/cog-canvas@c7e0295 does: months of 30 days, years of 365, and nothing that is still to come.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Callable, Iterator
from typing import Literal

from longbeam.schemas.base import Record
from longbeam.text.values import MONTHS, WEEKDAYS, format_date, parse_value

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
    """Words of a text that name a time."""

    text: str
    start: int
    end: int
    is_relative: bool
    """Whether its day depends on the day of the message."""
    span: TimeSpan | None
    """None where it is not resolved."""

    @property
    def confidence(self) -> float:
        """The released code's figures."""
        if not self.is_relative:
            return 0.95
        return 0.9 if self.span else 0.85


_MONTH = rf"(?P<month>{'|'.join(rf'{m}|{m[:3]}' for m in MONTHS)})\b\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b"
_COUNT = r"(?P<n>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of|a few)"
_COUNTS = {"a": 1, "an": 1, "a couple of": 2, "a few": 3} | {
    word: n
    for n, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), 1
    )
}
_UNIT = r"(?P<unit>day|week|weekend|month|year)s?\b"
_WEEKDAY = rf"(?P<weekday>{'|'.join(WEEKDAYS)})\b"
_SIDES = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1}
_BESIDE = rf"\b(?P<what>day|week|weekend|{'|'.join(WEEKDAYS)}) (?P<side>before|after)(?: the)?"
_WHICH = rf"\b(?P<which>{'|'.join(_SIDES)})"


def _full(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan | None:
    read = parse_value(found[0].rstrip("."), year=on.year).date
    return _one(read) if read else None


def _month(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan:
    return _month_of(int(found["year"]), _month_number(found["month"]))


def _year(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan:
    return _year_of(int(found["year"]))


def _beside(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan | None:
    """`the week before June 9, 2023`, `the Friday after 14 May`."""
    try:
        anchor = dt.date(int(found["year"] or on.year), _month_number(found["month"]), int(found["day"]))
    except ValueError:
        return None
    side = -1 if found["side"].casefold() == "before" else 1
    what = found["what"].casefold()
    if what == "day":
        return _one(anchor + dt.timedelta(side))
    if what == "week":
        return TimeSpan(first=anchor - dt.timedelta(7), last=anchor - dt.timedelta(1)) if side < 0 else TimeSpan(
            first=anchor + dt.timedelta(1), last=anchor + dt.timedelta(7))  # fmt: skip
    if what == "weekend":
        saturday = _weekday_near(anchor, 5, side)
        return TimeSpan(first=saturday, last=saturday + dt.timedelta(1))
    return _one(_weekday_near(anchor, _weekday_number(what), side))


def _near(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan | None:
    word = found[0].casefold()
    days = -2 if "before" in word else 2 if "after" in word else -1 if word in _BACK else 1 if word == "tomorrow" else 0
    return _one(on + dt.timedelta(days))


_BACK = ("yesterday", "last night")


def _ago(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan | None:
    return _moved(on, -_read_count(found["n"]), found["unit"].casefold(), released)


def _ahead(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan | None:
    return None if released else _moved(on, _read_count(found["n"]), found["unit"].casefold(), released)


def _which_unit(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan | None:
    side, unit = _SIDES[found["which"].casefold()], found["unit"].casefold()
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


def _which_weekday(found: re.Match[str], on: dt.date, released: bool) -> TimeSpan | None:
    side, day = _SIDES[found["which"].casefold()], _weekday_number(found["weekday"])
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
        (r"\b(?:the )?day (?:before yesterday|after tomorrow)\b", True, _near),
        (r"\b(?:yesterday|last night|today|tonight|this (?:morning|afternoon|evening)|tomorrow)\b", True, _near),
        (rf"\b{_COUNT} {_UNIT} ago\b", True, _ago),
        (rf"\bin {_COUNT} {_UNIT}", True, _ahead),
        (rf"\b{_COUNT} {_UNIT} from now\b", True, _ahead),
        (rf"{_WHICH} {_UNIT}", True, _which_unit),
        (rf"{_WHICH} {_WEEKDAY}", True, _which_weekday),
    )
)  # fmt: skip
_HINT = re.compile(
    r"\d|ago\b|day|week|month|year|night|morning|evening|afternoon|tomorrow|today", re.IGNORECASE
)  # what every pattern holds; most sentences have none of it


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


def _month_number(name: str) -> int:
    return next(i for i, month in enumerate(MONTHS, 1) if month.casefold().startswith(name[:3].casefold()))


def _weekday_number(name: str) -> int:
    return [day.casefold() for day in WEEKDAYS].index(name.casefold())


def _weekday_near(on: dt.date, weekday: int, side: int) -> dt.date:
    """The nearest such day strictly before (-1) or after (1)."""
    away = (side * (weekday - on.weekday())) % 7 or 7
    return on + dt.timedelta(side * away)


def _read_count(said: str) -> int:
    return _COUNTS.get(said.casefold()) or int(said)


def _shifted(on: dt.date, months: int) -> dt.date:
    """The first of the month that lies so many months away."""
    number = on.year * 12 + on.month - 1 + months
    return dt.date(number // 12, number % 12 + 1, 1)


def _moved(on: dt.date, count: int, unit: str, released: bool) -> TimeSpan | None:
    """So many units from a day: the day for days and weeks, the month for months, the year for years."""
    if released:
        return _one(on + dt.timedelta(count * {"day": 1, "week": 7, "weekend": 7, "month": 30, "year": 365}[unit]))
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
