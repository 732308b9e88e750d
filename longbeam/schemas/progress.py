"""Progress of a conversation in a run."""

from __future__ import annotations

from longbeam.schemas.base import Record


class Position(Record):
    """Stage that a conversation is in, and its counts so far."""

    stage: str = ""
    units_done: int = 0
    units_total: int = 0
    restored: int = 0
    """Units that an earlier run had done."""
    tokens: int = 0
    """Tokens of the conversation's messages."""
    calls: int = 0
    """Model calls of this run that have ended."""
    output_tokens: int = 0
    """Tokens of the replies to these calls."""
