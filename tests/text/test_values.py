from __future__ import annotations

import datetime as dt

import pytest

from longbeam.schemas import ValueKind
from longbeam.text import amount_like, duration, format_date, money, number, ratio, read_value, weekday


def test_makers_write_canonical_text() -> None:
    made = [
        money(1200),
        money(1200.5),
        money(300, "CHF"),
        money(240, "peso"),
        duration(1, "weeks"),
        duration(2, "week"),
        number(1500, "users"),
    ]
    texts = ["$1,200", "$1,200.50", "300 CHF", "240 pesos", "1 week", "2 weeks", "1,500 users"]
    assert [v.text for v in made] == texts
    assert [ratio(0.285).text, ratio(0.3).text, number(2.50).text] == ["28.5%", "30%", "2.5"]
    assert (format_date(dt.date(2024, 3, 5)), weekday(dt.date(2024, 3, 5))) == ("March 5, 2024", "Tuesday")
    with pytest.raises(ValueError, match="duration unit"):
        duration(3, "users")


@pytest.mark.parametrize(
    ("said", "amount", "text"),
    [("₱3,000", 300, "₱300"), ("749 PLN", 90, "90 PLN"), ("Rs 4,500", 1_350.5, "Rs 1,350.50"), ("€3k", 400, "€400")],
)
def test_an_amount_worked_out_from_another_is_written_as_that_one_is(said: str, amount: float, text: str) -> None:
    value = read_value(said, ValueKind.MONEY)
    made = amount_like(value, amount)
    assert (made.text, made.number, made.unit) == (text, amount, value.unit)
