"""The lexicon of time words: months, weekdays, units of time, and words that are relative to the day of a text.

Every package takes its time words from here, so that no two packages read the same phrase differently. What a package
makes of a word is its own rule: `relative_days` reads tolerant ranges of days, `time_spans` reads spans of
the calendar, `formats.dates` reads the stamps of other benchmarks.
"""

from __future__ import annotations

import datetime as dt

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|"
    r"Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?(?![A-Za-z])"
)
"""Pattern of a month, in full or abbreviated, with the full stop of the abbreviation."""
WEEKDAY = rf"(?:{'|'.join(WEEKDAYS)})\b"
"""Pattern of a weekday in full; abbreviations (`sun`, `sat`, `wed`) are English words of their own."""
YEAR = r"(?:19|20)\d\d"
"""Pattern of a year that a text means as a year."""
ORDINAL = r"(?:st|nd|rd|th)?"
"""Pattern of what may follow the number of a day."""

TIME_UNITS = {
    "seconds": "seconds?|secs?",
    "minutes": "minutes?|mins?",
    "hours": "hours?|hrs?|h",
    "days": "days?",
    "weeks": "weeks?|wks?",
    "months": "months?",
    "quarters": "quarters?",
    "years": "years?|yrs?",
}
"""Pattern of each unit of time. The key, the plural, is the unit of a duration value."""
CALENDAR_UNITS = ("days", "weeks", "months", "years")
"""Units in which the time between two dates is said."""
DAYS_PER_UNIT = {"days": 1.0, "weeks": 7.0, "months": 30.4, "years": 365.25}
"""Average days of each calendar unit."""
SEASONS = ("summer", "winter", "spring", "fall", "autumn")

DAY_WORDS = {
    "day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "tomorrow": 1,
    "day after tomorrow": 2,
}
"""Days from the day of a text to the day that each word names; a word that is part of another comes after it."""
DAY_WORD = "|".join(DAY_WORDS)
"""Pattern of the words of `DAY_WORDS`."""
DIRECTIONS = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1, "upcoming": 1}
"""Words in front of a unit or a weekday: -1 is back in time, 0 is the current one, 1 is ahead."""
DIRECTION = "|".join(DIRECTIONS)
"""Pattern of the words of `DIRECTIONS`."""


def format_date(date: dt.date, with_year: bool = True) -> str:
    """Return `March 5, 2024`, or `March 5`; whatever the locale."""
    text = f"{MONTHS[date.month - 1]} {date.day}"
    return f"{text}, {date.year}" if with_year else text


def weekday(date: dt.date) -> str:
    """Return the English name of the day of the week."""
    return WEEKDAYS[date.weekday()]


def month_number(name: str) -> int:
    """Return the number from 1 of a month that `MONTH` matches: `Sept.` is 9. Raises ValueError for other text."""
    stem = name[:3].casefold()
    for number, month in enumerate(MONTHS, start=1):
        if month[:3].casefold() == stem:
            return number
    raise ValueError(f"{name!r} is no month")


def weekday_number(name: str) -> int:
    """Return the number from 0, Monday, of a weekday. Raises ValueError for other text."""
    return [day.casefold() for day in WEEKDAYS].index(name.casefold())


def months_between(first: dt.date, second: dt.date) -> float:
    """Return the months from one date to another; the days beyond whole months count as a share of a month."""
    whole = (second.year - first.year) * 12 + second.month - first.month
    return whole + (second.day - first.day) / DAYS_PER_UNIT["months"]
