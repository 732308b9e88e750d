"""Preparation of a memory system: exchanges are added up to the point of each probe, in the order of time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from longbeam.evaluation import Ingestion
from longbeam.memory import MemorySystem, NotingSystem, close_system, copied
from longbeam.pipeline.evaluate.conversations import ReadConversation, digest_of_read
from longbeam.schemas import PreparationUsage, digest_of


@dataclass
class Preparation:
    """A system that reads a conversation as far as its next question.

    It is made when the first answer is not stored. Points are asked for in rising order.
    """

    conversation: ReadConversation
    make: Callable[[], Awaitable[MemorySystem]]
    usage: PreparationUsage = field(default_factory=PreparationUsage)
    """Usage at the last point."""
    ingestion: Ingestion = field(default_factory=Ingestion)
    _system: MemorySystem | None = None
    _at: int = 0
    """Exchanges added so far."""
    _read_parts: list[str] = field(default_factory=list)
    _points: dict[int, asyncio.Task[MemorySystem]] = field(default_factory=dict)

    async def up_to(self, point: int) -> MemorySystem:
        """Return the system when it has read this many exchanges; the first caller prepares it."""
        if point not in self._points:
            self._points[point] = asyncio.create_task(self._read(point))
        return await asyncio.shield(self._points[point])

    @property
    def read_digest(self) -> str:
        """Digest of what the system has read so far."""
        return digest_of(self._read_parts)

    async def close(self) -> None:
        """Stop what is still prepared and close the system, if it was made."""
        for reading in self._points.values():
            reading.cancel()
        await asyncio.gather(*self._points.values(), return_exceptions=True)  # they record replies on their way
        await close_system(self._system)

    async def _read(self, point: int) -> MemorySystem:
        # A system that failed on the way is not asked further: its state is unknown.
        for earlier in [p for p in self._points if p < point]:
            await self._points[earlier]
        if self._system is None:
            self._system = await self.make()
        # Points whose answers are stored are read, too: `finish` may change the state.
        for stop in [p for p in self.conversation.questions if p <= point] or [point]:
            await self._advance(self._system, stop)
        self.usage = self._system.usage()
        return self._system

    async def _advance(self, system: MemorySystem, stop: int) -> None:
        if stop <= self._at and self.ingestion.finishes:
            return
        if isinstance(system, NotingSystem):
            for question in self.conversation.questions.get(self._at, ()):
                await system.asked(copied(question))
        for exchange in self.conversation.exchanges[self._at : stop]:
            given = copied(exchange)
            self._read_parts.append(digest_of_read(given))
            began = time.perf_counter()
            await system.add(given)
            self.ingestion.added(time.perf_counter() - began)
            self._at += 1
        began = time.perf_counter()
        await system.finish()
        self.ingestion.finished(time.perf_counter() - began)
