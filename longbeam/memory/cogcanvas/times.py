"""Rules by which CogCanvas resolves relative times.

`released` repeats what tao-hpu/cog-canvas@c7e0295 does: a month has 30 days and a year 365, a count of units in the
future is not resolved, and neither are `this week` and `next Friday`.
"""

from __future__ import annotations

import datetime as dt
from typing import Literal

from longbeam.text.time_spans import CALENDAR, TimeExpression, TimeRules, TimeSpan, day_span, weekday_near

Calendar = Literal["calendar", "released"]
_DAYS = {"day": 1, "week": 7, "weekend": 7, "month": 30, "year": 365}


def _moved(on: dt.date, count: int, unit: str) -> TimeSpan | None:
    return None if count > 0 else day_span(on + dt.timedelta(count * _DAYS[unit]))


def _directed(on: dt.date, side: int, unit: str) -> TimeSpan | None:
    return day_span(on + dt.timedelta(side * _DAYS[unit])) if side else None


def _directed_weekday(on: dt.date, side: int, weekday: int) -> TimeSpan | None:
    return day_span(weekday_near(on, weekday, side)) if side < 0 else None


RULES: dict[Calendar, TimeRules] = {
    "calendar": CALENDAR,
    "released": TimeRules(moved=_moved, directed=_directed, directed_weekday=_directed_weekday),
}
"""Rules by the value of the setting `dates`."""


def confidence_of(time: TimeExpression) -> float:
    """Return the confidence that the released code gives a time: less for a relative one, least where unresolved."""
    if not time.is_relative:
        return 0.95
    return 0.9 if time.span else 0.85
