"""Wording that the checks compare: what a text is about, and whether it says a value in other words."""

from __future__ import annotations

import re

from text_to_num import alpha2digit

from longbeam.schemas.plans import Value, ValueKind
from longbeam.text.values import MONTHS, extract_values, number, plain, says
from longbeam.text.words import words_of

_RUBRIC_OPENING = re.compile(
    r"^\W*(?:(?:the )?(?:LLM )?(?:response|answer) should \w+|"
    r"(?:states?|mentions|says|tells the user|gives the fact)(?: what (?:this|the) answer says)?)(?: that)?:?\s*",
    re.IGNORECASE,
)
_LIST_NUMBER = re.compile(r"(?m)^\s*\d{1,2}[.)]\s+|(?<!\w)\(?\d{1,2}\)")
_HALVES = frozenset(
    "ve ll re don doesn didn isn aren wasn weren hasn haven hadn wouldn couldn shouldn mustn".split()  # noqa: SIM905
)
"""What is left of `I've` or `didn't` where words are letters."""
_FIGURES = re.compile(r"(?<![\w./])(\d{1,2})[/.](\d{1,2})(?:[/.](?:19|20)?\d\d)?(?![\w/])(?!\.\d)")
RETELLING = frozenset({"summarization", "event_ordering"})
"""Abilities whose gold retells what both sides said."""
_ASKS_ASSISTANT = re.compile(
    r"\b(?:you|your|assistant)\b"
    r"(?! (?:tell|list|remind|walk|give|summari[sz]e|explain|describe|say|help|know|recall|provide|add|get|put|need))",
    re.IGNORECASE,
)
_TOLD_YOU = re.compile(
    r"\b(?:with|to|for|told|tell|gave|give|asked|ask|shown?|mentioned to|remind) you\b", re.IGNORECASE
)
"""The assistant as the one to whom the user said something."""
_SPELLED = re.compile(r"(?:teen|ty|hundred|thousand|million|teenth|tieth|ty-\w+)\b", re.IGNORECASE)
"""Where a text may spell a number from 13 up."""
_MONTH = "|".join(MONTHS) + r"|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DAYS_LISTED = re.compile(
    rf"\b({_MONTH})\s+({_DAY}(?:,\s+{_DAY})*(?:,?\s+(?:and|or|to|through)\s+|\s?[-–]\s?){_DAY})"
    r"(?=(,?\s+(?:19|20)\d\d\b)|\s*(?:[.,;:!?)]|\Z)|\s+(?:and|with|at|for|in|on|but|so|by|from|when|I)\b)"
)
"""`May 10, 12, and 15, 2024`, `April 6-7`: days of one month, the first of which names it."""
_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}
_CODE = re.compile(r"\b(USD|EUR|GBP)\s?(?=\d)(\d[\d,]*(?:\.\d+)?)")
_DAYS = {"days": 1, "weeks": 7}
MAX_ENUMERATION = 12
"""Numbers up to this without a unit count or number the items of an answer as often as they are facts."""


def about(text: str) -> frozenset[str]:
    """Return the stems of a text's content words; numbers, single letters and halves of contractions are left out."""
    return frozenset(w for w in words_of(text) if len(w) > 1 and w not in _HALVES and not w[0].isdigit())


ASKING = about("say said tell told give gave given need remind again together figure put find know")
"""Words that ask, or tell that something was said, and name nothing."""


def claim(nugget: str) -> str:
    """Return what a nugget wants said, without `LLM response should state:`."""
    return _RUBRIC_OPENING.sub("", nugget)


def asks_assistant(question: str) -> bool:
    """Return whether a question is about what the assistant said: `did you recommend`, not `can you list`."""
    return _ASKS_ASSISTANT.search(_TOLD_YOU.sub(" ", question)) is not None


def facts_in(text: str) -> tuple[Value, ...]:
    """Return the typed values of a text, each once; numbers of list items and small bare counts are left out."""
    found: dict[tuple[str, str], Value] = {}
    for value in extract_values(in_figures(_LIST_NUMBER.sub(" ", text))):
        found.setdefault((value.kind, value.text.casefold()), value)
    return tuple(v for v in found.values() if not _is_enumeration(v))


def is_said(text: str, value: Value) -> bool:
    """Return whether a text says a value: an age as `she is 61`, a count with another noun, 14 days as two weeks."""
    text = in_figures(text)
    if says(text, value) or (value.kind is ValueKind.DATE and _says_in_figures(text, value)):
        return True
    is_loose = value.kind is ValueKind.NUMBER or (value.kind is ValueKind.DURATION and value.unit == "years")
    if is_loose and value.number is not None and says(text, number(value.number)):
        return True
    days = in_days(value)
    if days is not None:
        return any(in_days(other) == days for other in extract_values(text))
    if value.kind is ValueKind.NUMBER and value.number is not None:
        return any(v.number == value.number for v in extract_values(text) if v.kind is ValueKind.NUMBER)
    return False


def read_value(text: str) -> Value:
    """Return the one value that a text names: `the 11th of March 2025`, `two weeks`; plain if there is none."""
    figures = in_figures(text.strip())
    found = extract_values(figures)
    rest = figures.replace(found[0].text, " ", 1) if len(found) == 1 else figures
    return found[0] if len(found) == 1 and not about(rest) and len(rest.split()) < 3 else plain(figures)


def in_figures(text: str) -> str:
    """Return a text with numbers from 13 up in figures (`61`, `21st of March`), `$600` for `USD 600`, days in full."""
    text = _CODE.sub(lambda m: f"{_SIGNS[m[1].upper()]}{m[2]}", text)
    text = _DAYS_LISTED.sub(_in_full, text)
    return alpha2digit(text, "en", threshold=MAX_ENUMERATION) if _SPELLED.search(text) else text


def _in_full(match: re.Match[str]) -> str:
    """Name the month before each day of a list, and the year after each but the last, which has its own."""
    days, year = re.findall(_DAY, match[2]), match[3] or ""
    return f"{year}, ".join(f"{match[1]} {day}" for day in days)


def in_days(value: Value) -> float | None:
    """Return the days of a duration in days or weeks."""
    if value.kind is not ValueKind.DURATION or value.number is None or value.unit not in _DAYS:
        return None
    return value.number * _DAYS[value.unit]


def _says_in_figures(text: str, value: Value) -> bool:
    """Whether the text writes a day as `04/28` or `28.4.2024`; month and day may stand in either order."""
    read = extract_values(value.text, year=2000)  # any leap year: only month and day are read
    if len(read) != 1 or read[0].date is None or not _FIGURES.search(text):
        return False
    day = {read[0].date.month, read[0].date.day}
    return any({int(a), int(b)} == day for a, b in _FIGURES.findall(text))


def _is_enumeration(value: Value) -> bool:
    if value.kind is not ValueKind.NUMBER or value.number is None:
        return False
    is_spelled = not any(c.isdigit() for c in value.text)
    return is_spelled or (not value.unit and value.number <= MAX_ENUMERATION)
