"""What typed values look like in prose: say them, find them, quote them, compute with them.

`says` is asked of every message, quote and gold answer, so it is strict at the edges: `14` is not said by
`2014`, `14.5`, `$14` or `14%`, and `March 5, 2023` does not say March 5, 2024. Patterns are cached per value.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

from longbeam.schemas.plans import Value, ValueKind
from longbeam.text.sentences import prose_spans, sentences, sentences_within

__all__ = [
    "COMPUTATIONS",
    "date_value",
    "duration",
    "extract_values",
    "format_date",
    "money",
    "name",
    "number",
    "parse_value",
    "plain",
    "quote_for",
    "ratio",
    "recompute",
    "says",
    "sentences",
    "version",
    "weekday",
]

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SPELLED = (  # noqa: SIM905 - a word list reads better as words
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
).split()
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}
_CURRENCY_WORDS = {"USD": "(?:US )?dollars?|bucks", "EUR": "euros?", "GBP": "pounds?", "JPY": "yen"}
_DURATIONS = {
    "seconds": "seconds?|secs?",
    "minutes": "minutes?|mins?",
    "hours": "hours?|hrs?|h",
    "days": "days?",
    "weeks": "weeks?|wks?",
    "months": "months?",
    "quarters": "quarters?",
    "years": "years?|yrs?",
}
_UNIT_ALIASES = (
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
_YEAR = r"(?:19|20)\d\d"
_ORDINAL = r"(?:st|nd|rd|th)?"
_MAGNITUDE = r"(?!\s+(?:hundred|thousand|million|billion)\b)"
_LEFT = r"(?<![\w$€£¥])(?<!\d[.,:/\-–])"
_RIGHT = r"(?!\w)(?![.,:/\-–]\d)"
_NOT_SHARE = r"(?!\s?%|\s+per\s?cent\b)"


# --- making values ----------------------------------------------------------------------------------------


def format_date(date: dt.date, with_year: bool = True) -> str:
    """Return `March 5, 2024`, or `March 5`; whatever the locale."""
    text = f"{MONTHS[date.month - 1]} {date.day}"
    return f"{text}, {date.year}" if with_year else text


def weekday(date: dt.date) -> str:
    """Return the English name of the day of the week."""
    return WEEKDAYS[date.weekday()]


def date_value(date: dt.date, *, with_year: bool = True) -> Value:
    """Return a date; its text leaves the year out where the reader knows it."""
    return Value(kind=ValueKind.DATE, text=format_date(date, with_year), date=date)


def money(amount: float, currency: str = "USD") -> Value:
    """Return an amount of an ISO 4217 currency: `$1,200`, `€89.50`, `300 CHF`."""
    digits = f"{amount:,.0f}" if _exact(amount) % 1 == 0 else f"{amount:,.2f}"
    symbol = _SYMBOLS.get(currency)
    text = f"{symbol}{digits}" if symbol else f"{digits} {currency}"
    text = text.replace(f"{symbol}-", f"-{symbol}")
    return Value(kind=ValueKind.MONEY, text=text, number=amount, unit=currency)


def duration(amount: float, unit: str) -> Value:
    """Return a length of time; `unit` (`week`, `weeks`) is kept in the plural, the text says it as people do.

    Raises ValueError for a unit that is no length of time.
    """
    plural = unit if unit.endswith("s") else f"{unit}s"
    if plural not in _DURATIONS:
        raise ValueError(f"duration unit {unit!r}: allowed are {', '.join(_DURATIONS)}")
    said = plural[:-1] if amount == 1 else plural
    return Value(kind=ValueKind.DURATION, text=f"{_shown(amount)} {said}", number=amount, unit=plural)


def number(amount: float, unit: str = "") -> Value:
    """Return a number, with the unit it counts or measures (`users`, `ms`)."""
    return Value(kind=ValueKind.NUMBER, text=f"{_shown(amount)} {unit}".strip(), number=amount, unit=unit)


def ratio(share: float) -> Value:
    """Return a share as a percentage: 0.35 is `35%`."""
    return Value(kind=ValueKind.RATIO, text=f"{_shown(float(_exact(share) * 100))}%", number=share)


def version(text: str) -> Value:
    """Return a version as it is written (`v2.3.1`, `2.3.1`)."""
    return Value(kind=ValueKind.VERSION, text=text)


def name(text: str) -> Value:
    """Return the name of a person, place or thing."""
    return Value(kind=ValueKind.NAME, text=text)


def plain(text: str) -> Value:
    """Return a value that is only its words."""
    return Value(kind=ValueKind.TEXT, text=text)


def _exact(amount: float) -> Decimal:
    # repr of a float is the shortest decimal that reads back as it; 6 digits hide 0.1 + 0.2.
    return round(Decimal(repr(float(amount))), 6)


def _shown(amount: float) -> str:
    exact = _exact(amount)
    return f"{exact:,.0f}" if exact % 1 == 0 else f"{exact.normalize():,f}"


# --- saying values ----------------------------------------------------------------------------------------


def says(text: str, value: Value) -> bool:
    """Return whether the text says the value in any usual form, the value's own text included.

    Upper and lower case are equal. A date is said with or without its year (`March 5`, `5th of March`,
    `2024-03-05`), never with another one. Money: `$1,200`, `1,200 dollars`, `USD 1200`, `$1.2K`. Durations
    and counted things: digits or, up to twenty, words (`a three-week`). Shares: `35%`, `35 per cent`.
    """
    if _stands_alone(value.text, text):
        return True
    form = value.kind, value.text, value.number, value.unit, value.date
    if text.isascii() and value.text.isascii():
        literals, folded = _needed(*form), text.lower()
        if literals and not any(literal in folded for literal in literals):
            return False
    return _pattern(*form).search(text) is not None


# Compiling a pattern costs a hundred times what it costs to look for a text: most values are said word for word, or
# asked for in texts that cannot say them. The two functions below settle these, and nothing that is in doubt.

_CLEAR_END = re.compile(
    r"\Z|[.;!?)](?=\s|\Z)|,? (?=[a-z])(?!(?:hundred|thousand|million|billion|per|percent)\b)", re.IGNORECASE
)
"""After a value that goes on no further, not even with a year."""


def _stands_alone(said: str, text: str) -> bool:
    """Whether a text has these very words where no pattern of a value would refuse them."""
    start = text.find(said) if said else -1
    if start < 0 or (start and text[start - 1] not in " \n("):
        return False
    return _CLEAR_END.match(text, start + len(said)) is not None


@lru_cache(maxsize=2_048)
def _needed(kind: ValueKind, text: str, amount: float | None, unit: str, date: dt.date | None) -> tuple[str, ...]:
    """Lower-case literals of which every ASCII text that says a value holds one; none where nothing is known."""
    core = re.fullmatch(r"(?:version\s+|v)?(\d.*)", text, re.IGNORECASE) if kind is ValueKind.VERSION else None
    own = max(re.findall("[a-z0-9]+", (core[1] if core else text).lower()), key=len, default="")
    if not own or (kind is ValueKind.DATE and date is None):
        return ()
    if kind is ValueKind.DATE and date is not None:
        day = str(date.day)  # in all forms; the text's own is one of them where it has the day
        return (day,) if day in text else (own, day)
    if amount is None or kind in (ValueKind.VERSION, ValueKind.EXPRESSION):
        return (own,)
    exact = _exact(amount * 100 if kind is ValueKind.RATIO else amount)
    # Short forms (`1.2K`) begin with the same group of digits, unless they are rounded.
    if kind is not ValueKind.RATIO and not (exact * 100 % 1 == 0 and abs(exact) < 1_000_000):
        return ()
    figures = f"{abs(exact):,f}".partition(".")[0].partition(",")[0]
    words = _spelled(amount)
    is_implied = figures in text or (bool(words) and words in text.lower())
    return tuple(filter(None, ("" if is_implied else own, figures, words)))


@lru_cache(maxsize=256)
def _pattern(kind: ValueKind, text: str, amount: float | None, unit: str, date: dt.date | None) -> re.Pattern[str]:
    if kind is ValueKind.DATE and date is not None:
        forms = _date_forms(date)
        year = re.search(_YEAR, text)
        guard = "" if year else rf"(?!,?\s+(?!{date.year}\b){_YEAR}\b)"
        forms.append(_own(text) + guard)
    elif kind is ValueKind.DATE:
        forms = [_own(text), *_yearless_forms(text)]
    elif kind is ValueKind.VERSION:
        core = re.fullmatch(r"(?:version\s+|v)?(\d.*)", text, re.IGNORECASE)
        forms = [rf"(?<![\w.])v?{re.escape(core[1])}(?!\w)(?!\.\w)"] if core else [_own(text)]
    elif kind is ValueKind.EXPRESSION:
        forms = [_expression(text)]
    else:
        forms = [_own(text)]
        if amount is not None:
            forms += _amount_forms(kind, amount, unit)
    return re.compile("|".join(f"(?:{form})" for form in forms), re.IGNORECASE)


def _own(text: str) -> str:
    said = text.strip().rstrip(".!?") or text
    body = re.sub(r"(?:\\\s|\s)+", lambda _: r"\s+", re.escape(said)).replace("'", "['’]")
    left = _LEFT if said[0].isdigit() else r"(?<![\w$])" if said[0] in "$€£¥" else ""
    left = left or (r"(?<!\w)" if said[0].isalnum() else "")
    right = _RIGHT + _MAGNITUDE + _NOT_SHARE if said[-1].isdigit() else ""
    return left + body + (right or (r"(?!\w)" if said[-1].isalnum() else ""))


def _expression(text: str) -> str:
    tokens = re.findall(r"\w+|[^\w\s]", text)
    left = r"(?<![\w.])" if tokens and tokens[0][0].isalnum() else ""
    right = r"(?!\w)(?!\.\d)" if tokens and tokens[-1][-1].isalnum() else ""
    return left + r"\s*".join(re.escape(t) for t in tokens) + right


def _date_forms(date: dt.date) -> list[str]:
    year = rf"(?:,?\s+{date.year}\b|(?!,?\s+{_YEAR}\b))"
    iso = rf"(?<!\d){date.year}[-/]{date.month:02d}[-/]{date.day:02d}(?!\d)"
    return [form + year for form in _day_forms(date.month, date.day)] + [iso]


def _day_forms(month: int, day: int) -> list[str]:
    full = MONTHS[month - 1]
    short = "Sept?" if month == 9 else full[:3]
    named = rf"(?:{full}|{short}\.?)"
    return [
        rf"(?<!\w){named}\s+(?:the\s+)?0?{day}{_ORDINAL}(?!\w|\.\d)",
        rf"(?<![\w.]){day}{_ORDINAL}\s+(?:of\s+)?{named}(?!\w)",
    ]


def _yearless_forms(text: str) -> list[str]:
    match = _TOKENS.fullmatch(text.strip())
    known = _token_value(match, 2000) if match else None  # any year: only month and day are read
    if known is None or known.date is None:
        return []
    iso = rf"(?<!\d)\d{{4}}[-/]{known.date.month:02d}[-/]{known.date.day:02d}(?!\d)"
    return [*_day_forms(known.date.month, known.date.day), iso]


def _digits(amount: float) -> str:
    exact = _exact(amount)
    whole, _, fraction = f"{abs(exact):,f}".partition(".")
    fraction = fraction.rstrip("0")
    sign = "[-−]" if exact < 0 else ""
    tail = rf"\.{fraction}0*" if fraction else r"(?:\.0+)?"
    return sign + whole.replace(",", ",?") + tail


def _figures(amount: float) -> str:
    """Return the digits of an amount, with the short forms of thousands and millions."""
    forms = [_digits(amount)]
    for size, names in ((1_000, "k|thousand"), (1_000_000, "m|million"), (1_000_000_000, "bn?|billion")):
        if abs(amount) >= size and _exact(amount / size) * 100 % 1 == 0:
            forms.append(rf"{_digits(amount / size)}\s?(?:{names})")
    return "(?:" + "|".join(forms) + ")"


def _spelled(amount: float) -> str:
    return _SPELLED[int(amount)] if amount in range(1, len(_SPELLED)) else ""


def _amount_forms(kind: ValueKind, amount: float, unit: str) -> list[str]:
    if kind is ValueKind.MONEY:
        return _money_forms(amount, unit)
    if kind is ValueKind.RATIO:
        return [rf"{_LEFT}{_digits(float(_exact(amount * 100)))}\s?(?:%|per\s?cent\b)"]
    words = _spelled(amount)
    figures = rf"{_LEFT}{_figures(amount)}"
    counted = rf"(?:{figures}|(?<!\w){words})" if words else figures
    if kind is ValueKind.DURATION and unit in _DURATIONS:
        return [rf"{counted}(?:\s+|\s?-|)(?:{_DURATIONS[unit]})(?!\w)"]
    if unit:
        adjective = r"(?:[a-z]+[\s-]+)?"
        return [rf"{counted}(?:[\s-]+{adjective}|)(?:{_unit_forms(unit)})(?!\w)"]
    # `one` alone is a pronoun more often than a number.
    bare = rf"{figures}{_RIGHT}{_MAGNITUDE}{_NOT_SHARE}"
    return [bare, rf"(?<!\w){words}(?!\w)"] if words and amount > 1 else [bare]


def _money_forms(amount: float, currency: str) -> list[str]:
    figures = _figures(amount)
    right = r"(?!\w)(?![.,]\d)" + _MAGNITUDE
    code = re.escape(currency)
    words = "|".join(filter(None, (code, _CURRENCY_WORDS.get(currency))))
    symbol = _SYMBOLS.get(currency)
    signs = rf"{code}\s?|(?:US)?{re.escape(symbol)}\s?" if symbol else rf"{code}\s?"
    return [rf"(?<!\w)(?:{signs}){figures}{right}", rf"{_LEFT}{figures}[\s-](?:{words})(?!\w)"]


def _unit_forms(unit: str) -> str:
    folded = unit.casefold()
    for aliases in _UNIT_ALIASES:
        if folded in aliases:
            return "|".join(aliases)
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


# --- quoting ----------------------------------------------------------------------------------------------


def quote_for(text: str, values: Sequence[Value]) -> str | None:
    """Return the shortest run of whole sentences, verbatim, that says all the values; None if none does.

    Runs do not cross fenced code. The earliest wins among equally short ones; without values that is the
    first sentence.
    """
    best: tuple[int, int] | None = None
    for prose in prose_spans(text):
        if not all(says(text[slice(*prose)], v) for v in values):
            continue
        spans = sentences_within(text, prose)
        if not values:
            return text[slice(*spans[0])] if spans else None
        run = _shortest_run(text, spans, values)
        if run is not None and (best is None or run[1] - run[0] < best[1] - best[0]):
            best = run
    return None if best is None else text[slice(*best)]


def _shortest_run(text: str, spans: Sequence[tuple[int, int]], values: Sequence[Value]) -> tuple[int, int] | None:
    best: tuple[int, int] | None = None
    last = 0
    for start, _ in spans:
        while last < len(spans) and not _says_all(text[start : spans[last][1]], values):
            last += 1
        if last == len(spans):
            break
        if best is None or spans[last][1] - start < best[1] - best[0]:
            best = (start, spans[last][1])
    return best


def _says_all(text: str, values: Sequence[Value]) -> bool:
    return all(says(text, v) for v in values)


# --- finding ----------------------------------------------------------------------------------------------

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|"
    r"Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?(?![A-Za-z])"
)
_NUM = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_WORDS = "|".join(_SPELLED[1:13])
_TIME_UNITS = "|".join(_DURATIONS.values())
_SCALE = r"(?:\s?(?P<{}>k|m|bn|thousand|million|billion)\b)?"
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}
_TOKENS = re.compile(
    "|".join(
        (
            r"(?<!\d)(?P<iso>\d{4}-\d{2}-\d{2})(?![\d-])",
            rf"(?<!\w)(?P<m1>{_MONTH})\s+(?P<d1>\d{{1,2}}){_ORDINAL}(?!\w|\.\d)(?:,?\s+(?P<y1>{_YEAR})(?!\w))?",
            rf"(?<![\w.,$])(?P<d2>\d{{1,2}}){_ORDINAL}\s+(?:of\s+)?(?P<m2>{_MONTH})(?:,?\s+(?P<y2>{_YEAR})(?!\w))?",
            rf"(?<!\w)(?P<sign>[$€£¥])\s?(?P<cash1>{_NUM}){_SCALE.format('scale1')}(?!\w)",
            rf"{_LEFT}(?P<cash2>{_NUM}){_SCALE.format('scale2')}\s(?P<cur>dollars?|euros?|bucks|USD|EUR|GBP)(?!\w)",
            rf"{_LEFT}(?P<share>{_NUM})\s?(?:%|per\s?cent\b)",
            rf"(?:{_LEFT}(?P<n1>{_NUM})(?:\s+|-|)|(?<!\w)(?P<w1>{_WORDS})[\s-]+)(?P<time>{_TIME_UNITS})(?!\w)",
            r"(?<![\w.])(?P<ver>v\d+(?:\.\d+)+|\d+(?:\.\d+){2,})(?!\w|\.\d)",
            r"(?<![\w.:])(?P<clock>\d{1,2}:\d{2}(?:\s?[ap]\.?m\b\.?)?|\d{1,2}\s?[ap]\.?m\b\.?)(?![\d:])",
            rf"{_LEFT}(?P<n2>{_NUM})(?:\s(?P<unit>[a-z]{{2,}})|(?P<sym>ms|kg|km|cm|mm|lbs?|[kmgt]b|px|mph))(?!\w)",
            rf"(?<!\w)(?P<w3>{_WORDS})\s(?P<unit3>[a-z]{{3,}}s|people|children)(?!\w)",
            rf"{_LEFT}(?P<n4>{_NUM})(?!\w|[.,:/]\d)",
        )
    ),
    re.IGNORECASE,
)
# Words after a number that are not what it counts.
_NOT_UNITS = frozenset(
    (  # noqa: SIM905 - a word list reads better as words
        "of and or to in on at by for from with as is was are were be been the an this that then than but so "
        "if when while which who will would can could should has had have did does do not no more less "
        "per about after before until since because times instead also just it its my our your their we "
        "you they he she"
    ).split()
)
_CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"} | {"d": "USD", "b": "USD", "u": "USD"}
_CURRENCIES |= {"e": "EUR", "g": "GBP"}
"""By the first character of a sign or currency word."""


def extract_values(text: str, *, year: int | None = None) -> tuple[Value, ...]:
    """Return the typed values of a text in order, each with its text as written.

    Dates (`date` is set only where the year is written or `year` is given), money, percentages, durations,
    versions (`v2.3`, `2.3.1`), times of day (kind text), numbers with and without unit. Spelled numbers, one
    to twelve, count before a length of time or a plural. Impossible dates are skipped.
    """
    values = (_token_value(match, year) for match in _TOKENS.finditer(text))
    return tuple(v for v in values if v is not None)


def parse_value(text: str, *, year: int | None = None) -> Value:
    """Return the value that the whole text is: typed where `extract_values` knows it, plain otherwise."""
    found = extract_values(text, year=year)
    return found[0] if len(found) == 1 and found[0].text == text.strip() else plain(text)


def _token_value(match: re.Match[str], year: int | None) -> Value | None:
    found = {k: v for k, v in match.groupdict().items() if v is not None}
    said = match.group().strip()
    if found.keys() & {"iso", "m1", "m2"}:
        return _date_token(found, said, year)
    if "cash1" in found or "cash2" in found:
        amount = _read(found.get("cash1") or found["cash2"])
        scale = _SCALES.get((found.get("scale1") or found.get("scale2") or "").casefold(), 1)
        unit = _CURRENCIES[(found.get("sign") or found["cur"])[0].casefold()]
        return Value(kind=ValueKind.MONEY, text=said, number=float(_exact(amount * scale)), unit=unit)
    if "share" in found:
        return Value(kind=ValueKind.RATIO, text=said, number=float(_exact(_read(found["share"]) / 100)))
    if "time" in found:
        unit = next(u for u, form in _DURATIONS.items() if re.fullmatch(form, found["time"], re.IGNORECASE))
        return Value(kind=ValueKind.DURATION, text=said, number=_counted(found, "n1", "w1"), unit=unit)
    if "ver" in found:
        return version(said)
    if "clock" in found:
        return plain(said)
    return _number_token(found, said)


def _number_token(found: dict[str, str], said: str) -> Value:
    if "unit3" in found:
        amount, counted = _counted(found, "", "w3"), found["unit3"].casefold()
        return Value(kind=ValueKind.NUMBER, text=said, number=amount, unit=counted)
    digits = found.get("n2") or found["n4"]
    unit = (found.get("unit") or found.get("sym") or "").casefold()
    if unit in _NOT_UNITS:
        return Value(kind=ValueKind.NUMBER, text=digits, number=_read(digits))
    return Value(kind=ValueKind.NUMBER, text=said, number=_read(digits), unit=unit)


def _date_token(found: dict[str, str], said: str, year: int | None) -> Value | None:
    try:
        if "iso" in found:
            return Value(kind=ValueKind.DATE, text=said, date=dt.date.fromisoformat(found["iso"]))
        stem = (found.get("m1") or found["m2"])[:3].casefold()
        month = next(i for i, m in enumerate(MONTHS, 1) if m[:3].casefold() == stem)
        day = int(found.get("d1") or found["d2"])
        written = found.get("y1") or found.get("y2")
        # 2000 is a leap year: it only tells whether the day exists at all.
        known = dt.date(int(written or year or 2000), month, day)
    except ValueError:
        return None
    return Value(kind=ValueKind.DATE, text=said, date=known if written or year else None)


def _read(digits: str) -> float:
    return float(digits.replace(",", ""))


def _counted(found: dict[str, str], figure: str, word: str) -> float:
    return _read(found[figure]) if figure in found else float(_SPELLED.index(found[word].casefold()))


# --- computing --------------------------------------------------------------------------------------------

COMPUTATIONS = ("days_between", "weeks_between", "sum", "difference", "count", "ratio_change")
"""What `recompute` knows."""


def recompute(computation: str, values: Sequence[Value]) -> Value:
    """Return what the values give.

    `days_between` two dates, in either order, the first day not counted: March 1 and March 5 are 4 days
    apart; `weeks_between` likewise, whole weeks only. `sum` of one kind and unit; `difference` of two, never
    negative; `count` of the distinct ones, a number without unit; `ratio_change` from the first amount to the
    second as a share of the first, never negative, rounded to a tenth of a per cent.

    Raises ValueError for another computation, too few values, mixed kinds or units, or a missing amount.
    """
    if computation in ("days_between", "weeks_between"):
        return _between(values, computation)
    if computation == "count":
        return number(len({_identity(v) for v in values}))
    if computation not in COMPUTATIONS:
        raise ValueError(f"computation {computation!r}: allowed are {', '.join(COMPUTATIONS)}")
    amounts = _amounts(values, computation)
    first = values[0]
    if computation == "sum":
        return _like(first, sum(amounts, Decimal(0)))
    if len(amounts) != 2:
        raise ValueError(f"{computation} needs two values, not {len(amounts)}")
    change = abs(amounts[1] - amounts[0])
    if computation == "difference":
        return _like(first, change)
    if amounts[0] == 0:
        raise ValueError("ratio_change from zero is undefined")
    return ratio(float(round(change / abs(amounts[0]), 3)))


def _identity(value: Value) -> tuple[object, ...]:
    if value.number is not None or value.date is not None:
        return value.kind, value.number, value.unit, value.date
    return value.kind, value.text.casefold()


def _between(values: Sequence[Value], computation: str) -> Value:
    dates = [v.date for v in values if v.date is not None]
    if len(dates) != 2 or len(values) != 2:
        raise ValueError(f"{computation} needs two dates with years, not {[v.text for v in values]}")
    days = abs((dates[1] - dates[0]).days)
    if computation == "days_between":
        return duration(days, "days")
    if days % 7:
        raise ValueError(f"weeks_between: {days} days are not whole weeks")
    return duration(days // 7, "weeks")


def _amounts(values: Sequence[Value], computation: str) -> list[Decimal]:
    amounts = [_exact(v.number) for v in values if v.number is not None]
    said = [v.text for v in values]
    if len(values) < 2 or len(amounts) != len(values):
        raise ValueError(f"{computation} needs at least two values with amounts, not {said}")
    if len({(v.kind, v.unit) for v in values}) > 1:
        raise ValueError(f"{computation} of mixed kinds or units: {said}")
    return amounts


def _like(value: Value, amount: Decimal) -> Value:
    result = float(amount) if amount % 1 else int(amount)
    if value.kind is ValueKind.MONEY:
        return money(result, value.unit)
    if value.kind is ValueKind.DURATION:
        return duration(result, value.unit)
    if value.kind is ValueKind.RATIO:
        return ratio(float(amount))
    return number(result, value.unit)
