"""Questions over a whole side story: every entry is told and cited, the gold is right, and nothing else counts.

The check reads the story's entries from the ledger, and says again by itself what they give.
"""

from __future__ import annotations

from collections.abc import Iterator

from longbeam.abilities import QuestionKind
from longbeam.schemas import BulletKind, Fact, Probe
from longbeam.text import content_words, role_of
from longbeam.validation.base import ERROR, WARNING, Check, Problem
from longbeam.validation.index import ConversationIndex

_KINDS = frozenset({QuestionKind.JOIN, QuestionKind.SET_DIFFERENCE, QuestionKind.TALLY, QuestionKind.TOTAL})
_Entries = dict[str, list[tuple[Fact, str]]]
"""Facts with their values, by role."""


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield entries that are left out, a wrong result, and other messages that may count."""
    facts = [f for i in probe.fact_ids if (f := index.facts.get(i)) is not None and f.side_story]
    if probe.details.variety not in _KINDS or not facts:
        return
    story = facts[0].side_story
    entries = _entries(index, story)
    counted = _counted(probe, facts, entries)
    if left_out := sorted({f.fact_id for f in counted} - set(probe.fact_ids)):
        yield Problem("entry_left_out", probe.probe_id, f"{', '.join(left_out)} of {story} count, and are not cited")
    if fault := _wrong(probe, entries, len(counted)):
        yield Problem("wrong_result", probe.probe_id, fault)
    yield from _elsewhere(index, probe, story)


def _entries(index: ConversationIndex, story: str) -> _Entries:
    entries: _Entries = {}
    for fact_id in index.facts_in_order():
        fact = index.facts.get(fact_id)
        if fact is not None and fact.side_story == story:
            value = next((a.value.text for a in index.by_fact.of(fact_id) if a.value is not None), "")
            entries.setdefault(role_of(fact.attribute), []).append((fact, value))
    return entries


def _counted(probe: Probe, facts: list[Fact], entries: _Entries) -> list[Fact]:
    """Return the facts that count for the question: of its roles and, where only one value counts, of this value."""
    roles = {role_of(f.attribute) for f in facts}
    values = set(probe.details.computed_from)
    is_one = probe.details.variety == QuestionKind.TALLY and len(values) == 1
    told = [pair for role in roles for pair in entries.get(role, ())]
    return [fact for fact, value in told if not is_one or value in values]


def _wrong(probe: Probe, entries: _Entries, counted: int) -> str:
    """Return what is wrong with the gold of a question for people or for a number; empty if nothing is."""
    kind, details = probe.details.variety, probe.details
    if kind == QuestionKind.TALLY and details.computed_value != str(counted):
        return f"{counted} entries count, and the gold says {details.computed_value}"
    if kind not in (QuestionKind.JOIN, QuestionKind.SET_DIFFERENCE):
        return ""
    one, other = ({value for _, value in told} for told in list(entries.values())[:2])
    right = [one & other] if kind == QuestionKind.JOIN else [one - other, other - one]
    return "" if set(details.items) in right else f"{sorted(details.items)} is not what the entries give"


def _elsewhere(index: ConversationIndex, probe: Probe, story: str) -> Iterator[Problem]:
    """Yield messages of the user that name the story, and voice none of its bullets."""
    words = sorted(content_words(story))
    for place, _ in index.holding(words) if words else ():
        message = index.messages[place]
        told = (index.bullets.get(i) for i in message.bullet_ids)
        if index.speaks_as_user(message) and not any(b is not None and b.kind is BulletKind.SIDE for b in told):
            text = f"{message.message_key} speaks of {story}, too, and tells none of its entries"
            yield Problem("elsewhere", probe.probe_id, text, (message.message_key,))


CHECK = Check(
    name="side_stories",
    doc="Questions over a series cite every entry that counts, give what the entries give, and nothing else counts.",
    severities={"entry_left_out": ERROR, "wrong_result": ERROR, "elsewhere": WARNING},
    on_probe=find_problems,
)
