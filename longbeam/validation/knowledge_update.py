"""Knowledge updates: the value changed, the gold says the new value, and no later message changes it again."""

from __future__ import annotations

from collections.abc import Iterator

from longbeam.abilities import Trait
from longbeam.schemas import EvidencePart, Probe, Stance, Value
from longbeam.text import named_value, says, says_equivalent
from longbeam.validation.base import ERROR, WARNING, Check, Problem, has_trait, shorten
from longbeam.validation.index import ConversationIndex


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield updates without a change, gold that lacks the new value, and later third values."""
    if not has_trait(probe, Trait.ASKS_UPDATED_VALUE):
        return
    old, new = probe.details.old_value, probe.details.new_value
    if not (old and new):
        if not index.is_import:
            yield Problem("no_values", probe.probe_id, "the probe does not say which value became which")
    elif named_value(old).means_same_as(named_value(new)):
        yield Problem("no_change", probe.probe_id, f"old and new value are the same: {shorten(new)!r}")
    elif not says_equivalent(probe.gold_answer, named_value(new)):
        yield Problem("gold_lacks_new", probe.probe_id, f"the gold answer does not say {shorten(new)!r}")
    if new:
        yield from _third_values(index, probe, new)
        yield from _quote_problems(index, probe, old, new)


def _quote_problems(index: ConversationIndex, probe: Probe, old: str, new: str) -> Iterator[Problem]:
    for part, said in ((EvidencePart.ORIGINAL, old), (EvidencePart.UPDATED, new)):
        quotes = [e for e in probe.evidence if e.part == part and e.quote]
        if said and quotes and not says_equivalent(index.quotes(quotes), named_value(said)):
            text = f"the {part.value} evidence does not say {shorten(said)!r}"
            yield Problem("value_not_quoted", probe.probe_id, text, tuple(e.message_key for e in quotes))


def _third_values(index: ConversationIndex, probe: Probe, new: str) -> Iterator[Problem]:
    for fact_id in dict.fromkeys(probe.fact_ids):
        is_new = False
        for assertion in index.by_fact.of(fact_id):
            value = assertion.value
            if value is None:
                continue
            if _means(value, new):
                is_new = True
            elif is_new and assertion.stance is not Stance.MENTIONS:
                text = f"{assertion.bullet_id} gives {fact_id} a third value later, {shorten(value.text)!r}"
                keys = tuple(m.message_key for m in index.voicing(assertion.bullet_id))
                yield Problem("third_value", probe.probe_id, text, keys)


def _means(value: Value, text: str) -> bool:
    return value.text == text or says(text, value)


CHECK = Check(
    name="knowledge_update",
    doc="Old and new value differ, each is quoted, the gold says the new one, and no third one comes later.",
    severities={
        "no_values": WARNING,
        "no_change": ERROR,
        "gold_lacks_new": ERROR,
        "value_not_quoted": ERROR,
        "third_value": ERROR,
    },
    on_probe=find_problems,
)
