"""Times in words, resolved against the day of the message. 2023-05-10 is a Wednesday."""

from __future__ import annotations

import datetime as dt

import pytest

from longbeam.text import find_times

WEDNESDAY = dt.date(2023, 5, 10)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("We met on 8 May, 2023.", "May 8, 2023"),
        ("It was on March 3rd.", "March 3, 2023"),
        ("on 2022-11-30 it rained", "November 30, 2022"),
        ("back in June 2021", "June 2021"),
        ("She moved here in 2019.", "2019"),
        ("the week before 9 June 2023", "June 2 to June 8, 2023"),
        ("the Friday before 14 May, 2023", "May 12, 2023"),
        ("the weekend after 1 May 2023", "May 6 to May 7, 2023"),
        ("the day after May 31, 2023", "June 1, 2023"),
        ("I saw him yesterday.", "May 9, 2023"),
        ("the day before yesterday", "May 8, 2023"),
        ("See you tomorrow!", "May 11, 2023"),
        ("three days ago", "May 7, 2023"),
        ("two months ago", "March 2023"),
        ("a year ago", "2022"),
        ("in two weeks", "May 21 to May 27, 2023"),
        ("last Friday", "May 5, 2023"),
        ("last Wednesday", "May 3, 2023"),
        ("next Wednesday", "May 17, 2023"),
        ("this Friday", "May 12, 2023"),
        ("last week", "May 1 to May 7, 2023"),
        ("last weekend", "May 6 to May 7, 2023"),
        ("next month", "June 2023"),
        ("last year", "2022"),
    ],
)
def test_times_come_to_days(said: str, meant: str) -> None:
    (found,) = find_times(said, WEDNESDAY)
    assert found.span is not None
    assert found.span.text == meant
    assert said[found.start : found.end] == found.text


@pytest.mark.parametrize(
    "said",
    ["It cost $2,030.", "2000 people came", "We may come.", "by 22%", "12, and 6 hours", "I march 3 miles a day."],
)
def test_no_time_is_invented(said: str) -> None:
    assert find_times(said, WEDNESDAY) == ()


def test_the_longest_of_overlapping_times_counts() -> None:
    assert [t.text for t in find_times("the week before 9 June 2023 and yesterday", WEDNESDAY)] == [
        "week before 9 June 2023",
        "yesterday",
    ]


@pytest.mark.parametrize(
    ("said", "meant"),
    [("due 25/12/2023", "December 25, 2023"), ("due 12/25/2023", "December 25, 2023"), ("on 5.5.2023", "May 5, 2023")],
)
def test_a_date_in_figures_is_a_day(said: str, meant: str) -> None:
    (found,) = find_times(said, WEDNESDAY)
    assert found.span is not None
    assert found.span.text == meant


def test_a_date_whose_day_and_month_cannot_be_told_apart_is_no_year() -> None:
    (found,) = find_times("We met on 12/05/2023.", WEDNESDAY)
    assert (found.text, found.span) == ("12/05/2023", None)
