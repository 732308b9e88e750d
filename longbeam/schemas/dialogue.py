"""The dialogue: planned user turns, and messages with stable keys."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from longbeam.schemas.base import KeptJson, Record
from longbeam.schemas.plans import AdviceKind


class UserTurn(Record):
    """A planned main question of the user."""

    turn_id: str
    """`p0.s2.t5`: plan, sub-plan, ordinal in the sub-plan."""
    text: str
    bullet_ids: tuple[str, ...]
    """Bullets that the turn *voices* (states with their values), in the order of the plan."""
    about_bullet_ids: tuple[str, ...] = ()
    """Bullets that the turn only asks about, without new claims."""
    slip: str = ""
    """A value as the turn says it by a slip and corrects it at once; nobody takes it up."""
    wants_yes: bool = False
    """Whether the turn wants a yes to its wish, and nothing else."""
    wants: AdviceKind | None = None
    """Kind of advice that the turn asks for in so many words: a figure, options or steps."""

    @property
    def is_required(self) -> bool:
        """Whether leaving the turn out would lose a bullet."""
        return bool(self.bullet_ids)


class MessageRole(StrEnum):
    """Author of a message, in the terms of the chat protocol."""

    USER = "user"
    ASSISTANT = "assistant"


class MessageKind(StrEnum):
    """Main question, answer to the assistant's question, follow-up; `reply` for the assistant."""

    QUESTION = "question"
    ANSWER = "answer"
    FOLLOW_UP = "follow_up"
    REPLY = "reply"


class PartKind(StrEnum):
    """Typed pieces of a message beyond its text."""

    TEXT = "text"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    IMAGE_STUB = "image_stub"
    THINKING = "thinking"
    COMPACTION = "compaction"
    """A summary that replaces everything before it."""


class Part(Record):
    """A typed piece of a message; the message's `content` is its text projection."""

    kind: PartKind
    text: str = ""
    data: dict[str, Any] = Field(default_factory=dict)


def text_of(parts: Iterable[Part]) -> str:
    """Return the text projection of parts, for a reader that sees no types."""
    return "\n\n".join(_part_text(part) for part in parts)


def _part_text(part: Part) -> str:
    match part.kind:
        case PartKind.TOOL_CALL:
            given = "\n".join(f"{name}: {value}" for name, value in part.data.get("input", {}).items())
            return f"→ {part.data.get('name', 'tool')}\n{given}"
        case PartKind.TOOL_RESULT:
            return f"←\n{part.text}"
        case PartKind.THINKING:
            return f"(thinking) {part.text}"
        case PartKind.IMAGE_STUB:
            return f"(image) {part.text}"
        case PartKind.COMPACTION:
            return f"(summary of what was before) {part.text}"
    return part.text


class Message(KeptJson):
    """One message. `message_key` never changes; `message_id` is its ordinal, assigned at sealing."""

    message_key: str
    """`p0.s2.t5.n0`: plan, sub-plan, turn, ordinal in the turn."""
    message_id: int | None = None
    role: MessageRole
    speaker: str
    """A person's name for imports with several speakers; `user` or `assistant` otherwise."""
    kind: MessageKind
    session: int = 0
    """Ordinal of the session in the conversation; a generated conversation has one for each sub-plan."""
    plan_index: int | None = None
    sub_plan_index: int | None = None
    turn_index: int | None = None
    bullet_ids: tuple[str, ...] = ()
    """Bullets that the message voices; empty for replies."""
    sent_at: datetime
    """Local time without zone; never decreases within a conversation."""
    content: str
    parts: tuple[Part, ...] = ()
    tokens: int = Field(ge=0)
    """Tokens of `content` alone, in the benchmark's tokenizer."""
    details: dict[str, Any] = Field(default_factory=dict)
    """Other data of an import."""
