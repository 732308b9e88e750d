"""Memory products: classes with `add` and `search`, sync or async, as vendors write them, behind `MemorySystem`.

A product is made once for a conversation, as `Product(settings, tools)`; `tools.conversation_id` and `tools.folder` are
its own. Sync methods run in one thread of the product's own, the thread that also made it, async ones in an event loop
of its own, all within time limits (`memory.vendors`). Every call gets copies.

An exception of the product is tried again if it is a transport error (`OSError`, time-outs among them), and becomes a
`MemorySystemError` otherwise, which is recorded as the failure of the probes that needed it. A failed `add` may have
been stored, so everything is deleted and added again: nothing is added twice.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal, Protocol

from pydantic import Field, TypeAdapter, ValidationError

from longbeam.errors import LongbeamError, MemorySystemError
from longbeam.memory.base import Tools
from longbeam.memory.context import ContextBuilder
from longbeam.memory.returned import WrongReturn, describe, fresh, items_of, require_text, value_of
from longbeam.memory.tuning import MEMORIZING
from longbeam.memory.vendors import Host, TimeLimits, copied, name_of
from longbeam.models import Asker
from longbeam.schemas import Context, Exchange, MessageRole, Passage, PreparationUsage, Question
from longbeam.text import format_date

FIRST_K = 20
"""Memories of the first search for a question, as in mem0's memory-benchmarks."""
_ZONE = dt.timedelta(days=1)
"""Difference that a time zone may make."""


class ProductSettings(TimeLimits):
    """How a product's memories are read. A product with settings of its own derives from this class."""

    k: int | None = Field(default=None, ge=1)
    """Memories requested; None: as many as the budget holds, asked for in searches of twice as many memories each.
    Memories of lowest rank are left out first when they exceed the budget."""
    order: Literal["time", "rank"] = "time"
    """Order of the memories in the context; `time` moves only memories with a time."""
    attempts: int = Field(default=3, ge=1)
    """Attempts at a call that fails at its transport."""
    is_isolated: bool = False
    """Whether the product runs in a process of its own; then its class is named as `package.module:Class`."""


@dataclass(frozen=True)
class Memory:
    """A search result."""

    text: str
    score: float | None = None
    memory_id: str = ""
    created_at: dt.datetime | None = None
    """Without a zone, as message times have none; a time outside of the conversation is not used."""
    message_keys: tuple[str, ...] = ()
    """Messages that it was made from, if the product knows; else messages that it repeats word for word count."""


class Product(Protocol):
    """A memory product. Every method may be `async`.

    It may also have `finish()`, called before questions; `answer(question, budget) -> str`; `delete()`, called before
    the first `add`; `close()`; and `usage() -> PreparationUsage`. A static method `expected_usage(exchanges) ->
    PreparationUsage` declares to `longbeam evaluate --estimate` what preparing so many exchanges takes. An agent may
    act during the conversation, in `act(message, timestamp)`: it receives each message of the user before `add` brings
    the exchange with the recorded reply. `asked(question)` follows each question that is asked on the way, when it is
    answered.
    """

    def add(self, exchange: Exchange, timestamp: dt.datetime) -> Awaitable[None] | None:
        """Add the next exchange, said at that time."""

    def search(self, query: str, k: int) -> Awaitable[Iterable[Memory | str]] | Iterable[Memory | str]:
        """Return at most k memories, best first; a generator will do."""


_MEMORY = TypeAdapter(Memory)
_MEMORIES = "return texts or longbeam.memory.product.Memory(text, ...), best first"


def _read_search(found: object, _query: str, k: int) -> list[Memory]:
    """Return the memories that a search found. Raises WrongReturn."""
    items = items_of(found, (Memory, str), k, _MEMORIES)
    return [_checked(Memory(str(item)) if isinstance(item, str) else item) for item in items]


def _checked(memory: Memory) -> Memory:
    """Return a memory with the types that its fields name. Raises WrongReturn for other types, and for a zone."""
    try:
        checked = _MEMORY.validate_python({field.name: getattr(memory, field.name) for field in fields(Memory)})
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        where = ".".join(str(part) for part in error["loc"])
        raise WrongReturn(f"returned a Memory whose {where} is {describe(error['input'])}: {error['msg']}") from exc
    require_text(checked.text, MEMORIZING.most_characters, "a Memory whose text")
    if checked.created_at is not None and checked.created_at.tzinfo is not None:
        raise WrongReturn("returned a Memory whose created_at has a zone; message times have none: remove its tzinfo")
    return checked


def _read_answer(found: object, _question: Question, _budget: int) -> str:
    """Return the answer of a product. Raises WrongReturn for what is no text: a forgotten `return` scores nothing."""
    answer = value_of(found, str, "return the answer as a str; an empty one counts as an answer")
    return require_text(answer, MEMORIZING.most_characters, "an answer that")


def _read_usage(found: object) -> PreparationUsage:
    """Return the usage that a product counted; None is none. Raises WrongReturn."""
    return PreparationUsage() if found is None else fresh(found, PreparationUsage)


_REQUIRED = ("add", "search")
_READERS: Mapping[str, Callable[..., object]] = {
    "search": _read_search,
    "answer": _read_answer,
    "usage": _read_usage,
}
"""By method: reads what it returned for the arguments that it got."""


class ProductMemory:
    """A product as a memory system: its memories, with their days, are what the reader sees."""

    def __init__(
        self,
        make: Callable[[Any, Tools], Product],
        settings: ProductSettings,
        tools: Tools,
    ) -> None:
        self._make = make
        self._settings = settings
        self._tools = tools
        self._waits_s = [MEMORIZING.first_wait_s * 4**n for n in range(settings.attempts - 1)]
        self._product: Product | None = None
        self._host = Host(make)
        self._is_own = not name_of(make)
        """Whether it is an adapter of longbeam, whose async methods run in the event loop of the evaluation."""
        self._steps: list[tuple[Any, ...]] = []
        """Calls that made the product's state, in order: method and arguments."""
        self._contents: dict[str, str] = {}
        self._sent_at: dict[str, dt.datetime] = {}
        self._used = PreparationUsage()

    async def add(self, exchange: Exchange) -> None:
        """Let an agent act on the user's message, then add the exchange."""
        self._contents.update((m.message_key, m.content) for m in exchange.messages)
        self._sent_at.update((m.message_key, m.sent_at) for m in exchange.messages)
        said = next((m for m in exchange.messages if m.role is MessageRole.USER), None)
        acting = [("act", said, said.sent_at)] if said else []
        await self._do([*acting, ("add", exchange, exchange.sent_at)])

    async def asked(self, question: Question) -> None:
        """Tell an agent which question was asked on the way."""
        await self._do([("asked", question)])

    async def _do(self, steps: Sequence[tuple[Any, ...]]) -> None:
        """Take these steps; after a transport error, delete everything and take all steps again."""
        if not self._steps:
            await self._tried("delete")
        self._steps += steps
        pending = steps
        for wait_s in (*self._waits_s, None):
            try:
                for method, *given in pending:
                    await self._call(method, *given)
                return
            except MemorySystemError as exc:
                await _wait(exc, wait_s)
            await self._tried("delete")
            pending = self._steps

    async def finish(self) -> None:
        """Let the product complete its index, and count what it used."""
        await self._tried("finish")
        self._used = await self._tried("usage") or PreparationUsage()
        if not self._used.index_bytes and self._tools.folder is not None:
            with suppress(OSError):  # a file of the product's went away meanwhile
                stored = sum(path.stat().st_size for path in self._tools.folder.rglob("*") if path.is_file())
                self._used = self._used.model_copy(update={"index_bytes": stored})

    async def retrieve(self, question: Question, *, k: int) -> Sequence[Passage]:
        """Return the memories found, in the product's order."""
        found = await self._tried("search", question.text, k)
        return [self._passage(memory, rank) for rank, memory in enumerate(found)]

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the best memories that fit, each with its day."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        k = self._settings.k or FIRST_K
        found = await self.retrieve(question, k=k)
        while self._settings.k is None and len(found) >= k and sum(passage.tokens for passage in found) < budget:
            k *= 2
            found = await self.retrieve(question, k=k)
        by_time = sorted(range(len(found)), key=lambda i: (found[i].sent_at or dt.datetime.min, i))
        place = {i: n for n, i in enumerate(by_time)} if self._settings.order == "time" else {}
        for rank, passage in enumerate(found):
            day = f"[{format_date(passage.sent_at.date())}] " if passage.sent_at else ""
            builder.put("memories", day + passage.text, passage.message_keys, place=place.get(rank, rank))
        return builder.build()

    def usage(self) -> PreparationUsage:
        """Return what the product counted, and the bytes of its folder unless it says how many it stores."""
        return self._used

    async def close(self) -> None:
        """Close the product and its thread."""
        try:
            if self._product is not None:
                await self._tried("close")
        finally:
            self._host.close()

    def _passage(self, memory: Memory, rank: int) -> Passage:
        named = [key for key in memory.message_keys if key in self._contents]
        said = self._contents.items()
        keys = named or [key for key, text in said if len(text) >= MEMORIZING.least_traced and text in memory.text]
        return Passage(
            passage_id=memory.memory_id or str(rank),
            text=memory.text,
            score=1 / (1 + rank) if memory.score is None else memory.score,
            message_keys=tuple(keys),
            tokens=self._tools.count_tokens(memory.text),
            sent_at=self._time_of(memory.created_at, keys),
        )

    def _time_of(self, created_at: dt.datetime | None, keys: Sequence[str]) -> dt.datetime | None:
        """Return the time of a memory: the product's, or that of its first message; None where both say nothing.

        A product that ignores timestamps gives the time of its own clock, which lies outside of the conversation.
        """
        times = self._sent_at.values()
        if created_at is not None and times and min(times) - _ZONE <= created_at <= max(times) + _ZONE:
            return created_at
        return min((self._sent_at[key] for key in keys), default=None)

    async def _tried(self, method: str, *given: object) -> Any:  # Any: what the product's method returns
        """Return what a method returns after at most three attempts; None for a method that the product lacks."""
        for wait_s in (*self._waits_s, None):
            try:
                return await self._call(method, *given)
            except MemorySystemError as exc:
                await _wait(exc, wait_s)
        raise AssertionError("the last attempt returns or raises")

    async def _call(self, method: str, *given: object) -> Any:  # Any: what the product's method returns
        limit_s = self._settings.of(method)
        if self._product is None:
            self._product = await self._made()
            self._host.made_by = type(self._product)
        product, read = self._product, partial(read_result, method, given)

        def work() -> Any:
            called = getattr(product, method, None)
            if called is None:
                if method in _REQUIRED:
                    raise AttributeError(f"there is no method {method}")
                return None
            found = read(called(*map(copied, given)))
            return _read_later(found, read) if inspect.isawaitable(found) else found

        if not self._is_own:
            return await self._host.run(method, work, limit_s)
        if inspect.iscoroutinefunction(getattr(product, method, None)):
            return await self._within(method, limit_s, work())
        found = (await self._host.run(method, lambda: (work(),), limit_s))[0]  # in a tuple: the host awaits nothing
        return await self._within(method, limit_s, found) if inspect.isawaitable(found) else found

    async def _made(self) -> Product:
        """Return the product; one in a process of its own has begun, so that no limit counts the start of Python."""
        tools = self._tools if self._is_own else self._host.tools(self._tools)
        made: Product = await self._host.run(
            "__init__", lambda: self._make(self._settings, tools), self._settings.add_s
        )
        if self._is_own and hasattr(made, "begin"):
            await made.begin()
        return made

    async def _within(self, method: str, limit_s: float, found: Awaitable[Any]) -> Any:
        """Return what an adapter's method returns, awaited in this event loop."""
        try:
            async with asyncio.timeout(limit_s) as limit:
                return await found
        except LongbeamError:
            raise
        except Exception as exc:
            if limit.expired():
                raise self._host.late(method, f"no result within {limit_s:g} s") from exc
            raise self._host.failure(exc, method) from exc


async def _wait(failure: MemorySystemError, wait_s: float | None) -> None:
    """Wait before the next attempt at a call; raise its failure where there is none."""
    if failure.kind != "transport" or wait_s is None:
        raise failure
    await asyncio.sleep(wait_s)


async def _read_later(found: Awaitable[Any], read: Callable[[Any], Any]) -> Any:  # Any: what the product returns
    return read(await found)


def read_result(method: str, given: Sequence[object], found: object) -> object:
    """Return what a method returned, read in the thread that it ran in; an awaitable is still to be awaited."""
    reader = _READERS.get(method)
    return found if reader is None or inspect.isawaitable(found) else reader(found, *given)


class AnsweringProduct(ProductMemory):
    """A product that answers by itself; its memories are what it is taken to have read."""

    async def answer(self, question: Question, *, budget: int, asker: Asker) -> tuple[str, Context, int]:
        """Return the product's answer and the memories that it finds for the question; the reader is not asked."""
        context = await self.context(question, budget=budget)
        return await self._tried("answer", question, budget), context, 0


def memory_of(make: Callable[[Any, Tools], Product], settings: ProductSettings, tools: Tools) -> ProductMemory:
    """Return the system that a product's class makes."""
    return (AnsweringProduct if hasattr(make, "answer") else ProductMemory)(make, settings, tools)
