"""A memory system as somebody else would write one."""

from __future__ import annotations

import datetime as dt

from longbeam.memory import ContextBuilder, ExchangeMemory, ProductSettings, Registered, Tools
from longbeam.schemas import Context, Exchange, Question, Record


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


class Drawer:
    """Keeps each user message in a file of its folder, and finds the newest."""

    def __init__(self, settings: ProductSettings, tools: Tools) -> None:
        assert tools.folder is not None
        self.folder = tools.folder
        assert list(self.folder.iterdir()) == []

    def add(self, exchange: Exchange, timestamp: dt.datetime) -> None:
        """Write a file."""
        (self.folder / f"{exchange.position:06}").write_text(exchange.messages[0].content, encoding="utf-8")

    def search(self, query: str, k: int) -> list[str]:
        """Return the newest messages."""
        return [path.read_text(encoding="utf-8") for path in sorted(self.folder.iterdir(), reverse=True)[:k]]
