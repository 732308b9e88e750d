"""Imports of a few messages with one probe, and the findings on them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from longbeam.schemas import Evidence, Finding, ImportNote, Message, MessageRole, Probe
from longbeam.validation import check_conversation
from tests.builders import MemoryReader, good_conversation, probe

FIRST_DAY = dt.datetime(2024, 3, 4, 9)


def imported(said: Sequence[str], *probes: Probe, days_apart: int = 7) -> MemoryReader:
    """A conversation without plan or ledger; user and assistant take turns, a turn every few days."""
    good = good_conversation()
    messages = tuple(
        good.said[i % 2].model_copy(
            update={
                "message_key": f"m{i}",
                "message_id": i,
                "bullet_ids": (),
                "sent_at": FIRST_DAY + dt.timedelta(days=i // 2 * days_apart),
                "content": text,
            }
        )
        for i, text in enumerate(said)
    )
    assert all(m.role is (MessageRole.ASSISTANT if i % 2 else MessageRole.USER) for i, m in enumerate(messages))
    return MemoryReader(good.head.model_copy(update={"plans": (), "target_tokens": 0}), messages, probes)


def asks(
    ability: str, question: str, gold: str, cited: dict[int, str], *nuggets: str, number: int = 0, **details: object
) -> Probe:
    """A probe as imports have them: evidence names messages by their place, and has no quotes."""
    evidence = tuple(Evidence(message_key=f"m{i}", quote="", part=part) for i, part in cited.items())
    made = probe(ability, question, gold, nuggets or (gold,), evidence)
    extra = made.details.model_copy(update=details)
    return made.model_copy(update={"probe_id": f"{ability}.{number}", "details": extra})


def found(reader: MemoryReader, *checks: str) -> list[Finding]:
    """Findings of some checks."""
    return [f for f in check_conversation(reader) if f.check.partition(".")[0] in checks]


def names(reader: MemoryReader, *checks: str) -> list[str]:
    """Names of the findings of some checks."""
    return [f.check for f in found(reader, *checks)]


def noted(reader: MemoryReader, *notes: ImportNote) -> MemoryReader:
    """The same with notes of its import."""
    return replace(reader, head=reader.head.model_copy(update={"import_notes": notes}))


def messages_of(reader: MemoryReader) -> tuple[Message, ...]:
    """Its messages."""
    return reader.said
