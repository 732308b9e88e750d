"""The scratchpad: notes folded in the order of the conversation, compressed whenever they outgrow the trigger."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from longbeam.memory.light.history import tail_of

Compress = Callable[[str, int, int], Awaitable[str]]
"""Given the notes, the number of the compression from 0, and the tokens allowed."""


class CompressionFailed(Exception):
    """The released code's fault: its compression raises whenever it is reached."""


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
        """Append notes, then compress if they are beyond the trigger; at most `limit` tokens are left by that."""
        for note in notes:
            self.lines.append(note)
            self._tokens += self.count(note) + 1  # the line break
        if self._tokens <= self.trigger:
            return
        shorter = await self.compress("\n".join(self.lines), self.compressions, self.limit)
        self.compressions += 1
        # A compressor that did not obey must not be asked for ever: the newest lines are kept then.
        self.lines = [line for line in tail_of(shorter, self.limit, self.count).split("\n") if line.strip()]
        self._tokens = sum(self.count(line) + 1 for line in self.lines)
