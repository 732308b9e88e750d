"""Vendors' code at a distance: in threads of its own, within time limits, with copies of what it gets.

Sync methods run one at a time in one thread, because embedded databases may not change threads; async ones run in the
event loop of another. Both threads are daemons: code that never ends keeps neither the event loop of longbeam nor its
process alive. Whatever is raised, `SystemExit` and `CancelledError` among it, comes back as the failure of that call.
Code that must be kept from this process altogether runs in one of its own (`memory.isolation`).
"""

from __future__ import annotations

import asyncio
import inspect
import queue
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pydantic import BaseModel, Field

from longbeam.errors import MemorySystemError, RunStopped
from longbeam.memory.base import Tools
from longbeam.memory.retrieval import Embedder, Vectors
from longbeam.models import Asker, ChatModel, ModelCall
from longbeam.schemas import ModelReply, Record
from longbeam.terminal import printable, whole_text

T = TypeVar("T")
_MOST_SAID = 300
"""Characters of an exception's text that are shown."""
_ALIVE_S = 2.0
"""Time in which the event loop of a vendor's code shows that it is not blocked."""


class TimeLimits(Record):
    """Longest times of a system's calls; a call that takes longer fails, and so does the probe that needed it."""

    add_s: float = Field(default=600, gt=0)
    """Seconds for one exchange, and for making the system."""
    search_s: float = Field(default=300, gt=0)
    """Seconds for one search or context."""
    answer_s: float = Field(default=900, gt=0)
    """Seconds for one answer of a system that answers by itself."""
    finish_s: float = Field(default=3_600, gt=0)
    """Seconds for completing an index, and for deleting an earlier one."""
    close_s: float = Field(default=30, gt=0)
    """Seconds for closing."""

    def of(self, method: str) -> float:
        """Return the limit of a method, in seconds."""
        named = {"search": self.search_s, "retrieve": self.search_s, "context": self.search_s, "answer": self.answer_s}
        named |= {"finish": self.finish_s, "delete": self.finish_s, "close": self.close_s}
        return named.get(method, self.add_s)


class Escaped(Exception):
    """An exception that is no `Exception`, such as SystemExit; it is the cause of this one."""


class Late(MemorySystemError):
    """A call that took longer than its limit."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, kind="timeout")


def said_by(exc: BaseException) -> str:
    """Return the text of a vendor's exception on one line, without characters that steer a terminal."""
    try:
        text = str(exc)
    except BaseException:  # noqa: BLE001 - the text of the exception is the vendor's code, too
        text = ""
    return printable(whole_text(" ".join(text[: _MOST_SAID * 4].split())))[:_MOST_SAID] or "no reason given"


def kind_of(exc: BaseException) -> str:
    """Return the name of a vendor's exception, as `said_by` returns its text."""
    return printable(whole_text(" ".join(type(exc).__name__.split())))[:_MOST_SAID]


def copied(value: T) -> T:
    """Return a copy of a record that shares nothing with it, so that nobody else reads what a system does to it."""
    return value.model_copy(deep=True) if isinstance(value, BaseModel) else value


@dataclass
class Host:
    """The threads in which one vendor's object lives; they begin with the first call."""

    name: str
    stopped: RunStopped | None = None
    """The run's own stop, as a model call of the vendor's code met it."""
    _work: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = field(default_factory=queue.SimpleQueue)
    _thread: threading.Thread | None = None
    _loop: asyncio.AbstractEventLoop | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _late: Future[Any] | None = None
    """A sync call that went over its limit; it may still run."""
    _is_blocked: bool = False
    """Whether the loop of the async methods was found blocked."""
    _is_closing: bool = False

    async def run(self, work: Callable[[], Any], limit_s: float) -> Any:  # Any: what the vendor's code returns
        """Return what the work returns, awaited in the vendor's loop if it is awaitable.

        Raises Late beyond the limit, Escaped for an exception that is no `Exception`, and others as they are.
        """
        async with self._turn:  # so that the limit counts no other call's time
            if self._is_blocked or (self._late is not None and not self._late.done()):
                raise Late(f"{self.name} does not return from an earlier call, so that it is not asked again")
            future: Future[Any] = Future()
            self._begin_thread()
            self._work.put((work, future))
            found = await self._outcome(future, limit_s)
        if inspect.isawaitable(found):
            awaited = asyncio.run_coroutine_threadsafe(_awaited(found), self._begin_loop())
            found = await self._outcome(awaited, limit_s)
        return found

    async def _outcome(self, future: Future[Any], limit_s: float) -> Any:
        try:
            found, exc = await asyncio.wait_for(asyncio.wrap_future(future), limit_s)
        except TimeoutError:
            self._late = future
            await self._look()
            raise Late(f"no result within {limit_s:g} s") from None
        if exc is None:
            return found
        if isinstance(exc, Exception):
            raise exc
        raise Escaped(kind_of(exc)) from exc

    async def _look(self) -> None:
        """Note whether the loop of the async methods still turns."""
        if self._loop is not None:
            turned = asyncio.run_coroutine_threadsafe(_nothing(), self._loop)
            try:
                await asyncio.wait_for(asyncio.wrap_future(turned), _ALIVE_S)
            except TimeoutError:
                self._is_blocked = True

    def close(self) -> None:
        """Let the threads end when what they do has ended."""
        self._is_closing = True
        self._work.put(None)
        if self._loop is not None:
            with suppress(RuntimeError):  # the vendor's code has closed it
                self._loop.call_soon_threadsafe(self._loop.stop)

    def _begin_thread(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=f"memory {self.name}", daemon=True)
            self._thread.start()

    def _serve(self) -> None:
        while (item := self._work.get()) is not None:
            work, future = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                outcome = work(), None
            except BaseException as exc:  # noqa: BLE001 - a vendor's code may raise anything; it becomes a record
                outcome = None, exc  # type: ignore[assignment]
            future.set_result(outcome)

    def _begin_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._turn_loop, args=[self._loop], name="memory, async", daemon=True).start()
        return self._loop

    def _turn_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        while not self._is_closing:  # a vendor's code may stop the loop
            loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.close()

    def tools(self, tools: Tools) -> Tools:
        """Return the tools for use in the vendor's threads: models and embedder are asked in this event loop."""
        embedder = None if tools.embedder is None else _FarEmbedder(tools.embedder, asyncio.get_running_loop())
        return replace(tools, asker=self.asker(tools.asker), embedder=embedder)

    def asker(self, asker: Asker) -> Asker:
        """Return an asker for use in the vendor's threads."""
        chat = _FarModel(asker.models.chat, asyncio.get_running_loop(), self)
        return replace(asker, models=replace(asker.models, chat=chat))


async def _awaited(found: Any) -> tuple[Any, BaseException | None]:
    try:
        return await found, None
    except BaseException as exc:  # noqa: BLE001 - SystemExit would end the loop, and CancelledError look like Ctrl-C
        return None, exc


async def _nothing() -> None:
    return None


@dataclass(frozen=True)
class _FarModel:
    """A model that is asked from a vendor's thread."""

    inner: ChatModel
    home: asyncio.AbstractEventLoop
    host: Host

    async def complete(self, call: ModelCall) -> ModelReply:
        try:
            return await _at_home(self.home, self.inner.complete(call))
        except RunStopped as exc:
            self.host.stopped = exc
            raise


@dataclass(frozen=True)
class _FarEmbedder:
    """An embedder that is asked from a vendor's thread."""

    inner: Embedder
    home: asyncio.AbstractEventLoop

    @property
    def name(self) -> str:
        return self.inner.name

    async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> Vectors:
        return await _at_home(self.home, self.inner.embed(texts, is_query=is_query))


async def _at_home(home: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    if asyncio.get_running_loop() is home:
        return await work
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, home))
