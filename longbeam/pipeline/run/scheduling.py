"""Order of model calls when more wait than may be in flight: the call with the longest chain of work left is first.

The calls of a sub-plan form a chain. All chains of all conversations of a run share one limit. Calls that unlock other
work go first (plans, then user turns), then the dialogue with most tokens left. A run ends when its longest chain ends,
so a short chain that waits costs nothing.

The longest chains may not have begun, because the number of open dialogues is limited. While a dialogue waits to be
opened, the open one with fewest tokens left goes first. Places then become free, and the last dialogues begin early
enough to run at the same time. Plans are made ahead of their dialogues only as far as this limit allows.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from longbeam.errors import RunStopped, StoreError
from longbeam.keys import UnitKey
from longbeam.models import ChatModel, ModelCall
from longbeam.pipeline.tuning import RUNNING
from longbeam.schemas import ModelReply

_UNLOCKS = {"persona": 3e9, "plan": 2e9, "user_turns": 1e9}
"""Stages that others wait for, before any dialogue."""
LONGEST = 1e8
"""More tokens than any dialogue has."""
_Waiting = tuple[float, int, "asyncio.Future[None]", ModelCall]
"""Urgency, negated, for the heap; the order of arrival; the turn; the call."""


@dataclass
class Schedule:
    """The order of calls of one run, and how many of its dialogues are open at a time."""

    concurrency: int
    stopped: str = ""
    """Why no call is sent any more; empty while calls are sent."""
    _commits: list[Callable[[], None]] = field(default_factory=list)
    _left: dict[UnitKey, float] = field(default_factory=dict)
    _waiting: list[_Waiting] = field(default_factory=list)
    _unopened: int = 0
    """Dialogues that wait for a place."""
    _in_flight: int = 0
    _arrived: int = 0

    def __post_init__(self) -> None:
        """Let dialogues go."""
        self._dialogues = asyncio.Semaphore(max(RUNNING.open_per_call * self.concurrency, RUNNING.least_open))
        self._few_wait = asyncio.Event()
        self._few_wait.set()

    def ordered(self, inner: ChatModel, is_batched: Callable[[ModelCall], bool] = lambda call: False) -> ChatModel:
        """Return a model whose calls wait for their turn, except those that are sent in batches."""
        return _Ordered(inner, self, is_batched)

    @asynccontextmanager
    async def dialogue(self, unit_key: UnitKey, tokens: int) -> AsyncIterator[None]:
        """Hold a place among the open dialogues; `tokens` is what this one has to say."""
        self._change_unopened(+1)
        try:
            await self._dialogues.acquire()
        finally:
            self._change_unopened(-1)
        try:
            self._left[unit_key] = tokens
            try:
                yield
            finally:
                del self._left[unit_key]
        finally:
            self._dialogues.release()

    def stop(self, reason: str) -> None:
        """Send no call any more: those that wait, and all further ones, raise RunStopped with the first reason."""
        self.stopped = self.stopped or reason

    @contextmanager
    def committing(self, commit: Callable[[], None]) -> Iterator[None]:
        """Call `commit` before each call is sent while the block lasts; when it fails, no call is sent any more.

        So the replies that are not committed and the calls in flight are never more than the places.
        """
        self._commits.append(commit)
        try:
            yield
        finally:
            self._commits.remove(commit)

    def _require_committed(self) -> None:
        for commit in self._commits:
            try:
                commit()
            except StoreError as exc:
                self.stop(str(exc))
        if self.stopped:
            raise RunStopped(self.stopped)

    async def wait_for_dialogues(self) -> None:
        """Wait while many dialogues wait for a place: a plan made now would lie in memory for long."""
        await self._few_wait.wait()

    def _change_unopened(self, by: int) -> None:
        before, self._unopened = self._unopened, self._unopened + by
        if self._unopened <= RUNNING.waiting_per_call * self.concurrency:
            self._few_wait.set()
        else:
            self._few_wait.clear()
        if bool(before) is not bool(self._unopened):
            self._waiting = [(-self._urgency(call), n, turn, call) for _, n, turn, call in self._waiting]
            heapq.heapify(self._waiting)

    async def _enter(self, call: ModelCall) -> None:
        if self._in_flight < self.concurrency:
            self._in_flight += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._arrived += 1
        heapq.heappush(self._waiting, (-self._urgency(call), self._arrived, turn, call))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()  # the place was given in the moment of being cancelled
            raise

    def _leave(self) -> None:
        while self._waiting:
            _, _, turn, _ = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)
                return
        self._in_flight -= 1

    def _urgency(self, call: ModelCall) -> float:
        unit = _unit_of(call)
        if (unlocks := _UNLOCKS.get(unit.stage)) is not None:
            return unlocks
        left = self._left.get(unit)
        return 0.0 if left is None else LONGEST - left if self._unopened else left

    def _count_reply(self, call: ModelCall, reply: ModelReply) -> None:
        unit = _unit_of(call)
        if unit in self._left and call.prompt.output is None:  # prose is what is said
            self._left[unit] -= len(reply.text) / 4


@dataclass
class _Ordered:
    """A model that asks in the schedule's order."""

    inner: ChatModel
    schedule: Schedule
    is_batched: Callable[[ModelCall], bool]

    async def complete(self, call: ModelCall) -> ModelReply:
        """Wait for a turn, then ask; a call that is sent in a batch takes no turn."""
        if self.is_batched(call):
            return await self.inner.complete(call)
        await self.schedule._enter(call)
        try:
            self.schedule._require_committed()
            reply = await self.inner.complete(call)
        finally:
            self.schedule._leave()
        self.schedule._count_reply(call, reply)
        return reply


def _unit_of(call: ModelCall) -> UnitKey:
    return UnitKey.parse(call.unit_key).without_place
