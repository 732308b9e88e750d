"""Numbers in words and digits: the words for small numbers, vague counts such as `a few`, and exact decimals."""

from __future__ import annotations

import re
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
