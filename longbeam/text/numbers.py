"""Numbers and units in words and digits.

Small numbers, vague counts such as `a few`, exact decimals, spellings of units, and lists of names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

NUMBER_WORDS = (  # noqa: SIM905 - a word list reads better as words
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
).split()
"""English words of the numbers from 0 to 20, at the index of their number."""
SMALL_NUMBER = "|".join(NUMBER_WORDS[1:13])
"""Pattern of the words from `one` to `twelve`, which people write out. Larger numbers usually stand in digits."""
VAGUE_COUNTS = {"a couple of": 2, "a few": 3, "several": 4}
"""Number that each vague count stands for.

`a few` was 3 for CogCanvas and 4 for the checks. It is 3 here: people use `a few` for the smallest number above a
couple, and the released CogCanvas reads 3. A reader that needs tolerance adds its own, as `relative_days` does.
"""
COUNT = rf"\d{{1,3}}|an?|{SMALL_NUMBER}|{'|'.join(VAGUE_COUNTS)}"
"""Pattern of a count in front of a unit of time: `3`, `a`, `three`, `a few`."""
AMOUNT = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
"""Pattern of an amount in digits, with or without commas between thousands."""
MAX_AMOUNT = 1e15
"""Largest amount; sums of cents are exact below it."""
_COUNTS = {"a": 1, "an": 1} | VAGUE_COUNTS | {word: n for n, word in enumerate(NUMBER_WORDS)}


def read_count(said: str) -> int:
    """Return the number that text matching `COUNT` stands for. Raises ValueError for any other text."""
    known = _COUNTS.get(said.casefold())
    return int(said) if known is None else known


def number_word(amount: float) -> str:
    """Return the word of a whole number from 1 to 20; empty for any other number."""
    return NUMBER_WORDS[int(amount)] if amount in range(1, len(NUMBER_WORDS)) else ""


def exact(amount: float) -> Decimal:
    """Return an amount as a decimal of at most 6 places."""
    # repr of a float is the shortest decimal that reads back as it; 6 digits hide 0.1 + 0.2.
    precise = Decimal(repr(float(amount)))
    # A decimal of this context has 28 digits, so larger amounts have no room for 6 places.
    return round(precise, 6) if abs(amount) <= MAX_AMOUNT else precise


def format_amount(amount: float) -> str:
    """Return `1,200` or `1,200.5`: digits with commas, and decimals only where the amount has some."""
    precise = exact(amount)
    return f"{precise:,.0f}" if precise % 1 == 0 else f"{precise.normalize():,f}"


def read_amount(digits: str) -> float:
    """Return the number that digits with or without commas write."""
    return float(digits.replace(",", ""))


def read_cash(digits: str) -> float:
    """Return the number that the digits of an amount of money write, whichever marks the country uses.

    A mark before one or two last digits divides the cents; before three it divides thousands, because money has no
    third decimal: `1.200` is 1200. The full stop of `0.035` and of `1.2345` divides decimals.
    """
    digits = re.sub(r"[\s'’]", "", digits)
    whole, mark, last = digits.rpartition("," if digits.rfind(",") > digits.rfind(".") else ".")
    groups = re.split("[.,]", whole)
    if not mark or (len(last) == 3 and groups[0] != "0"):
        return float(re.sub("[.,]", "", digits))
    return float(f"{''.join(groups)}.{last}")


SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}
"""Factor of each word or letter that scales an amount of money."""
MEASURE = r"(?:miles?|kilomet(?:er|re)s?|met(?:er|re)s?|km|yards?|feet|foot|steps?|blocks?|laps?|pounds?|kilos?|people)"
"""Pattern of units that people count a way, a weight or a crowd in."""
_SPELLINGS = (
    ("ms", "millisecond", "milliseconds"),
    ("s", "second", "seconds"),
    ("kg", "kilogram", "kilograms", "kilo", "kilos"),
    ("g", "gram", "grams"),
    ("km", "kilometer", "kilometers", "kilometre", "kilometres"),
    ("m", "meter", "meters", "metre", "metres"),
    ("lb", "lbs", "pound", "pounds"),
    ("kb", "kilobyte", "kilobytes"),
    ("mb", "megabyte", "megabytes"),
    ("gb", "gigabyte", "gigabytes"),
    ("people", "person"),
    ("children", "child"),
)


def unit_name(unit: str) -> str:
    """Return the first of a unit's usual spellings: `km` for `kilometres`; the unit itself where it has one only."""
    return next((spellings[0] for spellings in _SPELLINGS if unit.casefold() in spellings), unit)


def unit_pattern(unit: str) -> str:
    """Return the pattern of a unit's usual spellings: singular, plural, abbreviation."""
    folded = unit.casefold()
    for spellings in _SPELLINGS:
        if folded in spellings:
            return "|".join(spellings)
    forms = [folded, f"{folded}s", f"{folded}es"]
    if folded.endswith("ies"):
        forms.append(f"{folded[:-3]}y")
    if folded.endswith("es"):
        forms.append(folded[:-2])
    if folded.endswith("s"):
        forms.append(folded[:-1])
    if folded.endswith("y"):
        forms.append(f"{folded[:-1]}ies")
    return "|".join(re.escape(f).replace(r"\ ", r"\s+") for f in forms if f)


ORDINAL_WORDS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
"""English words of the places from 1 to 10, in their order."""


def listed(names: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`; raises IndexError for no name."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
