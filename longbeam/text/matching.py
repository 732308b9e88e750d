"""Matching of typed values with texts: whether a text says a value, and the sentences that say it.

`says` is asked of every message, quote and gold answer, so it is strict: another number, currency or year is
never a match. `says_equivalent` also accepts other wordings of the same value and is for texts from other
sources.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from longbeam.schemas import Value, ValueKind
from longbeam.text.claims import NEGATOR, clause_before
from longbeam.text.currencies import SIGNS, forms_of
from longbeam.text.days import says_day
from longbeam.text.extraction import LEFT, RIGHT, normalize_values, parse_value, stated_in, values_in
from longbeam.text.numbers import exact, number_word, unit_pattern
from longbeam.text.sentences import Span, prose_spans, sentences, sentences_within
from longbeam.text.times import DAYS_PER_UNIT, MONTHS, ORDINAL, TIME_UNITS, YEAR
from longbeam.text.values import number, plain

_NO_SCALE = r"(?!\s+(?:hundred|thousand|million|billion)\b)"
_NO_SHARE = r"(?!\s?%|\s+per\s?cent\b)"
_VERSION = re.compile(r"(?:version\s+|v)?(\d.*)", re.IGNORECASE)


@lru_cache(maxsize=256)
def value_pattern(kind: ValueKind, text: str, amount: float | None, unit: str, date: dt.date | None) -> re.Pattern[str]:
    """Return the pattern of all usual forms of a value, the value's own text included."""
    forms = _forms(kind, text, amount, unit, date)
    return re.compile("|".join(f"(?:{form})" for form in forms), re.IGNORECASE)


def _forms(kind: ValueKind, text: str, amount: float | None, unit: str, date: dt.date | None) -> list[str]:
    if kind is ValueKind.DATE and date is not None:
        # The own text of a date without a year must not match in front of another year.
        guard = "" if re.search(YEAR, text) else rf"(?!,?\s+(?!{date.year}\b){YEAR}\b)"
        return [*_date_forms(date), _own_form(text) + guard]
    if kind is ValueKind.DATE:
        return [_own_form(text), *_yearless_forms(text)]
    if kind is ValueKind.VERSION:
        core = _VERSION.fullmatch(text)
        return [rf"(?<![\w.])v?{re.escape(core[1])}(?!\w)(?!\.\w)"] if core else [_own_form(text)]
    if kind is ValueKind.EXPRESSION:
        return [_expression_form(text)]
    amounts = [] if amount is None else _amount_forms(kind, amount, unit)
    return [_own_form(text), *amounts]


@lru_cache(maxsize=2_048)
def needed_literals(
    kind: ValueKind, text: str, amount: float | None, unit: str, date: dt.date | None
) -> tuple[str, ...]:
    """Return lower-case literals such that every ASCII text that says the value holds one; () where none is known.

    A search for a literal costs a hundredth of compiling the value's pattern, and rules out most texts.
    """
    core = _VERSION.fullmatch(text) if kind is ValueKind.VERSION else None
    own = max(re.findall("[a-z0-9]+", (core[1] if core else text).lower()), key=len, default="")
    if not own:
        return ()
    if kind is ValueKind.DATE:
        return _date_literals(text, own, date)
    if amount is None or kind in (ValueKind.VERSION, ValueKind.EXPRESSION):
        return (own,)
    return _amount_literals(kind, text, own, amount)


def _date_literals(text: str, own: str, date: dt.date | None) -> tuple[str, ...]:
    if date is None:
        return ()
    day = str(date.day)  # in all forms; the text's own is one of them where it has the day
    return (day,) if day in text else (own, day)


def _amount_literals(kind: ValueKind, text: str, own: str, amount: float) -> tuple[str, ...]:
    precise = exact(amount * 100 if kind is ValueKind.RATIO else amount)
    # Short forms (`1.2K`) begin with the same group of digits, unless they are rounded.
    if kind is not ValueKind.RATIO and not (precise * 100 % 1 == 0 and abs(precise) < 1_000_000):
        return ()
    digits = f"{abs(precise):,f}".partition(".")[0].partition(",")[0]
    word = number_word(amount)
    is_implied = digits in text or (bool(word) and word in text.lower())
    return tuple(filter(None, ("" if is_implied else own, digits, word)))


def _own_form(text: str) -> str:
    """Return the form of the value's own text, with edges that fit its first and last character."""
    said = text.strip().rstrip(".!?") or text
    body = re.sub(r"(?:\\\s|\s)+", lambda _: r"\s+", re.escape(said)).replace("'", "['’]")
    left = LEFT if said[0].isdigit() else r"(?<![\w$])" if said[0] in SIGNS else ""
    left = left or (r"(?<!\w)" if said[0].isalnum() else "")
    right = RIGHT + _NO_SCALE + _NO_SHARE if said[-1].isdigit() else ""
    return left + body + (right or (r"(?!\w)" if said[-1].isalnum() else ""))


def _expression_form(text: str) -> str:
    tokens = re.findall(r"\w+|[^\w\s]", text)
    left = r"(?<![\w.])" if tokens and tokens[0][0].isalnum() else ""
    right = r"(?!\w)(?!\.\d)" if tokens and tokens[-1][-1].isalnum() else ""
    return left + r"\s*".join(re.escape(t) for t in tokens) + right


# --- dates ------------------------------------------------------------------------------------------------


def _date_forms(date: dt.date) -> list[str]:
    year = rf"(?:,?\s+{date.year}\b|(?!,?\s+{YEAR}\b))"
    iso = rf"(?<!\d){date.year}[-/]{date.month:02d}[-/]{date.day:02d}(?!\d)"
    return [form + year for form in _day_forms(date.month, date.day)] + [iso]


def _day_forms(month: int, day: int) -> list[str]:
    full = MONTHS[month - 1]
    short = "Sept?" if month == 9 else full[:3]
    named = rf"(?:{full}|{short}\.?)"
    return [
        rf"(?<!\w){named}\s+(?:the\s+)?0?{day}{ORDINAL}(?!\w|\.\d)",
        rf"(?<![\w.]){day}{ORDINAL}\s+(?:of\s+)?{named}(?!\w)",
    ]


def _yearless_forms(text: str) -> list[str]:
    day = parse_value(text, year=2000).date  # any leap year: only month and day are read
    if day is None:
        return []
    iso = rf"(?<!\d)\d{{4}}[-/]{day.month:02d}[-/]{day.day:02d}(?!\d)"
    return [*_day_forms(day.month, day.day), iso]


# --- amounts ----------------------------------------------------------------------------------------------


def _amount_forms(kind: ValueKind, amount: float, unit: str) -> list[str]:
    if kind is ValueKind.MONEY:
        return _money_forms(amount, unit)
    if kind is ValueKind.RATIO:
        return [rf"{LEFT}{_digits(float(exact(amount * 100)))}\s?(?:%|per\s?cent\b)"]
    word = number_word(amount)
    digits = rf"{LEFT}{_scaled_digits(amount)}"
    counted = rf"(?:{digits}|(?<!\w){word})" if word else digits
    if kind is ValueKind.DURATION and unit in TIME_UNITS:
        return [rf"{counted}(?:\s+|\s?-|)(?:{TIME_UNITS[unit]})(?!\w)"]
    if unit:
        adjective = r"(?:[a-z]+[\s-]+)?"
        return [rf"{counted}(?:[\s-]+{adjective}|)(?:{unit_pattern(unit)})(?!\w)"]
    bare = rf"{digits}{RIGHT}{_NO_SCALE}{_NO_SHARE}"
    # `one` alone is a pronoun more often than a number.
    return [bare, rf"(?<!\w){word}(?!\w)"] if word and amount > 1 else [bare]


def _money_forms(amount: float, currency: str) -> list[str]:
    digits = _scaled_digits(amount)
    right = r"(?!\w)(?![.,]\d)" + _NO_SCALE
    signs, words = forms_of(currency)
    return [
        rf"(?<![\w{SIGNS}])(?:{signs})\s?{digits}{right}",
        rf"{LEFT}{digits}(?:[\s-](?:{words})|\s?(?:{signs}))(?!\w)",
    ]


def _digits(amount: float) -> str:
    """Return the digits of an amount, with or without commas between thousands."""
    precise = exact(amount)
    whole, _, fraction = f"{abs(precise):,f}".partition(".")
    fraction = fraction.rstrip("0")
    sign = "[-−]" if precise < 0 else ""
    tail = rf"\.{fraction}0*" if fraction else r"(?:\.0+)?"
    return sign + whole.replace(",", ",?") + tail


def _scaled_digits(amount: float) -> str:
    """Return the digits of an amount, with the short forms of thousands and millions."""
    forms = [_digits(amount)]
    for size, names in ((1_000, "k|thousand"), (1_000_000, "m|million"), (1_000_000_000, "bn?|billion")):
        if abs(amount) >= size and exact(amount / size) * 100 % 1 == 0:
            forms.append(rf"{_digits(amount / size)}\s?(?:{names})")
    return "(?:" + "|".join(forms) + ")"


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


_RANGE = re.compile(r"\s?[-–]\s?\D?\d")
"""Rest of a range of amounts: `-12`, `–$12`."""
_OF_USER = re.compile(r"\b(?:your|the|of)\s+\W{0,2}$", re.IGNORECASE)
"""Words in front of an amount that was there before: `beside your $45`."""


def use_quote(text: str, amount: Value, use: str) -> str | None:
    """Return the shortest sentence, verbatim, that says what an amount is for; None if none does.

    Where no sentence says both, the quote is two sentences of one line.
    """
    spans = sentences(text)
    pairs = [(a, d) for (a, b), (c, d) in pairwise(spans) if "\n" not in text[b:c]]
    for runs in (spans, pairs):
        if found := [text[a:b] for a, b in runs if _says_use(text[a:b], amount, use)]:
            return min(found, key=len)
    return None


def _says_use(text: str, amount: Value, use: str) -> bool:
    amounts, uses = _places(text, amount), _places(text, plain(use))
    return any(_belong_together(text, one, other) for one in amounts for other in uses)


def _places(text: str, value: Value) -> list[Span]:
    pattern = value_pattern(value.kind, value.text, value.number, value.unit, value.date)
    return [match.span() for match in pattern.finditer(text)]


def _belong_together(text: str, amount: Span, use: Span) -> bool:
    """Return whether nothing denies amount or purpose, and no other new amount stands between them."""
    between = text[min(amount[1], use[1]) : max(amount[0], use[0])]
    if _RANGE.match(text, amount[1]) or any(_is_denied(text, start) for start in (amount[0], use[0])):
        return False
    others = (s for s in stated_in(between) if s.value.kind is ValueKind.MONEY)
    return all(_OF_USER.search(between[: other.start]) for other in others)


def _is_denied(text: str, start: int) -> bool:
    # "No" denies no amount, and is another word in some languages.
    return any(m.group().casefold() != "no" for m in NEGATOR.finditer(clause_before(text, start)))
