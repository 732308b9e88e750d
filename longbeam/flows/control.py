"""A stage under Prefect: it looks at its root run before it begins, reports its end, and is stopped from the pages."""

from __future__ import annotations

import asyncio
import signal
import threading
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, TypeVar
from uuid import UUID

from prefect import get_client, get_run_logger
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext, TaskRunContext
from prefect.exceptions import FailedRun, Pause, TerminationSignal
from prefect.states import Cancelled

from longbeam.errors import LongbeamError, RunStopped
from longbeam.flows.artifacts import show_progress
from longbeam.flows.events import answered
from longbeam.flows.opened import OpenedConversation, Reference, begun, conversations
from longbeam.pipeline import describe_failure
from longbeam.pipeline.run import Blocked, ConversationRun
from longbeam.stopping import drop_replies

T = TypeVar("T")
REPLIES_S = 20.0
"""Seconds for which a cancelled run awaits the replies on their way. Prefect kills its process after 30 s."""
PAUSE_S = 2.0
"""Seconds between two looks at a paused run."""


class StageFailed(LongbeamError):
    """A stage is incomplete. `may_help`: whether the same stage may succeed when it is tried again."""

    def __init__(self, message: str, *, may_help: bool) -> None:
        super().__init__(message)
        self.may_help = may_help


class RunCancelled(LongbeamError):
    """The root run was cancelled on Prefect's side."""


_is_listening = False
"""Whether a flow of this process hears SIGTERM."""
_root: ContextVar[UUID | None] = ContextVar("longbeam_root_run", default=None)


async def carry_out(of: Reference, stage: str, work: Callable[[ConversationRun], Awaitable[object]]) -> Reference:
    """Run a stage of an open conversation, and return the reference of what it made.

    Raises StageFailed for a stage that is incomplete, RunCancelled, and Prefect's own Pause for a suspended run.
    """
    opened = conversations[of.benchmark, of.conversation_id]
    await require_wanted()
    context = TaskRunContext.get()
    if context is not None and context.task_run.run_count > 1:
        opened.run.reopen()
    calls = opened.run.journalled.asks
    try:
        await work(opened.run)
    except Blocked as exc:
        opened.run.blocked = True
        raise _failed(opened, exc) from None
    except RunStopped as exc:
        opened.run.blocked, opened.run.stopped = True, str(exc)
        raise StageFailed(str(exc), may_help=False) from None
    opened.stages_done += 1
    get_run_logger().info("%s %s: %d model calls", of.place, stage, opened.run.journalled.asks - calls)
    await show_progress(opened)
    return of.by(stage)


def _failed(opened: OpenedConversation, blocked: Blocked) -> StageFailed:
    failed = opened.run.conversation.units.failed
    lines = [describe_failure(unit) for unit in failed[:3]] or [str(blocked)]
    more = f"; and {len(failed) - 3} more units" if len(failed) > 3 else ""
    is_final = all(unit.is_exhausted for unit in failed)
    return StageFailed("; ".join(lines) + more + "; see `longbeam status`", may_help=not is_final)


async def may_help(task: object, task_run: object, state: State[Any]) -> bool:
    """Return whether a stage that failed is worth another try; Prefect asks before each of its retries."""
    error = await state.aresult(raise_on_failure=False)
    return isinstance(error, StageFailed) and error.may_help


async def require_wanted() -> None:
    """Raise RunCancelled or Pause where the root run was cancelled or suspended, and wait while it is paused."""
    while True:
        state = await answered(_state_of_root())
        if state is None or not (state.is_cancelled() or state.is_cancelling() or state.is_paused()):
            return
        if not state.is_paused():
            raise RunCancelled("the run was cancelled; what was made is kept")
        if state.name == "Suspended":
            raise Pause(state=state)
        await asyncio.sleep(PAUSE_S)


async def _state_of_root() -> State[Any] | None:
    """Return the state of the root run."""
    async with get_client() as client:
        run_id = _root.get() or await _find_root(client)
        return (await client.read_flow_run(run_id)).state


async def _find_root(client: Any) -> UUID:
    """Return the id of the outermost flow run above this one, and remember it for the stages to come."""
    context = FlowRunContext.get()
    assert context is not None
    assert context.flow_run is not None
    run = context.flow_run
    while run.parent_task_run_id is not None:
        above = (await client.read_task_run(run.parent_task_run_id)).flow_run_id
        if above is None:
            break
        run = await client.read_flow_run(above)
    _root.set(run.id)
    found: UUID = run.id
    return found


@asynccontextmanager
async def stoppable(root: str = "") -> AsyncIterator[None]:
    """Let SIGTERM, with which Prefect cancels a run of a deployment, stop the block as Ctrl-C stops a command.

    No call is sent any more, replies on their way are awaited for `REPLIES_S`, and Prefect then learns of the end.
    Prefect's own handler raises in whatever frame is running. A command that began the run keeps its own handler.
    """
    global _is_listening
    if _is_listening or threading.current_thread() is not threading.main_thread():
        yield  # the outermost flow of a process hears for all: its cancellation reaches the flows below
        return
    before, loop, making = signal.getsignal(signal.SIGTERM), asyncio.get_running_loop(), asyncio.current_task()
    assert making is not None
    is_terminated = False

    def terminate() -> None:
        nonlocal is_terminated
        if not is_terminated:
            is_terminated = True
            making.cancel()
            loop.call_later(REPLIES_S, drop_replies)

    _is_listening = True
    if root in begun:
        signal.signal(signal.SIGTERM, begun[root].on_terminate)
    else:
        loop.add_signal_handler(signal.SIGTERM, terminate)
    try:
        yield
    except asyncio.CancelledError:
        if is_terminated:
            raise TerminationSignal(signal.SIGTERM) from None
        raise
    finally:
        _is_listening = False
        loop.remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGTERM, before)


def is_of_prefect(error: Exception) -> bool:
    """Return whether Prefect itself failed, as when its server is busy, and not what runs under it."""
    modules = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)]
    packages = [module.partition(".")[0] for module in modules]
    return "prefect" in packages and [name for name in packages if name in ("prefect", "longbeam")][-1] == "prefect"


async def raise_escaped(state: State[Any]) -> None:
    """Raise the exception with which a flow ended; a flow that ended with a state of its own raised none."""
    if state.is_failed():
        error = await state.aresult(raise_on_failure=False)
        if isinstance(error, Exception) and not isinstance(error, FailedRun):
            raise error


def cancelled(reason: RunCancelled) -> State[Any]:
    """Return the state of a run that stopped because it was cancelled."""
    return Cancelled(message=str(reason))
