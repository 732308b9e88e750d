"""Equality of typed values."""

from __future__ import annotations

import datetime as dt

import pytest

from longbeam.schemas import Value, ValueKind
from longbeam.text import date_value, duration, money, name, number, plain


def day(text: str) -> Value:
    """Return a day that could not be read."""
    return Value(kind=ValueKind.DATE, text=text)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (duration(2, "weeks"), duration(14, "days"), True),
        (duration(2, "weeks"), duration(13, "days"), False),
        (duration(1, "years"), duration(12, "months"), True),
        (duration(1, "months"), duration(30, "days"), False),  # a month has no exact length
        (money(900), Value(kind=ValueKind.MONEY, text="nine hundred dollars", number=900, unit="USD"), True),
        (money(900), money(900, "EUR"), False),
        (money(900), number(900, "USD"), False),
        (number(900), Value(kind=ValueKind.NUMBER, text="900"), False),  # the second one could not be read
        (date_value(dt.date(2024, 3, 29)), Value(kind=ValueKind.DATE, text="x", date=dt.date(2024, 3, 29)), True),
        (day("next spring"), day("Next Spring"), True),
        (day("next spring"), day("next autumn"), False),
        (day("next spring"), date_value(dt.date(2024, 3, 29)), False),
        (name("Dr. Weber"), name("dr weber"), True),
        (plain("Dr. Weber"), plain("dr weber"), False),
    ],
)
def test_values_mean_the_same_exactly_if_their_meanings_are_equal(one: Value, other: Value, is_same: bool) -> None:
    assert one.means_same_as(other) is other.means_same_as(one) is is_same
    assert (one.meaning == other.meaning) is is_same
