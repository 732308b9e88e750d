"""Units of values: the spellings of measuring units, and the words of large numbers."""

from __future__ import annotations

import re

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
