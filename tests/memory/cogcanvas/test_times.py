"""Rules of CogCanvas for relative times. 2023-05-10 is a Wednesday."""

from __future__ import annotations

import datetime as dt

import pytest

from longbeam.memory.cogcanvas import confidence_of
from longbeam.memory.cogcanvas.extracting import RULES
from longbeam.text import find_times

WEDNESDAY = dt.date(2023, 5, 10)


def test_a_month_has_its_own_length_where_the_calendar_counts() -> None:
    # Thirty days before March 31 is March 1; a month before is February.
    march = dt.date(2023, 3, 31)
    (ours,) = find_times("a month ago", march, RULES["calendar"])
    (theirs,) = find_times("a month ago", march, RULES["released"])
    assert ours.span is not None
    assert theirs.span is not None
    assert (ours.span.text, theirs.span.text) == ("February 2023", "March 1, 2023")
    (coming,) = find_times("in two weeks", march, RULES["released"])
    assert coming.span is None
    assert confidence_of(coming) == 0.85


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("two weeks ago", "April 26, 2023"),  # 14 days before May 10
        ("a year ago", "May 10, 2022"),
        ("last weekend", "May 3, 2023"),
        ("next month", "June 9, 2023"),  # 30 days after May 10
        ("last Friday", "May 5, 2023"),
        ("next Friday", None),
        ("this week", None),
        ("in three days", None),
        ("yesterday", "May 9, 2023"),
    ],
)
def test_released_rules_count_days_and_leave_the_future_open(said: str, meant: str | None) -> None:
    (found,) = find_times(said, WEDNESDAY, RULES["released"])
    assert (found.span and found.span.text) == meant
    assert confidence_of(found) == (0.9 if meant else 0.85)


def test_a_full_date_has_the_highest_confidence() -> None:
    (found,) = find_times("on May 3, 2023", WEDNESDAY, RULES["released"])
    assert confidence_of(found) == 0.95
