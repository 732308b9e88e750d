"""Regular expressions of the forms in which people say a typed value, cached per value.

The forms are strict at their edges: `14` does not match in `2014`, `14.5`, `$14` or `14%`, and `March 5, 2023` does not
match March 5, 2024.
"""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache

from longbeam.schemas import ValueKind
from longbeam.text.currencies import SIGNS, forms_of
from longbeam.text.extraction import LEFT, RIGHT, parse_value
from longbeam.text.numbers import exact, number_word
from longbeam.text.times import MONTHS, ORDINAL, TIME_UNITS, YEAR
from longbeam.text.units import unit_pattern

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
