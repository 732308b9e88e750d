"""Vendors' code at a distance: in threads of its own, within time limits, with copies of what it gets.

Sync methods run one at a time in one thread, because embedded databases may not change threads; async ones run in the
event loop of another. Both threads are daemons, and a command that ran them ends whatever else they began
(`longbeam.stopping`). Whatever is raised, `SystemExit` and `CancelledError` among it, comes back as the failure of
that call, a `MemorySystemError` of our own: an exception's methods are a vendor's code, too, and run in those threads.
Code that must be kept from this process altogether runs in one of its own (`memory.vendor_process`).
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import queue
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from traceback import walk_tb
from types import CodeType, TracebackType
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, Field

from longbeam.errors import LongbeamError, MemorySystemError, ProviderError, RunStopped
from longbeam.memory.base import Tools
from longbeam.memory.retrieval import Vectors
from longbeam.memory.returned import WrongReturn
from longbeam.models import Asker, ChatModel, ModelCall
from longbeam.models.embedders import Embedder
from longbeam.plugins import failure_of
from longbeam.schemas import ModelReply, Record
from longbeam.stopping import OTHERS

T = TypeVar("T")
_LOG = logging.getLogger(__name__)
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


def copied(value: T) -> T:
    """Return a copy of a record that shares nothing with it, so that nobody else reads what a system does to it."""
    return value.model_copy(deep=True) if isinstance(value, BaseModel) else value


class _Outcome(NamedTuple):
    """Outcome of a call, as the thread of the vendor's code found it."""

    found: Any = None
    is_awaitable: bool = False
    failure: Exception | None = None


@dataclass
class Host:
    """The threads in which one vendor's object lives; they begin with the first call."""

    made_by: object
    """The vendor's class, or what makes its object."""
    stopped: RunStopped | None = None
    """The run's own stop, as a model call of the vendor's code met it."""
    _work: queue.SimpleQueue[tuple[Callable[[], Any], str, Future[_Outcome]] | None] = field(
        default_factory=queue.SimpleQueue
    )
    _thread: threading.Thread | None = None
    _loop: asyncio.AbstractEventLoop | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _late: Future[_Outcome] | None = None
    """A sync call that went over its limit; it may still run."""
    _is_blocked: bool = False
    """Whether the loop of the async methods was found blocked."""
    _is_closing: bool = False

    async def run(self, method: str, work: Callable[[], Any], limit_s: float) -> Any:  # Any: what vendors return
        """Return what the work returns, awaited in the vendor's loop if it is awaitable.

        Raises MemorySystemError beyond the limit and for whatever the vendor's code raises; errors of model calls, and
        the run's stop, as they are.
        """
        async with self._turn:  # so that the limit counts no other call's time
            if self._is_blocked or (self._late is not None and not self._late.done()):
                again = f"{name_of(self.made_by)} does not return from an earlier call, so that it is not asked again"
                raise self.late(method, again)
            future: Future[_Outcome] = Future()
            OTHERS.expect(f"{name}.{method}" if (name := name_of(self.made_by)) else "")
            self._begin_thread()
            self._work.put((work, method, future))
            outcome = await self._outcome(future, limit_s, method)
        if outcome.is_awaitable:
            awaited = asyncio.run_coroutine_threadsafe(self._awaited(outcome.found, method), self._begin_loop())
            outcome = await self._outcome(awaited, limit_s, method)
        return outcome.found

    async def _outcome(self, future: Future[_Outcome], limit_s: float, method: str) -> _Outcome:
        try:
            outcome = await asyncio.wait_for(asyncio.wrap_future(future), limit_s)
        except TimeoutError:
            self._late = future
            await self._look()
            raise self.late(method, f"no result within {limit_s:g} s") from None
        if outcome.failure is not None:
            raise outcome.failure
        return outcome

    def late(self, method: str, why: str) -> MemorySystemError:
        """Return the failure of a call that took too long."""
        return MemorySystemError(
            self._called(method) + f": {why}" + _placed(None, self.made_by, method), kind="timeout"
        )

    def failure(self, exc: BaseException, method: str) -> Exception:
        """Return the failure that an exception is: with its class, text and place, on one line.

        To be called where the vendor's code runs: the exception may sleep or raise when it is asked for its text.
        """
        if exc is self.stopped or (not name_of(self.made_by) and isinstance(exc, LongbeamError)):
            return exc
        try:
            place = _placed(exc.__traceback__, self.made_by, method)
            if issubclass(type(exc), ProviderError) and failure_of(exc).endswith(str(exc)):
                return exc  # type: ignore[return-value]  # a model call failed, or it is a failure as we name them
            reason, kind = told_of(exc)
        except BaseException:  # noqa: BLE001 - the exception's class is the vendor's code, too
            reason, place, kind = ": no reason given", "", "system"
        return MemorySystemError(self._called(method) + reason + place, kind=kind)

    def _called(self, method: str) -> str:
        name = name_of(self.made_by)
        if method == "__init__":
            return f"{name or 'the product'} could not be made from (settings, tools)"
        return f"{name}.{method}" if name else method

    async def _awaited(self, found: Any, method: str) -> _Outcome:
        try:
            with kept_process():
                return _Outcome(await found)
        except BaseException as exc:  # noqa: BLE001 - SystemExit would end the loop, and CancelledError look like Ctrl-C
            return _Outcome(failure=self.failure(exc, method))

    async def _look(self) -> None:
        """Note whether the loop of the async methods still turns."""
        if self._loop is not None and not self._loop.is_closed():
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
            self._thread = threading.Thread(target=self._serve, name="memory", daemon=True)
            self._thread.start()

    def _serve(self) -> None:
        while (item := self._work.get()) is not None:
            work, method, future = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                with kept_process():
                    found = work()
                outcome = _Outcome(found, inspect.isawaitable(found))
            except BaseException as exc:  # noqa: BLE001 - a vendor's code may raise anything; it becomes a record
                outcome = _Outcome(failure=self.failure(exc, method))
            future.set_result(outcome)

    def _begin_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None or self._loop.is_closed():  # a vendor's code may close it
            self._loop = asyncio.new_event_loop()
            self._loop.set_exception_handler(lambda _, context: _LOG.debug("%s", context.get("message")))
            threading.Thread(target=self._turn_loop, args=[self._loop], name="memory, async", daemon=True).start()
        return self._loop

    def _turn_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        while not (self._is_closing or loop.is_closed()):  # a vendor's code may stop the loop
            loop.run_forever()
        if loop.is_closed():
            return
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


def _raise_recursion(limit: int) -> None:
    sys.setrecursionlimit(max(limit, sys.getrecursionlimit()))


_STATE: Sequence[tuple[Callable[[], Any], Callable[[Any], object]]] = (
    (os.getcwd, os.chdir),
    (lambda: os.umask(os.umask(0o077)), os.umask),
    (sys.getrecursionlimit, _raise_recursion),
    *(
        (partial(getattr, module, name), partial(setattr, module, name))
        for module, name in ((sys, "excepthook"), (sys, "unraisablehook"), (threading, "excepthook"))
    ),
)
"""Parts of the process that longbeam and the other systems rely on: how each is read and put back."""
_calls: list[object] = []
_before: list[Any] = []
"""The state before the first of the calls that run now, as a later one may meet what another has changed."""


@contextmanager
def kept_process() -> Iterator[None]:
    """Put back the parts of the process that a vendor's code changes, and end the copy of the process that it forks."""
    process = os.getpid()
    if not _calls:
        _before[:] = [read() for read, _ in _STATE]
    _calls.append(None)
    try:
        yield
    finally:
        if os.getpid() != process:
            os._exit(0)
        _calls.pop()
        for (_, put), value in zip(_STATE, _before, strict=True):
            with suppress(OSError):  # the folder is gone
                put(value)


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


def told_of(exc: BaseException) -> tuple[str, str]:
    """Return what follows a method's name in the line of its failure, and the kind of the failure."""
    kind = "transport" if isinstance(exc, OSError) else "system"
    return f" {exc}" if isinstance(exc, WrongReturn) else f": {failure_of(exc)}", kind


def name_of(made_by: object) -> str:
    """Return `module:Class`, as `--system` names it; empty for a class of longbeam."""
    made_by = _unwrapped(made_by)
    module = getattr(made_by, "__module__", "")
    return f"{module}:{getattr(made_by, '__qualname__', made_by)}" if _tops(made_by) else ""


def _placed(trace: TracebackType | None, made_by: object, method: str) -> str:
    """Return ` (notes.py:12)`: the last line of the vendor's files that an exception passed.

    An exception that passed none, such as wrong arguments or a wrong return, is placed where the method or the class is
    defined. Empty where that is unknown, and for a class of longbeam.
    """
    made_by = _unwrapped(made_by)
    tops = _tops(made_by)
    passed = [
        (frame.f_code.co_filename, line)
        for frame, line in walk_tb(trace)
        if str(frame.f_globals.get("__name__")).partition(".")[0] in tops
    ]
    places = passed[-1:] or (list(_definitions(made_by, method)) if tops else [])
    return f" ({Path(places[0][0]).name}:{places[0][1]})" if places else ""


def _unwrapped(made_by: object) -> object:
    return _unwrapped(made_by.func) if isinstance(made_by, partial) else made_by


def _tops(made_by: object) -> set[str]:
    """Return the top-level modules of a function, or of a class and its bases, that are the vendor's."""
    parts: tuple[object, ...] = inspect.getmro(made_by) if inspect.isclass(made_by) else (made_by,)
    names = {str(getattr(part, "__module__", "")).partition(".")[0] for part in parts}
    return names - {"", __name__.partition(".")[0], *sys.stdlib_module_names}


def _definitions(made_by: Any, method: str) -> Iterator[tuple[str, int]]:
    """Yield the file and line of a method, then of its class."""
    code = getattr(inspect.unwrap(inspect.getattr_static(made_by, method, None) or made_by), "__code__", None)
    if isinstance(code, CodeType):
        yield code.co_filename, code.co_firstlineno
    try:
        yield inspect.getsourcefile(made_by) or "", inspect.getsourcelines(made_by)[1]
    except (OSError, TypeError):  # a class of a notebook has no file
        return
