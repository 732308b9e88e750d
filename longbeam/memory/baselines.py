"""Baseline memory systems.

Long context, truncation, retrieval-augmented generation, running summary, and a search tool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Literal

from pydantic import Field

from longbeam.memory.base import ExchangeMemory, Tools
from longbeam.memory.context import ContextBuilder
from longbeam.memory.exchanges import dated, said, with_released_copies
from longbeam.memory.index import Retriever, TextIndex, choose_retriever
from longbeam.models import Asker
from longbeam.prompts.calls import SearchStepInputs, SearchStepReply, UpdateSummaryInputs
from longbeam.schemas import Context, Exchange, PreparationUsage, Question, Record


class LongContextSettings(Record):
    """How much of the conversation is read, and from which end."""

    window: int | None = None
    """Tokens; None takes the evaluation's: the reader's window for long context, the budget for truncation."""
    head_share: float = Field(default=0.0, ge=0, le=1)
    """Share of the window for the beginning; the end gets the rest, and tokens that the beginning leaves unused."""


class TruncationSettings(LongContextSettings):
    """Settings that cut out the middle, as many products do when a window is full."""

    head_share: float = Field(default=0.5, ge=0, le=1)
    last: int | None = Field(default=None, ge=1)
    """Exchanges at the end that are read alone; 5 is the truncation of the CogCanvas paper. None: both ends."""


class LongContext(ExchangeMemory[LongContextSettings]):
    """Keeps whole exchanges at the ends while they fit the window; all questions see the same context."""

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the ends of the conversation."""
        window = self._settings.window or budget
        last = self._settings.last if isinstance(self._settings, TruncationSettings) else None
        builder = ContextBuilder(int(window * self._settings.head_share), self._tools.count_tokens)
        head = 0 if last else builder.put_while_fitting("beginning", self._exchanges)
        builder.budget = window
        end = self._exchanges[-last:] if last else self._exchanges[head:]
        builder.put_while_fitting("end" if self._settings.head_share else "conversation", reversed(end))
        if not builder.has_pieces and end:
            builder.put_tail("conversation", dated(end[-1]), end[-1].message_keys)
        return builder.build()


class RagSettings(Record):
    """How exchanges are indexed and how many are read."""

    retriever: Retriever | None = None
    """None: dense if the evaluation names an embedding model, else bm25."""
    k: int | None = Field(default=None, ge=1)
    """Passages read; None: as many as the budget holds."""
    weight_dense: float = Field(default=0.7, ge=0, le=1)
    """Weight of the cosine in the hybrid score; BM25 divided by its highest score has the rest."""
    order: Literal["time", "rank"] = "time"
    """Order of the passages in the context; passages of lowest rank are left out first in both orders."""
    copies: Literal["once", "released"] = "once"
    """Entries of an exchange in the index: one, or as many as in BEAM's released code."""
    chunk: int | None = Field(default=None, ge=50)
    """Characters of a chunk of the running text, a fifth of which overlaps with the next, as naive RAG cuts it: the
    CogCanvas paper has 1,000 with k = 3, and 256, 512 and 1,024 in its Table 9. None: whole exchanges."""


class Rag(ExchangeMemory[RagSettings]):
    """Reads the exchanges that an index ranks highest."""

    def __init__(self, settings: RagSettings, tools: Tools) -> None:
        super().__init__(settings, tools)
        self._retriever = choose_retriever("rag.retriever", settings.retriever, tools.embedder)

    async def finish(self) -> None:
        """Build the index."""
        settings = self._settings
        indexed = with_released_copies(self._exchanges) if settings.copies == "released" else self._exchanges
        if settings.chunk is not None:
            indexed = list(chunks_of(self._exchanges, settings.chunk))
        texts = [said(e) for e in indexed]
        index = await TextIndex.build(texts, self._retriever, self._tools, weight_dense=settings.weight_dense)
        self._search_in(indexed, index)

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the best exchanges that fit, with their dates."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        is_by_rank = self._settings.order == "rank"
        best = await self._best(question.text, self._settings.k or len(self._searched))
        for rank, (place, _) in enumerate(best):
            builder.put_exchange("retrieved", self._searched[place], place=rank if is_by_rank else None)
        return builder.build()


def chunks_of(exchanges: Sequence[Exchange], size: int) -> Iterator[Exchange]:
    """Cut the running text into chunks of `size` characters, each of which begins a fifth before its predecessor ends.

    A chunk is an exchange with the parts of the messages that it has, so that it is dated and cited like others.
    """
    messages = [message for exchange in exchanges for message in exchange.messages]
    starts = [0, *accumulate(len(message.content) + 1 for message in messages)]
    for number, low in enumerate(range(0, max(starts[-1] - size // 5, 1), size - size // 5)):
        parts = []
        for message, start in zip(messages, starts, strict=False):
            if content := message.content[max(low - start, 0) : max(low + size - start, 0)]:
                parts.append(message.model_copy(update={"content": content}))
        if parts:
            yield Exchange(position=number, messages=tuple(parts))


class SummarySettings(Record):
    """Length of the summary and how often it is updated."""

    max_tokens: int = Field(default=2_000, ge=50)
    """Longest summary."""
    every: int = Field(default=8_000, ge=100)
    """Tokens of new exchanges that trigger an update."""
    last: int = Field(default=10, ge=1)
    """Exchanges read verbatim, newest first while they fit."""


class SummaryMemory(ExchangeMemory[SummarySettings]):
    """Folds exchanges into the summary once they are not among the last; its calls form a chain in time order."""

    def __init__(self, settings: SummarySettings, tools: Tools) -> None:
        super().__init__(settings, tools)
        self._left: list[str] = []
        self._left_tokens = 0
        self._summary = ""
        self._calls = 0

    async def add(self, exchange: Exchange) -> None:
        """Add the exchange, and update the summary when enough exchanges have left the last ones."""
        await super().add(exchange)
        if len(self._exchanges) > self._settings.last:
            text = dated(self._exchanges.pop(0))
            self._left.append(text)
            self._left_tokens += self._tools.count_tokens(text)
        if self._left_tokens >= self._settings.every:
            await self._fold()

    async def finish(self) -> None:
        """Fold the exchanges that wait for an update."""
        if self._left:
            await self._fold()

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the summary, or the end of it if it does not fit, then the newest exchanges that fit."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        if self._summary and not builder.put("summary", self._summary, place=-1):
            builder.put_tail("summary", self._summary, place=-1)
        builder.put_while_fitting("recent", reversed(self._exchanges))
        return builder.build()

    def usage(self) -> PreparationUsage:
        """Return the calls so far."""
        return PreparationUsage(model_calls=self._calls)

    async def _fold(self) -> None:
        said = "\n\n".join(self._left)
        inputs = UpdateSummaryInputs(summary=self._summary, said=said, max_tokens=self._settings.max_tokens)
        place = f"fold{self._calls}"
        self._summary = await self._tools.asker.prose("update_summary", inputs, place=place)
        self._calls += 1
        self._left, self._left_tokens = [], 0


class SearchToolSettings(Record):
    """How the tool searches and how often it may be called."""

    retriever: Retriever | None = None
    """None: dense if the evaluation names an embedding model, else bm25."""
    k: int | None = Field(default=None, ge=1)
    """Exchanges that one search returns; None: as many as fit its share, and each search has an equal share of the
    budget, with what earlier ones left."""
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
        """Return the exchanges that one search with the question finds, which has the whole budget."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        await self._search(builder, question.text, set())
        return builder.build()

    async def answer(self, question: Question, *, budget: int, asker: Asker) -> tuple[str, Context, int]:
        """Let the reader search until it answers; all results share the budget, earlier searches first.

        A reader that asks for one more search than allowed, although the prompt names the number left, gets an empty
        answer.
        """
        allowed = self._settings.searches
        builder = ContextBuilder(budget, self._tools.count_tokens)
        searches: list[str] = []
        read: set[int] = set()
        for left in range(allowed, -1, -1):
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
            builder.budget = budget if self._settings.k else budget * len(searches) // allowed
            await self._search(builder, step.query, read)
        return step.answer, builder.build(), len(searches) + 1

    async def _search(self, builder: ContextBuilder, query: str, read: set[int]) -> None:
        for place, _ in await self._best(query, self._settings.k or len(self._searched)):
            if place not in read and builder.put_exchange("found", self._searched[place]):
                read.add(place)
