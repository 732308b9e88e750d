"""LanceDB as it comes: one table in the system's folder; vectors alone, or joined with its full-text index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from longbeam.memory.base import Tools
from longbeam.memory.product import ProductSettings
from longbeam.memory.products.base import Bridge, Hit, MessageStore
from longbeam.schemas.dialogue import Message

_NAME = "memories"


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
            self._table = self._db.create_table(_NAME, self._pending)
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
            self._db.drop_table(_NAME)
            self._table = None
