from __future__ import annotations

import datetime as dt

from longbeam.text import date_value, distinct_values, duration, money, parse_value, plain, values_in

MARCH_5 = date_value(dt.date(2024, 3, 5))


def test_extract_values_in_order() -> None:
    text = (
        "On March 5 I paid $1,200 (35%) for three weeks; v2.3.1 shipped 2024-04-01 at 2:30 PM with 250 "
        "users, 12 of them new, and 80ms. On 7 May 2023 we had two kids and 1.5 million dollars, or 14."
    )
    found = [(v.kind.value, v.text, v.number, v.unit, v.date) for v in values_in(text)]
    assert found == [
        ("date", "March 5", None, "", None),
        ("money", "$1,200", 1200, "USD", None),
        ("ratio", "35%", 0.35, "", None),
        ("duration", "three weeks", 3, "weeks", None),
        ("version", "v2.3.1", None, "", None),
        ("date", "2024-04-01", None, "", dt.date(2024, 4, 1)),
        ("text", "2:30 PM", None, "", None),
        ("number", "250 users", 250, "users", None),
        ("number", "12", 12, "", None),
        ("number", "80ms", 80, "ms", None),
        ("date", "7 May 2023", None, "", dt.date(2023, 5, 7)),
        ("number", "two kids", 2, "kids", None),
        ("money", "1.5 million dollars", 1_500_000, "USD", None),
        ("number", "14", 14, "", None),
    ]


def test_extract_values_takes_the_year_given() -> None:
    assert values_in("by March 5th", year=2024)[0].date == dt.date(2024, 3, 5)
    assert values_in("by February 30") == ()


def test_parse_value_types_only_whole_texts() -> None:
    assert parse_value("$1,200") == money(1200)
    assert parse_value("March 5, 2024") == MARCH_5
    assert parse_value("3 weeks") == duration(3, "weeks")
    assert parse_value("the $1,200 desk") == plain("the $1,200 desk")


def test_facts_leave_out_list_numbers_and_small_counts() -> None:
    assert [v.text for v in distinct_values("1) Two friends paid $900. 2) 61 days later it was done.")] == [
        "$900",
        "61 days",
    ]
