"""Conversations on a Dask cluster: the workers are looked at first, and one of them is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from longbeam import __version__
from longbeam.errors import UserError, require_extra
from longbeam.flows import ClusterOptions, WorkerFacts, facts_here, own_host, refuse_unfit, server_settings
from longbeam.store import living_holder, open_benchmark
from tests.flows.pages import REPOSITORY, Pages

FIT = WorkerFacts(
    longbeam=__version__, python="{}.{}".format(*sys.version_info[:2]), sees_folder=True, reaches_prefect=""
)
CALLS_BEFORE = 120
"""Of some 490: both workers are at their conversation."""


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
        _, told = run.communicate(timeout=240)
    assert run.returncode == 0, told
    assert benchmark.sealed_ids == ("c000", "c001")
    (root,) = pages.runs(name)
    assert root["state_type"] == "COMPLETED"
    assert "c000" in [pages.run(child)["name"] for child in pages.below(root["id"])]  # the workers run the same flow


def test_a_worker_that_has_everything_is_not_refused(tmp_path: Path) -> None:
    refuse_unfit({"tcp://a": FIT, "tcp://b": FIT}, tmp_path, "http://10.0.0.1:1/api")


@pytest.mark.parametrize(
    ("lack", "told"),
    [
        ({"longbeam": "0.0.9"}, f"worker tcp://b has longbeam 0.0.9, this command {__version__}"),
        ({"python": "3.9"}, "worker tcp://b has Python 3.9"),
        ({"sees_folder": False}, "worker tcp://b cannot write .*--out"),
        (
            {"reaches_prefect": "refused"},
            r"worker tcp://b cannot reach .* at http://10.0.0.1:1/api \(refused\).*--host",
        ),
    ],
)
def test_the_first_worker_that_lacks_something_is_named(lack: dict[str, object], told: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=told):
        refuse_unfit({"tcp://a": FIT, "tcp://b": replace(FIT, **lack)}, tmp_path, "http://10.0.0.1:1/api")  # type: ignore[arg-type]


def test_facts_are_those_of_this_process(tmp_path: Path) -> None:
    (tmp_path / "spec.json").touch()
    facts = facts_here("http://127.0.0.1:1/api", str(tmp_path / "spec.json"))
    assert facts.reaches_prefect != ""
    assert replace(facts, reaches_prefect="") == FIT
    assert not facts_here("http://127.0.0.1:1/api", str(tmp_path / "elsewhere" / "spec.json")).sees_folder


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
