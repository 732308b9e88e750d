"""Prefect's view of a run: a flow run is a benchmark, a task run is one stage of one plan of one conversation.

Prefect shows what runs; the work log alone decides what is done. So nothing is cached or persisted here, and
the live objects go to the tasks as they are (`quote`: Prefect is not to look into them). This module imports
Prefect, which reads its settings then: only `runner` imports it, when our server is there.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import threading
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from prefect import flow, get_client, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.filters import (
    FlowFilter,
    FlowFilterName,
    FlowRunFilter,
    FlowRunFilterName,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import State, StateType
from prefect.events.clients import PrefectEventsClient
from prefect.events.worker import EventsWorker
from prefect.states import Crashed, Failed
from prefect.utilities.annotations import quote

from longbeam.flows.begun import BegunRun, BegunStage

FLOW_NAME = "generate"
DRAIN_S = 20.0
"""Seconds that the last task runs may take to reach the server; after that Prefect's pages lack them."""
RECONNECTIONS = 3
"""Attempts to connect again for each event. Prefect's client waits a second before each further one."""


@dataclass(frozen=True)
class Shown:
    """A run, and the handler of SIGTERM that was there before Prefect's."""

    run: BegunRun
    terminate_handler: Any  # Any: what `signal.getsignal` returns


@task(
    name="stage",
    task_run_name="{conversation_id}/{label}",
    cache_policy=NO_CACHE,
    persist_result=False,
    retries=0,
)
async def show_stage(conversation_id: str, label: str, trouble: asyncio.Future[str]) -> State | None:
    """Wait until a stage has ended; failed units make the task run a failed one on Prefect's pages."""
    why = await asyncio.shield(trouble)
    return Failed(message=why) if why else None


@flow(name=FLOW_NAME, flow_run_name="{name}", validate_parameters=False, persist_result=False, retries=0)
async def generate_flow(name: str, shared: Any) -> State | None:  # Any: Prefect makes a schema of annotations
    """Show every stage of a run as a task run, until the run has ended; `shared` is a `Shown`."""
    shown: Shown = shared
    keep_terminate_handler(shown.terminate_handler)
    run = shown.run
    async with asyncio.TaskGroup() as group:
        while (stage := await run.begun.get()) is not None:
            group.create_task(_show(stage))
    if run.summary.exception() is not None:
        return Failed(message="it was stopped by an error")
    summary = run.summary.result()
    if summary.failures or summary.stopped:
        failed = f"{len(summary.failures)} units failed; see `longbeam status {name}`"
        return Failed(message=summary.stopped or failed)
    return None


async def _show(stage: BegunStage) -> None:
    # Typed by Prefect as the state itself, though an async task must be awaited for it.
    task_run = show_stage(stage.conversation_id, stage.label, quote(stage.trouble), return_state=True)
    with contextlib.suppress(Exception):  # Prefect's server is gone and does not learn of it; the run goes on
        await cast(Awaitable[State], task_run)


def keep_terminate_handler(handler: Any) -> None:  # Any: what `signal.getsignal` returns
    """Put back the handler of SIGTERM that was there before the flow.

    Prefect's own raises in whatever frame is running, also in Prefect's, and then cannot store what it raised.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)


async def show_run(run: BegunRun) -> None:
    """Show a run on the server that the environment names, until it has ended; what it raises is the caller's."""
    await close_former_runs(run.name)
    async with delivered_events():
        try:
            await generate_flow(run.name, quote(Shown(run, signal.getsignal(signal.SIGTERM))), return_state=True)
        except Exception:
            if not run.summary.done():
                raise
            # The work is done and in the work logs; a server that is gone only lacks the last states.


async def close_former_runs(name: str) -> None:
    """Mark the benchmark's flow runs that still count as running as crashed: their process was killed."""
    async with get_client() as client:
        stale = await client.read_flow_runs(
            flow_filter=FlowFilter(name=FlowFilterName(any_=[FLOW_NAME])),
            flow_run_filter=FlowRunFilter(
                name=FlowRunFilterName(any_=[name]),
                state=FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.RUNNING, StateType.PENDING])),
            ),
        )
        for run in stale:
            await client.set_flow_run_state(run.id, Crashed(message="its process was killed"), force=True)


@asynccontextmanager
async def delivered_events() -> AsyncIterator[None]:
    """Send the events of a flow run to the server, and wait at the end until the server has every task run.

    Events that are left when the interpreter exits, when the server is gone, must not delay the exit: by default
    Prefect's client tries to connect ten times, a second apart, for each of them.
    """
    EventsWorker.set_client_override(PrefectEventsClient, reconnection_attempts=RECONNECTIONS)
    logging.getLogger("EventsWorker").setLevel(logging.ERROR)  # it warns of every item that is left to send
    try:
        yield
    finally:
        await cast(Awaitable[object], EventsWorker.drain_all(timeout=DRAIN_S, at_exit=False))
