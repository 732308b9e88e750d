"""The model searches: it is given the question and a search tool, and answers when it has seen enough.

A search is a structured reply and not a provider's tool call, so that every model can do it and the journal holds it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from longbeam.memory.base import Asker, ContextBuilder, Tools, dated, passage_of, said
from longbeam.memory.bm25 import ranked
from longbeam.memory.index import Retriever, TextIndex, refuse_without_embedder
from longbeam.schemas.base import Record
from longbeam.schemas.evaluation import Context, Exchange, Passage, Question, Usage
from longbeam.schemas.memory_calls import SearchStepInputs, SearchStepReply
from longbeam.schemas.spec import Role


class SearchToolSettings(Record):
    """What the tool finds and how often it may be called."""

    retriever: Retriever = "bm25"
    k: int = Field(default=5, ge=1)
    """Exchanges that one search finds."""
    searches: int = Field(default=3, ge=1)
    """At most, for one question."""
    weight_dense: float = Field(default=0.7, ge=0, le=1)


class SearchTool:
    """An index over exchanges that the reader itself searches."""

    def __init__(self, settings: SearchToolSettings, tools: Tools) -> None:
        refuse_without_embedder("search_tool.retriever", settings.retriever, tools.embedder)
        self._settings = settings
        self._tools = tools
        self._exchanges: list[Exchange] = []
        self._index: TextIndex | None = None

    async def add(self, exchange: Exchange) -> None:
        """Keep the exchange."""
        self._exchanges.append(exchange)

    async def finish(self) -> None:
        """Build the index."""
        texts = [said(e) for e in self._exchanges]
        self._index = await TextIndex.build(texts, self._settings.retriever, self._tools.embedder)

    async def retrieve(self, question: Question, *, k: int) -> Sequence[Passage]:
        """Return what the question itself finds."""
        scores = await self._scores(question.text)
        return [passage_of(self._exchanges[i], i, float(scores[i]), self._tools) for i in ranked(scores, k)]

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return what one search with the question finds."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        await self._search(builder, question.text, set())
        return builder.build()

    async def answer(self, question: Question, *, budget: int, asker: Asker) -> tuple[str, Context, int]:
        """Let the reader search until it answers; all that was found shares the budget, earlier searches first.

        A reader that asks for more searches than it has gets an empty answer: it was told.
        """
        builder = ContextBuilder(budget, self._tools.count_tokens)
        searches: list[str] = []
        read: set[int] = set()
        for left in range(self._settings.searches, -1, -1):
            inputs = SearchStepInputs(
                question=question.text,
                asked_on=question.asked_at.date(),
                found=builder.build().text,
                searches=tuple(searches),
                searches_left=left,
            )
            step: SearchStepReply = await asker.structured(
                "search_step", inputs, role=Role.READER, place=f"step{len(searches)}"
            )
            if step.action == "answer" or not left:
                break
            searches.append(step.query)
            await self._search(builder, step.query, read)
        return step.answer, builder.build(), len(searches) + 1

    def usage(self) -> Usage:
        """Size of the index."""
        assert self._index is not None
        return Usage(embedded_texts=self._index.embedded_texts, index_bytes=self._index.index_bytes)

    async def _search(self, builder: ContextBuilder, query: str, read: set[int]) -> None:
        scores = await self._scores(query)
        for i in ranked(scores, self._settings.k):
            exchange = self._exchanges[i]
            if i not in read and builder.put("found", dated(exchange), exchange.message_keys, place=exchange.position):
                read.add(i)

    async def _scores(self, query: str) -> NDArray[np.float32]:
        assert self._index is not None
        return await self._index.scores(query, self._tools.embedder, weight_dense=self._settings.weight_dense)
