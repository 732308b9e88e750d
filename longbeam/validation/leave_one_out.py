"""Necessity of the evidence: without any one cited message, the gold no longer follows from the ledger.

The check leaves a message out together with the assertions of its bullets. A message is needed in three cases:

- the message alone gives a value that the gold says;
- the message alone voices a bullet that the gold is about;
- without the message, an item would take another place in an order.

Evidence without a nugget (the original of an update) is there to be replaced, and is not examined. Replies and
questions that repeat a value are no assertions: the ledger does not know them.
"""

from __future__ import annotations

from collections.abc import Iterator

from longbeam.schemas import Assertion, Bullet, Evidence, Message, Probe
from longbeam.text import says
from longbeam.validation.base import INFO, WARNING, Check, Problem
from longbeam.validation.index import ConversationIndex


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield cited messages without which the ledger still gives the gold; only where several are cited."""
    if index.is_import or not index.facts:
        return
    bearing = [e for e in probe.evidence if e.nugget_ids]
    cited = {e.message_key: index.message(e.message_key) for e in bearing}
    if len(cited) < 2:
        return
    spare = tuple(key for key, m in cited.items() if m is not None and not _is_needed(index, probe, m))
    if spare:
        # Within one plan people return to a topic soon: short conversations cannot do without such probes.
        kind = "dispensable" if len(index.head.plans) > 1 else "told_again"
        which = f"the cited message {spare[0]}" if len(spare) == 1 else f"any one of the cited {', '.join(spare)}"
        text = f"the gold answer also follows when {which} is left out"
        yield Problem(kind, probe.probe_id, text, spare)


def _is_needed(index: ConversationIndex, probe: Probe, message: Message) -> bool:
    """Return whether the gold no longer follows without a message."""
    told = [b for b in message.bullet_ids if b in probe.bullet_ids]
    own = [index.bullets[b] for b in told if b in index.bullets]
    if not own:  # advice, which has no assertions, or what the ledger knows nothing of
        return not told or any(_voices_alone(index, message, b) for b in told)
    groups = _groups_of(probe, message)
    if groups:
        return any(_has_place(index, probe, message, b, group) for b in own for group in groups)
    values = [a for b in own for a in _asserted(index, probe, b)]
    if values:
        return any(_gives_alone(index, message, a) for a in values)
    return any(_voices_alone(index, message, b.bullet_id) for b in own)


def _groups_of(probe: Probe, message: Message) -> list[int]:
    """Return the items of an order that cite a message."""
    return [e.group for e in probe.evidence if e.message_key == message.message_key and e.group is not None]


def _asserted(index: ConversationIndex, probe: Probe, bullet: Bullet) -> list[Assertion]:
    """Return the assertions of a bullet that give values to facts of the probe."""
    found = index.by_bullet.of(bullet.bullet_id)
    return [a for a in found if a.fact_id in probe.fact_ids and a.value is not None]


def _gives_alone(index: ConversationIndex, message: Message, assertion: Assertion) -> bool:
    """Return whether no other message gives the fact this value, and says it."""
    value = assertion.value
    return not any(
        value is not None and other.value.means_same_as(value)
        for other in index.by_fact.of(assertion.fact_id)
        if other.value is not None
        and any(
            m.message_key != message.message_key and says(m.content, other.value)
            for m in index.voicing(other.bullet_id)
        )
    )


def _voices_alone(index: ConversationIndex, message: Message, bullet_id: str) -> bool:
    return all(m.message_key == message.message_key for m in index.voicing(bullet_id))


def _has_place(index: ConversationIndex, probe: Probe, message: Message, bullet: Bullet, group: int) -> bool:
    """Return whether without a message an item of an order would be unknown or take another place.

    The item would then be placed by the next message on its topic.
    """
    values = _asserted(index, probe, bullet)
    if values and any(_gives_alone(index, message, a) for a in values):
        return True
    again = [
        place
        for other in index.by_topic.of(bullet.topic)
        for m in index.voicing(other.bullet_id)
        if (place := index.position[m.message_key]) > index.position[message.message_key]
    ]
    after = [index.position[e.message_key] for e in _items_after(index, probe, group)]
    return not again or bool(after and min(again) > min(after))


def _items_after(index: ConversationIndex, probe: Probe, group: int) -> list[Evidence]:
    return [e for e in probe.evidence if e.group is not None and e.group > group and e.message_key in index.position]


CHECK = Check(
    name="leave_one_out",
    doc="Where several messages are cited, the ledger does not give the gold without any one of them.",
    severities={"dispensable": WARNING, "told_again": INFO},
    on_probe=find_problems,
)
