"""Message ids and keys: evidence cites by them, so they must be unique and say where a message stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from longbeam.schemas.dialogue import Message
from longbeam.validation.base import ERROR, Check, Problem
from longbeam.validation.index import ConversationIndex

KEY = re.compile(r"p(\d+)\.s(\d+)\.t(\d+)\.n(\d+)")


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield ids out of order, keys twice, malformed or out of order, and unknown bullets."""
    numbered = [m.message_id for m in index.messages if m.message_id is not None]
    if numbered and len(numbered) < len(index.messages):
        yield Problem("gap", "conversation", f"{len(index.messages) - len(numbered)} messages have no message_id")
    last: tuple[int, ...] = ()
    for i, message in enumerate(index.messages):
        key = message.message_key
        if message.message_id is not None and message.message_id != i:
            yield Problem("gap", key, f"message {i} of the conversation has message_id {message.message_id}", (key,))
        if index.position[key] < i:
            yield Problem("duplicate_key", key, f"message_key {key!r} occurs more than once", (key,))
        if index.head.plans:
            yield from _key_problems(index, message, last)
            match = KEY.fullmatch(key)
            last = tuple(map(int, match.groups())) if match else last


def _key_problems(index: ConversationIndex, message: Message, last: tuple[int, ...]) -> Iterator[Problem]:
    key = message.message_key
    match = KEY.fullmatch(key)
    if match is None:
        yield Problem("malformed_key", key, f"message_key {key!r} is not of the form p0.s0.t0.n0", (key,))
        return
    place = tuple(map(int, match.groups()))
    said = (message.plan_index, message.sub_plan_index, message.turn_index)
    if any(own is not None and own != there for own, there in zip(said, place, strict=False)):
        yield Problem("malformed_key", key, f"message_key {key!r} and plan, sub-plan, turn {said} disagree", (key,))
    if last and place < last:
        yield Problem("key_order", key, f"message_key {key!r} stands behind a later one", (key,))
    for bullet_id in message.bullet_ids:
        if bullet_id not in index.bullets:
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
