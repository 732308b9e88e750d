"""Matching of typed values with texts: whether a text says a value, and the sentences that say it.

`says` is asked of every message, quote and gold answer, so it is strict: another number, currency or year is never a
match. `says_equivalent` also accepts other wordings of the same value and is for texts from other sources.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence

from longbeam.schemas import Value, ValueKind
from longbeam.text.extraction import values_in
from longbeam.text.normalizing import normalize_values
from longbeam.text.patterns import needed_literals, value_pattern
from longbeam.text.sentences import Span, prose_spans, sentences_within
from longbeam.text.spoken_days import says_day
from longbeam.text.times import DAYS_PER_UNIT
from longbeam.text.values import number

_CLEAR_END = re.compile(
    r"\Z|[.;!?)](?=\s|\Z)|,? (?=[a-z])(?!(?:hundred|thousand|million|billion|per|percent)\b)", re.IGNORECASE
)
"""Text behind a value that cannot continue the value, not even with a year."""
_NUMERIC_DAY = re.compile(r"(?<![\w./])(\d{1,2})[/.](\d{1,2})(?:[/.](?:19|20)?\d\d)?(?![\w/])(?!\.\d)")


def says(text: str, value: Value, today: dt.date | None = None) -> bool:
    """Return whether the text says the value in any usual form, the value's own text included.

    Upper and lower case are equal. A date is said with or without its year (`March 5`, `5th of March`,
    `2024-03-05`), never with another one. Money: `$1,200`, `1,200 dollars`, `USD 1200`, `$1.2K`. Durations
    and counted things: digits or, up to twenty, words (`a three-week`). Shares: `35%`, `35 per cent`. A text of
    `today` also says a date by its weekday or number (`Thursday`, `the 18th`).
    """
    if today is not None and value.date is not None and says_day(text, value.date, today):
        return True
    # Compiling a pattern costs a hundred times what a search for a substring costs. Most values are said word for word,
    # or asked for in texts that cannot say them: two cheap tests settle these, and nothing that is in doubt.
    if _stands_alone(value.text, text):
        return True
    form = value.kind, value.text, value.number, value.unit, value.date
    if text.isascii() and value.text.isascii():
        literals, folded = needed_literals(*form), text.lower()
        if literals and not any(literal in folded for literal in literals):
            return False
    return value_pattern(*form).search(text) is not None


def _stands_alone(said: str, text: str) -> bool:
    """Return whether a text has these very words at a place where no pattern of a value would refuse them."""
    start = text.find(said) if said else -1
    if start < 0 or (start and text[start - 1] not in " \n("):
        return False
    return _CLEAR_END.match(text, start + len(said)) is not None


# --- the same value in other words ------------------------------------------------------------------------


def says_equivalent(text: str, value: Value) -> bool:
    """Return whether a text says a value or an equivalent one.

    Equivalent are an age as `she is 61`, a number with another noun, 14 days as two weeks, and a day as `04/28`.
    """
    text = normalize_values(text)
    if says(text, value) or (value.kind is ValueKind.DATE and _says_numeric_day(text, value)):
        return True
    is_age = value.kind is ValueKind.DURATION and value.unit == "years"
    if value.number is not None and (is_age or value.kind is ValueKind.NUMBER) and says(text, number(value.number)):
        return True
    if (days := in_days(value)) is not None:
        return any(in_days(other) == days for other in values_in(text))
    if value.kind is ValueKind.NUMBER and value.number is not None:
        return any(v.number == value.number for v in values_in(text) if v.kind is ValueKind.NUMBER)
    return False


def in_days(value: Value) -> float | None:
    """Return the days of a duration in days or weeks; None for other values, whose days are not exact."""
    if value.kind is not ValueKind.DURATION or value.number is None or value.unit not in ("days", "weeks"):
        return None
    return value.number * DAYS_PER_UNIT[value.unit]


def _says_numeric_day(text: str, value: Value) -> bool:
    """Return whether the text writes a day as `04/28` or `28.4.2024`; month and day may stand in either order."""
    read = values_in(value.text, year=2000)  # any leap year: only month and day are read
    if len(read) != 1 or read[0].date is None:
        return False
    day = {read[0].date.month, read[0].date.day}
    return any({int(a), int(b)} == day for a, b in _NUMERIC_DAY.findall(text))


# --- quoting ----------------------------------------------------------------------------------------------


def quote_for(text: str, values: Sequence[Value], today: dt.date | None = None) -> str | None:
    """Return the shortest run of whole sentences, verbatim, that says all the values; None if none does.

    Runs do not cross fenced code. The earliest wins among equally short ones; without values that is the
    first sentence.
    """
    best: Span | None = None
    for prose in prose_spans(text):
        if not _says_all(text[slice(*prose)], values, today):
            continue
        spans = sentences_within(text, prose)
        if not values:
            return text[slice(*spans[0])] if spans else None
        run = _shortest_run(text, spans, values, today)
        if run is not None and (best is None or run[1] - run[0] < best[1] - best[0]):
            best = run
    return None if best is None else text[slice(*best)]


def _shortest_run(text: str, spans: Sequence[Span], values: Sequence[Value], today: dt.date | None) -> Span | None:
    # Nearly always one sentence says all; the texts of longer runs cost much more to search.
    alone = [span for span in spans if _says_all(text[slice(*span)], values, today)]
    if alone:
        return min(alone, key=lambda span: span[1] - span[0])
    best: Span | None = None
    last = 0
    for start, _ in spans:
        # A later start cannot end earlier: the end only moves on.
        while last < len(spans) and not _says_all(text[start : spans[last][1]], values, today):
            last += 1
        if last == len(spans):
            break
        if best is None or spans[last][1] - start < best[1] - best[0]:
            best = (start, spans[last][1])
    return best


def _says_all(text: str, values: Sequence[Value], today: dt.date | None) -> bool:
    return all(says(text, v, today) for v in values)
