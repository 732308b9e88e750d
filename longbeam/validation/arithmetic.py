"""Arithmetic of gold that names no computation: lengths of time, changes, and counts of listed items.

Days between two dates are counted without the first day (March 1 to March 5 are 4); the count with both ends (5) is a
finding of its own kind. Weeks and months that are rounded, down or to the nearest, are a warning. A date without a year
has the year of the cited messages.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from itertools import combinations

from longbeam.abilities.record import Trait
from longbeam.schemas.plans import Value, ValueKind
from longbeam.schemas.probes import Probe
from longbeam.text.extraction import extract_values
from longbeam.text.matching import says_equivalent
from longbeam.text.numbers import SMALL_NUMBER, read_count
from longbeam.text.times import CALENDAR_UNITS, months_between
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem, has_trait
from longbeam.validation.index import ConversationIndex
from longbeam.validation.wording import answer_text

MOST_DATES = 12
MOST_AMOUNTS = 24
"""Dates and amounts of which all pairs are tried; more would take quadratic time and match by chance."""
_ASKS_LENGTH = re.compile(
    r"\bhow (?:many (?:more )?(?:days|weeks|months|years)|long|much (?:time|longer))\b", re.IGNORECASE
)
_AMOUNT = r"[$€£]?\d[\d,]*(?:\.\d+)?%?"
_CHANGE = re.compile(rf"\bfrom\s+({_AMOUNT})[\w\s]{{0,12}}?\s+to\s+({_AMOUNT})", re.IGNORECASE)
_BY = re.compile(rf"\bby\s+({_AMOUNT})(?!\s*(?:AM|PM|hours?|days?|weeks?|o'clock))", re.IGNORECASE)
_LISTED = re.compile(
    rf"^\W*(?:\w+\s+){{0,6}}?(?!one\b)({SMALL_NUMBER}|\d{{1,2}})\b([^:.;]{{0,60}}):\s+([^:.]+)\.?\s*$",
    re.IGNORECASE,
)
"""A count and the list that it counts; `one` is a pronoun more often than a count."""


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield lengths of time, changes and counts of the gold that its own dates, amounts and items do not give."""
    if not has_trait(probe, Trait.RECALLS) or probe.details.computation:
        return
    keys = tuple(m.message_key for m in index.cited(probe))
    if _ASKS_LENGTH.search(probe.question):
        for kind, text in _length_faults(index, probe):
            yield Problem(kind, probe.probe_id, text, keys)
    for kind, text in (*_change_faults(probe.gold_answer), *_count_faults(probe.gold_answer)):
        yield Problem(kind, probe.probe_id, text, keys)


# --- lengths of time --------------------------------------------------------------------------------------


def _length_faults(index: ConversationIndex, probe: Probe) -> Iterator[tuple[str, str]]:
    answer = answer_text(probe)
    dates = dates_in(index, probe, answer)
    if len(dates) < 2:
        return
    spans = list(combinations(sorted(dates), 2))
    for value in _lengths_in(answer):
        if says_equivalent(probe.question, value):
            continue
        readings = [fault_of_length(value, a, b) for a, b in spans]
        # Several dates make several spans: the length is then right, or rounded, for one of them.
        if "" in readings or (len(spans) > 1 and any(r != "wrong_duration" for r in readings)):
            continue
        (first, second), kind = spans[0], readings[0]
        days = (second - first).days
        text = (
            f"from {first} to {second} are {days} days ({days + 1} with both ends, {days / 7:.1f} weeks), "
            f"and the gold says {value.text!r}"
        )
        yield kind, text


def _lengths_in(text: str) -> Iterable[Value]:
    """Return the lengths of time of a text in calendar units, each once."""
    stated: dict[tuple[float | None, str], Value] = {}
    for value in extract_values(text):
        if _is_calendar_length(value):
            stated.setdefault((value.number, value.unit), value)
    return stated.values()


def _is_calendar_length(value: Value) -> bool:
    return value.kind is ValueKind.DURATION and value.unit in CALENDAR_UNITS


def dates_in(index: ConversationIndex, probe: Probe, text: str) -> list[dt.date]:
    """Return the distinct dates of a text; one without a year takes the year of another, or of the cited messages."""
    written = [v.date.year for v in extract_values(text) if v.kind is ValueKind.DATE and v.date is not None]
    cited = index.cited(probe)
    year = written[0] if written else cited[0].sent_at.year if cited else index.messages[0].sent_at.year
    found = (v.date for v in extract_values(text, year=year) if v.kind is ValueKind.DATE)
    return list(dict.fromkeys(d for d in found if d is not None))


def fault_of_length(value: Value, first: dt.date, second: dt.date) -> str:
    """Return the kind of problem of a stated length of time between two days; empty where the length is right."""
    amount, days = value.number or 0, (second - first).days
    if value.unit == "days":
        return "" if amount == days else "both_ends" if amount == days + 1 else "wrong_duration"
    if value.unit == "weeks":
        exact = days / 7
    else:
        exact = months_between(first, second)
        exact = exact / 12 if value.unit == "years" else exact
    if abs(amount - exact) < 0.05:
        return ""
    return "rounded" if amount in (int(exact), round(exact)) else "wrong_duration"


def has_own_span(index: ConversationIndex, probe: Probe) -> bool:
    """Return whether the question asks for a length of time whose two days the gold itself says."""
    return bool(_ASKS_LENGTH.search(probe.question)) and len(dates_in(index, probe, probe.gold_answer)) > 1


def is_computed(index: ConversationIndex, probe: Probe, value: Value) -> bool:
    """Return whether a value is the result of dates or amounts of question, gold and cited user messages."""
    if not has_trait(probe, Trait.RECALLS) or value.number is None:
        return False
    said = [m.content for m in index.cited(probe) if index.speaks_as_user(m)]
    texts = [probe.gold_answer, probe.question, *(n.text for n in probe.rubric), *said]
    if _is_calendar_length(value) and _is_between_dates(index, probe, value, texts):
        return True
    amounts = sorted({a for text in said for a in _amounts(text, value.kind)})[:MOST_AMOUNTS]
    sums = {a + b for a, b in combinations(amounts, 2)} | {sum(amounts)}
    differences = {b - a for a, b in combinations(amounts, 2)}
    return round(value.number, 4) in {round(result, 4) for result in sums | differences}


def _is_between_dates(index: ConversationIndex, probe: Probe, value: Value, texts: Iterable[str]) -> bool:
    dates = sorted({d for text in texts for d in dates_in(index, probe, text)})[:MOST_DATES]
    return any(fault_of_length(value, a, b) != "wrong_duration" for a, b in combinations(dates, 2))


def _amounts(text: str, kind: ValueKind) -> list[float]:
    """Return the amounts of a kind; shares count among numbers, because `20 percentage points` compares two."""
    found = []
    for value in extract_values(text):
        if value.number is not None and kind is ValueKind.NUMBER and value.kind is ValueKind.RATIO:
            found.append(value.number * 100)
        elif value.number is not None and value.kind is kind:
            found.append(value.number)
    return found


# --- changes and counts -----------------------------------------------------------------------------------


def _change_faults(gold: str) -> Iterator[tuple[str, str]]:
    changes = [(a, b, _amount(b) - _amount(a)) for a, b in _CHANGE.findall(gold)]
    for said in _BY.findall(gold):
        amount = _amount(said)
        wrong = [c for c in changes if round(abs(c[2]), 4) != amount and not _is_share(said, *c)]
        for a, b, change in wrong:
            yield "wrong_change", f"from {a} to {b} is a change of {abs(change):g}, and the gold says {said!r}"


def _is_share(said: str, first: str, _second: str, change: float) -> bool:
    base = _amount(first)
    return said.endswith("%") and base != 0 and abs(abs(change) / base * 100 - _amount(said)) < 0.6


def _amount(text: str) -> float:
    return float(text.strip("$€£%").replace(",", "").rstrip("."))


def _count_faults(gold: str) -> Iterator[tuple[str, str]]:
    match = _LISTED.match(gold.strip())
    if match is None:
        return
    said = read_count(match[1])
    least, most = count_listed(match[3])
    if not least <= said <= most:
        counted = str(least) if least == most else f"{least} to {most}"
        yield "wrong_count", f"the gold says {match[1]}{match[2]} and lists {counted}"


def count_listed(text: str) -> tuple[int, int]:
    """Return the smallest and the largest number of items that a list in prose can have: `a, b and c`, `a; b`."""
    pieces = [p for p in re.split(r"[;,]\s*(?:and\s+|or\s+)?", re.sub(r"\([^)]*\)", "", text)) if p.strip()]
    joined = sum(len(re.findall(r"\band\b|&", p)) for p in pieces)
    return len(pieces), len(pieces) + joined


CHECK = Check(
    name="arithmetic",
    doc="Lengths of time, changes and counts that the gold states follow from its own dates, amounts and items.",
    severities={
        "wrong_duration": ERROR,
        "wrong_change": ERROR,
        "wrong_count": ERROR,
        "rounded": WARNING,
        "both_ends": INFO,
    },
    english_only=dict.fromkeys(
        ("wrong_duration", "wrong_change", "wrong_count", "rounded", "both_ends"),
        "reads dates, amounts and lengths of time as English writes them",
    ),
    on_probe=find_problems,
)
