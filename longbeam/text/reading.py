"""Typed values derived from their text: a model writes the words, code derives number, unit, currency and day.

A text that cannot be read as the kind asked for is refused with a sentence that says what to write instead. The model
that wrote it can act on that sentence.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

from text_to_num import alpha2digit

from longbeam.schemas import SECONDS_PER_UNIT, Value, ValueKind
from longbeam.text.extraction import named_value, values_in
from longbeam.text.numbers import AMOUNT, MAX_AMOUNT, SCALES, read_amount
from longbeam.text.time_spans import find_times
from longbeam.text.times import TIME_UNITS

_UNIT = rf"(?:{'|'.join(TIME_UNITS.values())})\b"
_ONE_UNIT = re.compile(rf"(?<!half )\ban? (?={_UNIT})", re.IGNORECASE)
_RATE = re.compile(rf"^(\d[\d.,]* (?!and\b)[a-z-]+) an? (?={_UNIT}$)", re.IGNORECASE)
"""A number of something for each unit of time: `4 fixes a minute`."""
_HALVES = (
    (re.compile(rf"\bhalf an? (?={_UNIT})", re.IGNORECASE), "0.5 "),
    (re.compile(rf"\b(\d+) and a half (?={_UNIT})", re.IGNORECASE), r"\1.5 "),
    (re.compile(rf"\b(\d+) ({_UNIT}) and a half\b", re.IGNORECASE), r"\1.5 \2"),
)
"""Lengths of time with a half: `half an hour`, `2 and a half weeks`, `an hour and a half`."""
_NUMBER = re.compile(
    rf"(?P<front>[^\d+−-]*)(?P<sign>[+−-]?)(?P<digits>{AMOUNT})(?:\s?(?P<scale>k|thousand|million|billion)\b)?"
    r"(?P<rest>[^\d]*)",
    re.IGNORECASE,
)
_HEAD_ENDS = re.compile(
    r"[,.;:()/]|\b(?:of|per|in|for|on|at|with|from|to|by|a|an|each|than|that|this|left)\b", re.IGNORECASE
)
"""Where the noun phrase behind a number ends: `3 kg of flour` is 3 kg."""


def read_value(text: str, kind: ValueKind | None = None, *, on: dt.date | None = None) -> Value:
    """Return the value that a text names, with number, unit and date derived from it.

    - `kind`: the kind it must have. None: whichever it has, a plain text if it names no single typed value.
    - `on`: the day on which it is said. It gives the year to a date without one, and `next Friday` its day.

    The unit of money is the ISO 4217 code, or the word of a currency that several countries share (`kr`, `peso`).
    The unit of a number is the noun behind it; that of a duration is one of `TIME_UNITS`.

    Raises ValueError, with a sentence for the model that wrote the text, if it is not one value of this kind.
    """
    said = " ".join(text.split())
    if not said:
        raise ValueError("a value is empty; write it in words or digits")
    if kind is None:
        found = named_value(said)
        return found.model_copy(update={"text": said})
    reader = _READERS.get(kind)
    if reader is None:
        return Value(kind=kind, text=said)
    value = reader(said, on)
    if value.number is not None and not abs(value.number) <= MAX_AMOUNT:
        raise ValueError(f"{said!r} is larger than any amount of a story; write a smaller one")
    return value.model_copy(update={"text": said})


def disagreement(value: Value, *, on: dt.date | None = None) -> str | None:
    """Say how the number or the date of a value contradicts its own text; None where they agree or nothing is given.

    Replies to earlier versions of the prompts carry both. Raises ValueError like `read_value`.
    """
    read = read_value(value.text, value.kind, on=on or value.date)
    if value.number is not None and read.number is not None and not _is_same_number(value.number, read):
        return f"{value.text!r} says {read.number:g}, and its number is {value.number:g}; write the same value in both"
    if value.date is not None and read.date is not None and value.date != read.date:
        return f"{value.text!r} is {read.date}, and its date is {value.date}; write the same day in both"
    is_currency = value.kind is ValueKind.MONEY and re.fullmatch("[A-Z]{3}", value.unit)
    if is_currency and re.fullmatch("[A-Z]{3}", read.unit) and value.unit != read.unit:
        return f"{value.text!r} is {read.unit}, and its unit is {value.unit}; write the same currency in both"
    return None


def _is_same_number(given: float, read: Value) -> bool:
    if read.number is None or given == read.number:
        return True
    # A share is 0.35 or, as some models write it, 35.
    return read.kind is ValueKind.RATIO and abs(given - read.number * 100) < 1e-6


# --- one reader a kind ------------------------------------------------------------------------------------------


def _figures(said: str) -> str:
    """Return a text with its spelled numbers in digits, and `1` for the article of a unit of time."""
    said = _ONE_UNIT.sub("1 ", _RATE.sub(r"\1 per ", said))
    if not re.search(r"\d", said):  # beside digits a number word may be a noun, as in `5 good ones`
        said = str(alpha2digit(said, "en", threshold=0))
    for half, figures in _HALVES:
        said = half.sub(figures, said)
    return said


def _only(said: str, kind: ValueKind, wanted: str) -> Value:
    found = [v for v in values_in(_figures(said)) if v.kind is kind]
    if not found:
        raise ValueError(f"{said!r} names {wanted}")
    if len(found) > 1:
        raise ValueError(f"{said!r} names {len(found)} values; give each its own fact")
    return found[0]


def _read_money(said: str, on: dt.date | None) -> Value:
    return _only(said, ValueKind.MONEY, "no amount of money with its currency; write it like $85, €1,200 or 749 PLN")


def _read_ratio(said: str, on: dt.date | None) -> Value:
    return _only(said, ValueKind.RATIO, "no share in per cent; write it like 35%")


def _read_version(said: str, on: dt.date | None) -> Value:
    if not any(c.isdigit() for c in said):
        raise ValueError(f"{said!r} names no version; write it like v2.3 or 2.3.1")
    return Value(kind=ValueKind.VERSION, text=said)


def _read_duration(said: str, on: dt.date | None) -> Value:
    found = [v for v in values_in(_figures(said)) if v.kind is ValueKind.DURATION]
    if len(found) == 2 and all(v.unit in SECONDS_PER_UNIT and v.number is not None for v in found):
        larger, smaller = found
        if SECONDS_PER_UNIT[larger.unit] > SECONDS_PER_UNIT[smaller.unit]:  # `1 hour 30 minutes`
            ratio = SECONDS_PER_UNIT[larger.unit] // SECONDS_PER_UNIT[smaller.unit]
            return smaller.model_copy(update={"number": (larger.number or 0) * ratio + (smaller.number or 0)})
    return _only(said, ValueKind.DURATION, "no length of time; write it like 3 weeks or 45 minutes")


def _read_date(said: str, on: dt.date | None) -> Value:
    found = [v for v in values_in(_figures(said)) if v.kind is ValueKind.DATE]
    if len(found) > 1:
        raise ValueError(f"{said!r} names {len(found)} days; give each its own fact")
    if found and found[0].date is not None:
        return found[0]
    if on is None:
        raise ValueError(f"{said!r} does not say which day it is; write it like March 5, 2024")
    # People leave out the year of a near day.
    if found:
        years = (v for year in (on.year - 1, on.year, on.year + 1) for v in values_in(found[0].text, year=year))
        return min(years, key=lambda v: abs((v.date or on) - on))
    spans = [t.span for t in find_times(said, on) if t.span is not None and t.span.first == t.span.last]
    if len(spans) != 1:
        raise ValueError(f"{said!r} does not say which day it is; write it like March 5, 2024")
    return Value(kind=ValueKind.DATE, text=said, date=spans[0].first)


def _read_number(said: str, on: dt.date | None) -> Value:
    figures = _figures(said)
    others = [v.kind.value for v in values_in(figures) if v.kind in (ValueKind.MONEY, ValueKind.RATIO, ValueKind.DATE)]
    if others:
        raise ValueError(f"{said!r} is a {others[0]}, not a number; call it {others[0]}")
    found = _NUMBER.fullmatch(figures)
    if found is None:
        raise ValueError(f"{said!r} names no single number; write it like 24 guests")
    amount = read_amount(found["digits"]) * SCALES.get((found["scale"] or "").casefold(), 1)
    if found["sign"] in ("-", "−"):
        amount = -amount
    words = _HEAD_ENDS.split(found["rest"].strip(), maxsplit=1)[0].split()
    unit = words[-1].strip("'\"!?-") if words else ""
    unit = unit if unit.isupper() else unit.casefold()  # `KB` and `°C` are written so
    return Value(kind=ValueKind.NUMBER, text=said, number=amount, unit=unit)


_READERS: dict[ValueKind, Callable[[str, dt.date | None], Value]] = {
    ValueKind.MONEY: _read_money,
    ValueKind.RATIO: _read_ratio,
    ValueKind.VERSION: _read_version,
    ValueKind.DURATION: _read_duration,
    ValueKind.DATE: _read_date,
    ValueKind.NUMBER: _read_number,
}
"""Reader of each kind that is more than its words."""
