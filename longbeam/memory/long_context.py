"""The whole conversation, or its tail, before the question: what every memory system has to beat."""

from __future__ import annotations

from collections.abc import Sequence

from longbeam.memory.base import ContextBuilder, Tools, dated
from longbeam.schemas.base import Record
from longbeam.schemas.evaluation import Context, Exchange, Passage, Question, Usage


class LongContextSettings(Record):
    """How much of the conversation is read."""

    window: int | None = None
    """Tokens of the reader's window; None takes the evaluation's budget for long context."""


class LongContext:
    """Keeps the newest exchanges that fit the window, whole ones only; each question sees the same."""

    def __init__(self, settings: LongContextSettings, tools: Tools) -> None:
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
        """Return the tail of the conversation."""
        builder = ContextBuilder(self._settings.window or budget, self._tools.count_tokens)
        for exchange in reversed(self._exchanges):
            if not builder.put("conversation", dated(exchange), exchange.message_keys, place=exchange.position):
                break
        if not builder.has_pieces and self._exchanges:
            last = self._exchanges[-1]
            builder.put_tail("conversation", dated(last), last.message_keys)
        return builder.build()

    def usage(self) -> Usage:
        """Nothing is prepared."""
        return Usage()
