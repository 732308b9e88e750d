"""Parts that all adapters share: vectors for a product's own thread, a folder, and one record for each message.

A product embeds with the evaluation's embedder, so that all systems of a table compare the same vectors and no text is
embedded twice. Telemetry of the products is switched off before their packages are imported.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from longbeam.errors import SpecError
from longbeam.memory.base import Tools
from longbeam.memory.product import Memory
from longbeam.memory.products.chat import ModelServer
from longbeam.schemas import Exchange, Message, PreparationUsage

QUIET = {
    "ANONYMIZED_TELEMETRY": "False",  # Chroma
    "DO_NOT_TRACK": "1",
    "GRAPHITI_TELEMETRY_ENABLED": "false",
    "LANGSMITH_TRACING": "false",
    "MEM0_DIR": str(Path(tempfile.gettempdir()) / "longbeam-mem0"),  # else ~/.mem0, written by the import
    "MEM0_TELEMETRY": "False",
}
"""Environment variables that keep products from reporting, and from writing into the home folder."""


def silence() -> None:
    """Switch the products' telemetry off; called before their packages are imported."""
    os.environ.update(QUIET)


class Bridge:
    """The evaluation's embedder and model for a product; made on the event loop, used in the product's own thread."""

    def __init__(self, system: str, tools: Tools) -> None:
        self._system = system
        self._embedder = tools.embedder
        self._loop = asyncio.get_running_loop()
        self.model = ModelServer(system, tools)
        """The extractor model as an endpoint."""

    def vectors(self, texts: Sequence[str], *, is_query: bool = False) -> list[list[float]]:
        """Return one unit vector per text. Not to be called on the event loop, which would wait for itself."""
        embedding = asyncio.run_coroutine_threadsafe(self.awaited_vectors(texts, is_query=is_query), self._loop)
        return embedding.result()

    async def awaited_vectors(self, texts: Sequence[str], *, is_query: bool = False) -> list[list[float]]:
        """Return one unit vector per text. Raises SpecError if the evaluation names no embedding model."""
        if self._embedder is None:
            raise SpecError(f"system {self._system!r} needs vectors; name an embedding model with `--embedder`")
        vectors: list[list[float]] = (await self._embedder.embed(texts, is_query=is_query)).tolist()
        return vectors


class OwnFolder:
    """A product's folder: the one that the evaluation gives it, else a temporary one."""

    def __init__(self, tools: Tools) -> None:
        self._scratch = tempfile.TemporaryDirectory() if tools.folder is None else None
        self.path = Path(self._scratch.name) if self._scratch else tools.folder or Path()

    def close(self) -> None:
        """Delete a temporary folder."""
        if self._scratch is not None:
            self._scratch.cleanup()


@dataclass(frozen=True)
class Hit:
    """A record that a store found."""

    message_key: str
    score: float | None = None


class MessageStore(ABC):
    """Base of stores without a model of their own: one record with one vector for each message.

    A subclass saves records and finds their keys. Memories are the messages with their speakers.
    """

    def __init__(self, tools: Tools, bridge: Bridge) -> None:
        silence()
        self._bridge = bridge
        self._count_tokens = tools.count_tokens
        self._folder = OwnFolder(tools)
        self._said: dict[str, Message] = {}

    @abstractmethod
    def save(self, messages: Sequence[Message], vectors: list[list[float]]) -> None:
        """Save one record for each message."""

    @abstractmethod
    def find(self, query: str, vector: list[float], k: int) -> Sequence[Hit]:
        """Return at most k records, best first."""

    @abstractmethod
    def empty(self) -> None:
        """Delete all records."""

    def add(self, exchange: Exchange, timestamp: dt.datetime) -> None:
        """Save the exchange's messages."""
        self.save(exchange.messages, self._bridge.vectors([m.content for m in exchange.messages]))
        self._said.update((m.message_key, m) for m in exchange.messages)

    def search(self, query: str, k: int) -> Sequence[Memory]:
        """Return the messages found."""
        (vector,) = self._bridge.vectors([query], is_query=True)
        found = [(hit, self._said[hit.message_key]) for hit in self.find(query, vector, k)]
        return [
            Memory(f"{m.speaker}: {m.content}", hit.score, hit.message_key, m.sent_at, (hit.message_key,))
            for hit, m in found
        ]

    def delete(self) -> None:
        """Delete everything."""
        self._said.clear()
        self.empty()

    def usage(self) -> PreparationUsage:
        """Return the number of embedded messages."""
        tokens = sum(self._count_tokens(m.content) for m in self._said.values())
        return PreparationUsage(embedded_texts=len(self._said), embedded_tokens=tokens)

    def close(self) -> None:
        """Delete the folder, if it was a temporary one."""
        self._folder.close()
