from __future__ import annotations

import pytest

from longbeam.text import currency_of, read_value, says, values_in


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("paid 12 300 zł in", 12_300, "PLN"),
        ("49,90 zł", 49.9, "PLN"),
        ("1'200 CHF", 1200, "CHF"),
        ("€1.200", 1200, "EUR"),
        ("$0.035", 0.035, "USD"),
        ("1,20,000 rupees", 120_000, "INR"),
        ("A$40", 40, "AUD"),
        ("40 New Zealand dollars", 40, "NZD"),
        ("85$", 85, "USD"),
        ("R$ 30", 30, "BRL"),
        ("€1.2 million", 1_200_000, "EUR"),
        ("an 85-dollar ticket", 85, "USD"),
        ("30 pesos", 30, "peso"),
        ("30 Mexican pesos", 30, "MXN"),
    ],
)
def test_money_is_read_in_every_usual_form(text: str, amount: float, currency: str) -> None:
    """Found 6: currencies other than $, €, £ and ¥ were read as plain numbers."""
    assert [(v.kind, v.number, v.unit) for v in values_in(text)] == [("money", amount, currency)]


@pytest.mark.parametrize("text", ["TOP 10 songs", "try 5 times", "won 5 games", "20 pounds of flour"])
def test_words_that_look_like_currencies_are_none(text: str) -> None:
    assert all(v.kind != "money" for v in values_in(text))


def test_a_sign_before_the_next_amount_is_not_behind_this_one() -> None:
    assert [v.text for v in values_in("5 $10 vouchers and 3 £5 notes")] == ["5", "$10", "3", "£5"]


def test_all_forms_of_an_amount_are_one_value() -> None:
    value = read_value("749 zł")
    assert all(says(f"I paid {form} for it.", value) for form in ("749 PLN", "PLN 749", "749 zł", "749 Polish zlotys"))
    assert not says("I paid 749 Swiss francs for it.", value)
    assert says("I paid 500 kr for it.", read_value("500 SEK"))


def test_endless_digits_are_no_value() -> None:
    assert values_in("$" + "9" * 500) == ()


def test_text_that_names_no_currency_is_an_error() -> None:
    with pytest.raises(KeyError):
        currency_of("apples")
