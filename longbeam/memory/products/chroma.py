"""Chroma as it comes: one collection in the system's folder, cosine distance, an approximate index (HNSW)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longbeam.memory.base import Tools
from longbeam.memory.product import ProductSettings
from longbeam.memory.products.base import Bridge, Hit, MessageStore
from longbeam.schemas.dialogue import Message

_NAME = "memories"


class Chroma(MessageStore):
    """Keeps each message in a collection of Chroma."""

    def __init__(self, settings: ProductSettings, tools: Tools, bridge: Bridge) -> None:
        super().__init__(tools, bridge)
        import chromadb

        self._client = chromadb.PersistentClient(str(self._folder.path), chromadb.Settings(anonymized_telemetry=False))
        self._collection: Any = None
        self.empty()

    def save(self, messages: Sequence[Message], vectors: list[list[float]]) -> None:
        """Add documents whose ids are message keys."""
        self._collection.add(
            ids=[m.message_key for m in messages],
            embeddings=vectors,
            documents=[m.content for m in messages],
            metadatas=[{"speaker": m.speaker, "sent_at": m.sent_at.isoformat()} for m in messages],
        )

    def find(self, query: str, vector: list[float], k: int) -> Sequence[Hit]:
        """Return the nearest documents."""
        found = self._collection.query(query_embeddings=[vector], n_results=k, include=["distances"])
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        return [Hit(key, 1 - distance) for key, distance in pairs]

    def empty(self) -> None:
        """Make the collection anew."""
        if self._collection is not None:
            self._client.delete_collection(_NAME)
        self._collection = self._client.create_collection(
            _NAME, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )

    def close(self) -> None:
        """Close the database."""
        self._client.close()
        super().close()
