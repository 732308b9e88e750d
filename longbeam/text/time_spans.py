"""Times that a text names, resolved to spans of days: `May 2023`, `the Friday before 14 May`, `two weeks ago`.

Full dates are read by `extraction`. Phrases that are relative to the day of the text are resolved here by rules:
dateparser reads them worse, and invents more (docs/design/0020-parsing.md). `CALENDAR` are the rules of the calendar,
in which months and years have their own lengths and `last week` is a week of the calendar; a memory system that is
reproduced with its faults brings rules of its own.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from longbeam.schemas import Record
from longbeam.text.extraction import parse_value
from longbeam.text.numbers import COUNT, MEASURE, read_count
from longbeam.text.times import (
    DAY_WORD,
    DAY_WORDS,
    DIRECTION,
    DIRECTIONS,
    MONTH,
    MONTHS,
    ORDINAL,
    TIME_UNITS,
    WEEKDAY,
    WEEKDAYS,
    YEAR,
    format_date,
    month_number,
    weekday_number,
)


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
    """Whether the time depends on the day of the text."""
    span: TimeSpan | None
    """None where the rules do not resolve the phrase."""


@dataclass(frozen=True)
class TimeRules:
    """Rules for phrases that are relative to the day of the text, the first argument of each."""

    moved: Callable[[dt.date, int, str], TimeSpan | None]
    """Time a number of units away, negative in the past: `two weeks ago`, `in a month`."""
    directed: Callable[[dt.date, int, str], TimeSpan | None]
    """Unit in a direction of `DIRECTIONS`: `last week`, `this year`."""
    directed_weekday: Callable[[dt.date, int, int], TimeSpan | None]
    """Weekday, from 0, in a direction: `next Friday`."""


def find_times(text: str, said_on: dt.date, rules: TimeRules | None = None) -> tuple[TimeExpression, ...]:
    """Return the times that a text names, in order; where several overlap, the longest. Default: `CALENDAR`."""
    if _HINT.search(text) is None:
        return ()
    taken: list[TimeExpression] = []
    for expression in sorted(_all(text, said_on, rules or CALENDAR), key=lambda e: (e.start - e.end, e.start)):
        if all(expression.end <= t.start or t.end <= expression.start for t in taken):
            taken.append(expression)
    return tuple(sorted(taken, key=lambda e: e.start))


def _all(text: str, said_on: dt.date, rules: TimeRules) -> Iterator[TimeExpression]:
    for pattern, is_relative, resolve in _PATTERNS:
        for found in pattern.finditer(text):
            try:
                span = resolve(found, said_on, rules)
            except OverflowError:  # `in 999 years`, said in 9100
                span = None
            yield TimeExpression(
                text=found[0], start=found.start(), end=found.end(), is_relative=is_relative, span=span
            )


# --- the calendar -----------------------------------------------------------------------------------------


def day_span(day: dt.date) -> TimeSpan:
    """Return the span of one day."""
    return TimeSpan(first=day, last=day)


def weekday_near(on: dt.date, weekday: int, side: int) -> dt.date:
    """Return the nearest such weekday strictly before (-1) or after (1) a day."""
    away = (side * (weekday - on.weekday())) % 7 or 7
    return on + dt.timedelta(side * away)


def _month_span(year: int, month: int) -> TimeSpan:
    last = calendar.monthrange(year, month)[1]
    return TimeSpan(first=dt.date(year, month, 1), last=dt.date(year, month, last))


def _year_span(year: int) -> TimeSpan:
    return TimeSpan(first=dt.date(year, 1, 1), last=dt.date(year, 12, 31))


def _weekend_span(saturday: dt.date) -> TimeSpan:
    return TimeSpan(first=saturday, last=saturday + dt.timedelta(1))


def _month_away(on: dt.date, months: int) -> TimeSpan:
    """Return the month that lies a number of months away."""
    number = on.year * 12 + on.month - 1 + months
    return _month_span(number // 12, number % 12 + 1)


def _monday(on: dt.date, weeks: int = 0) -> dt.date:
    """Return the Monday of the week that lies a number of weeks away."""
    return on - dt.timedelta(on.weekday()) + dt.timedelta(7 * weeks)


def _moved(on: dt.date, count: int, unit: str) -> TimeSpan:
    match unit:
        case "month":
            return _month_away(on, count)
        case "year":
            return _year_span(on.year + count)
        case "weekend":
            return _weekend_span(_monday(on, count) + dt.timedelta(5))
        case "week" if abs(count) > 1:
            # People who count in weeks mean no day of the week: half a week on either side is in the span.
            day = on + dt.timedelta(7 * count)
            return TimeSpan(first=day - dt.timedelta(3), last=day + dt.timedelta(3))
    return day_span(on + dt.timedelta(count * (7 if unit == "week" else 1)))


def _directed(on: dt.date, side: int, unit: str) -> TimeSpan:
    match unit:
        case "week":
            return TimeSpan(first=_monday(on, side), last=_monday(on, side) + dt.timedelta(6))
        case "weekend":
            # On a Sunday the weekend of its own week is not over, so `last weekend` is the one before.
            is_sunday = side < 0 and on.weekday() == 6
            return _weekend_span(on - dt.timedelta(8) if is_sunday else _monday(on, side) + dt.timedelta(5))
        case "month":
            return _month_away(on, side)
        case "year":
            return _year_span(on.year + side)
    return day_span(on + dt.timedelta(side))


def _directed_weekday(on: dt.date, side: int, weekday: int) -> TimeSpan:
    return day_span(weekday_near(on, weekday, side) if side else _monday(on) + dt.timedelta(weekday))


CALENDAR = TimeRules(moved=_moved, directed=_directed, directed_weekday=_directed_weekday)
"""Rules of the calendar."""


# --- phrases ----------------------------------------------------------------------------------------------

_Resolve = Callable[[re.Match[str], dt.date, TimeRules], TimeSpan | None]
_MONTH = rf"(?P<month>{MONTH})"
_YEAR = rf"(?P<year>{YEAR})\b"
_DAY = rf"(?P<day>\d{{1,2}}){ORDINAL}\b"
_COUNT = rf"(?P<n>{COUNT})"
_UNIT = r"(?P<unit>day|week|weekend|month|year)s?\b"
_BESIDE = rf"\b(?P<named>day|week|weekend|{'|'.join(WEEKDAYS)}) (?P<side>before|after)(?: the)?"
# "march 3 miles": the name of a month that is a verb, and a number that counts.
_COUNTS = rf"(?<=\d)\s+(?:{MEASURE}|{'|'.join(TIME_UNITS.values())})\b"
_DIRECTION = rf"\b(?P<direction>{DIRECTION})"


def _read_date(found: re.Match[str], on: dt.date, rules: TimeRules) -> TimeSpan | None:
    read = parse_value(found[0].rstrip("."), year=on.year).date
    return day_span(read) if read else None


def _read_figures(found: re.Match[str], on: dt.date, rules: TimeRules) -> TimeSpan | None:
    """Return the day of `25/12/2023` or `12/25/2023`; None where month and day cannot be told apart."""
    first, second = int(found["first"]), int(found["second"])
    day, month = (first, second) if first > 12 else (second, first)
    if day <= 12 and first != second:
        return None
    try:
        return day_span(dt.date(int(found["year"]), month, day))
    except ValueError:
        return None


def _read_month(found: re.Match[str], on: dt.date, rules: TimeRules) -> TimeSpan:
    return _month_span(int(found["year"]), month_number(found["month"]))


def _read_year(found: re.Match[str], on: dt.date, rules: TimeRules) -> TimeSpan:
    return _year_span(int(found["year"]))


def _read_beside(found: re.Match[str], on: dt.date, rules: TimeRules) -> TimeSpan | None:
    """Return the time of `the week before June 9, 2023` or `the Friday after 14 May`."""
    try:
        date = dt.date(int(found["year"] or on.year), month_number(found["month"]), int(found["day"]))
    except ValueError:
        return None
    side = -1 if found["side"].casefold() == "before" else 1
    match found["named"].casefold():
        case "day":
            return day_span(date + dt.timedelta(side))
        case "week":
            ends = sorted((date + dt.timedelta(side), date + dt.timedelta(7 * side)))
            return TimeSpan(first=ends[0], last=ends[1])
        case "weekend":
            return _weekend_span(weekday_near(date, 5, side))
        case weekday:
            return day_span(weekday_near(date, weekday_number(weekday), side))


def _read_day_word(found: re.Match[str], on: dt.date, rules: TimeRules) -> TimeSpan:
    word = found[0].casefold().removeprefix("the ")
    return day_span(on + dt.timedelta(DAY_WORDS[word]))


def _read_ago(found: re.Match[str], on: dt.date, rules: TimeRules) -> TimeSpan | None:
    return rules.moved(on, -read_count(found["n"]), found["unit"].casefold())


def _read_ahead(found: re.Match[str], on: dt.date, rules: TimeRules) -> TimeSpan | None:
    return rules.moved(on, read_count(found["n"]), found["unit"].casefold())


def _read_directed(found: re.Match[str], on: dt.date, rules: TimeRules) -> TimeSpan | None:
    return rules.directed(on, DIRECTIONS[found["direction"].casefold()], found["unit"].casefold())


def _read_directed_weekday(found: re.Match[str], on: dt.date, rules: TimeRules) -> TimeSpan | None:
    side = DIRECTIONS[found["direction"].casefold()]
    return rules.directed_weekday(on, side, weekday_number(found["weekday"]))


_PATTERNS: tuple[tuple[re.Pattern[str], bool, _Resolve], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), is_relative, resolve)
    for pattern, is_relative, resolve in (
        (rf"{_BESIDE} {_DAY} (?:of )?{_MONTH}(?:,? {_YEAR})?", False, _read_beside),
        (rf"{_BESIDE} {_MONTH} {_DAY}(?:,? {_YEAR})?", False, _read_beside),
        (rf"\b{_DAY} (?:of )?{_MONTH}(?:,? {_YEAR})?", False, _read_date),
        (rf"\b{_MONTH} {_DAY}(?!{_COUNTS})(?:,? {_YEAR})?", False, _read_date),
        (r"\b\d{4}-\d{2}-\d{2}\b", False, _read_date),
        (
            r"(?<![\d/.-])(?P<first>\d{1,2})(?P<mark>[/.-])(?P<second>\d{1,2})(?P=mark)(?P<year>(?:19|20)\d\d)(?![\d/-])",
            False,
            _read_figures,
        ),
        (rf"\b{_MONTH},? (?:of )?{_YEAR}", False, _read_month),
        (r"(?<![\w$€£¥.,/-])(?P<year>20[0-4]\d)(?![\w%.,-]*\d|\s?(?:%|dollars|euros|people))\b", False, _read_year),
        (rf"\b(?:the )?(?:{DAY_WORD})\b", True, _read_day_word),
        (rf"\b{_COUNT} {_UNIT} ago\b", True, _read_ago),
        (rf"\bin {_COUNT} {_UNIT}", True, _read_ahead),
        (rf"\b{_COUNT} {_UNIT} from now\b", True, _read_ahead),
        (rf"{_DIRECTION} {_UNIT}", True, _read_directed),
        (rf"{_DIRECTION} (?P<weekday>{WEEKDAY})", True, _read_directed_weekday),
    )
)
"""Pattern of each form, whether it is relative to the day of the text, and the function that resolves it."""
# Every form holds one of these. Most sentences hold none, and this one search spares them all others.
_HINT = re.compile(r"\d|ago\b|day|week|month|year|night|morning|evening|afternoon|tomorrow|today", re.IGNORECASE)
