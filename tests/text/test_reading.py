from __future__ import annotations

import datetime as dt

import pytest

from longbeam.schemas import Value, ValueKind
from longbeam.text import disagreement, read_value

DAY = dt.date(2021, 11, 20)


@pytest.mark.parametrize(
    ("text", "kind", "number", "unit"),
    [
        ("PLN 749", "money", 749, "PLN"),
        ("749 zł", "money", 749, "PLN"),
        ("CHF 40 a month", "money", 40, "CHF"),
        ("1.200,50 €", "money", 1200.5, "EUR"),
        ("₹500", "money", 500, "INR"),
        ("forty Swiss francs", "money", 40, "CHF"),
        ("500 kr", "money", 500, "kr"),
        ("two hundred dollars", "money", 200, "USD"),
        ("35%", "ratio", 0.35, ""),
        ("five per cent", "ratio", 0.05, ""),
        ("an hour", "duration", 1, "hours"),
        ("half an hour", "duration", 0.5, "hours"),
        ("an hour and a half", "duration", 1.5, "hours"),
        ("1 hour 30 minutes", "duration", 90, "minutes"),
        ("two and a half weeks", "duration", 2.5, "weeks"),
        ("twenty-five guests", "number", 25, "guests"),
        ("about 1,200 daily users", "number", 1200, "users"),
        ("5 good ones", "number", 5, "ones"),
        ("2.5 kg of flour", "number", 2.5, "kg"),
        ("-3 degrees", "number", -3, "degrees"),
        ("2,000 KB", "number", 2000, "KB"),
        ("v2.3", "version", None, ""),
        ("Chloe", "name", None, ""),
        ("4 fixes a minute", "number", 4, "fixes"),
        ("2 hours a day", "duration", 2, "hours"),
    ],
)
def test_the_typed_value_follows_from_the_text(text: str, kind: str, number: float | None, unit: str) -> None:
    value = Value(kind=ValueKind(kind), text=text, number=number, unit=unit)
    assert read_value(text, ValueKind(kind)) == value


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("March 5, 2024", dt.date(2024, 3, 5)),
        ("2024-03-05", dt.date(2024, 3, 5)),
        ("October 30", dt.date(2021, 10, 30)),
        ("the 3rd of January", dt.date(2022, 1, 3)),  # 44 days away; the January of 2021 is 321 days away
        ("tomorrow", dt.date(2021, 11, 21)),
        ("next Friday", dt.date(2021, 11, 26)),
    ],
)
def test_the_day_follows_from_the_text_and_the_day_on_which_it_is_said(text: str, date: dt.date) -> None:
    assert read_value(text, ValueKind.DATE, on=DAY).date == date


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("85", "money", "currency"),
        ("between $40 and $50", "money", "2 values"),
        ("a third", "ratio", "35%"),
        ("October 2021", "date", "which day"),
        ("a while", "duration", "length of time"),
        ("35%", "number", "ratio"),
        ("4 of 5 states", "number", "24 guests"),
        ("latest", "version", "v2.3"),
        ("  ", "text", "empty"),
        ("9" * 400, "number", "larger"),
    ],
)
def test_a_text_that_is_no_value_of_its_kind_is_refused_with_what_to_write(text: str, kind: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_value(text, ValueKind(kind), on=DAY)


def test_a_date_without_year_needs_the_day_on_which_it_is_said() -> None:
    with pytest.raises(ValueError, match="which day it is"):
        read_value("October 30", ValueKind.DATE)


def test_without_a_kind_the_value_has_the_kind_of_its_text() -> None:
    assert read_value("749 zł").unit == "PLN"
    assert read_value("Chloe").kind is ValueKind.TEXT


def test_a_number_that_contradicts_its_text_is_named() -> None:
    """Found 1: `$85` with the number 58 was accepted."""
    said = disagreement(Value(kind=ValueKind.MONEY, text="$85", number=58, unit="USD"))
    assert said is not None
    assert "85" in said
    assert "58" in said


@pytest.mark.parametrize(
    "value",
    [
        Value(kind=ValueKind.DATE, text="March 5", date=dt.date(2024, 3, 6)),
        Value(kind=ValueKind.MONEY, text="$85", number=85, unit="EUR"),
    ],
)
def test_another_day_or_currency_contradicts_its_text(value: Value) -> None:
    assert disagreement(value) is not None


@pytest.mark.parametrize(
    "value",
    [
        Value(kind=ValueKind.RATIO, text="35%", number=35),
        Value(kind=ValueKind.RATIO, text="35%", number=0.35),
        Value(kind=ValueKind.DATE, text="March 5", date=dt.date(2024, 3, 5)),
        Value(kind=ValueKind.NUMBER, text="16 degrees", number=16, unit="degrees Celsius"),
        Value(kind=ValueKind.MONEY, text="$85"),
    ],
)
def test_the_typed_parts_of_old_replies_agree_with_their_text(value: Value) -> None:
    assert disagreement(value) is None
