"""Computations on typed values: the value that dates, amounts or a count of things give."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from longbeam.schemas import Value, ValueKind
from longbeam.text.numbers import exact
from longbeam.text.values import amount_like, duration, number, ratio

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
