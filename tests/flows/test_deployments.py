"""Runs of deployments, as started from Prefect's pages: served, scheduled, cancelled, suspended, killed."""

from __future__ import annotations

import datetime as dt
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from longbeam.errors import StoreError
from longbeam.store import WorkLog, open_benchmark
from tests.flows.pages import REPOSITORY, Pages, serving
from tests.flows.processes import is_alive

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
MAIN = "generate-benchmark/longbeam"
SHORT = {"length": "16K", "seed": 5, "domain": "coding"}
SLOW = '[endpoints."openai:slow"]\nbase_url = "{url}"\nsends_extras = true\n[models]\ndefault = "openai:slow"\n'


@pytest.fixture(scope="module")
def served_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the benchmarks of the served flows."""
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def served(user_server: str, served_out: Path) -> Iterator[Pages]:
    """`longbeam flows serve` on the user's server."""
    before = os.environ.get("PREFECT_API_URL")
    os.environ["PREFECT_API_URL"] = user_server
    try:
        with serving(Pages(user_server), served_out):
            yield Pages(user_server)
    finally:
        os.environ.pop("PREFECT_API_URL")
        if before is not None:
            os.environ["PREFECT_API_URL"] = before


@pytest.fixture(scope="module")
def slow_spec(served_out: Path) -> Iterator[Path]:
    """A spec whose endpoint takes a second for each reply."""
    command = [sys.executable, "-m", "longbeam", "serve-offline", "--port", "0", "latency_ms=1000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        url = next(word for line in server.stdout for word in line.split() if word.startswith("http://"))
        spec = served_out / "slow.toml"
        spec.write_text('name = "slow"\nlength = "16K"\nseed = 5\n' + SLOW.format(url=url.rstrip("/,.;")))
        try:
            yield spec
        finally:
            server.terminate()


def wait_for(condition: Callable[[], bool], timeout_s: float = 600) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def calls_in(out: Path, name: str) -> int:
    path = out / name / "work" / "c000.sqlite"
    try:
        with WorkLog.open_read_only(path) as log:
            return sum(row.calls for row in log.journal.usage())
    except StoreError:  # not there, or empty yet
        return 0


def process_of(run_id: str) -> int:
    """Return the id of the process in which a run is carried out: `serve` names the run in its environment."""
    mark = f"PREFECT__FLOW_RUN_ID={run_id}".encode()
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in path.read_bytes().split(b"\0"):
                return int(path.parent.name)
    raise AssertionError(f"no process carries out {run_id}")


def test_a_run_is_started_with_parameters_and_its_form_has_their_types(served: Pages, served_out: Path) -> None:
    run_id = served.start(MAIN, name="formed", **SHORT)
    assert served.wait_for_end(run_id) == "COMPLETED"
    benchmark = open_benchmark(served_out, "formed")
    assert benchmark.sealed_ids == ("c000",)
    assert (benchmark.spec.length, benchmark.spec.domains) == (16_000, ("coding",))
    schema = served.ask(f"/deployments/name/{MAIN}")["parameter_openapi_schema"]["properties"]
    assert schema["runner"]["enum"] == ["here", "dask", "deployment"]
    assert {"spec", "length", "domain", "seed", "conversations", "limit"} <= schema.keys()


def test_conversations_are_runs_of_their_own_deployment(served: Pages, served_out: Path) -> None:
    run_id = served.start(MAIN, name="spread", conversations=2, runner="deployment", **SHORT)
    assert served.wait_for_end(run_id) == "COMPLETED"
    assert open_benchmark(served_out, "spread").sealed_ids == ("c000", "c001")
    children = served.ask("/flow_runs/filter", {"flow_runs": {"parent_flow_run_id": {"any_": [run_id]}}})
    assert [child["deployment_id"] is not None for child in children] == [True, True]
    assert {child["name"] for child in children} == {"c000", "c001"}


def test_a_run_is_scheduled(served: Pages, served_out: Path) -> None:
    found = served.ask(f"/deployments/name/{MAIN}")
    later = (dt.datetime.now(dt.UTC) + dt.timedelta(seconds=3)).isoformat()
    state = {"type": "SCHEDULED", "state_details": {"scheduled_time": later}}
    body = {"parameters": {"name": "scheduled", **SHORT}, "state": state}
    run_id = served.ask(f"/deployments/{found['id']}/create_flow_run", body)["id"]
    assert served.wait_for_end(run_id) == "COMPLETED"
    assert served.run(run_id)["start_time"] >= later[:19]
    assert open_benchmark(served_out, "scheduled").sealed_ids == ("c000",)


def test_a_cancelled_run_keeps_its_replies_and_is_retried(served: Pages, served_out: Path, slow_spec: Path) -> None:
    run_id = served.start(MAIN, spec=str(slow_spec), name="cancelled", conversations=2)
    wait_for(lambda: calls_in(served_out, "cancelled") > 15)
    served.set_state(run_id, "CANCELLING")
    assert served.wait_for_end(run_id) == "CANCELLED"
    kept = calls_in(served_out, "cancelled")

    retried = served.command("flow-run", "retry", run_id)
    assert retried.returncode == 0, retried.stdout + retried.stderr
    served.wait(run_id, lambda row: row["run_count"] == 2)
    assert served.wait_for_end(run_id) == "COMPLETED"
    with WorkLog.open_read_only(served_out / "cancelled" / "work" / "c000.sqlite") as log:
        assert sum(row.calls for row in log.journal.usage()) > kept  # and none twice: the journal has a key for each


def test_a_suspended_run_stops_and_goes_on_when_it_is_resumed(served: Pages, served_out: Path, slow_spec: Path) -> None:
    run_id = served.start(MAIN, spec=str(slow_spec), name="suspended")
    wait_for(lambda: calls_in(served_out, "suspended") > 2)
    pid = process_of(run_id)
    served.set_state(run_id, "PAUSED", "Suspended")
    wait_for(lambda: not is_alive(pid))
    assert not open_benchmark(served_out, "suspended").sealed_ids
    served.ask(f"/flow_runs/{run_id}/resume", {})
    assert served.wait_for_end(run_id) == "COMPLETED"
    assert open_benchmark(served_out, "suspended").sealed_ids == ("c000",)


def test_a_killed_run_is_crashed_and_another_runner_goes_on(served: Pages, served_out: Path, slow_spec: Path) -> None:
    run_id = served.start(MAIN, spec=str(slow_spec), name="killed")
    wait_for(lambda: calls_in(served_out, "killed") > 15)
    os.kill(process_of(run_id), signal.SIGKILL)
    assert served.wait_for_end(run_id) == "CRASHED"
    resumed = subprocess.run(
        [sys.executable, "-m", "longbeam", "resume", "killed", "--out", str(served_out), "--runner", "inline"],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
    )
    said = resumed.stdout + resumed.stderr
    assert "1 of 1 conversation finished" in said
    retried = served.command("flow-run", "retry", run_id)
    assert retried.returncode == 0, retried.stdout + retried.stderr
    served.wait(run_id, lambda row: row["run_count"] == 2)
    assert served.wait_for_end(run_id) == "COMPLETED"


def test_a_finished_benchmark_is_checked_and_evaluated_by_flows(served: Pages, served_out: Path) -> None:
    assert served.wait_for_end(served.start(MAIN, name="given", **SHORT)) == "COMPLETED"
    validated = served.start("validate-benchmark/longbeam", name="given")
    evaluated = served.start("evaluate-benchmark/longbeam", name="given", systems=["rag"])
    repaired = served.start("repair-benchmark/longbeam", name="given")
    assert [served.wait_for_end(run) for run in (validated, evaluated, repaired)] == ["COMPLETED"] * 3
    artifacts = served.artifacts()
    assert "1 conversation checked" in str(artifacts["given-findings"]["data"])
    assert "rag" in str(artifacts["given-scores"]["data"])


def test_a_conversation_holds_a_slot_of_a_named_limit(served: Pages) -> None:
    served.ask("/v2/concurrency_limits/", {"name": "gpu", "limit": 1})
    run_id = served.start(MAIN, name="limited", limit="gpu", **SHORT)
    assert served.wait_for_end(run_id) == "COMPLETED"
    unknown = served.start(MAIN, name="unlimited", limit="no-such-limit", **SHORT)
    assert served.wait_for_end(unknown) == "FAILED"


def test_flows_are_deployed_to_a_work_pool(pages: Pages, out: Path) -> None:
    command = [sys.executable, "-m", "longbeam", "flows", "deploy", "--out", str(out), "--pool"]
    refused = subprocess.run([*command, "nowhere"], capture_output=True, text=True, cwd=REPOSITORY)
    assert refused.returncode == 2
    assert "no work pool 'nowhere'" in refused.stderr
    pages.ask("/work_pools/", {"name": "house", "type": "process"})
    options = ["house", "--set", "length=16K", "--cron", "0 2 * * *"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, cwd=REPOSITORY)
    assert done.returncode == 0, done.stderr
    assert MAIN in done.stdout.splitlines()
    found = pages.ask(f"/deployments/name/{MAIN}")
    assert found["work_pool_name"] == "house"
    assert found["parameters"] == {"out": str(out), "length": "16K"}
    assert [s["schedule"]["cron"] for s in found["schedules"]] == ["0 2 * * *"]
    assert pages.ask("/deployments/name/make-conversation/longbeam")["parameters"] == {}
