"""Running summary: the last exchanges verbatim, and a summary of everything before them."""

from __future__ import annotations

from pydantic import Field

from longbeam.memory.base import ExchangeMemory, Tools
from longbeam.memory.context import ContextBuilder
from longbeam.memory.exchanges import dated
from longbeam.prompts.calls.memory import UpdateSummaryInputs
from longbeam.schemas.base import Record
from longbeam.schemas.evaluation import Context, Exchange, PreparationUsage, Question


class SummarySettings(Record):
    """Length of the summary and how often it is updated."""

    max_tokens: int = Field(default=2_000, ge=50)
    """Longest summary."""
    every: int = Field(default=8_000, ge=100)
    """Tokens of new exchanges that trigger an update."""
    last: int = Field(default=10, ge=1)
    """Exchanges read verbatim, newest first while they fit."""


class SummaryMemory(ExchangeMemory[SummarySettings]):
    """Folds exchanges into the summary once they are not among the last; its calls form a chain in time order."""

    def __init__(self, settings: SummarySettings, tools: Tools) -> None:
        super().__init__(settings, tools)
        self._left: list[str] = []
        self._left_tokens = 0
        self._summary = ""
        self._calls = 0

    async def add(self, exchange: Exchange) -> None:
        """Add the exchange, and update the summary when enough exchanges have left the last ones."""
        await super().add(exchange)
        if len(self._exchanges) > self._settings.last:
            text = dated(self._exchanges.pop(0))
            self._left.append(text)
            self._left_tokens += self._tools.count_tokens(text)
        if self._left_tokens >= self._settings.every:
            await self._fold()

    async def finish(self) -> None:
        """Fold the exchanges that wait for an update."""
        if self._left:
            await self._fold()

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the summary, or the end of it if it does not fit, then the newest exchanges that fit."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        if self._summary and not builder.put("summary", self._summary, place=-1):
            builder.put_tail("summary", self._summary, place=-1)
        builder.put_while_fitting("recent", reversed(self._exchanges))
        return builder.build()

    def usage(self) -> PreparationUsage:
        """Return the calls so far."""
        return PreparationUsage(model_calls=self._calls)

    async def _fold(self) -> None:
        said = "\n\n".join(self._left)
        inputs = UpdateSummaryInputs(summary=self._summary, said=said, max_tokens=self._settings.max_tokens)
        place = f"fold{self._calls}"
        self._summary = await self._tools.asker.prose("update_summary", inputs, place=place)
        self._calls += 1
        self._left, self._left_tokens = [], 0
