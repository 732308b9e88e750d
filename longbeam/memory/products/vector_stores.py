"""Vector databases as they come.

Chroma (one collection, cosine distance) and LanceDB (one table, vectors or hybrid search).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from longbeam.memory.base import Tools
from longbeam.memory.product import ProductSettings
from longbeam.memory.products.base import Bridge, Hit, MessageStore
from longbeam.schemas import Message

_COLLECTION = "memories"


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
            self._client.delete_collection(_COLLECTION)
        self._collection = self._client.create_collection(
            _COLLECTION, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )

    def close(self) -> None:
        """Close the database."""
        self._client.close()
        super().close()


_TABLE = "memories"


class LanceSettings(ProductSettings):
    """How LanceDB searches."""

    retriever: Literal["dense", "hybrid"] = "dense"
    """`hybrid` merges vectors and BM25 by reciprocal rank, LanceDB's default."""


class Lance(MessageStore):
    """Keeps each message in a table of LanceDB."""

    def __init__(self, settings: LanceSettings, tools: Tools, bridge: Bridge) -> None:
        super().__init__(tools, bridge)
        import lancedb

        self._db = lancedb.connect(str(self._folder.path))
        self._is_hybrid = settings.retriever == "hybrid"
        self._pending: list[dict[str, Any]] = []
        self._table: Any = None

    def save(self, messages: Sequence[Message], vectors: list[list[float]]) -> None:
        """Keep rows for `finish`: LanceDB writes a version of the table for each call, and asks for batches."""
        for message, vector in zip(messages, vectors, strict=True):
            self._pending.append({"message_key": message.message_key, "text": message.content, "vector": vector})

    def finish(self) -> None:
        """Write the rows, and the full-text index where it is used."""
        if not self._pending:
            return
        if self._table is None:
            self._table = self._db.create_table(_TABLE, self._pending)
        else:
            self._table.add(self._pending)
        self._pending = []
        if self._is_hybrid:
            from lancedb.index import FTS

            self._table.create_index("text", config=FTS())

    def find(self, query: str, vector: list[float], k: int) -> Sequence[Hit]:
        """Return the rows found; without a vector index the search is exact."""
        if self._is_hybrid:
            rows = self._table.search(query_type="hybrid").vector(vector).text(query).limit(k).to_list()
            return [Hit(row["message_key"], row["_relevance_score"]) for row in rows]
        rows = self._table.search(vector).distance_type("cosine").limit(k).to_list()
        return [Hit(row["message_key"], 1 - row["_distance"]) for row in rows]

    def empty(self) -> None:
        """Drop the table."""
        self._pending = []
        if self._table is not None:
            self._db.drop_table(_TABLE)
            self._table = None
