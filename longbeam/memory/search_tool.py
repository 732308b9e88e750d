"""Search tool: the reader gets the question and a search tool, and answers when it has seen enough.

A search is a structured reply and not a provider's tool call, so that every model can do it and the journal holds it.
"""

from __future__ import annotations

from pydantic import Field

from longbeam.memory.base import ExchangeMemory, Tools
from longbeam.memory.context import ContextBuilder
from longbeam.memory.exchanges import said
from longbeam.memory.index import Retriever, TextIndex, choose_retriever
from longbeam.models.asking import Asker
from longbeam.prompts.calls.memory import SearchStepInputs, SearchStepReply
from longbeam.schemas.base import Record
from longbeam.schemas.evaluation import Context, Question


class SearchToolSettings(Record):
    """How the tool searches and how often it may be called."""

    retriever: Retriever | None = None
    """None: dense if the evaluation names an embedding model, else bm25."""
    k: int = Field(default=5, ge=1)
    """Exchanges that one search returns."""
    searches: int = Field(default=3, ge=1)
    """Searches for one question, at most."""
    weight_dense: float = Field(default=0.7, ge=0, le=1)


class SearchTool(ExchangeMemory[SearchToolSettings]):
    """An index over exchanges that the reader itself searches."""

    def __init__(self, settings: SearchToolSettings, tools: Tools) -> None:
        super().__init__(settings, tools)
        self._retriever = choose_retriever("search_tool.retriever", settings.retriever, tools.embedder)

    async def finish(self) -> None:
        """Build the index."""
        settings = self._settings
        texts = [said(e) for e in self._exchanges]
        index = await TextIndex.build(texts, self._retriever, self._tools, weight_dense=settings.weight_dense)
        self._search_in(self._exchanges, index)

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the exchanges that one search with the question finds."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        await self._search(builder, question.text, set())
        return builder.build()

    async def answer(self, question: Question, *, budget: int, asker: Asker) -> tuple[str, Context, int]:
        """Let the reader search until it answers; all results share the budget, earlier searches first.

        A reader that asks for one more search than allowed, although the prompt names the number left, gets an empty
        answer.
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
            step: SearchStepReply = await asker.structured("search_step", inputs, place=f"step{len(searches)}")
            if step.action == "answer" or not left:
                break
            searches.append(step.query)
            await self._search(builder, step.query, read)
        return step.answer, builder.build(), len(searches) + 1

    async def _search(self, builder: ContextBuilder, query: str, read: set[int]) -> None:
        for place, _ in await self._best(query, self._settings.k):
            if place not in read and builder.put_exchange("found", self._searched[place]):
                read.add(place)
