"""Retrieval-augmented generation: each exchange is one passage, once; found by BM25, by vectors, or by both.

BEAM's released RAG indexes most exchanges two to six times (`copies = "released"` repeats that; reference:
mohammadtavakoli78/BEAM@b2a3ee8, pair_chunk): its top five are then one to three distinct exchanges.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from longbeam.memory.base import ExchangeMemory, Tools
from longbeam.memory.context import ContextBuilder
from longbeam.memory.exchanges import said
from longbeam.memory.index import Retriever, TextIndex, refuse_without_embedder
from longbeam.memory.turns import with_released_copies
from longbeam.schemas.base import Record
from longbeam.schemas.evaluation import Context, Question


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


class Rag(ExchangeMemory[RagSettings]):
    """An index over exchanges."""

    def __init__(self, settings: RagSettings, tools: Tools) -> None:
        refuse_without_embedder("rag.retriever", settings.retriever, tools.embedder)
        super().__init__(settings, tools)

    async def finish(self) -> None:
        """Build the index."""
        settings = self._settings
        indexed = with_released_copies(self._exchanges) if settings.copies == "released" else self._exchanges
        texts = [said(e) for e in indexed]
        index = await TextIndex.build(texts, settings.retriever, self._tools, weight_dense=settings.weight_dense)
        self._search_in(indexed, index)

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the k best exchanges that fit, with their dates."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        is_by_rank = self._settings.order == "rank"
        for rank, (place, _) in enumerate(await self._best(question.text, self._settings.k)):
            builder.put_exchange("retrieved", self._searched[place], place=rank if is_by_rank else None)
        return builder.build()
