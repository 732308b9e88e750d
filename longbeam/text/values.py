"""Typed values made from Python values: each constructor writes the text of its value as people write it."""

from __future__ import annotations

import datetime as dt

from longbeam.schemas import Value, ValueKind
from longbeam.text.currencies import CURRENCY_SYMBOLS
from longbeam.text.numbers import exact, format_amount
from longbeam.text.times import TIME_UNITS, format_date


def date_value(date: dt.date) -> Value:
    """Return a date; its text has the year."""
    return Value(kind=ValueKind.DATE, text=format_date(date), date=date)


def money(amount: float, currency: str = "USD") -> Value:
    """Return an amount of an ISO 4217 currency, or of a word that several share: `$1,200`, `300 CHF`, `240 pesos`."""
    digits = _money_digits(amount)
    symbol = CURRENCY_SYMBOLS.get(currency)
    word = f"{currency}s" if currency.islower() and len(currency) > 2 and digits != "1" else currency  # `240 pesos`
    text = f"{symbol}{digits}" if symbol else f"{digits} {word}"
    text = text.replace(f"{symbol}-", f"-{symbol}")
    return Value(kind=ValueKind.MONEY, text=text, number=amount, unit=currency)


def _money_digits(amount: float) -> str:
    return f"{amount:,.0f}" if exact(amount) % 1 == 0 else f"{amount:,.2f}"


def amount_like(value: Value, amount: float) -> Value:
    """Return another amount in a value's unit; of money, written as that one is: `₱300` beside `₱3,000`."""
    if value.kind is ValueKind.DURATION:
        return duration(amount, value.unit)
    if value.kind is not ValueKind.MONEY:
        return number(amount, value.unit)
    made = money(amount, value.unit)
    if value.number is None or (digits := _money_digits(value.number)) not in value.text:
        return made
    return made.model_copy(update={"text": value.text.replace(digits, _money_digits(amount), 1)})


def duration(amount: float, unit: str) -> Value:
    """Return a length of time; `unit` (`week`, `weeks`) is kept in the plural, the text says it as people do.

    Raises ValueError for a unit that is no length of time.
    """
    plural = unit if unit.endswith("s") else f"{unit}s"
    if plural not in TIME_UNITS:
        raise ValueError(f"duration unit {unit!r}: allowed are {', '.join(TIME_UNITS)}")
    said = plural[:-1] if amount == 1 else plural
    return Value(kind=ValueKind.DURATION, text=f"{format_amount(amount)} {said}", number=amount, unit=plural)


def number(amount: float, unit: str = "") -> Value:
    """Return a number, with the unit it counts or measures (`users`, `ms`)."""
    return Value(kind=ValueKind.NUMBER, text=f"{format_amount(amount)} {unit}".strip(), number=amount, unit=unit)


def ratio(share: float) -> Value:
    """Return a share as a percentage: 0.35 is `35%`."""
    return Value(kind=ValueKind.RATIO, text=f"{format_amount(float(exact(share) * 100))}%", number=share)


def version(text: str) -> Value:
    """Return a version as it is written (`v2.3.1`, `2.3.1`)."""
    return Value(kind=ValueKind.VERSION, text=text)


def name(text: str) -> Value:
    """Return the name of a person, place or thing."""
    return Value(kind=ValueKind.NAME, text=text)


def plain(text: str) -> Value:
    """Return a value that is only its words."""
    return Value(kind=ValueKind.TEXT, text=text)
