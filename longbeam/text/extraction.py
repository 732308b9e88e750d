"""Typed values found in prose: dates, money, shares, durations, versions, times of day, numbers with their units.

Before they are found, values that people write in several ways are brought into one spelling.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from typing import NamedTuple

from text_to_num import alpha2digit

from longbeam.schemas import Value, ValueKind
from longbeam.text.currencies import CURRENCY_SYMBOLS, SIGNS, currency_of, prefixes, suffix_signs, suffixes
from longbeam.text.numbers import AMOUNT, MAX_AMOUNT, NUMBER_WORDS, SCALES, SMALL_NUMBER, exact, read_amount, read_cash
from longbeam.text.times import MONTH, ORDINAL, TIME_UNITS, YEAR, month_number
from longbeam.text.tuning import READING
from longbeam.text.values import plain, version
from longbeam.text.words import content_words

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
    return alpha2digit(text, "en", threshold=READING.most_spelled) if _SPELLED_LARGE.search(text.casefold()) else text


def _each_day_in_full(match: re.Match[str]) -> str:
    # The year of the last day stays where it is in the text, behind the match.
    days, year = re.findall(_DAY, match[2]), match[3] or ""
    return f"{year}, ".join(f"{match[1]} {day}" for day in days)


LEFT = rf"(?<![\w{SIGNS}])(?<!\d[.,:/\-–])"
"""Pattern of the edge in front of a number that is not part of a longer one."""
RIGHT = r"(?!\w)(?![.,:/\-–]\d)"
"""Pattern of the edge behind such a number."""
_CASH = r"(?:\d{1,3}(?:[., '’\u00a0\u202f]\d{3})+|\d{1,2}(?:,\d{2})+,\d{3}|\d+)(?:[.,]\d{1,2}(?!\d)|\.\d+)?"
"""Digits of money: `1,200.50`, and as other countries write them, `1.200,50`, `1 200`, `1'200`, `1,20,000`."""
_TIME_UNIT = "|".join(TIME_UNITS.values())
_SCALE = r"(?:\s?(?P<{}>k|m|bn|thousand|million|billion)\b)?"
_TOKENS = re.compile(
    "|".join(
        (
            r"(?<!\d)(?P<iso>\d{4}-\d{2}-\d{2})(?![\d-])",
            rf"(?<!\w)(?P<m1>{MONTH})\s+(?P<d1>\d{{1,2}}){ORDINAL}(?!\w|\.\d)(?:,?\s+(?P<y1>{YEAR})(?!\w))?",
            rf"(?<![\w.,$])(?P<d2>\d{{1,2}}){ORDINAL}\s+(?:of\s+)?(?P<m2>{MONTH})(?:,?\s+(?P<y2>{YEAR})(?!\w))?",
            rf"(?<![\w{SIGNS}])(?P<sign>{prefixes()})\s?(?P<cash1>{_CASH}){_SCALE.format('scale1')}(?!\w)",
            rf"{LEFT}(?P<cash2>{_CASH}){_SCALE.format('scale2')}"
            rf"(?:[\s-](?P<cur>{suffixes()})(?!\w)|\s?(?P<mark>{suffix_signs()})(?![\w{SIGNS}]))",
            rf"{LEFT}(?P<share>{AMOUNT})\s?(?:%|per\s?cent\b)",
            rf"(?:{LEFT}(?P<n1>{AMOUNT})(?:\s+|-|)|(?<!\w)(?P<w1>{SMALL_NUMBER})[\s-]+)(?P<time>{_TIME_UNIT})(?!\w)",
            r"(?<![\w.])(?P<ver>v\d+(?:\.\d+)+|\d+(?:\.\d+){2,})(?!\w|\.\d)",
            r"(?<![\w.:])(?P<clock>\d{1,2}:\d{2}(?:\s?[ap]\.?m\b\.?)?|\d{1,2}\s?[ap]\.?m\b\.?)(?![\d:])",
            rf"{LEFT}(?P<n2>{AMOUNT})(?:\s(?P<unit>[a-z]{{2,}})|(?P<sym>ms|kg|km|cm|mm|lbs?|[kmgt]b|px|mph))(?!\w)",
            rf"(?<!\w)(?P<w3>{SMALL_NUMBER})\s(?P<unit3>[a-z]{{3,}}s|people|children)(?!\w)",
            rf"{LEFT}(?P<n4>{AMOUNT})(?!\w|[.,:/]\d)",
        )
    ),
    re.IGNORECASE,
)
_START = re.compile(
    rf"(?<!\w)(?:\d|[A-Zzk][A-Za-zł]{{0,3}}[.$¥₵]{{0,2}}\s?\d|(?i:(?:{SMALL_NUMBER})[\s-]|{MONTH}\s+\d|v\d))|[{SIGNS}]"
)
"""Places where a token can begin. Trying `_TOKENS` there alone takes a fifth of the time of trying it everywhere."""
# Words after a number that are not what it counts.
_NOT_UNITS = frozenset(
    (  # noqa: SIM905 - a word list reads better as words
        "of and or to in on at by for from with as is was are were be been the an this that then than but so "
        "if when while which who will would can could should has had have did does do not no more less "
        "per about after before until since because times instead also just it its my our your their we "
        "you they he she"
    ).split()
)
_OF_MORE = re.compile(r"[\d–−-]|\b(?:no|not|than)\b", re.IGNORECASE)
"""Rest of a text of whose value the value found is a part, or which denies it: `€1,200-1,400`, `2h 15m`, `-5`."""
LIST_NUMBER = re.compile(r"(?m)^\s*\d{1,2}[.)]\s+|(?<!\w)\(?\d{1,2}\)")


def values_in(text: str, *, year: int | None = None) -> tuple[Value, ...]:
    """Return the typed values of a text in order, each with its text as written.

    Dates (`date` is set only where the year is written or `year` is given), money, percentages, durations,
    versions (`v2.3`, `2.3.1`), times of day (kind text), numbers with and without unit. Spelled numbers, one
    to twelve, count before a length of time or a plural. Impossible dates are skipped.
    """
    return tuple(found.value for found in stated_in(text, year=year))


class Stated(NamedTuple):
    """A typed value at its place in a text."""

    start: int
    end: int
    value: Value


def stated_in(text: str, *, year: int | None = None) -> tuple[Stated, ...]:
    """Return what `values_in` returns, with the place of each value."""
    found = []
    for match in _tokens(text):
        value = _token_value(match, year)
        # No story has larger amounts. A model that loops writes endless digits, which decimals do not hold.
        if value is not None and not (value.number is not None and value.number > MAX_AMOUNT):
            found.append(Stated(match.start(), match.start() + len(value.text), value))
    return tuple(found)


def _tokens(text: str) -> Iterator[re.Match[str]]:
    """Yield what `_TOKENS.finditer` yields."""
    start = _START.search(text)
    while start is not None:
        token = _TOKENS.match(text, start.start())
        if token is not None:
            yield token
        start = _START.search(text, token.end() if token is not None else start.start() + 1)


def parse_value(text: str, *, year: int | None = None) -> Value:
    """Return the value that the whole text is: typed where `values_in` knows it, plain otherwise."""
    found = values_in(text, year=year)
    return found[0] if len(found) == 1 and found[0].text == text.strip() else plain(text)


def named_value(text: str) -> Value:
    """Return the one value that a text names, `the 11th of March 2025`, `two weeks`; plain if there is none."""
    normalized = normalize_values(text.strip())
    found = values_in(normalized)
    if len(found) != 1:
        return plain(normalized)
    rest = normalized.replace(found[0].text, " ", 1)
    is_part = _OF_MORE.search(rest) or content_words(rest) or len(rest.split()) > 2
    return plain(normalized) if is_part else found[0]


def distinct_values(text: str) -> tuple[Value, ...]:
    """Return the typed values of an answer, each once; numbers of list items and small bare counts are left out."""
    found: dict[tuple[str, str], Value] = {}
    for value in values_in(normalize_values(LIST_NUMBER.sub(" ", text))):
        found.setdefault((value.kind, value.text.casefold()), value)
    return tuple(v for v in found.values() if not is_enumeration(v))


def is_enumeration(value: Value) -> bool:
    """Return whether a number rather counts or numbers the items of an answer than states a fact."""
    if value.kind is not ValueKind.NUMBER or value.number is None:
        return False
    is_spelled = not any(c.isdigit() for c in value.text)
    return is_spelled or (not value.unit and value.number <= READING.most_spelled)


def _token_value(match: re.Match[str], year: int | None) -> Value | None:
    found = {k: v for k, v in match.groupdict().items() if v is not None}
    said = match.group().strip()
    if found.keys() & {"iso", "m1", "m2"}:
        return _date_token(found, said, year)
    if found.keys() & {"cash1", "cash2"}:
        return _money_token(found, said)
    if "share" in found:
        return Value(kind=ValueKind.RATIO, text=said, number=float(exact(read_amount(found["share"]) / 100)))
    if "time" in found:
        unit = next(u for u, form in TIME_UNITS.items() if re.fullmatch(form, found["time"], re.IGNORECASE))
        return Value(kind=ValueKind.DURATION, text=said, number=_counted(found, "n1", "w1"), unit=unit)
    if "ver" in found:
        return version(said)
    if "clock" in found:
        return plain(said)
    return _number_token(found, said)


def _money_token(found: dict[str, str], said: str) -> Value:
    amount = read_cash(found.get("cash1") or found["cash2"])
    scale = SCALES.get((found.get("scale1") or found.get("scale2") or "").casefold(), 1)
    unit = currency_of(found.get("sign") or found.get("cur") or found["mark"])
    return Value(kind=ValueKind.MONEY, text=said, number=float(exact(amount * scale)), unit=unit)


def _number_token(found: dict[str, str], said: str) -> Value:
    if "unit3" in found:
        amount, counted = _counted(found, "", "w3"), found["unit3"].casefold()
        return Value(kind=ValueKind.NUMBER, text=said, number=amount, unit=counted)
    digits = found.get("n2") or found["n4"]
    unit = (found.get("unit") or found.get("sym") or "").casefold()
    if unit in _NOT_UNITS:
        return Value(kind=ValueKind.NUMBER, text=digits, number=read_amount(digits))
    return Value(kind=ValueKind.NUMBER, text=said, number=read_amount(digits), unit=unit)


def _date_token(found: dict[str, str], said: str, year: int | None) -> Value | None:
    try:
        if "iso" in found:
            return Value(kind=ValueKind.DATE, text=said, date=dt.date.fromisoformat(found["iso"]))
        month = month_number(found.get("m1") or found["m2"])
        day = int(found.get("d1") or found["d2"])
        written = found.get("y1") or found.get("y2")
        # 2000 is a leap year: it only tells whether the day exists at all.
        known = dt.date(int(written or year or 2000), month, day)
    except ValueError:
        return None
    return Value(kind=ValueKind.DATE, text=said, date=known if written or year else None)


def _counted(found: dict[str, str], digits: str, word: str) -> float:
    return read_amount(found[digits]) if digits in found else float(NUMBER_WORDS.index(found[word].casefold()))
