"""Answers that need no reader: floors, and answers by which a judge is calibrated.

A judge must give the gold full marks and wrong answers none. Three kinds are known to be wrong: the gold with its
values changed or its claim turned round, the question repeated, and the gold of another probe.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence

from longbeam.abilities import Trait, ability_of
from longbeam.schemas import Probe, Value, ValueKind
from longbeam.text import format_date, stated_in, values_in

_INVENTED = "You told me: it was the second one, the blue one, and you were glad of it."
_NOTHING_TO_DECIDE = "All that you told me about this agrees, so there is nothing to decide."
_REFUSED = "I would rather not go into that; please look it up yourself."
_TURNED = "No, that is not so; it was something else altogether."
_DAYS = dt.timedelta(days=9)
"""Shift of a wrong date: more than a week, so that no weekday and no rounding makes it right."""


def wrong_answer(probe: Probe) -> str:
    """Return an answer that sounds like the gold and is wrong."""
    ability = ability_of(probe.ability)
    if ability.has(Trait.ABSTAINS):
        return _INVENTED
    if ability.has(Trait.RESOLVES_CONTRADICTION):
        return _NOTHING_TO_DECIDE
    if ability.has(Trait.GUIDES_ANSWERS):
        return _REFUSED
    if ability.has(Trait.ORDERS_ITEMS):
        items = probe.details.items or tuple(n.text for n in probe.rubric)
        return "\n".join(f"{n}. {item}" for n, item in enumerate(reversed(items), 1)) if len(items) > 1 else _TURNED
    # Where a nugget asks for no value, the gold with other values would still be right in part.
    has_values = all(values_in(nugget.text) for nugget in probe.rubric)
    changed = with_other_values(probe.gold_answer)
    return changed if has_values and changed != probe.gold_answer else _TURNED


def with_other_values(text: str) -> str:
    """Return a text with each of its typed values changed."""
    for stated in sorted(stated_in(text), key=lambda found: -found.start):
        text = text[: stated.start] + _changed(stated.value) + text[stated.end :]
    return text


def _changed(value: Value) -> str:
    if value.date is not None:
        return format_date(value.date + _DAYS)
    if value.kind is ValueKind.DATE:  # a day without its year
        (read,) = values_in(value.text, year=2001)  # of the year only month and day are used
        return format_date(read.date + _DAYS, with_year=False) if read.date else _TURNED
    digits = re.search(r"\d+", value.text)
    if digits is None:
        return f"seventeen {value.unit or 'of them'}"
    return value.text[: digits.start()] + str(int(digits[0]) + 17) + value.text[digits.end() :]


def swapped_answer(probe: Probe, probes: Sequence[Probe]) -> str:
    """Return the gold of the next probe that asks for something else; empty where there is none.

    It has another ability and cites no message of this probe: the gold of a like probe may be right in part.
    """
    cited = {evidence.message_key for evidence in probe.evidence}
    place = _place(probe, probes)
    for other in (*probes[place:], *probes[:place]):
        if other.ability != probe.ability and cited.isdisjoint(e.message_key for e in other.evidence):
            return other.gold_answer
    return ""


def _place(probe: Probe, probes: Sequence[Probe]) -> int:
    return next((i for i, p in enumerate(probes) if p.probe_id == probe.probe_id), 0)


FIXED_ANSWERS: Mapping[str, Callable[[Probe, Sequence[Probe]], str]] = {
    "blank": lambda probe, _: "",
    "echo": lambda probe, _: probe.question,
    "wrong": lambda probe, _: wrong_answer(probe),
    "swapped": swapped_answer,
    "gold": lambda probe, _: probe.gold_answer,
}
"""Function from a probe, and all probes of its conversation, to the answer."""
