"""One spelling for values that people write in several: digits for spelled numbers, signs for currency codes."""

from __future__ import annotations

import re

from text_to_num import alpha2digit

from longbeam.text.currencies import CURRENCY_SYMBOLS
from longbeam.text.times import MONTH

MAX_SPELLED = 12
"""Largest number that stays in words: up to it, words count or number things as often as they are facts."""
_SPELLED_LARGE = re.compile(
    r"(?:thir|four|fif|six|seven|eigh|nine)teen(?:th)?\b|(?:twen|thir|for|fif|six|seven|eigh|nine)t(?:y|ieth)\b|"
    r"(?:hundred|thousand|million)\b"
)
"""Places where a case-folded text may spell a number from 13 up. To ignore case here takes four times as long."""
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_LISTED_DAYS = re.compile(
    rf"\b({MONTH})\s+({_DAY}(?:,\s+{_DAY})*(?:,?\s+(?:and|or|to|through)\s+|\s?[-–]\s?){_DAY})"
    r"(?=(,?\s+(?:19|20)\d\d\b)|\s*(?:[.,;:!?)]|\Z)|\s+(?:and|with|at|for|in|on|but|so|by|from|when|I)\b)"
)
"""`May 10, 12, and 15, 2024`, `April 6-7`: days of one month, the first of which names it."""
_CODE = re.compile(r"\b(USD|EUR|GBP)\s?(?=\d)(\d[\d,]*(?:\.\d+)?)")


def normalize_values(text: str) -> str:
    """Return a text with its values in one spelling.

    - numbers from 13 up in digits: `61`, `21st of March`;
    - `$600` for `USD 600`;
    - the month, and a year that stands behind the last day, beside each day of a list.
    """
    text = _CODE.sub(lambda m: f"{CURRENCY_SYMBOLS[m[1]]}{m[2]}", text)
    text = _LISTED_DAYS.sub(_each_day_in_full, text)
    return alpha2digit(text, "en", threshold=MAX_SPELLED) if _SPELLED_LARGE.search(text.casefold()) else text


def _each_day_in_full(match: re.Match[str]) -> str:
    # The year of the last day stays where it is in the text, behind the match.
    days, year = re.findall(_DAY, match[2]), match[3] or ""
    return f"{year}, ".join(f"{match[1]} {day}" for day in days)
