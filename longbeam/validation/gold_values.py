"""Gold that can be proved: each typed value of gold answer and nuggets stands in the evidence, or is computed.

Gold that guides answers (preferences, instructions) describes what an answer does and not what was said, so it may
hold other values. Of these probes only the nuggets are read, and only for a warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from longbeam.abilities.record import Trait
from longbeam.schemas.dialogue import Message
from longbeam.schemas.plans import Value, ValueKind
from longbeam.schemas.probes import Probe
from longbeam.text.extraction import distinct_values, extract_values, parse_value
from longbeam.text.matching import in_days, says, says_equivalent
from longbeam.text.relative_days import is_day_meant
from longbeam.text.values import date_value
from longbeam.validation.arithmetic import has_own_span, is_computed
from longbeam.validation.base import ERROR, WARNING, Check, Problem, has_trait
from longbeam.validation.index import ConversationIndex
from longbeam.validation.wording import asks_assistant, claim

_WHERE = {
    "not_in_guidance": "the quotes",
    "not_in_quote": "the quotes, only elsewhere in the cited messages",
    "only_in_reply": "what the user says in the cited messages, only in a cited reply",
    "not_in_evidence": "the evidence, and nothing computes it",
    "nowhere": "any message of the user, and nothing computes it",
}
"""Place where a value is missing, by the kind of the problem."""


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield values of gold and nuggets that no evidence says and nothing computes."""
    if has_trait(probe, Trait.ABSTAINS) or not probe.evidence:
        return
    keys = tuple(m.message_key for m in index.cited(probe))
    for value in _values_of(probe):
        kind = _kind_of_fault(index, probe, value)
        if kind is not None:
            text = f"the gold says {value.text!r}, which is not in {_WHERE[kind]}"
            yield Problem(kind, probe.probe_id, text, keys)


def _values_of(probe: Probe) -> list[Value]:
    """Return the typed values that the evidence must prove, each once."""
    texts = [claim(n.text) for n in probe.rubric]
    if not has_trait(probe, Trait.GUIDES_ANSWERS):
        texts.insert(0, probe.gold_answer)
    found: dict[tuple[str, str], Value] = {}
    for text in texts:
        for value in distinct_values(text):
            found.setdefault((value.kind, value.text.casefold()), value)
    return list(found.values())


def _kind_of_fault(index: ConversationIndex, probe: Probe, value: Value) -> str | None:
    """Return how a value of the gold lacks proof, or None if it is proved."""
    if _is_given(index, probe, value):
        return None
    if has_trait(probe, Trait.GUIDES_ANSWERS):
        return "not_in_guidance"
    cited = [m for m in index.cited(probe) if says_equivalent(m.content, value)]
    if any(index.speaks_as_user(m) or _is_about_replies(probe) for m in cited):
        # An import without quotes has no quote that could lack the value.
        return "not_in_quote" if any(e.quote for e in probe.evidence) else None
    if is_computed(index, probe, value):
        return None
    if in_days(value) and has_own_span(index, probe):
        return None  # `arithmetic` reports a wrong length of a span whose days the gold names
    if cited:
        return "only_in_reply"
    return "not_in_evidence" if _is_anywhere(index, value) else "nowhere"


def _is_about_replies(probe: Probe) -> bool:
    """Return whether the question is about what the assistant said, or the gold retells a conversation."""
    return has_trait(probe, Trait.RETELLS_HISTORY) or asks_assistant(probe.question)


def _is_anywhere(index: ConversationIndex, value: Value) -> bool:
    return any(says_equivalent(m.content, value) for m in index.messages if index.speaks_as_user(m))


def _is_given(index: ConversationIndex, probe: Probe, value: Value) -> bool:
    """Return whether quotes, question, details of the probe or days of the cited messages give a value."""
    details = probe.details
    quotes = "\n".join(e.quote for e in probe.evidence)
    given = (quotes, probe.question, details.instruction, details.preference, "\n".join(details.items))
    if any(says_equivalent(text, value) for text in given if text):
        return True
    if details.computed_value and _is_same_result(details.computed_value, value):
        return True
    return _is_given_by_day(index, probe, value)


def _is_given_by_day(index: ConversationIndex, probe: Probe, value: Value) -> bool:
    """Return whether the day of a cited message, or a phrase relative to that day, gives a value."""
    cited = index.cited(probe)
    if value.kind is not ValueKind.DATE:
        return any(is_day_meant(m, value) for m in cited)
    undated = [m for m in cited if not _names_day(m)]
    if any(is_day_meant(m, value) for m in undated):
        return True
    # "You told me on March 5": the day a cited message was sent is known without being said.
    sent = (date_value(m.sent_at.date()) for m in (undated if has_trait(probe, Trait.GIVES_STATED_DAYS) else cited))
    return any(says(value.text, day) for day in sent)


def _names_day(message: Message) -> bool:
    """Return whether a message writes a day out: then a check must not guess which day it means by `on Monday`."""
    return any(v.kind is ValueKind.DATE for v in extract_values(message.content))


def _is_same_result(computed: str, value: Value) -> bool:
    result = parse_value(computed)
    same_days = in_days(value) is not None and in_days(value) == in_days(result)
    return same_days or says(computed, value) or (result.number is not None and result.number == value.number)


CHECK = Check(
    name="gold_values",
    doc="Dates, amounts, durations, versions and numbers of gold and nuggets stand in the evidence or are computed.",
    severities={
        "nowhere": ERROR,
        "not_in_evidence": ERROR,
        "only_in_reply": WARNING,
        "not_in_quote": WARNING,
        "not_in_guidance": WARNING,
    },
    english_only=dict.fromkeys(
        ("nowhere", "not_in_evidence", "only_in_reply", "not_in_quote", "not_in_guidance"),
        "reads dates, amounts and lengths of time as English writes them",
    ),
    on_probe=find_problems,
)
