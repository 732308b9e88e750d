"""Long context: the tail of the conversation before the question; truncation: its beginning and its end."""

from __future__ import annotations

from pydantic import Field

from longbeam.memory.base import ExchangeMemory
from longbeam.memory.context import ContextBuilder
from longbeam.memory.exchanges import dated
from longbeam.schemas.base import Record
from longbeam.schemas.evaluation import Context, Question


class LongContextSettings(Record):
    """How much of the conversation is read, and from which end."""

    window: int | None = None
    """Tokens; None takes the evaluation's: the reader's window for long context, the budget for truncation."""
    head_share: float = Field(default=0.0, ge=0, le=1)
    """Share of the window for the beginning; the end gets the rest, and tokens that the beginning leaves unused."""


class TruncationSettings(LongContextSettings):
    """Settings that cut out the middle, as many products do when a window is full."""

    head_share: float = Field(default=0.5, ge=0, le=1)


class LongContext(ExchangeMemory[LongContextSettings]):
    """Keeps whole exchanges at the ends while they fit the window; all questions see the same context."""

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the ends of the conversation."""
        window = self._settings.window or budget
        builder = ContextBuilder(int(window * self._settings.head_share), self._tools.count_tokens)
        head = builder.put_while_fitting("beginning", self._exchanges)
        builder.budget = window
        end = self._exchanges[head:]
        builder.put_while_fitting("end" if self._settings.head_share else "conversation", reversed(end))
        if not builder.has_pieces and end:
            builder.put_tail("conversation", dated(end[-1]), end[-1].message_keys)
        return builder.build()
