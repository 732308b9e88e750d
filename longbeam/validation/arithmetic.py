"""Arithmetic of gold that names no computation: lengths of time, changes, and counts of listed items.

Days between two dates are counted without the first day (March 1 to March 5 are 4); the count with both ends (5) is a
finding of its own kind. Weeks and months that are rounded, down or to the nearest, are a warning. A date without a year
has the year of the cited messages.

Only a length that the gold states as the time between two days is checked. `Two-week` in `the two-week trial` names a
thing, and `3 weeks of practice` is an amount of it.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from longbeam.abilities import Trait
from longbeam.schemas import Probe, Value, ValueKind
from longbeam.text import (
    CALENDAR_UNITS,
    SMALL_NUMBER,
    content_words,
    months_between,
    normalize_values,
    read_count,
    says_equivalent,
    sentences,
    stated_in,
    values_in,
)
from longbeam.validation.base import ERROR, WARNING, Check, Problem, answer_text, claim, has_trait
from longbeam.validation.index import ConversationIndex
from longbeam.validation.tuning import CHECKING

_ASKS_LENGTH = re.compile(
    r"\bhow (?:many (?:more )?(?:days|weeks|months|years)|long|much (?:time|longer))\b", re.IGNORECASE
)
_ASKS_COUNT = re.compile(r"\bhow (?:many|often)\b", re.IGNORECASE)
_AMOUNT = r"[$€£]?\d[\d,]*(?:\.\d+)?%?"
_CHANGE = re.compile(rf"\bfrom\s+({_AMOUNT})[\w\s]{{0,12}}?\s+to\s+({_AMOUNT})", re.IGNORECASE)
_BY = re.compile(rf"\bby\s+({_AMOUNT})(?!\s*(?:AM|PM|hours?|days?|weeks?|o'clock))", re.IGNORECASE)
_LISTED = re.compile(
    rf"^\W*(?:\w+\s+){{0,6}}?(?!one\b)({SMALL_NUMBER}|\d{{1,2}})\b((?:\s+[a-z'’-]+){{1,3}}):\s+([^:.]+)\.?\s*$",
    re.IGNORECASE,
)
"""A count, its noun, and the list that it counts; `one` is a pronoun more often than a count."""
_NO_ITEM = re.compile(
    r"\d|\b(?:is|are|was|were|has|have|had|will|with|including|such as|like|which|that|who|or)\b", re.IGNORECASE
)
"""Words of a clause: what has them is no plain list of things."""
_BETWEEN_ITEMS = re.compile(r"[;,]\s*(?:and\s+|or\s+)?")
_TOTAL = re.compile(r"\b(?:together|total|in all|altogether|combined|sum|adds? up)\b", re.IGNORECASE)
_FREQUENCY = re.compile(r"\b(?:every|each|per)\s+$", re.IGNORECASE)
_OF_A_THING = re.compile(
    r"\s*(?:ago\b|of\b(?!\s+(?:difference|time)\b)|per\b|a (?:day|week|month|year)\b)", re.IGNORECASE
)
"""Words behind a length of time that make it an amount of a thing, or count it from today."""
_AND = re.compile(r"\s*(?:,|and|,\s*and|plus)\s*", re.IGNORECASE)
_SPAN = re.compile(
    r"\b(?:between|from|since|after|before|until|till|later|earlier|passed|apart|elapsed|separate[sd]?|gap)\b",
    re.IGNORECASE,
)
"""Words that make a length of time the time between two days."""


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


@dataclass(frozen=True)
class _Length:
    """A stated length of time: `4 weeks`, or `2 months and 3 days`."""

    parts: tuple[Value, ...]
    text: str


def _length_faults(index: ConversationIndex, probe: Probe) -> Iterator[tuple[str, str]]:
    dates = dates_in(index, probe, answer_text(probe))
    if len(dates) < 2:
        return
    spans = list(combinations(sorted(dates), 2))
    for length in _lengths_of(probe):
        if any(says_equivalent(probe.question, part) for part in length.parts):
            continue
        readings = [_fault_of(length, a, b) for a, b in spans]
        # Several dates make several spans: the length is then right, or rounded, for one of them.
        if "" in readings or (len(spans) > 1 and any(r != "wrong_duration" for r in readings)):
            continue
        (first, second), kind = spans[0], readings[0]
        days = (second - first).days
        text = (
            f"from {first} to {second} are {days} days ({days + 1} with both ends, {days / 7:.1f} weeks), "
            f"and the gold says {length.text!r}"
        )
        yield kind, text


def _lengths_of(probe: Probe) -> Iterable[_Length]:
    """Return the lengths of time that gold and nuggets state as the time between two days, each once."""
    stated: dict[tuple[tuple[float | None, str], ...], _Length] = {}
    for text in (probe.gold_answer, *(claim(n.text) for n in probe.rubric)):
        normalized = normalize_values(text)
        for place, length in enumerate(_lengths_in(normalized)):
            # The first length of a text answers the question; a further one must say that it spans two days.
            if place == 0 or _is_span(normalized, length):
                stated.setdefault(tuple((v.number, v.unit) for v in length.parts), length)
    return stated.values()


def _lengths_in(text: str) -> Iterator[_Length]:
    """Yield the lengths of time of a text in calendar units, without those that are amounts or names of things."""
    found = [f for f in stated_in(text) if _is_calendar_length(f.value)]
    at = 0
    while at < len(found):
        last = at
        while last + 1 < len(found) and _AND.fullmatch(text, found[last].end, found[last + 1].start):
            last += 1
        parts = tuple(f.value for f in found[at : last + 1])
        # Units that fall make one length, `2 months and 3 days`; others are two statements.
        if [CALENDAR_UNITS.index(v.unit) for v in parts] != sorted(
            {CALENDAR_UNITS.index(v.unit) for v in parts}, reverse=True
        ):
            last, parts = at, parts[:1]
        start, end = found[at].start, found[last].end
        if _is_of_time(text, start, end, parts):
            yield _Length(parts, text[start:end])
        at = last + 1


def _is_of_time(text: str, start: int, end: int, parts: Sequence[Value]) -> bool:
    """Return whether a length at this place is a time that passes: no habit, no amount of a thing, no name of one."""
    if any(not part.number for part in parts):  # `0 days left` says that nothing remains
        return False
    if _FREQUENCY.search(text, 0, start) or _OF_A_THING.match(text, end):
        return False
    last = parts[-1]
    is_singular = not last.text.casefold().endswith("s")
    return "-" not in last.text and not (is_singular and last.number != 1)


def _is_span(text: str, length: _Length) -> bool:
    sentence = next((text[a:b] for a, b in sentences(text) if length.text in text[a:b]), text)
    days = [v for v in values_in(sentence) if v.kind is ValueKind.DATE]
    return _SPAN.search(sentence) is not None and len(days) > 1


def _fault_of(length: _Length, first: dt.date, second: dt.date) -> str:
    """Return the kind of problem of a stated length between two days; empty where the length is right."""
    if len(length.parts) == 1:
        return fault_of_length(length.parts[0], first, second)
    counts = {part.unit: int(part.number or 0) for part in length.parts}
    reached = _month_later(first, counts.get("years", 0) * 12 + counts.get("months", 0))
    reached += dt.timedelta(7 * counts.get("weeks", 0) + counts.get("days", 0))
    away = (second - reached).days
    return (
        ""
        if away == 0
        else "both_ends"
        if away == -1
        else "rounded"
        if abs(away) <= CHECKING.months_apart
        else "wrong_duration"
    )


def _month_later(day: dt.date, months: int) -> dt.date:
    month = day.year * 12 + day.month - 1 + months
    year, month = month // 12, month % 12 + 1
    return dt.date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def _is_calendar_length(value: Value) -> bool:
    return value.kind is ValueKind.DURATION and value.unit in CALENDAR_UNITS


def dates_in(index: ConversationIndex, probe: Probe, text: str) -> list[dt.date]:
    """Return the distinct dates of a text; one without a year takes the year of another, or of the cited messages."""
    written = [v.date.year for v in values_in(text) if v.kind is ValueKind.DATE and v.date is not None]
    cited = index.cited(probe)
    year = written[0] if written else cited[0].sent_at.year if cited else index.messages[0].sent_at.year
    found = (v.date for v in values_in(text, year=year) if v.kind is ValueKind.DATE)
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


def is_computed(index: ConversationIndex, probe: Probe, value: Value, said: Sequence[str]) -> bool:
    """Return whether a value is the result of dates of question, gold and messages, or of amounts of the messages.

    `said` are the texts of the cited messages whose amounts count. An amount that several of them say counts several
    times, or once. A count of occasions is that of the messages.
    """
    if not has_trait(probe, Trait.RECALLS) or value.number is None:
        return False
    texts = [probe.gold_answer, probe.question, *(n.text for n in probe.rubric), *said]
    if _is_calendar_length(value) and _is_between_dates(index, probe, value, texts):
        return True
    found = [v for text in said for v in _amounts(text, value.kind)]
    amounts = [_number(v, value.kind) for v in found]
    of_unit = [_number(v, value.kind) for v in found if content_words(v.unit) == content_words(value.unit)]
    named = [a for a in (_number(v, value.kind) for v in _amounts(probe.gold_answer, value.kind)) if a in amounts]
    totals = {sum(listed) for of in (amounts, of_unit, named) for listed in (of, set(of))}
    # All pairs are tried, so a message with a long table would take seconds.
    pairs = list(combinations(sorted(amounts)[: CHECKING.most_amounts], 2))
    results = totals | {a + b for a, b in pairs} | {b - a for a, b in pairs}
    if value.kind is ValueKind.NUMBER and _ASKS_COUNT.search(probe.question):
        results.add(float(len(said)))
    return round(value.number, 4) in {round(result, 4) for result in results}


def _is_between_dates(index: ConversationIndex, probe: Probe, value: Value, texts: Iterable[str]) -> bool:
    dates = sorted({d for text in texts for d in dates_in(index, probe, text)})[: CHECKING.most_dates]
    return any(fault_of_length(value, a, b) != "wrong_duration" for a, b in combinations(dates, 2))


def _amounts(text: str, kind: ValueKind) -> list[Value]:
    """Return the amounts of a kind; shares count among numbers, because `20 percentage points` compares two."""
    kinds = {kind, ValueKind.RATIO} if kind is ValueKind.NUMBER else {kind}
    return [value for value in values_in(text) if value.number is not None and value.kind in kinds]


def _number(amount: Value, kind: ValueKind) -> float:
    """Return an amount as a value of a kind states it: a share as its percentage points."""
    return (amount.number or 0) * (100 if amount.kind is not kind else 1)


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
    items = [p for p in _BETWEEN_ITEMS.split(match[3]) if p.strip()]
    if _TOTAL.search(gold[: match.start(3)]) and (fault := _fault_of_sum(match[1], match[2], match[3])):
        yield "wrong_sum", fault
    if len(items) < 2 or any(_NO_ITEM.search(p) or len(p.split()) > CHECKING.counted_item_words for p in items):
        return
    said = read_count(match[1])
    least, most = count_listed(match[3])
    if not least <= said <= most:
        counted = str(least) if least == most else f"{least} to {most}"
        yield "wrong_count", f"the gold says {match[1]}{match[2]} and lists {counted}"


def _fault_of_sum(total: str, unit: str, listed: str) -> str:
    """Return what is wrong with a total whose parts are listed in the same unit; empty where nothing is."""
    noun = unit.split()[-1].casefold()
    parts = [v for v in values_in(listed) if v.unit == noun and v.number is not None]
    summed = sum(v.number or 0 for v in parts)
    if len(parts) < 2 or summed == read_count(total):
        return ""
    return f"{' and '.join(v.text for v in parts)} are {summed:g} {noun} together, and the gold says {total}"


def count_listed(text: str) -> tuple[int, int]:
    """Return the smallest and the largest number of items that a list in prose can have: `a, b and c`, `a; b`."""
    pieces = [p for p in _BETWEEN_ITEMS.split(re.sub(r"\([^)]*\)", "", text)) if p.strip()]
    joined = sum(len(re.findall(r"\band\b|&", p)) for p in pieces)
    return len(pieces), len(pieces) + joined


CHECK = Check(
    name="arithmetic",
    doc="Lengths of time, changes and counts that the gold states follow from its own dates, amounts and items.",
    severities={
        "wrong_duration": ERROR,
        "wrong_change": ERROR,
        "wrong_sum": ERROR,
        "wrong_count": ERROR,
        "rounded": WARNING,
        "both_ends": WARNING,
    },
    english_only=dict.fromkeys(
        ("wrong_duration", "wrong_change", "wrong_sum", "wrong_count", "rounded", "both_ends"),
        "reads dates, amounts and lengths of time as English writes them",
    ),
    on_probe=find_problems,
)
