"""Negative controls: the same probes over conversations that cannot answer them.

What a system scores here it did not get from memory; one that stays above its floor reads the gold somewhere.
Abstention is right under a control, so comparisons leave it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from longbeam.errors import UserError
from longbeam.evaluation.metrics import rubric_values
from longbeam.schemas.evaluation import Exchange
from longbeam.schemas.probes import Probe
from longbeam.schemas.values import says


class Control(StrEnum):
    """What is done to the conversations."""

    EVIDENCE_REMOVED = "evidence-removed"
    """Every message that a probe cites is taken out of its conversation, and every other that says a value of its
    rubric: what matters is said more than once."""
    SWAPPED = "swapped"
    """Each conversation's probes are asked of the next one."""


def find_control(name: str | None) -> Control | None:
    """Return the control of that name; UserError lists them."""
    try:
        return Control(name) if name else None
    except ValueError as exc:
        raise UserError(f"--control {name!r}: there are {' and '.join(c.value for c in Control)}") from exc


def without_evidence(exchanges: Sequence[Exchange], probes: Sequence[Probe]) -> tuple[Exchange, ...]:
    """Return the exchanges without the messages that any probe cites, or that say a typed value of its rubric.

    Positions stay as they were. What is said again in other words than values stays, too.
    """
    cited = {e.message_key for probe in probes for e in probe.evidence}
    values = {v.model_dump_json(): v for probe in probes for v in rubric_values(probe)}
    kept = []
    for exchange in exchanges:
        messages = tuple(
            m
            for m in exchange.messages
            if m.message_key not in cited and not any(says(m.content, v) for v in values.values())
        )
        if messages:
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
