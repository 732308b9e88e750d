"""The conversation itself before the question: its tail, what every memory system has to beat, or both its ends."""

from __future__ import annotations

from pydantic import Field

from longbeam.memory.base import ExchangeMemory
from longbeam.memory.context import ContextBuilder
from longbeam.memory.exchanges import dated
from longbeam.schemas.base import Record
from longbeam.schemas.evaluation import Context, Question


class LongContextSettings(Record):
    """How much of the conversation is read, and from where."""

    window: int | None = None
    """Tokens; None takes the evaluation's: the reader's window for long context, the budget for truncation."""
    head_share: float = Field(default=0.0, ge=0, le=1)
    """Of the window, for the beginning; the end has the rest, and what the beginning leaves."""


class TruncationSettings(LongContextSettings):
    """The middle cut out: what many products do when a window is full."""

    head_share: float = Field(default=0.5, ge=0, le=1)


class LongContext(ExchangeMemory[LongContextSettings]):
    """Keeps the exchanges at the ends that fit the window, whole ones only; each question sees the same."""

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
