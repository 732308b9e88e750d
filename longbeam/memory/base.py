"""Interface of memory systems under test.

A system receives a conversation exchange by exchange, in order (`add`), then `finish`, then requests for contexts.
Where probes are asked on the way, exchanges, `finish` and requests follow again. One instance serves one conversation.
Its state must depend on the exchanges, and on the questions that `asked` names, alone: a killed preparation runs again
from the start, with every model reply and embedding replayed from the evaluation's stores.

`MemorySystem` is the whole interface; `ExchangeMemory` is a base class with the parts that most systems share.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from longbeam.memory.exchanges import said
from longbeam.memory.retrieval import ranked
from longbeam.memory.templates import Templates
from longbeam.models import Asker
from longbeam.models.embedders import Embedder
from longbeam.schemas import Context, Exchange, Passage, PreparationUsage, Question, Record

T = TypeVar("T")
Settings = TypeVar("Settings", bound=Record)


@dataclass(frozen=True)
class Tools:
    """Services that a system may use; one object for each conversation and system."""

    count_tokens: Callable[[str], int]
    """Returns the tokens of a text in the benchmark's tokenizer."""
    asker: Asker
    """Asks models; every reply is journalled."""
    embedder: Embedder | None = None
    """Turns texts into unit vectors; None if the evaluation names no embedding model."""
    rng_key: str = ""
    """Seed of all random choices: the benchmark's seed, conversation and system."""
    conversation_id: str = ""
    """The conversation that the system reads."""
    budget: int = 4_000
    """Tokens of context that questions will allow."""
    templates: Templates | None = None
    """What the floor `templates` learnt on other conversations; None: what the package ships."""
    folder: Path | None = None
    """Folder for the system's own files, emptied before the system is prepared again; a product finds it there."""
    tokenizer: str = "o200k_base"
    """The benchmark's tokenizer."""


class MemorySystem(Protocol):
    """A memory system under test."""

    async def add(self, exchange: Exchange) -> None:
        """Add the next exchange. May start work that `finish` awaits."""

    async def finish(self) -> None:
        """Complete the index; called before questions, and again when more exchanges have been added since."""

    async def retrieve(self, question: Question, *, k: int) -> Sequence[Passage]:
        """Return at most k passages, best first; empty for systems that do not retrieve."""

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the text that a reader sees, of at most `budget` tokens."""

    def usage(self) -> PreparationUsage:
        """Return the costs of preparation so far that the journal of model calls does not hold.

        Questions add nothing to it: a resumed evaluation does not ask those again whose answers are stored.
        """


@runtime_checkable
class NotingSystem(Protocol):
    """A system whose state depends on the questions that it was asked."""

    async def asked(self, question: Question) -> None:
        """Note a question. Called for each one, in order, before more exchanges are added."""


@runtime_checkable
class ClosableSystem(Protocol):
    """A system that holds connections, threads or files."""

    async def close(self) -> None:
        """Free them; called once, after the last question."""


@runtime_checkable
class AnsweringSystem(Protocol):
    """A system that produces the answer itself: it has tools, or asks the reader more than once."""

    async def answer(self, question: Question, *, budget: int, asker: Asker) -> tuple[str, Context, int]:
        """Return the answer, everything that the reader saw for it, and the number of model calls."""


class Index(Protocol):
    """Scores a fixed list of texts for a query; `memory.index.TextIndex` is one."""

    async def scores(self, query: str) -> NDArray[np.float32]:
        """Return one score per text; texts at or below 0 are not found."""

    def usage(self) -> PreparationUsage:
        """Return the costs of building the index, and its size."""


class ExchangeMemory(Generic[Settings]):
    """Keeps every exchange, and ranks them if `finish` built an index.

    A subclass defines `context`, and overrides the methods that it does differently.
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
        """Return the costs of the index."""
        return self._index.usage() if self._index else PreparationUsage()

    def _search_in(self, exchanges: Sequence[Exchange], index: Index) -> None:
        """Rank these exchanges from now on; the index has one text for each of them."""
        self._searched = exchanges
        self._index = index

    async def _best(self, query: str, k: int) -> list[tuple[int, float]]:
        """Return the places and scores of the k best of the searched exchanges, best first."""
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


async def close_system(system: object) -> None:
    """Close a `ClosableSystem`; any other object stays as it is."""
    if isinstance(system, ClosableSystem):
        await system.close()


async def in_order(work: Iterable[Callable[[], Awaitable[T]]], *, at_once: int = 256) -> list[T]:
    """Await many pieces of work, `at_once` at a time, and return the results in order.

    An error ends one of the `at_once` workers. It is raised after the other workers have done the rest, so that their
    replies are in the journal.
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
