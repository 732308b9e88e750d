"""Gold that can be proved: each typed value of gold answer and nuggets stands in the evidence, or is computed.

Preferences, instructions and abstentions are judged on what the answer does, not on what was said, so their
gold answers may hold other values; only their nuggets are looked at, and only as a warning.
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


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield values of gold and nuggets that no evidence says and nothing computes."""
    if has_trait(probe, Trait.ABSTAINS) or not probe.evidence:
        return
    texts = [claim(n.text) for n in probe.rubric]
    if not has_trait(probe, Trait.GUIDES_ANSWERS):
        texts.insert(0, probe.gold_answer)
    cited = index.cited(probe)
    keys = tuple(m.message_key for m in cited)
    for value in _values(texts):
        if _is_given(index, probe, value):
            continue
        if has_trait(probe, Trait.GUIDES_ANSWERS):
            kind, where = "not_in_guidance", "the quotes"
        elif any(says_equivalent(m.content, value) for m in cited if index.speaks_as_user(m) or _is_of_replies(probe)):
            if not any(e.quote for e in probe.evidence):
                continue  # an import has no quotes that could lack it
            kind, where = "not_in_quote", "the quotes, only elsewhere in the cited messages"
        elif is_computed(index, probe, value) or (in_days(value) and has_own_span(index, probe)):
            continue  # `arithmetic` says what is wrong with the length of a span that the gold names
        elif any(says_equivalent(m.content, value) for m in cited):
            kind, where = "only_in_reply", "what the user says in the cited messages, only in a cited reply"
        elif _is_somewhere(index, value):
            kind, where = "not_in_evidence", "the evidence, and nothing computes it"
        else:
            kind, where = "nowhere", "any message of the user, and nothing computes it"
        yield Problem(kind, probe.probe_id, f"the gold says {value.text!r}, which is not in {where}", keys)


def _values(texts: list[str]) -> list[Value]:
    found: dict[tuple[str, str], Value] = {}
    for text in texts:
        for value in distinct_values(text):
            found.setdefault((value.kind, value.text.casefold()), value)
    return list(found.values())


def _is_of_replies(probe: Probe) -> bool:
    """Whether the question is about what the assistant said, or the gold retells a conversation."""
    return has_trait(probe, Trait.RETELLS_HISTORY) or asks_assistant(probe.question)


def _is_somewhere(index: ConversationIndex, value: Value) -> bool:
    return any(says_equivalent(m.content, value) for m in index.messages if index.speaks_as_user(m))


def _is_given(index: ConversationIndex, probe: Probe, value: Value) -> bool:
    details = probe.details
    quotes = "\n".join(e.quote for e in probe.evidence)
    given = (quotes, probe.question, details.instruction, details.preference, "\n".join(details.items))
    if any(says_equivalent(text, value) for text in given if text):
        return True
    if details.computed_value and _is_computed(details.computed_value, value):
        return True
    undated = [m for m in index.cited(probe) if value.kind is not ValueKind.DATE or not _names_day(m)]
    if any(is_day_meant(m, value) for m in undated):
        return True
    # "You told me on March 5": the day a cited message was sent is known without being said.
    tells = undated if has_trait(probe, Trait.GIVES_STATED_DAYS) else index.cited(probe)
    sent = (date_value(m.sent_at.date()) for m in tells)
    return value.kind is ValueKind.DATE and any(says(value.text, day) for day in sent)


def _names_day(message: Message) -> bool:
    """Whether a message writes a day out: then it is not for us to guess which day it means by `on Monday`."""
    return any(v.kind is ValueKind.DATE for v in extract_values(message.content))


def _is_computed(computed: str, value: Value) -> bool:
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
