"""Dask: a local cluster that ends with the command, or one that runs already. Imported only where it is asked for."""

from __future__ import annotations

import asyncio
import logging
import signal
import tempfile
import warnings
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any, cast

from longbeam.errors import require_extra
from longbeam.flows.clusters import (
    ANSWER_S,
    REACH_S,
    ClusterOptions,
    WorkerFacts,
    facts_here,
    unreachable,
    without_longbeam,
)
from longbeam.pipeline.distributed import WorkerDied

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State
    from prefect.futures import PrefectFuture
    from prefect.task_runners import TaskRunner

QUIET = {
    "logging": {"distributed": "critical", "distributed.nanny": "critical", "tornado": "critical"},
    "distributed.worker.daemon": False,
    "distributed.admin.tick.limit": "1h",  # a conversation keeps its worker's Python busy; that is no fault
}


@dataclass(frozen=True)
class DaskCluster:
    """A Dask cluster at an address; see `clusters.Cluster`."""

    address: str
    client: Any  # Any: distributed is without types

    @property
    def places(self) -> int:
        """Threads of all workers."""
        return max(1, sum(int(threads) for threads in self.client.nthreads().values()))

    @property
    def task_runner(self) -> TaskRunner[Any]:
        """Prefect's task runner, connected to the same scheduler."""
        from prefect_dask.task_runners import DaskTaskRunner

        return cast("TaskRunner[Any]", DaskTaskRunner(address=self.address))

    async def survey(self, api_url: str, mark: str) -> Mapping[str, WorkerFacts]:
        """Return the facts about each worker, by its address."""
        try:
            found = await asyncio.to_thread(self.client.run, facts_here, api_url, mark)
        except Exception as exc:
            raise without_longbeam("dask", exc) from exc
        return cast("Mapping[str, WorkerFacts]", found)

    async def state_of(self, future: PrefectFuture[Any]) -> State[Any]:
        """Return the state in which a task ended."""
        wrapped = cast(Any, future).wrapped_future
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        wrapped.add_done_callback(lambda _: loop.call_soon_threadsafe(ended.set))
        await ended.wait()
        try:
            return cast("State[Any]", await asyncio.to_thread(wrapped.result))
        except Exception as exc:
            raise WorkerDied(f"{type(exc).__name__}: {' '.join(str(exc).split())[:200]}") from exc


@asynccontextmanager
async def dask_cluster(options: ClusterOptions, conversations: int) -> AsyncIterator[DaskCluster]:
    """Connect to the cluster at the address given, or start one here for as long as the block lasts."""
    require_extra("dask", "--runner dask", "distributed", "prefect_dask")
    import dask.config

    with dask.config.set(QUIET), tempfile.TemporaryDirectory(prefix="longbeam-dask-") as folder:
        import distributed

        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        if options.address:
            cluster, address = None, options.address
        else:
            workers = options.local_workers(conversations)
            cluster = await asyncio.to_thread(_start, distributed, workers, folder)
            address = cluster.scheduler_address
        try:
            client = await asyncio.to_thread(_connect, distributed, address, REACH_S if options.address else ANSWER_S)
            try:
                yield DaskCluster(address, client)
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
        raise unreachable("dask", address, exc) from exc
    return client
