"""Floors: trivial memory systems, which every system under test has to beat.

Most read exchanges up to the same budget. `OneSide` reads one speaker's messages, as many as the reader's window holds:
a benchmark that it answers needs no memory of both.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from longbeam.memory.base import ExchangeMemory, Tools
from longbeam.memory.baselines import LongContext, LongContextSettings
from longbeam.memory.context import ContextBuilder
from longbeam.memory.exchanges import said
from longbeam.memory.retrieval import Bm25Index
from longbeam.schemas import Context, Exchange, MessageRole, PreparationUsage, Question, Record
from longbeam.text import words_of

Scores: TypeAlias = Callable[[str], NDArray[np.float32]]
"""Function from a question to a score per exchange; exchanges at or below 0 are not read."""
Floor: TypeAlias = Callable[[Sequence[Exchange], Tools], Scores]


class FloorSettings(Record):
    """Settings of a floor: there are none."""


class FloorMemory(ExchangeMemory[FloorSettings]):
    """Ranks exchanges by the floor's rule and reads them until the budget is full."""

    def __init__(self, floor: Floor, settings: FloorSettings, tools: Tools) -> None:
        super().__init__(settings, tools)
        self._floor = floor

    async def finish(self) -> None:
        """Prepare the ranking."""
        self._search_in(self._exchanges, _Ranking(self._floor(self._exchanges, self._tools)))

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the best exchanges up to the first that does not fit, in the order of the conversation."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        ranking = await self._best(question.text, len(self._exchanges))
        builder.put_while_fitting("retrieved", (self._exchanges[place] for place, _ in ranking))
        return builder.build()


class OneSide(LongContext):
    """Keeps the messages of one side and reads the newest ones that fit."""

    def __init__(self, role: MessageRole, settings: LongContextSettings, tools: Tools) -> None:
        super().__init__(settings, tools)
        self._role = role

    async def add(self, exchange: Exchange) -> None:
        """Keep the side's messages of the exchange."""
        if messages := tuple(m for m in exchange.messages if m.role is self._role):
            await super().add(exchange.model_copy(update={"messages": messages}))


class _Ranking:
    def __init__(self, scores: Scores) -> None:
        self._scores = scores

    async def scores(self, query: str) -> NDArray[np.float32]:
        return self._scores(query)

    def usage(self) -> PreparationUsage:
        return PreparationUsage()


def random_units(exchanges: Sequence[Exchange], tools: Tools) -> Scores:
    """Rank exchanges at random; the same question always draws the same ones."""

    def scores(question: str) -> NDArray[np.float32]:
        order = list(range(len(exchanges)))
        random.Random(f"{tools.rng_key}/{question}").shuffle(order)
        drawn = np.empty(len(order), dtype=np.float32)
        drawn[order] = np.arange(len(order), 0, -1)
        return drawn

    return scores


def last_turns(exchanges: Sequence[Exchange], tools: Tools) -> Scores:
    """Rank the newest exchanges first."""
    newest = np.arange(1, len(exchanges) + 1, dtype=np.float32)
    return lambda question: newest


def word_overlap(exchanges: Sequence[Exchange], tools: Tools) -> Scores:
    """Rank exchanges by the number of the question's words that they share, earlier ones first among equals."""
    words = [frozenset(words_of(said(e))) for e in exchanges]

    def scores(question: str) -> NDArray[np.float32]:
        asked = set(words_of(question))
        return np.array([len(asked & said_words) for said_words in words], dtype=np.float32)

    return scores


def bm25(exchanges: Sequence[Exchange], tools: Tools) -> Scores:
    """Rank exchanges by BM25."""
    return Bm25Index.of([said(e) for e in exchanges]).scores
