"""Interference with a probe's answer: competitors in the ledger, the question's words in the evidence, restatements.

Selection asks for them before anything else is measured, so this module loads no index.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from longbeam.keys import AdviceId
from longbeam.schemas import Advice, BulletKind, Fact, Plan, Probe, Value
from longbeam.store import FoldedTexts
from longbeam.text import ASKING_WORDS, content_words, says, values_in

DIGITS = 3
_WISHES = (BulletKind.INSTRUCTION, BulletKind.PREFERENCE)
_TOLD = (BulletKind.EVENT, BulletKind.RELATIONSHIP, BulletKind.UPDATE)
Group = tuple[str, ...]
"""What makes things compete: an attribute, a thing with a kind of value, the assistant's lists of options, ..."""


class _Rival(NamedTuple):
    """Something that a memory could give in place of an answer."""

    identity: tuple[object, ...]
    """What is equal of rivals that mean the same."""
    groups: tuple[Group, ...]
    value: Value | None = None
    name: str = ""
    """The thing, where things compete."""

    def is_answer_of(self, probe: Probe) -> bool:
        """Return whether the probe asks for this one."""
        if self.value is not None:
            return says(probe.gold_answer, self.value)
        if self.name:
            return self.name.casefold() in f"{probe.question}\n{probe.gold_answer}".casefold()
        return self.identity[0] in probe.bullet_ids


def overlap_of(probe: Probe) -> float | None:
    """Return the share of the question's content words that stand in the quotes; None where nothing is cited."""
    words = content_words(probe.question) - ASKING_WORDS
    if not probe.evidence or not words:
        return None
    quoted = content_words("\n".join(e.quote for e in probe.evidence))
    return round(len(words & quoted) / len(words), DIGITS)


def count_competitors(plans: Sequence[Plan], probes: Sequence[Probe]) -> dict[str, int]:
    """Return the number of each probe's competitors, by probe_id; probes on nothing of the ledger are left out.

    | the probe asks for | its competitors |
    |---|---|
    | a value of the user's | other values of the attribute, or of that kind for the thing, whoever says them |
    | a value of the assistant's, or what it is for | the same, and all values of that kind that the assistant gave |
    | options or steps | the assistant's other lists of that kind |
    | a wish | the other instructions and preferences, earlier forms of them too |
    | an order of things | the other things that came up |
    | a missing detail | everything that is known of the thing |
    """
    asked = _groups_asked(plans, probes)
    wanted = set[Group]().union(*asked.values())
    rivals: dict[Group, dict[tuple[object, ...], _Rival]] = {}
    facts: dict[str, Fact] = {}  # a plan tells of the facts of plans before it, too
    for plan in plans:
        facts |= {f.fact_id: f for f in plan.facts}
        for rival in _rivals(plan, facts):
            for group in wanted.intersection(rival.groups):
                rivals.setdefault(group, {}).setdefault(rival.identity, rival)
    found = {}
    for probe in probes:
        if groups := asked[probe.probe_id]:
            others = {k: rival for group in groups for k, rival in rivals.get(group, {}).items()}
            found[probe.probe_id] = sum(not rival.is_answer_of(probe) for rival in others.values())
    return found


def count_restatements(
    plans: Sequence[Plan], texts: FoldedTexts, message_keys: Sequence[str], probes: Sequence[Probe]
) -> dict[str, int]:
    """Return how many uncited messages say each probe's answer again, by probe_id; 0: what it cites is needed.

    `texts` are those of the messages, whose keys are in the same order. A message says a value of a fact again when it
    has the value's words and all words of the thing's name. Of several facts, the one said least often counts: a memory
    has to find them all.
    """
    wanted = {fact_id for probe in probes for fact_id in probe.fact_ids}
    facts = {f.fact_id: f for plan in plans for f in plan.facts if f.fact_id in wanted}
    values: dict[str, dict[tuple[object, ...], Value]] = {}
    for plan in plans:
        for a in plan.assertions:
            if a.fact_id in wanted and a.value is not None:
                values.setdefault(a.fact_id, {})[a.value.meaning] = a.value
    saying: dict[tuple[str, str], set[str]] = {}
    found = {}
    for probe in probes:
        cited = {e.message_key for e in probe.evidence}
        counts = []
        for fact_id in probe.fact_ids:
            fact = facts.get(fact_id)
            value = next((v for v in values.get(fact_id, {}).values() if says(probe.gold_answer, v)), None)
            if fact is None or value is None:
                continue
            slot = fact.subject.casefold(), value.text.casefold()
            if slot not in saying:
                words = [*(sorted(content_words(fact.subject)) if fact.subject != "me" else ()), slot[1]]
                saying[slot] = {message_keys[i] for i, _ in texts.holding(words)}
            counts.append(len(saying[slot] - cited))
        found[probe.probe_id] = min(counts, default=0)
    return found


def _groups_asked(plans: Sequence[Plan], probes: Sequence[Probe]) -> dict[str, set[Group]]:
    """Return the groups in which each probe's competitors are, by probe_id."""
    of_id: dict[str, tuple[Group, ...]] = {}
    topics: dict[str, str] = {}
    wanted = {id_ for p in probes for id_ in (*p.fact_ids, *p.bullet_ids)}
    for plan in plans:
        of_id |= {f.fact_id: _groups_of_fact(f) for f in plan.facts if f.fact_id in wanted}
        of_id |= {a.advice_id: _groups_of_advice(a) for a in plan.advice if a.advice_id in wanted}
        for bullet in plan.bullets():
            if bullet.bullet_id in wanted:
                topics[bullet.bullet_id] = bullet.topic.casefold()
                if bullet.kind in _WISHES:
                    of_id[bullet.bullet_id] = (("wish",),)
    return {p.probe_id: set(_asked(p, of_id, topics)) for p in probes}


def _asked(probe: Probe, of_id: dict[str, tuple[Group, ...]], topics: dict[str, str]) -> Iterator[Group]:
    if not probe.evidence:
        yield from (("about", topics[b]) for b in probe.bullet_ids if b in topics)
    elif probe.details.items and not any(map(AdviceId.names, probe.bullet_ids)):
        yield ("came up",)
    else:
        yield from (group for id_ in (*probe.fact_ids, *probe.bullet_ids) for group in of_id.get(id_, ()))


def _rivals(plan: Plan, facts: Mapping[str, Fact]) -> Iterator[_Rival]:
    """Yield everything in a plan that may compete; `facts` are those of the plan and of all before it, by fact_id."""
    for a in plan.assertions:
        if a.value is not None:
            fact = facts[a.fact_id]
            yield _Rival(a.value.meaning, (*_groups_of_fact(fact), ("about", fact.subject.casefold())), a.value)
    for advice in plan.advice:
        identity = (advice.advice_id,) if advice.value is None else advice.value.meaning
        groups = (*_groups_of_advice(advice), ("about", advice.topic.casefold()))
        yield _Rival(identity, groups, advice.value)
    for bullet in plan.bullets():
        if bullet.kind in _WISHES:
            yield _Rival((bullet.bullet_id,), (("wish",),))
        elif bullet.kind in _TOLD:
            yield _Rival((bullet.topic.casefold(),), (("came up",),), name=bullet.topic)
        elif bullet.kind is BulletKind.PASTED:
            for value in values_in(bullet.text):
                yield _Rival(value.meaning, (("thing", bullet.topic.casefold(), value.kind.value),), value)


def _groups_of_fact(fact: Fact) -> tuple[Group, ...]:
    return ("attribute", fact.attribute.casefold()), ("thing", fact.subject.casefold(), fact.kind.value)


def _groups_of_advice(advice: Advice) -> tuple[Group, ...]:
    if advice.value is None:
        return (("given", advice.kind.value),)
    kind = advice.value.kind.value
    return ("given", kind), ("attribute", advice.attribute.casefold()), ("thing", advice.topic.casefold(), kind)
