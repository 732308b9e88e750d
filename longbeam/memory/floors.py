"""Memory systems that nobody would ship, and that keep every score honest: they read as many tokens as the others."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from longbeam.memory.base import ExchangeMemory, Tools
from longbeam.memory.bm25 import Bm25Index
from longbeam.memory.context import ContextBuilder
from longbeam.memory.exchanges import said
from longbeam.schemas.base import Record
from longbeam.schemas.evaluation import Context, Exchange, PreparationUsage, Question
from longbeam.text.words import words_of

Scores: TypeAlias = Callable[[str], NDArray[np.float32]]
"""One score per exchange for a question; those at or below 0 are not read."""
Floor: TypeAlias = Callable[[Sequence[Exchange], Tools], Scores]


class FloorSettings(Record):
    """Nothing to set."""


class FloorMemory(ExchangeMemory[FloorSettings]):
    """Ranks exchanges somehow and reads them until the budget is full."""

    def __init__(self, floor: Floor, settings: FloorSettings, tools: Tools) -> None:
        super().__init__(settings, tools)
        self._floor = floor

    async def finish(self) -> None:
        """Prepare the ranking."""
        self._search_in(self._exchanges, _Ranking(self._floor(self._exchanges, self._tools)))

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return what fits of the ranking, in the order of the conversation; the first that does not fit ends it."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        ranking = await self._best(question.text, len(self._exchanges))
        builder.put_while_fitting("retrieved", (self._exchanges[place] for place, _ in ranking))
        return builder.build()


class _Ranking:
    def __init__(self, scores: Scores) -> None:
        self._scores = scores

    async def scores(self, query: str) -> NDArray[np.float32]:
        return self._scores(query)

    def usage(self) -> PreparationUsage:
        return PreparationUsage()


def random_units(exchanges: Sequence[Exchange], tools: Tools) -> Scores:
    """Exchanges drawn at random, the same for the same question."""

    def scores(question: str) -> NDArray[np.float32]:
        order = list(range(len(exchanges)))
        random.Random(f"{tools.rng_key}/{question}").shuffle(order)
        drawn = np.empty(len(order), dtype=np.float32)
        drawn[order] = np.arange(len(order), 0, -1)
        return drawn

    return scores


def last_turns(exchanges: Sequence[Exchange], tools: Tools) -> Scores:
    """The newest exchanges."""
    newest = np.arange(1, len(exchanges) + 1, dtype=np.float32)
    return lambda question: newest


def word_overlap(exchanges: Sequence[Exchange], tools: Tools) -> Scores:
    """Exchanges by the number of the question's words that they share; the earlier first among equals."""
    words = [frozenset(words_of(said(e))) for e in exchanges]

    def scores(question: str) -> NDArray[np.float32]:
        asked = set(words_of(question))
        return np.array([len(asked & of) for of in words], dtype=np.float32)

    return scores


def bm25(exchanges: Sequence[Exchange], tools: Tools) -> Scores:
    """Exchanges by BM25."""
    return Bm25Index.of([said(e) for e in exchanges]).scores
