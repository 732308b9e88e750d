"""Ray: a local cluster that ends with the command, or one that runs already. Imported only where it is asked for."""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from longbeam.errors import require_extra
from longbeam.flows.clusters import (
    ANSWER_S,
    ClusterOptions,
    WorkerFacts,
    facts_here,
    unreachable,
    without_longbeam,
)
from longbeam.pipeline.distributed.distributing import WorkerDied

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State
    from prefect.futures import PrefectFuture
    from prefect.task_runners import TaskRunner

SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "disabled",  # else it writes a token into the user's home
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else it warns that a later version will not hide GPUs
}
OBJECT_STORE_BYTES = 80_000_000
"""Close to the least that Ray allows: jobs and results are a few kilobytes."""


@dataclass(frozen=True)
class RayCluster:
    """The Ray cluster that this process is connected to; see `clusters.Cluster`."""

    ray: Any  # Any: ray is loosely typed

    @property
    def places(self) -> int:
        """CPUs of all nodes: a task takes one."""
        return max(1, int(self.ray.cluster_resources().get("CPU", 1)))

    @property
    def task_runner(self) -> TaskRunner[Any]:
        """Prefect's task runner; it uses the connection that is open already."""
        from prefect_ray.task_runners import RayTaskRunner

        return cast("TaskRunner[Any]", RayTaskRunner())

    async def survey(self, api_url: str, mark: str) -> Mapping[str, WorkerFacts]:
        """Return the facts about each node, by its name."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        ask = self.ray.remote(facts_here)
        found = {}
        try:
            for node in self.ray.nodes():
                if node["Alive"]:
                    there = NodeAffinitySchedulingStrategy(node_id=node["NodeID"], soft=False)
                    asked = ask.options(num_cpus=0, max_retries=0, scheduling_strategy=there).remote(api_url, mark)
                    name = f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
                    found[name] = await asyncio.to_thread(self.ray.get, asked, timeout=2 * ANSWER_S)
        except Exception as exc:
            raise without_longbeam("ray", exc) from exc
        return found

    async def state_of(self, future: PrefectFuture[Any]) -> State[Any]:
        """The state in which a task ended."""
        try:
            return cast("State[Any]", await asyncio.wrap_future(cast(Any, future).wrapped_future.future()))
        except Exception as exc:
            raise WorkerDied(f"{type(exc).__name__}: {' '.join(str(exc).split())[:200]}") from exc


@asynccontextmanager
async def ray_cluster(options: ClusterOptions, conversations: int) -> AsyncIterator[RayCluster]:
    """Connect to the cluster at the address given, or start one here for as long as the block lasts."""
    require_extra("ray", "--runner ray", "ray", "prefect_ray")
    os.environ.update(SETTINGS)  # put back by `prefect_server`, within which this runs
    import ray

    # Ray's sockets lie in this folder; the path of one may have no more than 107 characters.
    with tempfile.TemporaryDirectory(prefix="lb-ray-", ignore_cleanup_errors=True) as folder:
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL, "configure_logging": False}
        if options.address:
            await _connect(ray, options.address, quiet)
        else:
            ray.init(
                address="local",
                num_cpus=options.local_workers(conversations),
                num_gpus=0,
                include_dashboard=False,
                object_store_memory=OBJECT_STORE_BYTES,
                _temp_dir=folder,
                **quiet,
            )
        try:
            yield RayCluster(ray)
        finally:
            ray.shutdown()


async def _connect(ray: Any, address: str, quiet: dict[str, Any]) -> None:
    try:
        await asyncio.wait_for(asyncio.to_thread(ray.init, address, **quiet), ANSWER_S)
    except (OSError, ValueError, RuntimeError, TimeoutError) as exc:
        raise unreachable("ray", address, repr(exc)) from exc
