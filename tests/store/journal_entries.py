"""Fields of a journal entry that its tests do not vary, and its stored request."""

from __future__ import annotations

import json
from typing import Any

from longbeam.schemas import ChatMessage
from longbeam.store import WorkLog

ASKED: dict[str, Any] = {
    "unit_key": "c000/dialogue/p0.s0/t0.n1",
    "stage": "dialogue",
    "role": "assistant",
    "prompt_id": "assistant_reply",
    "prompt_version": 3,
    "model": "offline",
    "generation": 0,
}


def request_of(log: WorkLog, key: str) -> tuple[ChatMessage, ...]:
    """Return the stored messages that the recorded reply answers; the package reads only their hashes."""
    row = log._db.one("SELECT request FROM replies WHERE key = ?", key)
    assert row is not None
    texts = [log._db.all("SELECT role, content FROM texts WHERE text_id = ?", i)[0] for i in json.loads(row[0])]
    return tuple(ChatMessage(role=role, content=content) for role, content in texts)
