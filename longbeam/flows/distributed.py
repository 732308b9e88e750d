"""Conversations on many machines: a flow run is a benchmark, a task run is one conversation on some worker.

The task is given a job and gives back its result, both as JSON. Prefect shows and distributes; leases in the
benchmark's folder decide who makes what, and the work log what is done. Imported by `runner` when our server is there.
"""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass
from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from longbeam.flows.clusters import Cluster
from longbeam.flows.generate import FLOW_NAME, close_former_runs, delivered_events, keep_terminate_handler
from longbeam.pipeline.distributed import Job, JobEnd, JobResult, RunControls, WorkerDied, distribute, work_on
from longbeam.pipeline.run import RunSummary
from longbeam.store import Benchmark


@dataclass
class Distribution:
    """Objects that the flow uses in this process, and that are never sent to a worker."""

    benchmark: Benchmark
    cluster: Cluster
    controls: RunControls
    terminate_handler: Any  # Any: what `signal.getsignal` returns
    summary: RunSummary | None = None


_running: dict[str, Distribution] = {}
"""Distributions by benchmark name: Prefect sends a flow's parameters to every worker, so they are names only."""


@task(name="conversation", task_run_name="{conversation_id}", cache_policy=NO_CACHE, persist_result=False, retries=0)
def make_conversation(conversation_id: str, job: str) -> State:
    """Make a conversation on this worker; the state carries the `JobResult` as JSON."""
    return _conversation_made(job)


# Prefect's decorators keep functions apart from their names, so that workers are sent their code and what it refers
# to: what tasks and flows do stands in functions of its own, of which only the names are sent.


def _conversation_made(job: str) -> State:
    result = asyncio.run(work_on(job))
    is_good = result.end is JobEnd.MADE and result.is_finished and not result.failures
    why = result.stopped or result.error or f"{len(result.failures)} units failed; see `longbeam status`"
    text = result.model_dump_json()
    return Completed(message=result.worker, data=text) if is_good else Failed(message=why, data=text)


@flow(name=FLOW_NAME, flow_run_name="{name}", validate_parameters=False, persist_result=False, retries=0)
async def distribute_flow(name: str) -> State | None:
    """Give every conversation of a benchmark to some worker."""
    return await _conversations_given_out(name)


async def _conversations_given_out(name: str) -> State | None:
    running = _running[name]
    keep_terminate_handler(running.terminate_handler)

    async def submit(job: Job) -> JobResult:
        future = make_conversation.submit(job.conversation_id, job.model_dump_json())
        state = await running.cluster.state_of(future)
        told = await state.aresult(raise_on_failure=False)
        if not isinstance(told, str):
            raise WorkerDied(" ".join(str(told if told is not None else state.message).split())[:200])
        return JobResult.model_validate_json(told)

    summary = running.summary = await distribute(
        running.benchmark,
        submit,
        running.controls,
        places=running.cluster.places,
    )
    if summary.failures or summary.stopped:
        return Failed(message=summary.stopped or f"{len(summary.failures)} units failed; see `longbeam status {name}`")
    return None


async def run_distributed(benchmark: Benchmark, cluster: Cluster, controls: RunControls) -> RunSummary:
    """Run the benchmark's flow on a cluster, and return what it did."""
    name = benchmark.spec.name
    await close_former_runs(name)
    running = _running[name] = Distribution(
        benchmark,
        cluster,
        controls,
        signal.getsignal(signal.SIGTERM),
    )
    try:
        async with delivered_events():
            try:
                state = await distribute_flow.with_options(task_runner=cluster.task_runner)(name, return_state=True)
            except Exception:
                if running.summary is None:
                    raise
                # The work is done and in the work logs; a server that is gone only lacks the last states.
            if running.summary is None:
                await state.aresult()  # raises what escaped the flow
                raise AssertionError("a flow without a summary ends with an error")
            return running.summary
    finally:
        del _running[name]
