"""Negative controls: the same probes over conversations that cannot answer them.

A score under a control does not come from memory; a system that stays above its floor reads the gold answers somewhere.
Abstaining is right under a control, so comparisons leave abstention probes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from longbeam.errors import UserError
from longbeam.evaluation.metrics import rubric_values
from longbeam.schemas import Exchange, Message, Plan, Probe
from longbeam.text import plain, says


class Control(StrEnum):
    """Changes to the conversations that make their probes unanswerable."""

    EVIDENCE_REMOVED = "evidence-removed"
    """Removes every message that tells what a probe asks for, cited or not: important facts are said more than once."""
    SWAPPED = "swapped"
    """Asks each conversation's probes about the next conversation."""


def find_control(name: str | None) -> Control | None:
    """Return the control with this name; UserError lists all names."""
    try:
        return Control(name) if name else None
    except ValueError as exc:
        raise UserError(f"--control {name!r}: there are {' and '.join(c.value for c in Control)}") from exc


def without_evidence(
    exchanges: Sequence[Exchange], probes: Sequence[Probe], plans: Sequence[Plan] = ()
) -> tuple[Exchange, ...]:
    """Return the exchanges without the messages that tell what a probe asks for; positions do not change.

    These are the messages that a probe cites, those that say a typed value of a rubric or a thing that is to be put in
    order, and, where there is a ledger (`plans`; imports have none), those that voice a bullet on a fact that a probe
    was made from, or that say a value of it. What is told again in other words than values stays.
    """
    cited = {e.message_key for probe in probes for e in probe.evidence}
    facts = {fact_id for probe in probes for fact_id in probe.fact_ids}
    assertions = [a for plan in plans for a in plan.assertions if a.fact_id in facts]
    voicing = {a.bullet_id for a in assertions}
    telling = [v for probe in probes for v in rubric_values(probe)]
    telling += [a.value for a in assertions if a.value is not None]
    telling += [plain(item) for probe in probes for item in probe.details.items]
    # Each value once: the search below reads every message for every value.
    values = {v.model_dump_json(): v for v in telling}

    def tells(message: Message) -> bool:
        if message.message_key in cited or voicing.intersection(message.bullet_ids):
            return True
        return any(says(message.content, v, message.sent_at.date()) for v in values.values())

    kept = []
    for exchange in exchanges:
        if messages := tuple(m for m in exchange.messages if not tells(m)):
            kept.append(exchange.model_copy(update={"messages": messages}))
    return tuple(kept)


def as_of(exchanges: Sequence[Exchange], conversation_id: str) -> tuple[Exchange, ...]:
    """Return the exchanges with the conversation's id in their message keys, so that none passes for other evidence."""
    return tuple(
        e.model_copy(
            update={
                "messages": tuple(
                    m.model_copy(update={"message_key": f"{conversation_id}:{m.message_key}"}) for m in e.messages
                )
            }
        )
        for e in exchanges
    )
