"""What a journal is told of a call, beside its key, request and reply."""

from __future__ import annotations

from typing import Any

ASKED: dict[str, Any] = {
    "unit_key": "c000/dialogue/p0.s0/t0.n1",
    "stage": "dialogue",
    "role": "assistant",
    "prompt_id": "assistant_reply",
    "prompt_version": 3,
    "model": "offline",
    "generation": 0,
}
