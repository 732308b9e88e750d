"""Retrieval-augmented generation: each exchange is one passage, found by BM25, by vectors, or by both.

BEAM's released RAG indexes most exchanges two to six times (mohammadtavakoli78/BEAM@b2a3ee8, `pair_chunk`), so that its
top five are one to three distinct exchanges. `copies = "released"` does the same.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from longbeam.memory.base import ExchangeMemory, Tools
from longbeam.memory.context import ContextBuilder
from longbeam.memory.exchanges import said
from longbeam.memory.index import Retriever, TextIndex, choose_retriever
from longbeam.memory.turns import with_released_copies
from longbeam.schemas.base import Record
from longbeam.schemas.evaluation import Context, Question


class RagSettings(Record):
    """How exchanges are indexed and how many are read."""

    retriever: Retriever | None = None
    """None: dense if the evaluation names an embedding model, else bm25."""
    k: int = Field(default=5, ge=1)
    """Passages read."""
    weight_dense: float = Field(default=0.7, ge=0, le=1)
    """Weight of the cosine in the hybrid score; BM25 divided by its highest score has the rest."""
    order: Literal["time", "rank"] = "time"
    """Order of the passages in the context; passages of lowest rank are left out first in both orders."""
    copies: Literal["once", "released"] = "once"
    """Entries of an exchange in the index: one, or as many as in BEAM's released code."""


class Rag(ExchangeMemory[RagSettings]):
    """Reads the exchanges that an index ranks highest."""

    def __init__(self, settings: RagSettings, tools: Tools) -> None:
        super().__init__(settings, tools)
        self._retriever = choose_retriever("rag.retriever", settings.retriever, tools.embedder)

    async def finish(self) -> None:
        """Build the index."""
        settings = self._settings
        indexed = with_released_copies(self._exchanges) if settings.copies == "released" else self._exchanges
        texts = [said(e) for e in indexed]
        index = await TextIndex.build(texts, self._retriever, self._tools, weight_dense=settings.weight_dense)
        self._search_in(indexed, index)

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the k best exchanges that fit, with their dates."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        is_by_rank = self._settings.order == "rank"
        for rank, (place, _) in enumerate(await self._best(question.text, self._settings.k)):
            builder.put_exchange("retrieved", self._searched[place], place=rank if is_by_rank else None)
        return builder.build()
