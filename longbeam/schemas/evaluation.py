"""What a memory system answered and how it was scored."""

from __future__ import annotations

from pydantic import Field

from longbeam.schemas.base import Record


class Answer(Record):
    """A memory system's answer to one probe."""

    conversation_id: str
    probe_id: str
    memory_system: str
    text: str
    source_message_keys: tuple[str, ...] = ()
    context_tokens: int = Field(default=0, ge=0)


class NuggetScore(Record):
    """A judge's verdict on one nugget: 0, 0.5 or 1, with its reason."""

    nugget_id: str
    score: float = Field(ge=0, le=1)
    reason: str = ""
    judge: str = ""


class Score(Record):
    """A probe's score under one scoring rule."""

    conversation_id: str
    probe_id: str
    memory_system: str
    scoring: str
    score: float = Field(ge=0, le=1)
    nugget_scores: tuple[NuggetScore, ...] = ()
