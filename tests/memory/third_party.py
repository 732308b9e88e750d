"""A memory system as somebody else would write one."""

from __future__ import annotations

from longbeam.memory.base import ExchangeMemory
from longbeam.memory.context import ContextBuilder
from longbeam.memory.registry import Registered
from longbeam.schemas.base import Record
from longbeam.schemas.evaluation import Context, Question


class NoSettings(Record):
    """Nothing to set."""


class LastWord(ExchangeMemory[NoSettings]):
    """Reads the last exchange."""

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the last exchange if it fits."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        builder.put_while_fitting("last", self._exchanges[-1:])
        return builder.build()


LAST_WORD = Registered(NoSettings, LastWord, "the last exchange, nothing else")
NOTHING = object()
