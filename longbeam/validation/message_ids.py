"""Message ids and keys: evidence cites messages by them, so they must be unique and in the order of the messages."""

from __future__ import annotations

from collections.abc import Iterator

from longbeam.keys import MessageKey
from longbeam.schemas import Message
from longbeam.validation.base import ERROR, Check, Problem
from longbeam.validation.index import ConversationIndex


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield gaps in the ids, keys that are repeated, malformed or out of order, and unknown bullets."""
    numbered = [m.message_id for m in index.messages if m.message_id is not None]
    if numbered and len(numbered) < len(index.messages):
        yield Problem("gap", "conversation", f"{len(index.messages) - len(numbered)} messages have no message_id")
    last: MessageKey | None = None
    for i, message in enumerate(index.messages):
        key = message.message_key
        if message.message_id is not None and message.message_id != i:
            yield Problem("gap", key, f"message {i} of the conversation has message_id {message.message_id}", (key,))
        if index.position[key] < i:
            yield Problem("duplicate_key", key, f"message_key {key!r} occurs more than once", (key,))
        if index.head.plans:
            parsed = _parsed(key)
            yield from _key_problems(index, message, parsed, last)
            last = parsed or last


def _parsed(key: str) -> MessageKey | None:
    try:
        return MessageKey.parse(key)
    except ValueError:
        return None


def _key_problems(
    index: ConversationIndex, message: Message, parsed: MessageKey | None, last: MessageKey | None
) -> Iterator[Problem]:
    """Yield problems of one key; `last` is the well-formed key before it."""
    key = message.message_key
    if parsed is None:
        yield Problem("malformed_key", key, f"message_key {key!r} is not of the form p0.s0.t0.n0", (key,))
        return
    place = (message.plan_index, message.sub_plan_index, message.turn_index)
    if any(own is not None and own != there for own, there in zip(place, parsed.turn, strict=True)):
        yield Problem("malformed_key", key, f"message_key {key!r} and plan, sub-plan, turn {place} disagree", (key,))
    if last is not None and parsed < last:
        yield Problem("key_order", key, f"message_key {key!r} stands behind a later one", (key,))
    for bullet_id in message.bullet_ids:
        if bullet_id not in index.bullets and bullet_id not in index.advice:
            yield Problem("unknown_bullet", key, f"message voices {bullet_id!r}, which no plan has", (key,))


CHECK = Check(
    name="message_ids",
    doc="Message ids count from 0 without gap; keys are unique, well formed and in order; voiced bullets exist.",
    severities={
        "gap": ERROR,
        "duplicate_key": ERROR,
        "malformed_key": ERROR,
        "key_order": ERROR,
        "unknown_bullet": ERROR,
    },
    on_conversation=find_problems,
)
