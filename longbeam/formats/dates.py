"""Dates, times and numbers of sessions as other benchmarks write them, with English names in every locale.

Names of months and weekdays come from `longbeam.text.times`.
"""

from __future__ import annotations

import datetime as dt
import math
import re

from longbeam.text import MONTH, MONTHS, ORDINAL, month_number, weekday

_DAY_PATTERNS = (
    re.compile(r"\b(?P<year>\d{4})[-/](?P<month>\d{1,2})[-/](?P<day>\d{1,2})\b"),
    re.compile(rf"\b(?P<name>{MONTH})[\s-]+(?P<day>\d{{1,2}}){ORDINAL},?[\s-]+(?P<year>\d{{4}})\b"),
    re.compile(rf"\b(?P<day>\d{{1,2}}){ORDINAL}[\s-]+(?P<name>{MONTH}),?[\s-]+(?P<year>\d{{4}})\b"),
)
_LOCOMO = re.compile(r"\s*(\d{1,2}):(\d{2})\s*([ap])\.?m\.?\s+on\s+(.+)", re.IGNORECASE)
_LONGMEMEVAL = re.compile(r"\s*(\d{4}/\d{1,2}/\d{1,2})(?:\s*\([A-Za-z]+\))?(?:\s+(\d{1,2}):(\d{2}))?\s*")

LOCOMO_SESSIONS = 49
"""Sessions of a conversation that LoCoMo's own scripts read: they count from 1 to 49."""
_YEARS = range(1970, 2201)
"""Years of a chat's times: no computer kept the time before, and arithmetic with days stays within the calendar."""
_MILLISECONDS = 1e11
"""Numbers from here on are milliseconds: as seconds they would be in the year 5138."""


def read_time(value: object) -> dt.datetime | None:
    """Return a time in UTC without a zone, of seconds or milliseconds since 1970 or an ISO text; else None."""
    try:
        if isinstance(value, str) and re.fullmatch(r"\d{9,13}(\.\d*)?", value):
            value = float(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            seconds = value / 1000 if value >= _MILLISECONDS else value
            read = dt.datetime.fromtimestamp(seconds, dt.UTC)
        else:
            read = dt.datetime.fromisoformat(str(value))
        read = read.astimezone(dt.UTC) if read.tzinfo else read
    except (ValueError, OverflowError, OSError):
        return None
    return read.replace(tzinfo=None, microsecond=0) if read.year in _YEARS else None


def find_day(text: str) -> dt.date | None:
    """Return the first calendar day that a text says with its year (`March-15-2024`, `8 May, 2023`), or None."""
    found = [match for pattern in _DAY_PATTERNS if (match := pattern.search(text))]
    for match in sorted(found, key=lambda m: m.start()):
        part = match.groupdict()
        named = part.get("name")
        month = month_number(named) if named else int(part["month"])
        try:
            return dt.date(int(part["year"]), month, int(part["day"]))
        except ValueError:  # February 30
            continue
    return None


def beam_day(day: dt.date) -> str:
    """Return a day as BEAM writes a time anchor: `March-05-2024`."""
    return f"{MONTHS[day.month - 1]}-{day.day:02d}-{day.year:04d}"


def read_locomo_time(text: str) -> dt.datetime | None:
    """Return the time of `1:56 pm on 8 May, 2023`; None if it is not one."""
    match = _LOCOMO.fullmatch(text)
    day = find_day(match[4]) if match else None
    if match is None or day is None:
        return None
    hour, minute = int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0), int(match[2])
    return dt.datetime.combine(day, dt.time(hour, minute)) if minute < 60 and 1 <= int(match[1]) <= 12 else None


def locomo_time(time: dt.datetime) -> str:
    """Return a time as LoCoMo writes it: `1:56 pm on 8 May, 2023`."""
    half = "am" if time.hour < 12 else "pm"
    return f"{time.hour % 12 or 12}:{time.minute:02d} {half} on {time.day} {MONTHS[time.month - 1]}, {time.year}"


def read_longmemeval_time(text: str) -> dt.datetime | None:
    """Return the time of `2023/05/20 (Sat) 02:21`; None if it is not one."""
    match = _LONGMEMEVAL.fullmatch(text)
    day = find_day(match[1]) if match else None
    if match is None or day is None:
        return None
    try:
        return dt.datetime.combine(day, dt.time(int(match[2] or 0), int(match[3] or 0)))
    except ValueError:
        return None


def longmemeval_time(time: dt.datetime) -> str:
    """Return a time as LongMemEval writes it: `2023/05/20 (Sat) 02:21`."""
    return f"{time.year:04d}/{time.month:02d}/{time.day:02d} ({weekday(time)[:3]}) {time.hour:02d}:{time.minute:02d}"
