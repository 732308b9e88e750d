"""Scratchpad: notes in the order of the conversation, compressed whenever they outgrow the trigger."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from longbeam.memory.light.history import tail_of

Compress = Callable[[str, int, int], Awaitable[str]]
"""Returns shorter notes, given the notes, the number of the compression (from 0), and the tokens allowed."""


class CompressionFailed(Exception):
    """The compression failed: a fault of the released code, where it always does."""


@dataclass
class Scratchpad:
    """Lines of notes."""

    trigger: int
    limit: int
    count: Callable[[str], int]
    compress: Compress
    lines: list[str] = field(default_factory=list)
    compressions: int = 0
    _tokens: int = 0

    async def fold(self, notes: Iterable[str]) -> None:
        """Append notes; if they exceed the trigger, compress them to at most `limit` tokens."""
        for note in notes:
            self.lines.append(note)
            self._tokens += self.count(note) + 1  # the line break
        if self._tokens <= self.trigger:
            return
        shorter = await self.compress("\n".join(self.lines), self.compressions, self.limit)
        self.compressions += 1
        # If the model ignored the limit, keep the newest lines rather than ask again and again.
        self.lines = [line for line in tail_of(shorter, self.limit, self.count).split("\n") if line.strip()]
        self._tokens = sum(self.count(line) + 1 for line in self.lines)
