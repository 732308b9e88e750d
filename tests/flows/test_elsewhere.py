"""Conversations on a Dask cluster: the workers are looked at first, and one of them is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from longbeam.errors import UserError, require_extra
from longbeam.flows import ClusterOptions, own_host, server_settings
from longbeam.store import living_holder, open_benchmark
from tests.flows.pages import REPOSITORY, Pages

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
