"""Memory systems that nobody would ship, and that keep every score honest: they read as many tokens as the others."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from longbeam.memory.base import ContextBuilder, Tools, dated, passage_of, said
from longbeam.memory.bm25 import Bm25Index, ranked
from longbeam.schemas.base import Record
from longbeam.schemas.evaluation import Context, Exchange, Passage, Question, Usage
from longbeam.schemas.words import words_of


class FloorSettings(Record):
    """Nothing to set."""


class _Floor:
    """Ranks exchanges somehow and reads them until the budget is full."""

    def __init__(self, settings: FloorSettings, tools: Tools) -> None:
        self._tools = tools
        self._exchanges: list[Exchange] = []

    async def add(self, exchange: Exchange) -> None:
        """Keep the exchange."""
        self._exchanges.append(exchange)

    async def finish(self) -> None:
        """Nothing is indexed."""

    async def retrieve(self, question: Question, *, k: int) -> Sequence[Passage]:
        """Return the first k of the ranking."""
        order = self._ranking(question)[:k]
        return [passage_of(self._exchanges[i], i, 1 / (1 + rank), self._tools) for rank, i in enumerate(order)]

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return what fits of the ranking, in the order of the conversation; the first that does not fit ends it."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        for i in self._ranking(question):
            exchange = self._exchanges[i]
            if not builder.put("retrieved", dated(exchange), exchange.message_keys, place=exchange.position):
                break
        return builder.build()

    def usage(self) -> Usage:
        """Nothing is prepared."""
        return Usage()

    def _ranking(self, question: Question) -> Sequence[int]:
        raise NotImplementedError


class RandomUnits(_Floor):
    """Exchanges drawn at random, the same for the same question."""

    def _ranking(self, question: Question) -> Sequence[int]:
        order = list(range(len(self._exchanges)))
        random.Random(f"{self._tools.rng_key}/{question.text}").shuffle(order)
        return order


class LastTurns(_Floor):
    """The newest exchanges."""

    def _ranking(self, question: Question) -> Sequence[int]:
        return range(len(self._exchanges) - 1, -1, -1)


class WordOverlap(_Floor):
    """Exchanges by the number of the question's words that they share; the earlier first among equals."""

    async def finish(self) -> None:
        """Keep the words of each exchange."""
        self._words = [frozenset(words_of(said(e))) for e in self._exchanges]

    def _ranking(self, question: Question) -> Sequence[int]:
        asked = set(words_of(question.text))
        return ranked(np.array([len(asked & words) for words in self._words], dtype=np.float32), len(self._words))


class Bm25Units(_Floor):
    """Exchanges by BM25, as many as the budget holds."""

    async def finish(self) -> None:
        """Build the index."""
        self._index = Bm25Index([said(e) for e in self._exchanges])

    def _ranking(self, question: Question) -> Sequence[int]:
        return ranked(self._index.scores(question.text), len(self._exchanges))
