"""The entry that a journal keeps of one model call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from longbeam.schemas.calls import ChatMessage, ModelReply


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One call with its request and its reply."""

    key: str
    """Key of the call; a journal has one reply to each key."""
    unit_key: str
    stage: str
    role: str
    """Role that the model was asked in: planner, assistant, ..."""
    prompt_id: str
    prompt_version: int
    model: str
    """Model as the spec names it."""
    generation: int
    """Number of content attempts before this one."""
    request: Sequence[ChatMessage]
    reply: ModelReply
    max_tokens: int | None = None
    """Length limit of the reply; None if the request named none."""
