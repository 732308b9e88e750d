"""Typed values made from Python values, each with its text as people write it, and the values that are computed
from others.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal

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


COMPUTATIONS = ("days_between", "weeks_between", "sum", "difference", "count", "tally", "ratio_change")
"""Names of the computations that `recompute` does."""


def recompute(computation: str, values: Sequence[Value]) -> Value:
    """Return the result of a computation on values.

    `days_between` two dates, in either order, the first day not counted: March 1 and March 5 are 4 days
    apart; `weeks_between` likewise, whole weeks only. `sum` of one kind and unit (`point` and `points` are one);
    `difference` of two, never negative; `count` of the distinct ones, a number without unit; `tally` of all of them,
    equal ones included; `ratio_change` from the first amount to the second as a share of the first, never negative,
    rounded to a tenth of a per cent.

    Raises ValueError for another computation, too few values, mixed kinds or units, or a missing amount.
    """
    if computation in ("days_between", "weeks_between"):
        return _between(values, computation)
    if computation == "count":
        return number(len({_identity(v) for v in values}))
    if computation == "tally":
        return number(len(values))
    if computation not in COMPUTATIONS:
        raise ValueError(f"computation {computation!r}: allowed are {', '.join(COMPUTATIONS)}")
    amounts = _amounts(values, computation)
    first = values[0]
    if computation == "sum":
        return _like(first, sum(amounts, Decimal(0)))
    if len(amounts) != 2:
        raise ValueError(f"{computation} needs two values, not {len(amounts)}")
    change = abs(amounts[1] - amounts[0])
    if computation == "difference":
        return _like(first, change)
    if amounts[0] == 0:
        raise ValueError("ratio_change from zero is undefined")
    return ratio(float(round(change / abs(amounts[0]), 3)))


def _identity(value: Value) -> tuple[object, ...]:
    if value.number is not None or value.date is not None:
        return value.kind, value.number, value.unit, value.date
    return value.kind, value.text.casefold()


def _between(values: Sequence[Value], computation: str) -> Value:
    dates = [v.date for v in values if v.date is not None]
    if len(dates) != 2 or len(values) != 2:
        raise ValueError(f"{computation} needs two dates with years, not {[v.text for v in values]}")
    days = abs((dates[1] - dates[0]).days)
    if computation == "days_between":
        return duration(days, "days")
    if days % 7:
        raise ValueError(f"weeks_between: {days} days are not whole weeks")
    return duration(days // 7, "weeks")


def _amounts(values: Sequence[Value], computation: str) -> list[Decimal]:
    amounts = [exact(v.number) for v in values if v.number is not None]
    said = [v.text for v in values]
    if len(values) < 2 or len(amounts) != len(values):
        raise ValueError(f"{computation} needs at least two values with amounts, not {said}")
    if len({(v.kind, singular(v.unit)) for v in values}) > 1:
        raise ValueError(f"{computation} of mixed kinds or units: {said}")
    return amounts


def _like(value: Value, amount: Decimal) -> Value:
    result = float(amount) if amount % 1 else int(amount)
    if value.kind is ValueKind.RATIO:
        return ratio(float(amount))
    made = amount_like(value, result)
    is_one = made.kind is ValueKind.NUMBER and result == 1
    return made.model_copy(update={"text": f"1 {singular(value.unit)}".strip()}) if is_one else made


def singular(unit: str) -> str:
    """Return the unit of one: `point` for `points`, `person` for `people`; other irregular plurals stay."""
    if unit in _ONE_OF:
        return _ONE_OF[unit]
    if unit.endswith("ies") and len(unit) > 4:
        return f"{unit[:-3]}y"
    if unit.endswith(("ches", "shes", "sses", "xes")):
        return unit[:-2]
    return unit[:-1] if unit.endswith("s") and not unit.endswith("ss") else unit


_ONE_OF = {"people": "person", "feet": "foot", "children": "child", "movies": "movie", "cookies": "cookie"}
