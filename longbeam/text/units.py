"""Units of values: currencies, the spellings of measuring units, and the words of large numbers."""

from __future__ import annotations

import re

CURRENCY_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}
"""Symbol of each currency that has one, by ISO 4217 code."""
CURRENCY_WORDS = {"USD": "(?:US )?dollars?|bucks", "EUR": "euros?", "GBP": "pounds?", "JPY": "yen"}
"""Pattern of the words for each currency, by ISO 4217 code."""
SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}
"""Factor of each word or letter that scales an amount of money."""
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
# A sign names its currency; so does the first letter of a word: `dollars` and `bucks`, `USD`, `euros`, `GBP`.
_CURRENCY_BY_FIRST = {"d": "USD", "b": "USD", "u": "USD", "e": "EUR", "g": "GBP"}
_CURRENCY_BY_FIRST |= {symbol: code for code, symbol in CURRENCY_SYMBOLS.items()}


def currency_of(said: str) -> str:
    """Return the ISO 4217 code of a sign or of one of the words that `extract_values` reads."""
    return _CURRENCY_BY_FIRST[said[0].casefold()]


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
