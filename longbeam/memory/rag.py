"""Retrieval-augmented generation: each exchange is one passage, once; found by BM25, by vectors, or by both.

BEAM's released RAG indexes most exchanges two to six times (`copies = "released"` repeats that; reference:
mohammadtavakoli78/BEAM@b2a3ee8, pair_chunk): its top five are then one to three distinct exchanges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from longbeam.errors import SpecError
from longbeam.memory.base import ContextBuilder, Tools, dated, said
from longbeam.memory.bm25 import Bm25Index, ranked
from longbeam.memory.embedding import Vectors
from longbeam.schemas.base import Record
from longbeam.schemas.evaluation import Context, Exchange, Passage, Question, Usage


class RagSettings(Record):
    """What is indexed and how much is read."""

    retriever: Literal["bm25", "dense", "hybrid"] = "bm25"
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
        if settings.retriever != "bm25" and tools.embedder is None:
            raise SpecError(
                f"rag.retriever = {settings.retriever!r} needs an embedding model; name one with `--embedder`, "
                "or set rag.retriever=bm25"
            )
        self._settings = settings
        self._tools = tools
        self._exchanges: list[Exchange] = []
        self._lexical: Bm25Index | None = None
        self._vectors: Vectors | None = None

    async def add(self, exchange: Exchange) -> None:
        """Keep the exchange."""
        self._exchanges.append(exchange)

    async def finish(self) -> None:
        """Build the index."""
        if self._settings.copies == "released":
            self._exchanges = with_released_copies(self._exchanges)
        texts = [said(e) for e in self._exchanges]
        if self._settings.retriever != "dense":
            self._lexical = Bm25Index(texts)
        if self._settings.retriever != "bm25" and texts:
            assert self._tools.embedder is not None
            self._vectors = await self._tools.embedder.embed(texts)

    async def retrieve(self, question: Question, *, k: int) -> Sequence[Passage]:
        """Return the k best exchanges."""
        scores = await self._scores(question.text)
        return [self._passage(i, float(scores[i])) for i in ranked(scores, k)]

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
        lexical = self._lexical.index_bytes if self._lexical else 0
        vectors = self._vectors.nbytes if self._vectors is not None else 0
        embedded = len(self._exchanges) if self._vectors is not None else 0
        return Usage(embedded_texts=embedded, index_bytes=lexical + vectors)

    async def _scores(self, query: str) -> NDArray[np.float32]:
        lexical = self._lexical.scores(query) if self._lexical else None
        if self._vectors is None:
            return lexical if lexical is not None else np.zeros(0, dtype=np.float32)
        assert self._tools.embedder is not None
        cosine: NDArray[np.float32] = self._vectors @ (await self._tools.embedder.embed([query], is_query=True))[0]
        if lexical is None:
            return cosine
        highest = float(lexical.max()) or 1.0
        weight = self._settings.weight_dense
        mixed: NDArray[np.float32] = weight * cosine + (1 - weight) * lexical / highest
        return mixed

    def _passage(self, place: int, score: float) -> Passage:
        exchange = self._exchanges[place]
        text = said(exchange)
        return Passage(
            passage_id=str(place),
            text=text,
            score=score,
            message_keys=exchange.message_keys,
            tokens=self._tools.count_tokens(text),
            sent_at=exchange.sent_at,
        )


def with_released_copies(exchanges: Sequence[Exchange]) -> list[Exchange]:
    """Return the exchanges as often as BEAM's code indexes them: once for each message of their turn.

    Exchanges without turns, as imports from elsewhere have them, are turns of their own.
    """
    sizes: dict[object, int] = {}
    turns = [_turn_of(exchange) for exchange in exchanges]
    for turn, exchange in zip(turns, exchanges, strict=True):
        sizes[turn] = sizes.get(turn, 0) + len(exchange.messages)
    by_turn: dict[object, list[Exchange]] = {}
    for turn, exchange in zip(turns, exchanges, strict=True):
        by_turn.setdefault(turn, []).append(exchange)
    return [exchange for turn, group in by_turn.items() for _ in range(sizes[turn]) for exchange in group]


def _turn_of(exchange: Exchange) -> object:
    first = exchange.messages[0]
    if first.turn_index is None:
        return exchange.position
    return (first.plan_index, first.sub_plan_index, first.session, first.turn_index)
