"""Days as people say them: `Thursday`, `the 18th` and `May 14` where the day of the message makes them unique."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from functools import lru_cache

from longbeam.text.times import MONTH, ORDINAL, WEEKDAYS, YEAR, format_date, month_number, weekday

WEEK = 6
"""Days ahead or back within which a weekday names one day."""
NUMBERED = (-9, 18)
"""Days from the day of a message within which the number of a day names it: shorter than any month."""
HALF_YEAR = 182
"""Days within which a day without its year is the nearest one of that name."""
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

    The year is left out of the nearest day of its name.
    """
    ahead = (date - today).days
    if abs(ahead) > HALF_YEAR:
        return format_date(date)
    if is_short and 1 < abs(ahead) <= WEEK:
        return weekday(date) if ahead > 0 else f"last {weekday(date)}"
    if is_short and NUMBERED[0] <= ahead <= NUMBERED[1] and ahead:
        return f"the {ordinal(date.day)}"
    return format_date(date, with_year=False)


def ordinal(number: int) -> str:
    """Return `1st`, `22nd`, `13th`."""
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def says_day(text: str, date: dt.date, today: dt.date) -> bool:
    """Return whether a text of a day names a date by its weekday, by its number, or as `tomorrow`."""
    ahead = (date - today).days
    if not (-WEEK <= ahead <= WEEK or NUMBERED[0] <= ahead <= NUMBERED[1]):
        return False
    return any(not _is_of_month(m) for m in _pattern(date.day, date.weekday(), ahead).finditer(text))


def _is_of_month(match: re.Match[str]) -> bool:
    """Return whether a month stands in front, as in `May the 18th`."""
    return _MONTH_BEFORE.search(match.string, 0, match.start()) is not None


@lru_cache(maxsize=1024)
def _pattern(number: int, day_of_week: int, ahead: int) -> re.Pattern[str]:
    forms = [_NEAR[ahead]] if ahead in _NEAR else []
    if 0 < abs(ahead) <= WEEK:
        forms.append(f"(?<!{'last' if ahead > 0 else 'next'} ){WEEKDAYS[day_of_week]}")
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
        steps = [n for n in range(1, WEEK + 2) if weekday(today + dt.timedelta(n)) == match["weekday"]]
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
