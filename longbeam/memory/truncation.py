"""The beginning and the end of the conversation, the middle cut out: what many products do when a window is full."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from longbeam.memory.base import ContextBuilder, Tools, dated
from longbeam.schemas.base import Record
from longbeam.schemas.evaluation import Context, Exchange, Passage, Question, Usage


class TruncationSettings(Record):
    """What is kept."""

    head_share: float = Field(default=0.5, ge=0, le=1)
    """Of the budget, for the beginning; the end has the rest, and what the beginning leaves."""


class Truncation:
    """Whole exchanges from both ends; each question sees the same."""

    def __init__(self, settings: TruncationSettings, tools: Tools) -> None:
        self._settings = settings
        self._tools = tools
        self._exchanges: list[Exchange] = []

    async def add(self, exchange: Exchange) -> None:
        """Keep the exchange."""
        self._exchanges.append(exchange)

    async def finish(self) -> None:
        """Nothing is indexed."""

    async def retrieve(self, question: Question, *, k: int) -> Sequence[Passage]:
        """Retrieve nothing."""
        return ()

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return both ends of the conversation."""
        builder = ContextBuilder(int(budget * self._settings.head_share), self._tools.count_tokens)
        head = self._put(builder, "beginning", self._exchanges)
        builder.budget = budget
        self._put(builder, "end", self._exchanges[: head - 1 if head else None : -1])
        return builder.build()

    def usage(self) -> Usage:
        """Nothing is prepared."""
        return Usage()

    def _put(self, builder: ContextBuilder, part: str, exchanges: Sequence[Exchange]) -> int:
        """Put exchanges until one does not fit, and return how many did."""
        for number, exchange in enumerate(exchanges):
            if not builder.put(part, dated(exchange), exchange.message_keys, place=exchange.position):
                return number
        return len(exchanges)
