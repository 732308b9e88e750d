"""Retrieval-augmented generation: each exchange is one passage, once; found by BM25, by vectors, or by both.

BEAM's released RAG indexes most exchanges two to six times (`copies = "released"` repeats that; reference:
mohammadtavakoli78/BEAM@b2a3ee8, pair_chunk): its top five are then one to three distinct exchanges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from longbeam.memory.base import ContextBuilder, Tools, dated, passage_of, said
from longbeam.memory.bm25 import ranked
from longbeam.memory.index import Retriever, TextIndex, refuse_without_embedder
from longbeam.memory.turns import with_released_copies
from longbeam.schemas.base import Record
from longbeam.schemas.evaluation import Context, Exchange, Passage, Question, Usage


class RagSettings(Record):
    """What is indexed and how much is read."""

    retriever: Retriever = "bm25"
    k: int = Field(default=5, ge=1)
    """Passages read."""
    weight_dense: float = Field(default=0.7, ge=0, le=1)
    """Of the hybrid score: this times the cosine, plus the rest times BM25 over its highest."""
    order: Literal["time", "rank"] = "time"
    """Order of the passages in the context; those of lowest rank are left out first in both."""
    copies: Literal["once", "released"] = "once"


class Rag:
    """An index over exchanges."""

    def __init__(self, settings: RagSettings, tools: Tools) -> None:
        refuse_without_embedder("rag.retriever", settings.retriever, tools.embedder)
        self._settings = settings
        self._tools = tools
        self._exchanges: list[Exchange] = []
        self._index: TextIndex | None = None

    async def add(self, exchange: Exchange) -> None:
        """Keep the exchange."""
        self._exchanges.append(exchange)

    async def finish(self) -> None:
        """Build the index."""
        if self._settings.copies == "released":
            self._exchanges = with_released_copies(self._exchanges)
        texts = [said(e) for e in self._exchanges]
        self._index = await TextIndex.build(texts, self._settings.retriever, self._tools.embedder)

    async def retrieve(self, question: Question, *, k: int) -> Sequence[Passage]:
        """Return the k best exchanges."""
        assert self._index is not None
        scores = await self._index.scores(question.text, self._tools.embedder, weight_dense=self._settings.weight_dense)
        return [passage_of(self._exchanges[i], i, float(scores[i]), self._tools) for i in ranked(scores, k)]

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the k best exchanges that fit, with their dates."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        for rank, found in enumerate(await self.retrieve(question, k=self._settings.k)):
            exchange = self._exchanges[int(found.passage_id)]
            place = exchange.position if self._settings.order == "time" else rank
            builder.put("retrieved", dated(exchange), exchange.message_keys, place=place)
        return builder.build()

    def usage(self) -> Usage:
        """Size of the index."""
        assert self._index is not None
        return Usage(embedded_texts=self._index.embedded_texts, index_bytes=self._index.index_bytes)
