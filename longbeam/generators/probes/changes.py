"""Questions on how facts change: what held on a day, which of them changed first or last, planned against actual days.

All of them need every message that they cite. What held on a day needs the message that gave the value and the one
that changed it. The order of changes needs the message of each change. A miss needs the plan and the outcome, each from
a message of its own.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from longbeam.abilities import TEMPORAL_REASONING, QuestionKind
from longbeam.generators.probes.candidates import Sketch, cite, difficulty_by_gap, difficulty_by_sessions, sessions_of
from longbeam.generators.probes.evidence import FactQuote
from longbeam.generators.probes.stated_facts import StatedFacts
from longbeam.schemas import EvidencePart, ProbeDetails, Value, ValueKind
from longbeam.text import format_date, recompute, says

LEAST_DAYS = 4
"""Days between two values from which a day between them is clearly of the first."""
COMPARED = 3
"""Facts whose changes are put in order."""
_PLANNED = re.compile(r"\b(?:target|planned|deadline|due|goal|intended|finishing)\b", re.IGNORECASE)
_ACTUAL = re.compile(
    r"\b(?:complet\w+|finished|done|actual|submission|submitted|filing|it took place|sign-off)\b", re.IGNORECASE
)
"""Words of attributes that name a planned day, and the day on which the same thing came about."""


def find_as_of(stated: StatedFacts) -> Iterator[Sketch]:
    """Yield questions for a value on a day on which it still held."""
    for values in stated.changed:
        for old, new in pairwise(values):
            if (day := _day_between(old, new)) is not None:
                yield _as_of(old, new, day)


def _day_between(old: FactQuote, new: FactQuote) -> dt.date | None:
    """Return the day in the middle between two messages; None where they are near, or the day gives the answer."""
    days = (new.said_on - old.said_on).days
    day = old.said_on + dt.timedelta(days=days // 2)
    is_told = any(says(format_date(day), s.value) for s in (old, new))
    return None if days < LEAST_DAYS or old.position >= new.position or is_told else day


def _as_of(old: FactQuote, new: FactQuote, day: dt.date) -> Sketch:
    moment = format_date(day)
    return Sketch.of(
        TEMPORAL_REASONING.name,
        cite([old, new], [EvidencePart.FIRST, EvidencePart.SECOND]),
        difficulty=difficulty_by_gap(old, new),
        variety=QuestionKind.AS_OF,
        topic=f"the {old.attribute} of {old.subject}",
        summary=f"the {old.attribute} of {old.subject} on {moment}: {old.value.text}, and later {new.value.text}",
        can_spare=not old.is_stated_once,
        condition=moment,
        answers=(old.value,),
        stale=(new.value,),
        details=ProbeDetails(variety=QuestionKind.AS_OF, old_value=old.value.text),
    )


def find_change_orders(stated: StatedFacts) -> Iterator[Sketch]:
    """Yield questions for the first and the last change of several facts that changed once each."""
    changes = sorted(stated.updated_once, key=lambda pair: pair[1].position)
    step = max(len(changes) // COMPARED, 1)
    for start in range(len(changes) - (COMPARED - 1) * step):
        group = changes[start : start + (COMPARED - 1) * step + 1 : step]
        if _is_apart([new for _, new in group]):
            yield _change_order(group, is_first=start % 2 == 0)


def _is_apart(said: Sequence[FactQuote]) -> bool:
    """Return whether statements are of different days, and name things by different words."""
    names = {(s.subject.casefold(), s.attribute.casefold()) for s in said}
    return len({s.said_on for s in said}) == len(said) == len(names)


def _change_order(group: Sequence[tuple[FactQuote, FactQuote]], *, is_first: bool) -> Sketch:
    changed = [new for _, new in group]
    asked = changed[0] if is_first else changed[-1]
    which = "first" if is_first else "last"
    names = [f"the {s.attribute} of {s.subject}" for s in changed]
    answer = f"the {asked.attribute} of {asked.subject}"
    return Sketch.of(
        TEMPORAL_REASONING.name,
        cite(changed, [EvidencePart.FIRST, *([EvidencePart.SUPPORT] * (len(changed) - 2)), EvidencePart.SECOND]),
        difficulty=difficulty_by_sessions(sessions_of(changed)),
        variety=QuestionKind.CHANGE_ORDER,
        topic="; ".join(names),
        summary=f"which of these changed {which}: {'; '.join(names)}; it is {answer}, to {asked.value.text}",
        condition=which,
        answers=(asked.value,),
        details=ProbeDetails(variety=QuestionKind.CHANGE_ORDER, computed_value=asked.value.text),
    )


def find_misses(stated: StatedFacts) -> Iterator[Sketch]:
    """Yield questions for the days between the day last planned for a thing and the day on which it came about."""
    days = [s for s in stated.current if s.value.kind is ValueKind.DATE]
    for actual in days:
        for planned in days:
            if planned.subject.casefold() == actual.subject.casefold() and _is_miss(planned, actual):
                yield _miss(planned, actual)


def _is_miss(planned: FactQuote, actual: FactQuote) -> bool:
    set_for, came = planned.value.date, actual.value.date
    if set_for is None or came is None or set_for == came or planned.position >= actual.position:
        return False
    was_ahead = set_for > planned.said_on and came <= actual.said_on and came > planned.said_on
    is_plan = _PLANNED.search(planned.attribute) and not _ACTUAL.search(planned.attribute)
    return was_ahead and bool(is_plan) and bool(_ACTUAL.search(actual.attribute))


def _miss(planned: FactQuote, actual: FactQuote) -> Sketch:
    days = recompute("days_between", [planned.value, actual.value])
    side = "before" if _date(actual.value) < _date(planned.value) else "after"
    return Sketch.of(
        TEMPORAL_REASONING.name,
        cite([planned, actual], [EvidencePart.FIRST, EvidencePart.SECOND]),
        difficulty=difficulty_by_gap(planned, actual),
        variety=QuestionKind.PLANNED_ACTUAL,
        topic=planned.subject,
        summary=f"{planned.subject}: {actual.attribute} {actual.value.text}, {days.text} {side} {planned.value.text}",
        can_spare=not all(s.is_stated_once for s in (planned, actual)),
        condition=side,
        answers=(days,),
        context_values=(planned.value, actual.value),
        details=ProbeDetails(
            variety=QuestionKind.PLANNED_ACTUAL,
            computed_from=tuple(format_date(_date(v)) for v in (planned.value, actual.value)),
            computation="days_between",
            computed_value=days.text,
        ),
    )


def _date(value: Value) -> dt.date:
    assert value.date is not None  # days of facts have dates here
    return value.date
