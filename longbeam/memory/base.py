"""The seam of memory systems: what one is told, and what it is asked for.

A system is told a conversation exchange by exchange, in order, then `finish`ed, then asked for contexts. One
instance serves one conversation. It must be a function of what it was told: preparation that was killed is
done again from the start, with every model reply and embedding replayed from the evaluation's stores.

`MemorySystem` is the whole of it; `ExchangeMemory` is what most systems have in common.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from longbeam.memory.bm25 import ranked
from longbeam.memory.embedding import Embedder
from longbeam.memory.exchanges import said
from longbeam.models.asking import Asker
from longbeam.schemas.base import Record
from longbeam.schemas.evaluation import Context, Exchange, Passage, PreparationUsage, Question

T = TypeVar("T")
Settings = TypeVar("Settings", bound=Record)


@dataclass(frozen=True)
class Tools:
    """What a system may use; one per conversation and system."""

    count_tokens: Callable[[str], int]
    """Tokens of a text in the benchmark's tokenizer."""
    asker: Asker
    """Asks models, every reply journalled."""
    embedder: Embedder | None = None
    """Turns texts into unit vectors; None when no embedding model was asked for."""
    rng_key: str = ""
    """Seed of everything random: the benchmark's seed, conversation and system."""


class MemorySystem(Protocol):
    """A memory under test."""

    async def add(self, exchange: Exchange) -> None:
        """Take in the next exchange. May start work that `finish` awaits."""

    async def finish(self) -> None:
        """Complete the index; called once, after the last exchange."""

    async def retrieve(self, question: Question, *, k: int) -> Sequence[Passage]:
        """Return at most k passages, best first; empty for systems that do not retrieve."""

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the text that a reader sees, of at most `budget` tokens."""

    def usage(self) -> PreparationUsage:
        """What preparation took so far, as far as the journal of model calls does not say it."""


@runtime_checkable
class AnsweringSystem(Protocol):
    """A system that owns the way to the answer: it calls tools, or asks the reader more than once."""

    async def answer(self, question: Question, *, budget: int, asker: Asker) -> tuple[str, Context, int]:
        """Return the answer, all that was read for it, and the number of model calls."""


class Index(Protocol):
    """Scores a fixed list of texts for a query; `memory.index.TextIndex` is one."""

    async def scores(self, query: str) -> NDArray[np.float32]:
        """Return one score per text; those at or below 0 are not found."""

    def usage(self) -> PreparationUsage:
        """What it took to make, and its size."""


class ExchangeMemory(Generic[Settings]):
    """Keeps every exchange as it was said, and ranks them where `finish` made an index.

    A system of this kind says what is read, `context`; it overrides what else it does otherwise.
    """

    def __init__(self, settings: Settings, tools: Tools) -> None:
        self._settings = settings
        self._tools = tools
        self._exchanges: list[Exchange] = []
        self._searched: Sequence[Exchange] = ()
        self._index: Index | None = None

    async def add(self, exchange: Exchange) -> None:
        """Keep the exchange."""
        self._exchanges.append(exchange)

    async def finish(self) -> None:
        """Index nothing."""

    async def retrieve(self, question: Question, *, k: int) -> Sequence[Passage]:
        """Return the k best exchanges of the index as passages, whose id is their place in it."""
        found = await self._best(question.text, k)
        return [self._passage(place, score) for place, score in found]

    def usage(self) -> PreparationUsage:
        """What the index took."""
        return self._index.usage() if self._index else PreparationUsage()

    def _search_in(self, exchanges: Sequence[Exchange], index: Index) -> None:
        """Rank by this index from now on; it has one text for each of these exchanges."""
        self._searched = exchanges
        self._index = index

    async def _best(self, query: str, k: int) -> list[tuple[int, float]]:
        """Places in what is searched of the k best exchanges, with their scores, best first."""
        if self._index is None:
            return []
        scores = await self._index.scores(query)
        return [(place, float(scores[place])) for place in ranked(scores, k)]

    def _passage(self, place: int, score: float) -> Passage:
        exchange = self._searched[place]
        text = said(exchange)
        return Passage(
            passage_id=str(place),
            text=text,
            score=score,
            message_keys=exchange.message_keys,
            tokens=self._tools.count_tokens(text),
            sent_at=exchange.sent_at,
        )


async def in_order(work: Iterable[Callable[[], Awaitable[T]]], *, at_once: int = 256) -> list[T]:
    """Await many pieces of work, `at_once` at a time, and return the results in order.

    An error is raised only when the rest has been tried, too, as long as one of the `at_once` has not failed: what
    was answered is in the journal by then.
    """
    pending = enumerate(work)
    results: dict[int, T] = {}

    async def worker() -> None:
        for place, piece in pending:
            results[place] = await piece()

    ended = await asyncio.gather(*(worker() for _ in range(at_once)), return_exceptions=True)
    if raised := [e for e in ended if isinstance(e, BaseException)]:
        raise raised[0]
    return [results[place] for place in sorted(results)]
