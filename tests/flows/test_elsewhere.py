"""Conversations on a Dask cluster: the workers are looked at first, and one of them is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prefect.client.schemas.objects import State
from prefect.concurrency.asyncio import ConcurrencySlotAcquisitionError
from prefect.states import Completed

from longbeam.errors import LongbeamError, UserError, require_extra
from longbeam.flows import Begun, ClusterOptions, DaskRun, own_host, server_settings
from longbeam.models import CostMeter
from longbeam.pipeline.distributed import JobEnd, JobResult
from longbeam.schemas import BenchmarkSpec
from longbeam.store import create_benchmark, living_holder, open_benchmark
from longbeam.wiring import services
from tests.flows.pages import REPOSITORY, Pages
from tests.pipeline.conftest import CountingModel

CALLS_BEFORE = 120
"""Of some 490: both workers are at their conversation."""


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_killed_worker_s_conversation_moves_to_another(pages: Pages, out: Path) -> None:
    log, name = out.parent / "calls", "moved"
    command = [sys.executable, "-m", "longbeam", "generate", "--name", name, "--length", "16K", "--conversations", "2"]
    options = ["--runner", "dask", "--workers", "2", "--out", str(out), "--invocation-log", str(log)]
    with subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True, cwd=REPOSITORY) as run:
        while not log.exists() or len(log.read_text().splitlines()) < CALLS_BEFORE:
            assert run.poll() is None
            time.sleep(0.05)
        benchmark = open_benchmark(out, name)
        holder = next(h for i in benchmark.conversation_ids if (h := living_holder(benchmark.lease_folder(i))))
        os.kill(holder.pid, signal.SIGKILL)
        _, told = run.communicate(timeout=900)
    assert benchmark.sealed_ids == ("c000", "c001"), told
    (root,) = pages.runs(name)
    assert root["state_type"] == "COMPLETED"
    assert "c000" in [pages.run(child)["name"] for child in pages.below(root["id"])]  # the workers run the same flow


class Cluster:
    """Ends the tasks that it is given one after the other, as a cluster's client tells it."""

    def __init__(self, *ends: State[Any] | Exception) -> None:
        self._ends = list(ends)

    def submit(self, task: object, given: dict[str, str]) -> SimpleNamespace:
        future: Future[State[Any]] = Future()
        match self._ends.pop(0):
            case Exception() as error:
                future.set_exception(error)
            case end:
                future.set_result(end)
        return SimpleNamespace(wrapped_future=future)


MADE = JobResult(conversation_id="c000", worker="w", end=JobEnd.MADE, is_finished=True)
BUSY = ConcurrencySlotAcquisitionError("Unable to acquire concurrency slots on ['tag:pid-1']")


async def on(cluster: Cluster, out: Path) -> DaskRun:
    benchmark = create_benchmark(BenchmarkSpec(name="far", length=16_000), out)
    meter = CostMeter(CountingModel(), benchmark.spec)
    run = DaskRun(Begun(benchmark, meter, services().models(meter)), ["c000"], "", ClusterOptions())
    await run._one("c000", asyncio.Semaphore(1), cluster, 1)
    return run


async def test_a_task_around_which_prefect_fails_on_its_worker_is_sent_again(out: Path) -> None:
    run = await on(Cluster(BUSY, Completed(data=MADE.model_dump_json())), out)
    assert (run.summary().finished, run.stopped) == (1, "")


async def test_a_task_around_which_prefect_fails_twice_names_what_it_said(out: Path) -> None:
    with pytest.raises(LongbeamError, match=r"c000: .*Unable to acquire concurrency slots.*Workers need longbeam"):
        await on(Cluster(BUSY, BUSY), out)


async def test_a_conversation_whose_workers_died_is_not_sent_again(out: Path) -> None:
    killed = type("KilledWorker", (Exception,), {"__module__": "distributed.scheduler"})("c000")
    assert "its workers died (KilledWorker" in (await on(Cluster(killed), out)).stopped


def test_an_extra_that_is_not_installed_is_named_with_what_to_install() -> None:
    with pytest.raises(
        UserError, match=r"--runner dask needs no_such_dask, which is not installed: pip install 'longbeam\[dask\]'"
    ):
        require_extra("dask", "--runner dask", "json", "no_such_dask")


def test_workers_reach_this_machine_where_it_faces_them() -> None:
    assert own_host("", "") == "127.0.0.1"
    assert own_host("tcp://127.0.0.1:8786", "") == "127.0.0.1"
    assert own_host("tcp://127.0.0.1:8786", "10.1.1.1") == "10.1.1.1"
    with pytest.raises(UserError, match="--address 'tcp://no such host:1'"):
        own_host("tcp://no such host:1", "")


def test_a_server_that_others_can_reach_asks_for_a_password_of_this_run(tmp_path: Path) -> None:
    here, there, again = (server_settings(tmp_path, 1, host) for host in ("127.0.0.1", "10.0.0.1", "10.0.0.1"))
    assert "PREFECT_SERVER_API_AUTH_STRING" not in here
    assert there["PREFECT_API_URL"] == "http://10.0.0.1:1/api"
    assert there["PREFECT_SERVER_API_AUTH_STRING"] == there["PREFECT_API_AUTH_STRING"]
    assert there["PREFECT_API_AUTH_STRING"] != again["PREFECT_API_AUTH_STRING"]


def test_a_local_cluster_has_no_more_workers_than_there_is_to_do() -> None:
    assert ClusterOptions(workers=7).local_workers(2) == 7
    assert ClusterOptions().local_workers(1) == 1
