"""Find the values of a text that are known, and those that a person computes on the spot from known ones.

Values are compared by keys: equal amounts of one currency, lengths of time in any unit, and numbers of the same noun
have a key in common, whatever their wording.

A value is derivable in one step from values that are *near*: those of the message itself, of what it is to tell, and of
the exchange it belongs to.

- Money and counted things: the sum of all near amounts; the sum or difference of a near amount and a known one; a near
  amount times, or divided by, a near number; a near percentage of it, off it or on top of it.
- Percentages: a near amount as a share of another one or of a known one; what is left of a near share.
- Lengths of time: the time between two near dates, the day of the message among them; the sum or difference of two near
  ones, and their multiples.
- Dates: a near length of time before or after a near date; the last day before or the first day after.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product

from longbeam.schemas import MONTHS_PER_UNIT, SECONDS_PER_UNIT, Value, ValueKind
from longbeam.text.extraction import LIST_NUMBER, Stated, is_enumeration, normalize_values, stated_in, values_in
from longbeam.text.numbers import SMALL_NUMBER, exact
from longbeam.text.sentences import sentences
from longbeam.text.times import DAYS_PER_UNIT, TIME_UNITS
from longbeam.text.traces import without_code
from longbeam.text.tuning import READING
from longbeam.text.words import words_of

Key = tuple[object, ...]
_QUOTED = re.compile(r"(?<!\w)[\"“][^\"“”\n]{1,400}[\"”](?!\w)|^>.*$", re.MULTILINE)
"""Words of others: between quotation marks, or quoted as markdown does."""
_FORMULA = re.compile(r"\S*\d\S*\s*[=^*/<>≤≥≈×+]\s*\S*|\S*\s*[=^*<>≤≥≈×]\s*\S*\d\S*")
"""Calculation in plain text: its numbers are no facts."""
_OPERATOR = re.compile(r"[=^*/<>≤≥≈×+]")
"""Signs one of which each formula has; to look for them costs a fortieth of looking for formulas."""
_VAGUE = re.compile(r"\b(?:a few|some|several|many|a couple(?: of)?) (?:hundred|thousand|million)\b", re.IGNORECASE)
"""Rough number, which states no value: `a few thousand rows`."""
_NOUN = re.compile(r"[\s-]*((?:[^\W\d_]+['’-]?[^\W\d_]*[\s-]+){0,2}[^\W\d_]+)")
_QUALIFIED = re.compile(
    rf"\b(\d+|{SMALL_NUMBER})[\s-][a-z]+[\s-](?=(?:{'|'.join(TIME_UNITS.values())})\b)", re.IGNORECASE
)
"""A length of time with an adjective: `two extra days`."""
_IN_NAME = re.compile(r"[^\W\d_][-–]")
"""Two characters in front of a number that is part of a name: `SHA-256`, `COVID-19`."""
_YEARS = re.compile(r"(?<![\d-])((?:19|20)\d\d)[-–](?=(?:19|20)\d\d(?![\d-]))")
"""First year of a range and its dash: `2010-2018`."""
_CLOCK = re.compile(r"(\d{1,2})(?::(\d\d))?\s?([ap])?", re.IGNORECASE)


def stated_values(text: str) -> tuple[tuple[Stated, ...], str]:
    """Return the values that a text states in its own name, and the text in the spelling that they are places in.

    Code, formulas, quotations and rough numbers are left out. So are the numbers of lists, small counts without unit,
    and `100%`.
    """
    own = own_words(text)
    prose = _VAGUE.sub(" ", _FORMULA.sub(" ", own) if _OPERATOR.search(own) else own)
    prose = normalize_values(LIST_NUMBER.sub(" ", prose))
    found = (s for s in stated_in(prose) if not is_enumeration(s.value) and not _is_in_name(prose, s.start))
    return tuple(s for s in found if not (s.value.kind is ValueKind.RATIO and s.value.number == 1)), prose


def own_words(text: str) -> str:
    """Return a text without code and quotations."""
    return _QUOTED.sub(" ", without_code(text))


def _is_in_name(text: str, start: int) -> bool:
    return _IN_NAME.match(text, max(0, start - 2), start) is not None


def values_with_keys(text: str, day: dt.date) -> Iterator[tuple[Value, frozenset[Key]]]:
    """Yield all values of a text with their keys; `day` gives the year to dates without one."""
    prose = normalize_values(_YEARS.sub(r"\1 to ", text))
    for stated in stated_in(prose):
        yield stated.value, keys_of(stated, prose, day)
    if (plain := _QUALIFIED.sub(r"\1 ", prose)) != prose:
        for stated in stated_in(plain):
            if stated.value.kind is ValueKind.DURATION:
                yield stated.value, value_keys(stated.value, day)


def counted_keys(text: str) -> Iterator[Key]:
    """Yield the keys of the counts of a text, with each word of their sentence as the noun.

    "The number of visits rose to 5" counts visits, and the "5 mentees" of women are women.
    """
    for start, end in sentences(text):
        words = words_of(text[start:end])
        for value in values_in(text[start:end]):
            if value.kind is ValueKind.NUMBER:
                yield from (("number", value.number, word) for word in words)


def keys_of(stated: Stated, text: str, day: dt.date) -> frozenset[Key]:
    """Return the keys of a value at its place in a text: two values are the same if they share one."""
    value = stated.value
    if value.kind is ValueKind.NUMBER and value.number is not None:
        noun = _NOUN.match(text, stated.start + len(re.match(r"[\d,.]*", value.text)[0]))  # type: ignore[index]
        words = words_of(noun[1]) if noun else words_of(value.unit)
        return value_keys(value, day) | {("number", value.number, word) for word in words}
    return value_keys(value, day)


def asked_keys(stated: Stated, text: str, day: dt.date) -> frozenset[Key]:
    """Return the keys one of which must be known for a stated value to be known."""
    keys = keys_of(stated, text, day)
    # A table's numbers have their unit in its head, if anywhere; `SQLite 3.39 set` sets no 3.39 of anything.
    is_counted = stated.value.kind in (ValueKind.MONEY, ValueKind.NUMBER)
    return keys | {("uncounted", stated.value.number)} if is_counted else keys


def value_keys(value: Value, day: dt.date) -> frozenset[Key]:
    """Return the keys of a typed value that stands alone."""
    said = " ".join(value.text.casefold().split())
    keys: set[Key] = {("text", said.removeprefix("v") if value.kind is ValueKind.VERSION else said)}
    number = value.number
    if value.kind is ValueKind.DATE:
        date = value.date or nearest_day(value.text, day)
        keys |= {("date", date)} if date else set()
    elif number is None:
        clock = _CLOCK.match(value.text) if value.kind is ValueKind.TEXT else None
        if clock:
            keys.add(("clock", int(clock[1]) % 12, int(clock[2] or 0)))
    elif value.kind is ValueKind.MONEY:
        keys.add(("money", number, value.unit))
    elif value.kind is ValueKind.RATIO:
        keys.add(("ratio", round(number, 4)))
    elif value.kind is ValueKind.DURATION:
        keys |= _time_keys(number, value.unit)
    else:
        keys |= {("number", number, word) for word in words_of(value.unit)} or {("bare", number)}
        keys |= {("bare", number)} if number >= READING.telling_number else set()
    return frozenset(keys)


def _time_keys(number: float, unit: str) -> set[Key]:
    if unit in SECONDS_PER_UNIT:
        return {("seconds", round(number * SECONDS_PER_UNIT[unit]))}
    return {("months", round(number * MONTHS_PER_UNIT[unit], 2))} if unit in MONTHS_PER_UNIT else set()


def nearest_day(text: str, day: dt.date) -> dt.date | None:
    """Return the day nearest to another one that a date without year can mean."""
    years = (s.value.date for year in (day.year - 1, day.year, day.year + 1) for s in stated_in(text, year=year))
    return min((d for d in years if d is not None), key=lambda d: abs(d - day), default=None)


def loose_keys(value: Value) -> frozenset[Key]:
    """Return the keys by which a value is known besides its own: its amount without unit, and its year.

    A number without unit may be an amount of money in a table.
    """
    if value.date is not None:
        return frozenset({("bare", float(value.date.year))})
    if value.number is None:
        return frozenset()
    is_uncounted = value.kind is ValueKind.NUMBER and not value.unit
    return frozenset({("bare", value.number), ("uncounted" if is_uncounted else "bare", value.number)})


def unrecorded_values(text: str, recorded: Iterable[Value], day: dt.date) -> tuple[Value, ...]:
    """Return the values that a statement of a plan says and that none of the recorded ones is.

    `recorded`: the facts that the statement makes, and those that the ledger has already. `day`: the day on which it is
    told, which it may name. Small counts without unit are no facts.
    """
    known: set[Key] = {("date", day)}
    for value in recorded:
        known.update(value_keys(value, day), loose_keys(value), *(k for _, k in values_with_keys(value.text, day)))
    stated, prose = stated_values(text)
    return tuple(s.value for s in stated if not known & keys_of(s, prose, day))


# --- one step -----------------------------------------------------------------------------------------------------


def is_derivable(value: Value, near: Sequence[Value], known: Sequence[Value], day: dt.date) -> bool:
    """Return whether a value follows in one step from near values; see the module for the steps."""
    if value.kind is ValueKind.DATE:
        date = value.date or nearest_day(value.text, day)
        return date is not None and any(abs((date - d).days) <= 1 for d in _moved(near, day))
    if value.number is None:
        return False
    if value.kind is ValueKind.RATIO:
        return any(abs(value.number - share) < 0.0051 for share in _shares(near, known))
    if value.kind is ValueKind.DURATION:
        return _is_time_derivable(value, near, day)
    return any(abs(value.number - amount) < 0.0051 for amount in _amounts(value, near, known))


def _same(value: Value, others: Iterable[Value]) -> list[float]:
    """Return the amounts of the values of the same kind and unit."""
    words = frozenset(words_of(value.unit))
    return [
        o.number
        for o in others
        if o.number is not None
        and o.kind is value.kind
        and (o.unit == value.unit or (value.kind is ValueKind.NUMBER and bool(words & frozenset(words_of(o.unit)))))
    ]


def _amounts(value: Value, near: Sequence[Value], known: Sequence[Value]) -> Iterator[float]:
    own, others = _same(value, near), _same(value, known)
    if len(own) > 1:
        yield float(sum(exact(a) for a in own))
    for one, other in product(own, [*own, *others]):
        yield from (one + other, abs(one - other))
    counts = [v.number for v in near if v.kind in (ValueKind.NUMBER, ValueKind.DURATION) and v.number]
    for amount, count in product(own, [*counts, 2.0]):
        yield from (amount * count, amount / count)
    for amount, share in product(own, [v.number for v in near if v.kind is ValueKind.RATIO and v.number is not None]):
        yield from (amount * share, amount * (1 - share), amount * (1 + share))


def _shares(near: Sequence[Value], known: Sequence[Value]) -> Iterator[float]:
    for value in near:
        if value.number is None or value.kind is ValueKind.DURATION:
            continue
        if value.kind is ValueKind.RATIO:
            yield 1 - value.number
            continue
        for other in (*_same(value, near), *_same(value, known)):
            for part, whole in ((value.number, other), (other, value.number)):
                if whole:
                    yield from (part / whole, abs(part - whole) / whole)


def _days(near: Iterable[Value], day: dt.date) -> list[dt.date]:
    dates = (v.date or nearest_day(v.text, day) for v in near if v.kind is ValueKind.DATE)
    return [day, *(d for d in dates if d is not None)]


def _in_days(value: Value) -> float | None:
    if value.number is None or value.kind is not ValueKind.DURATION:
        return None
    days = DAYS_PER_UNIT.get(value.unit)
    return None if days is None else value.number * days


def _moved(near: Sequence[Value], day: dt.date) -> Iterator[dt.date]:
    for date in _days(near, day):
        yield date
        for days in (_in_days(v) for v in near):
            if days is not None and days < 40_000:
                yield from (date + dt.timedelta(days), date - dt.timedelta(days))


def _is_time_derivable(value: Value, near: Sequence[Value], day: dt.date) -> bool:
    days = _in_days(value)
    if days is not None:
        slack = max(1.0, 0.1 * days)  # people round the days between two dates to weeks and months
        if any(abs(abs((a - b).days) - days) <= slack for a, b in combinations(_days(near, day), 2)):
            return True
    wanted = _seconds(value)
    own = [s for v in near if (s := _seconds(v)) is not None]
    counts = [v.number for v in near if v.kind is ValueKind.NUMBER and v.number] + [2.0]
    if wanted is None or not own:
        return False
    steps = [sum(own), *(x for a, b in combinations(own, 2) for x in (a + b, abs(a - b)))]
    steps += [x for a, n in product(own, counts) for x in (a * n, a / n)]
    return any(abs(wanted - step) < 1 for step in steps)


def _seconds(value: Value) -> float | None:
    if value.kind is not ValueKind.DURATION or value.number is None:
        return None
    seconds = SECONDS_PER_UNIT.get(value.unit)
    if seconds is None:
        seconds = round(DAYS_PER_UNIT[value.unit] * SECONDS_PER_UNIT["days"]) if value.unit in DAYS_PER_UNIT else None
    return None if seconds is None else value.number * seconds
