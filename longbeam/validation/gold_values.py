"""Gold that can be proved: each typed value of gold answer and nuggets stands in the evidence, or is computed.

Preferences, instructions and abstentions are judged on what the answer does, not on what was said, so their
gold answers may hold other values; only their nuggets are looked at, and only as a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from longbeam.schemas.plans import Value, ValueKind
from longbeam.schemas.probes import Probe
from longbeam.schemas.values import date_value, extract_values, number, parse_value, says
from longbeam.validation.base import ERROR, WARNING, Check, Problem
from longbeam.validation.index import ConversationIndex

GUIDING = frozenset({"instruction_following", "preference_following"})
_LIST_NUMBER = re.compile(r"(?m)^\s*\d{1,2}[.)]\s+|\(\d{1,2}\)")
_DAYS = {"days": 1, "weeks": 7}
MAX_ENUMERATION = 12
"""Numbers up to this without a unit count or number the items of an answer as often as they are facts."""


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield values of gold and nuggets that no evidence says and nothing computes."""
    if probe.ability == "abstention" or not probe.evidence:
        return
    texts = [n.text for n in probe.rubric]
    if probe.ability not in GUIDING:
        texts.insert(0, probe.gold_answer)
    keys = tuple(m.message_key for m in index.cited(probe))
    for value in _values(texts):
        if _is_given(index, probe, value):
            continue
        cited = "\n".join(m.content for m in index.cited(probe))
        if probe.ability in GUIDING:
            kind, where = "not_in_guidance", "the quotes"
        elif _is_said(cited, value):
            kind, where = "not_in_quote", "the quotes, only elsewhere in the cited messages"
        else:
            kind, where = "not_in_evidence", "the evidence, and nothing computes it"
        yield Problem(kind, probe.probe_id, f"the gold says {value.text!r}, which is not in {where}", keys)


def _values(texts: list[str]) -> list[Value]:
    found: dict[tuple[str, str], Value] = {}
    for text in texts:
        for value in extract_values(_LIST_NUMBER.sub(" ", text)):
            found.setdefault((value.kind, value.text.casefold()), value)
    return [v for v in found.values() if not _is_enumeration(v)]


def _is_enumeration(value: Value) -> bool:
    if value.kind is not ValueKind.NUMBER or value.number is None:
        return False
    is_spelled = not any(c.isdigit() for c in value.text)
    return is_spelled or (not value.unit and value.number <= MAX_ENUMERATION)


def _is_given(index: ConversationIndex, probe: Probe, value: Value) -> bool:
    details = probe.details
    quotes = "\n".join(e.quote for e in probe.evidence)
    given = (quotes, probe.question, details.instruction, details.preference, "\n".join(details.items))
    if any(_is_said(text, value) for text in given if text):
        return True
    if details.computed_value and _is_computed(details.computed_value, value):
        return True
    # "You told me on March 5": the day a cited message was sent is known without being said.
    sent = (date_value(m.sent_at.date()) for m in index.cited(probe))
    return value.kind is ValueKind.DATE and any(says(value.text, day) for day in sent)


def _is_computed(computed: str, value: Value) -> bool:
    result = parse_value(computed)
    same_days = _in_days(value) is not None and _in_days(value) == _in_days(result)
    return same_days or says(computed, value) or (result.number is not None and result.number == value.number)


def _is_said(text: str, value: Value) -> bool:
    if says(text, value):
        return True
    # An age is said as "she is 61", and a count with another noun than the gold's.
    is_loose = value.kind is ValueKind.NUMBER or (value.kind is ValueKind.DURATION and value.unit == "years")
    if is_loose and value.number is not None and says(text, number(value.number)):
        return True
    days = _in_days(value)
    if days is not None:
        return any(_in_days(other) == days for other in extract_values(text))
    if value.kind is ValueKind.NUMBER and value.number is not None:
        return any(v.number == value.number for v in extract_values(text) if v.kind is ValueKind.NUMBER)
    return False


def _in_days(value: Value) -> float | None:
    if value.kind is not ValueKind.DURATION or value.number is None or value.unit not in _DAYS:
        return None
    return value.number * _DAYS[value.unit]


CHECK = Check(
    name="gold_values",
    doc="Dates, amounts, durations, versions and numbers of gold and nuggets stand in the evidence or are computed.",
    severities={"not_in_evidence": ERROR, "not_in_quote": WARNING, "not_in_guidance": WARNING},
    english_only=dict.fromkeys(
        ("not_in_evidence", "not_in_quote", "not_in_guidance"),
        "reads dates, amounts and lengths of time as English writes them",
    ),
    on_probe=find_problems,
)
