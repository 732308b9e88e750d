"""Draws values of slots: a first value, and changed ones. A slot's trend is the direction of its changes."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from typing import TypeVar

from longbeam.offline.packs import PackSlot
from longbeam.schemas import Value, ValueKind
from longbeam.text import values

T = TypeVar("T")
ROOM = 0.55
"""Share of a range or pool in which the first value of a slot with a trend lies, so that it has room to change."""


Span = tuple[dt.date, dt.date]
"""A first and a last day, both possible."""


def draw(slot: PackSlot, day: dt.date, rng: random.Random, within: Span | None = None) -> Value:
    """Return a first value for a slot: a low one if it will rise, a high one if it will fall.

    `within`: the days in which a date has to lie, if the story sets them.
    """
    if slot.type is ValueKind.DATE:
        low, high = slot.in_days or (7, 21)
        return values.date_value(_within(day + dt.timedelta(days=rng.randint(low, high)), within, rng))
    if slot.choose:
        return _worded(slot.type, rng.choice(_first_part(slot.choose, slot)))
    low_, high_ = slot.range or (1, 10)
    steps = round((high_ - low_) / slot.step)
    return _amount(slot, low_ + slot.step * rng.choice(_first_part(range(steps + 1), slot)))


def _first_part(pool: Sequence[T], slot: PackSlot) -> Sequence[T]:
    kept = max(1, round(len(pool) * ROOM))
    if slot.trend == "rises":
        return pool[:kept]
    return pool[-kept:] if slot.trend == "falls" else pool


def _within(day: dt.date, span: Span | None, rng: random.Random) -> dt.date:
    if span is None or span[0] > span[1] or span[0] <= day <= span[1]:
        return day
    # The date was drawn behind the last possible day: take one of the last days, not always the same.
    room = min(3, (span[1] - span[0]).days)
    off = dt.timedelta(days=rng.randint(0, room))
    return span[0] + off if day < span[0] else span[1] - off


def changed(
    slot: PackSlot, old: Value, rng: random.Random, *, after: dt.date | None = None, within: Span | None = None
) -> Value:
    """Return another value for a slot, in the direction of its trend: a later date, an amount a fifth to a half away.

    `after`: the day on which the change is told; a planned date moves to a day after it, inside `within` if another
    day is left there. A value that has reached its end (the last version of the pool, an amount of one) changes in
    the other direction.
    """
    if slot.type is ValueKind.DATE and old.date is not None:
        shift = rng.choice([3, 4, 5, 6, 7, 8, 9, 10, 12, 14])
        begin = old.date if after is None else max(old.date, after)
        moved = _within(begin + dt.timedelta(days=shift), within, rng)
        return values.date_value(moved if moved != old.date else moved + dt.timedelta(days=1))
    if slot.choose:
        return _worded(slot.type, rng.choice(_other_choices(slot, old)))
    amount = _amount_of(slot, old)
    low, high = slot.range or (1, 10)
    least = max(slot.step, round((high - low) * 0.15 / slot.step) * slot.step)
    delta = max(least, round(amount * rng.uniform(0.2, 0.45) / slot.step) * slot.step)
    if slot.trend == "falls" and amount - delta <= 1:
        delta = slot.step
    up = _goes_up(slot, amount, delta, rng)
    new = amount + delta if up else amount - delta
    if slot.type is ValueKind.RATIO and new > 98:
        new = 98 if amount < 98 else amount - delta
    return _amount(slot, new)


def misremembered(slot: PackSlot, old: Value, rng: random.Random, told: dt.date = dt.date.min) -> Value:
    """Return a wrong value for a slot: an amount is a fifth to a half lower, or one more where it is small.

    A higher amount may be what it has come to since, and contradicts nothing. A day that was over when it was told
    (`told`) is put earlier: a later one may lie behind the message that told it.
    """
    if slot.type is ValueKind.DATE and old.date is not None and old.date <= told:
        return values.date_value(old.date - dt.timedelta(days=rng.randint(3, 9)))
    if slot.type is ValueKind.DATE or slot.choose:
        return changed(slot, old, rng)
    amount = _amount_of(slot, old)
    lower = amount - max(slot.step, round(amount * rng.uniform(0.2, 0.45) / slot.step) * slot.step)
    return _amount(slot, lower if lower > 1 else amount + slot.step)


def _amount_of(slot: PackSlot, value: Value) -> float:
    """Return the number of a value; that of a ratio in percent."""
    return (value.number or 0) * (100 if slot.type is ValueKind.RATIO else 1)


def _goes_up(slot: PackSlot, amount: float, delta: float, rng: random.Random) -> bool:
    # Never down to one or less: the plural units of packs would read "1 users".
    if amount - delta <= 1:
        return True
    if slot.trend in {"falls", "rises"}:
        return slot.trend == "rises"
    low, high = slot.range or (1, 10)
    ceiling = max(high * 1.3, amount + max(slot.step, round((high - low) * 0.15 / slot.step) * slot.step))
    return amount + delta <= ceiling and rng.random() < 0.6


def _other_choices(slot: PackSlot, old: Value) -> Sequence[str]:
    folded = [c.casefold() for c in slot.choose]
    others = [c for c in slot.choose if c.casefold() != old.text.casefold()]
    if slot.trend not in {"falls", "rises"} or old.text.casefold() not in folded:
        return others
    place = folded.index(old.text.casefold())
    return (slot.choose[place + 1 :] if slot.trend == "rises" else slot.choose[:place]) or others


def _worded(kind: ValueKind, text: str) -> Value:
    return Value(kind=kind, text=text)


def _amount(slot: PackSlot, amount: float) -> Value:
    amount = round(amount, 2)
    if slot.type is ValueKind.MONEY:
        return values.money(amount, slot.currency)
    if slot.type is ValueKind.RATIO:
        return values.ratio(round(amount / 100, 4))
    if slot.type is ValueKind.DURATION:
        return values.duration(amount, slot.unit)
    return values.number(amount, slot.unit)
