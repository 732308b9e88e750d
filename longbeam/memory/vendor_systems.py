"""Memory systems of other packages, with the whole interface of `MemorySystem`, as `evaluate` runs them.

They live in threads of their own (`memory.vendors`), get copies, keep to time limits, and return values of the right
types; whatever else happens is a `MemorySystemError` of the call. longbeam's own systems run as they are, and products
have a guard of their own (`memory.product`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from longbeam.memory.base import MemorySystem, Tools
from longbeam.memory.registry import Registered
from longbeam.memory.returned import WrongReturn, fresh, items_of, require_text, value_of
from longbeam.memory.tuning import MEMORIZING
from longbeam.memory.vendors import Host, TimeLimits, copied, name_of
from longbeam.models import Asker
from longbeam.schemas import Context, Exchange, Passage, PreparationUsage, Question, Record

_MOST_CONTEXT = 40_000_000
"""Longest context in characters: that of ten million tokens."""


async def make_system(registered: Registered, settings: Record, tools: Tools) -> MemorySystem:
    """Return a system for one conversation; MemorySystemError if one of another package cannot be made."""
    if registered.is_product or not name_of(registered.make):
        system: MemorySystem = registered.make(settings, tools)
        return system
    limits = settings if isinstance(settings, TimeLimits) else TimeLimits()
    host = Host(registered.make)
    far = host.tools(tools)
    made = HostedSystem(host, limits)
    made.inner = await made.call("__init__", lambda: registered.make(settings, far))
    answers = await made.call("answer", lambda: hasattr(made.inner, "answer"))
    if not answers:
        return made
    answering = HostedAnsweringSystem(host, limits)
    answering.inner = made.inner
    return answering


class HostedSystem:
    """A `MemorySystem` of another package at a distance."""

    def __init__(self, host: Host, limits: TimeLimits) -> None:
        self.inner: Any = None
        self._host = host
        self._limits = limits
        self._used = PreparationUsage()

    async def add(self, exchange: Exchange) -> None:
        """Add the next exchange."""
        await self.call("add", lambda: self.inner.add(copied(exchange)))

    async def finish(self) -> None:
        """Complete the index, and note what it used."""
        await self.call("finish", lambda: self.inner.finish())
        self._used = await self.call("usage", lambda: fresh(self.inner.usage(), PreparationUsage))

    async def asked(self, question: Question) -> None:
        """Note a question, where the system wants to know of it."""
        await self.call("asked", lambda: (hasattr(self.inner, "asked") and self.inner.asked(copied(question))) or None)

    async def retrieve(self, question: Question, *, k: int) -> Sequence[Passage]:
        """Return the passages found, at most k."""
        found = await self.call("retrieve", lambda: self.inner.retrieve(copied(question), k=k))
        read: tuple[Passage, ...] = await self.call("retrieve", lambda: _passages(found, k))
        return read

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the text that a reader sees."""
        found = await self.call("context", lambda: self.inner.context(copied(question), budget=budget))
        read: Context = await self.call("context", lambda: _context(found))
        return read

    def usage(self) -> PreparationUsage:
        """Return what the last `finish` left."""
        return self._used

    async def close(self) -> None:
        """Close the system, where it holds something, and its threads."""
        try:
            await self.call("close", lambda: (hasattr(self.inner, "close") and self.inner.close()) or None)
        finally:
            self._host.close()

    async def call(self, method: str, work: Callable[[], Any]) -> Any:  # Any: what the system returns
        """Return what the work returns, within the method's limit. Raises as `Host.run` does."""
        return await self._host.run(method, work, self._limits.of(method))


class HostedAnsweringSystem(HostedSystem):
    """A system of another package that produces the answer itself."""

    async def answer(self, question: Question, *, budget: int, asker: Asker) -> tuple[str, Context, int]:
        """Return the answer, everything that the reader saw for it, and the number of model calls."""
        far = self._host.asker(asker)
        found = await self.call("answer", lambda: self.inner.answer(copied(question), budget=budget, asker=far))
        read: tuple[str, Context, int] = await self.call("answer", lambda: _answer(found))
        return read


def _passages(found: object, k: int) -> tuple[Passage, ...]:
    items = items_of(found, (Passage,), k, "return longbeam.schemas.evaluation.Passage(...), best first")
    passages = tuple(fresh(item, Passage) for item in items)
    for passage in passages:
        require_text(passage.text, MEMORIZING.most_characters, "a Passage whose text")
    return passages


def _context(found: object) -> Context:
    context = fresh(found, Context)
    require_text(context.text, _MOST_CONTEXT, "a Context whose text")
    return context


def _answer(found: object) -> tuple[str, Context, int]:
    allowed = "return the answer's text, its Context and the number of model calls"
    items = items_of(found, (object,), 4, allowed)
    if len(items) != 3:
        raise WrongReturn(f"returned {len(items)} values; {allowed}")
    text = require_text(value_of(items[0], str, allowed), MEMORIZING.most_characters, "an answer that")
    return text, _context(items[1]), value_of(items[2], int, allowed)
