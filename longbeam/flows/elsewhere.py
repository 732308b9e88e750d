"""Conversations made by other processes: on workers of a Dask cluster, or in runs of their flow's deployment.

A worker gets a job and gives back its result, both as JSON. Dask moves a job whose worker died to another worker; the
lease in the benchmark's folder keeps two workers apart that both believe they have it (docs/many-machines.md).
"""

from __future__ import annotations

import asyncio
import logging
import signal
import tempfile
import uuid
import warnings
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from typing import Any, cast

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.deployments.flow_runs import arun_deployment
from prefect.settings import get_current_settings
from prefect.states import Completed, Crashed, Failed

from longbeam import __version__
from longbeam.errors import LongbeamError, UserError, require_extra
from longbeam.flows.opened import Begun, ClusterOptions, OpenedConversation, conversations
from longbeam.pipeline.distributed import REPLIES_S, Job, JobEnd, JobResult, share_of, stop_path, work_on
from longbeam.pipeline.run import ConversationRun, RunSummary, run_conversation, seeds_of
from longbeam.plugins import failure_of
from longbeam.store import Benchmark, position_of_holder
from longbeam.wiring import services

DEPLOYMENT = "longbeam"
"""Name of the deployments that `longbeam flows serve` and `deploy` make."""
REACH_S = 20.0
"""Seconds that a cluster at a given address may take to answer."""
ANSWER_S = 60.0
"""Seconds that a running process may take to answer; its machine may be busy with conversations."""
STOP_S = REPLIES_S + 10
"""Seconds for which workers may await replies and put in place what they have when the run is stopped."""
LOOK_EVERY_S = 1.0
QUIET = {
    "logging": {"distributed": "critical", "distributed.nanny": "critical", "tornado": "critical"},
    "distributed.worker.daemon": False,
    "distributed.admin.tick.limit": "1h",  # a conversation keeps its worker's Python busy; that is no fault
}


def share_usd(given: Begun, conversations: int) -> float | None:
    """Return an equal part of the money that is left, for each conversation; what one leaves is for `resume`."""
    cap = given.benchmark.spec.limits.max_cost_usd
    return None if cap is None else max((cap - given.meter.spent_usd) / conversations, 1e-9)  # no cap can be nothing


# --- on Dask -----------------------------------------------------------------------------------------------------


@task(name="conversation", task_run_name="{conversation_id}", cache_policy=NO_CACHE, persist_result=False, retries=0)
def make_on_worker(conversation_id: str, job: str, limit: str) -> State[Any]:
    """Make a conversation on this worker with the flow `make_conversation`; the state carries the `JobResult`."""
    return _made(job, limit)


def _made(text: str, limit: str) -> State[Any]:
    # A function of its own: Dask sends the code of a task to the workers, and of this one only the name.
    from longbeam.flows.control import is_of_prefect, raise_escaped
    from longbeam.flows.generate import make_conversation

    async def make(run: ConversationRun, benchmark: Benchmark) -> None:
        root, conversation_id = str(benchmark.root), run.conversation.conversation_id
        conversations[root, conversation_id] = OpenedConversation(benchmark, run)
        try:
            await raise_escaped(await make_conversation(root, conversation_id, limit, return_state=True))
        except Exception as exc:
            if limit or not is_of_prefect(exc):  # without Prefect no slot of the limit can be held
                raise
            await run_conversation(run)
        finally:
            del conversations[root, conversation_id]

    result = asyncio.run(work_on(text, make))
    is_good = result.end is JobEnd.MADE and result.is_finished and not result.failures
    why = result.stopped or result.error or f"{len(result.failures)} units failed; see `longbeam status`"
    told = result.model_dump_json()
    return Completed(message=result.worker, data=told) if is_good else Failed(message=why, data=told)


@dataclass
class DaskRun:
    """The conversations of a benchmark on the workers of a cluster."""

    given: Begun
    wanted: list[str]
    limit: str
    options: ClusterOptions
    share_usd: float | None = None
    """USD that each conversation may spend."""
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    results: dict[str, JobResult] = field(default_factory=dict)
    stopped: str = ""
    _out: dict[str, asyncio.Future[State[Any]]] = field(default_factory=dict)
    """Conversations that a worker has now."""

    async def make(self) -> list[State[Any]]:
        """Make all conversations, as many at a time as the cluster has threads, and return the end of each.

        Raises LongbeamError where a worker cannot do its work. When it is cancelled, the workers are stopped.
        """
        require_extra("dask", "--runner dask", "distributed", "prefect_dask")
        from prefect_dask.task_runners import DaskTaskRunner

        self.share_usd = share_usd(self.given, len(self.wanted))
        async with dask_client(self.options, len(self.wanted)) as client:
            places = min(max(1, sum(client.nthreads().values())), len(self.wanted))
            free, looking = asyncio.Semaphore(places), asyncio.create_task(self._look())
            runner: Any = DaskTaskRunner(address=client.scheduler.address)
            with runner:
                try:
                    return await asyncio.gather(*(self._one(i, free, runner, places) for i in self.wanted))
                finally:
                    looking.cancel()
                    await self._stop_workers()

    async def _one(self, conversation_id: str, free: asyncio.Semaphore, runner: Any, places: int) -> State[Any]:
        async with free:
            if self.stopped:
                return Failed(message=self.stopped)
            job = self._job(conversation_id, places).model_dump_json()
            state = await self._sent(conversation_id, job, runner)
            if state.is_failed() and state.data is None:  # Prefect failed around the work, which is kept
                state = await self._sent(conversation_id, job, runner)
        if state.is_crashed():
            self._stop_for(f"{conversation_id}: {state.message}")
            return state
        told = await state.aresult(raise_on_failure=False)
        if not isinstance(told, str):
            why, url = " ".join(str(told or state.message).split())[:300], get_current_settings().api.url
            raise LongbeamError(
                f"{conversation_id}: {why}. Workers need longbeam[dask]=={__version__} and the command's Python, and "
                f"must reach Prefect's server at {url}; --host names this machine as they know it"
            )
        self._take(JobResult.model_validate_json(told))
        return state

    async def _sent(self, conversation_id: str, job: str, runner: Any) -> State[Any]:
        future = runner.submit(make_on_worker, {"conversation_id": conversation_id, "job": job, "limit": self.limit})
        sent = self._out[conversation_id] = asyncio.ensure_future(_state_of(future))
        try:
            return await asyncio.shield(sent)  # stopped by a word to the worker, never by leaving it alone
        finally:
            if sent.done():
                del self._out[conversation_id]

    def _take(self, result: JobResult) -> None:
        self.results[result.conversation_id] = result
        self.given.meter.add(result.usage)
        self.given.progress.update(result.conversation_id, result.position)
        if result.end is JobEnd.BUG:
            self._stop_for(result.error)
            raise RuntimeError(f"on {result.worker}:\n{result.error}")
        if result.end is JobEnd.REFUSED:
            self._stop_for(result.error)
            raise UserError(f"{result.worker}: {result.error}")
        if result.stopped and not result.is_capped:  # what stopped it would stop the others, too
            self._stop_for(result.stopped)

    def _job(self, conversation_id: str, places: int) -> Job:
        benchmark = self.given.benchmark
        return Job(
            version=__version__,
            root=str(benchmark.root.resolve()),
            run_id=self.run_id,
            conversation_id=conversation_id,
            seed=seeds_of(benchmark)[benchmark.conversation_ids.index(conversation_id)],
            spec=share_of(benchmark.spec, places, self.share_usd),
            services=services().reference,
            scratch=self.options.scratch,
            invocation_log=self.given.invocation_log,
        )

    def _stop_for(self, reason: str) -> None:
        self.stopped = self.stopped or reason
        path = stop_path(self.given.benchmark.root, self.run_id)
        path.parent.mkdir(exist_ok=True)
        path.touch()

    async def _stop_workers(self) -> None:
        """Stop the workers that have a job, and wait until they have put their results in place."""
        if self._out:
            self._stop_for("it was stopped")
            self.given.progress.waiting(f"stopping; workers await replies for up to {REPLIES_S:.0f} s")
            await asyncio.wait(self._out.values(), timeout=STOP_S)
        for sent in self._out.values():
            sent.cancel()
        stop_path(self.given.benchmark.root, self.run_id).unlink(missing_ok=True)

    async def _look(self) -> None:
        """Show the positions that workers write to their leases."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            for conversation_id in list(self._out):
                position = position_of_holder(self.given.benchmark.lease_folder(conversation_id))
                if position is not None and position.stage:
                    self.given.progress.update(conversation_id, position)

    def summary(self) -> RunSummary:
        """Return what the workers did."""
        benchmark, results = self.given.benchmark, self.results.values()
        return RunSummary(
            conversations=len(benchmark.conversation_ids),
            finished=len(benchmark.kept) + sum(result.is_finished for result in results),
            failures=tuple((result.conversation_id, unit) for result in results for unit in result.failures),
            calls=sum(result.position.calls for result in results),
            replayed=sum(result.replayed for result in results),
            stopped=self.stopped or next((r.stopped for r in results if r.is_capped), ""),
            remade=sum((Counter(result.remade) for result in results), Counter()),
        )


async def _state_of(future: Any) -> State[Any]:
    """Return the state in which a task ended: Crashed where its workers died, Failed without data if Prefect failed."""
    wrapped, loop, ended = future.wrapped_future, asyncio.get_running_loop(), asyncio.Event()
    wrapped.add_done_callback(lambda _: loop.call_soon_threadsafe(ended.set))
    await ended.wait()
    try:
        return cast("State[Any]", await asyncio.to_thread(wrapped.result))
    except Exception as exc:  # noqa: BLE001 -- whatever Dask raises for workers that are gone, and Prefect on one
        why = failure_of(exc)
        if type(exc).__module__.partition(".")[0] not in ("distributed", "dask", "concurrent"):
            return Failed(message=why)
        return Crashed(message=f"its workers died ({why}); nothing is lost: go on with `longbeam resume`")


@asynccontextmanager
async def dask_client(options: ClusterOptions, conversations: int) -> AsyncIterator[Any]:
    """Connect to the cluster at the address given, or to one that is started here for as long as the block lasts."""
    import dask.config

    with dask.config.set(QUIET), tempfile.TemporaryDirectory(prefix="longbeam-dask-") as folder:
        import distributed

        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        cluster, address, patience_s = None, options.address, REACH_S
        if not address:
            cluster = await asyncio.to_thread(_start, distributed, options.local_workers(conversations), folder)
            address, patience_s = cluster.scheduler_address, ANSWER_S
        try:
            client = await asyncio.to_thread(_connect, distributed, address, patience_s)
            try:
                yield client
            finally:
                await _close(client)
        finally:
            if cluster is not None:
                await asyncio.shield(_close(cluster))


async def _close(closable: Any) -> None:
    # On a busy machine it may take longer; then the workers' processes end with this one, by themselves.
    with suppress(TimeoutError):
        await asyncio.to_thread(closable.close, ANSWER_S)


def _start(distributed: Any, workers: int, folder: str) -> Any:
    # Ctrl-C reaches the whole process group: the command stops the workers, which must live until then.
    # A thread's signal mask is inherited by the threads and processes it starts; the start of Python's own resource
    # tracker would undo it, so that comes first.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            memory_limit=0,  # Dask would stop workers at a share of the memory that it finds itself
            local_directory=folder,
            silence_logs=logging.CRITICAL,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _connect(distributed: Any, address: str, patience_s: float) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other versions of libraries that we do not exchange objects of
            client = distributed.Client(address, timeout=patience_s, set_as_default=False)
            client.wait_for_workers(1, timeout=patience_s)
    except (OSError, ValueError, TimeoutError) as exc:
        words = " ".join(str(exc).split())[:200]
        raise UserError(f"no Dask cluster answers at {address!r}: {words}. See that it runs, and its address") from exc
    return client


# --- by deployments ----------------------------------------------------------------------------------------------


async def make_by_deployment(given: Begun, wanted: list[str], limit: str) -> list[State[Any]]:
    """Make each conversation in a run of the deployment of `make-conversation`, and return the end of each."""

    shared: dict[str, Any] = {"benchmark": str(given.benchmark.root), "limit": limit}
    shared |= {"places": len(wanted), "max_cost_usd": share_usd(given, len(wanted))}

    async def one(conversation_id: str) -> State[Any]:
        about = {**shared, "conversation_id": conversation_id}
        run = await arun_deployment(f"make-conversation/{DEPLOYMENT}", parameters=about, flow_run_name=conversation_id)
        return cast("State[Any]", run.state)

    return await asyncio.gather(*map(one, wanted))
