"""Prefect around the pipeline: a flow run is a benchmark, a task run is one stage of one plan of one conversation.

Prefect shows what runs; the work log alone decides what is done. So nothing is cached or persisted here, and
the live objects go to the tasks as they are (`quote`: Prefect is not to look into them). This module imports
Prefect, which reads its settings then: only `runner` imports it, when our server is there.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

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

from longbeam.models.base import Models
from longbeam.pipeline.run.driver import (
    ConversationRun,
    RunContext,
    RunSummary,
    StageOf,
    conversation_gate,
    conversations_of,
    limited_models,
    open_run,
    run_conversation,
    run_stage,
    summarise,
)
from longbeam.pipeline.run.scheduling import Schedule
from longbeam.pipeline.run.units import Progress
from longbeam.schemas.seeds import Seed
from longbeam.store.layout import Benchmark

T = TypeVar("T")
FLOW_NAME = "generate"
DRAIN_S = 20.0
"""Seconds that the last task runs may take to reach the server; after that Prefect's pages lack them."""
RECONNECTIONS = 3
"""Attempts to connect again for each event. Prefect's client waits a second before each further one."""


@dataclass
class Job:
    """Objects that all tasks of a flow run use."""

    context: RunContext
    gate: asyncio.Semaphore
    terminate_handler: Any  # Any: what `signal.getsignal` returns
    summary: RunSummary | None = None


@dataclass
class StageWork(Generic[T]):
    """Input of a task run, and the list that receives its result."""

    run: ConversationRun
    stage: StageOf
    work: Callable[[], Awaitable[T]]
    results: list[T | None] = field(default_factory=list)
    """The stage's result, once it has ended: a state carries no result that is not persisted."""


@task(
    name="stage",
    task_run_name="{conversation_id}/{label}",
    cache_policy=NO_CACHE,
    persist_result=False,
    retries=0,
)
async def run_stage_task(conversation_id: str, label: str, task_work: StageWork[Any]) -> State | None:
    """Run a stage; failed units make the task run a failed one on Prefect's pages, and stop nothing."""
    run, before = task_work.run, len(task_work.run.conversation.units.failed)
    result = await run_stage(run, task_work.stage, task_work.work)
    task_work.results.append(result)
    if result is not None:
        return None
    failures = len(run.conversation.units.failed) - before
    return Failed(message=run.stopped or f"{failures} units failed; see `longbeam status`")


@flow(name=FLOW_NAME, flow_run_name="{name}", validate_parameters=False, persist_result=False, retries=0)
async def generate_flow(name: str, shared: Any) -> State | None:  # Any: Prefect makes a schema of annotations
    """Run every conversation of a benchmark through all stages, some at a time; `shared` is a `Job`."""
    job: Job = shared
    keep_terminate_handler(job.terminate_handler)
    benchmark = job.context.benchmark
    runs = await asyncio.gather(*(_run_conversation(i, seed, job) for i, seed in conversations_of(benchmark)))
    job.summary = summarise(benchmark, runs)
    if job.summary.failures or job.summary.stopped:
        failed = f"{len(job.summary.failures)} units failed; see `longbeam status {name}`"
        return Failed(message=job.summary.stopped or failed)
    return None


async def _run_conversation(conversation_id: str, seed: Seed, job: Job) -> ConversationRun:
    async with job.gate, open_run(job.context, conversation_id, seed) as run:
        await run_conversation(run, _step)
        return run


async def _step(run: ConversationRun, stage: StageOf, work: Callable[[], Awaitable[T]]) -> T | None:
    conversation = run.conversation
    is_of_plan = stage.plan_index is not None and not conversation.is_single
    label = f"p{stage.plan_index}/{stage.name}" if is_of_plan else stage.name
    task_work = StageWork(run, stage, work)
    # Typed by Prefect as the state itself, though an async task must be awaited for it.
    task_run = run_stage_task(conversation.conversation_id, label, quote(task_work), return_state=True)
    try:
        state = await cast(Awaitable[State], task_run)
    except Exception:
        if not task_work.results:
            raise
        # The stage has ended; Prefect's server is gone and does not learn it, and the run goes on without it.
    if not task_work.results:
        await state.aresult()  # raises what escaped the stage: a bug, not a failed unit
        raise AssertionError("a stage without a result ends with an error")
    return task_work.results[0]


def keep_terminate_handler(handler: Any) -> None:  # Any: what `signal.getsignal` returns
    """Put back the handler of SIGTERM that was there before the flow.

    Prefect's own raises in whatever frame is running, also in Prefect's, and then cannot store what it raised.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)


async def run_flow(benchmark: Benchmark, models: Models, *, progress: Progress) -> RunSummary:
    """Run the benchmark's flow on the server that the environment names, and return what it did."""
    name = benchmark.spec.name
    await close_former_runs(name)
    async with delivered_events():
        async with limited_models(models, benchmark.spec) as shared:
            job = Job(
                context=RunContext(benchmark, shared, Schedule(benchmark.spec.limits.concurrency), progress),
                gate=conversation_gate(benchmark),
                terminate_handler=signal.getsignal(signal.SIGTERM),
            )
            try:
                state = await generate_flow(name, quote(job), return_state=True)
            except Exception:
                if job.summary is None:
                    raise
                # The work is done and in the work logs; a server that is gone only lacks the last states.
        if job.summary is None:
            await state.aresult()  # raises what escaped the flow
            raise AssertionError("a flow without a summary ends with an error")
        return job.summary


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
