"""Negative controls: the same probes over conversations that cannot answer them.

What a system scores here it did not get from memory; one that stays above its floor reads the gold somewhere.
Abstention is right under a control, so comparisons leave it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from longbeam.errors import UserError
from longbeam.schemas.evaluation import Exchange
from longbeam.schemas.probes import Probe


class Control(StrEnum):
    """What is done to the conversations."""

    EVIDENCE_REMOVED = "evidence-removed"
    """Every message that a probe cites is taken out of its conversation."""
    SWAPPED = "swapped"
    """Each conversation's probes are asked of the next one."""


def find_control(name: str | None) -> Control | None:
    """Return the control of that name; UserError lists them."""
    try:
        return Control(name) if name else None
    except ValueError as exc:
        raise UserError(f"--control {name!r}: there are {' and '.join(c.value for c in Control)}") from exc


def without_evidence(exchanges: Sequence[Exchange], probes: Sequence[Probe]) -> tuple[Exchange, ...]:
    """Return the exchanges without the messages that any probe cites; positions stay as they were."""
    cited = {e.message_key for probe in probes for e in probe.evidence}
    kept = []
    for exchange in exchanges:
        if messages := tuple(m for m in exchange.messages if m.message_key not in cited):
            kept.append(exchange.model_copy(update={"messages": messages}))
    return tuple(kept)


def as_of(exchanges: Sequence[Exchange], conversation_id: str) -> tuple[Exchange, ...]:
    """Return the exchanges with message keys that say whose they are, so that none passes for another's evidence."""
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
