"""Runs that a command begins, on a server that the user has started."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from longbeam.errors import ProviderError
from longbeam.flows import HOME, Begun, run_with_prefect
from longbeam.models import ChatModel, CostMeter, ModelCall
from longbeam.pipeline.run import RunSummary, run_inline
from longbeam.schemas import BenchmarkSpec, ModelReply
from longbeam.store import Benchmark, SealedConversation, create_benchmark
from longbeam.wiring import services
from tests.flows.pages import REPOSITORY, Pages
from tests.flows.processes import servers_of
from tests.pipeline.conftest import CountingModel
from tests.wired import answered_by

# Prefect leaves its client's sockets to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.timeout(900),
]
STAGES = ("seeds", "profile", "relationships", "narratives", "p0/plan", "p0/user_turns", "p0/dialogue", "probes")
ENTRYPOINT = "longbeam/flows/generate.py:generate_benchmark"


def benchmark_of(out: Path, name: str, conversations: int = 1) -> Benchmark:
    return create_benchmark(BenchmarkSpec(name=name, length=16_000, seed=5, conversations=conversations), out)


async def run(benchmark: Benchmark, model: ChatModel, said: list[str] | None = None) -> RunSummary:
    meter = CostMeter(model, benchmark.spec)
    begun = Begun(benchmark, meter, services().models(meter))
    return await run_with_prefect(begun, (said if said is not None else []).append)


def contents(benchmark: Benchmark, conversation_id: str = "c000") -> list[str]:
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        return [sealed.head.digest, *(m.digest for m in sealed.messages()), *(p.digest for p in sealed.probes())]


class Acting(CountingModel):
    """Does something before it answers the first call whose unit key holds `at`."""

    def __init__(self, at: str, act: Any) -> None:
        super().__init__()
        self._at, self._act = at, act

    async def complete(self, call: ModelCall) -> ModelReply:
        if self._act is not None and self._at in call.unit_key:
            act, self._act = self._act, None
            await asyncio.to_thread(act)
        return await super().complete(call)


class FailingOnce(CountingModel):
    """Fails at the first call of a stage, as an endpoint that is being started again."""

    def __init__(self, stage: str, times: int = 1) -> None:
        super().__init__()
        self._stage, self._left = f"/{stage}/", times

    async def complete(self, call: ModelCall) -> ModelReply:
        if self._left and self._stage in call.unit_key:
            self._left -= 1
            raise ProviderError("nobody listens", kind="server_error", is_retryable=False)
        return await super().complete(call)


async def test_the_flow_does_the_work_and_leaves_states_logs_and_artifacts(pages: Pages, out: Path) -> None:
    benchmark, said = benchmark_of(out, "whole", conversations=2), list[str]()
    summary = await run(benchmark, CountingModel(), said)

    assert summary.finished == 2
    assert said == [f"Prefect's server: {pages.url}"]
    (root,) = pages.runs("whole")
    assert root["state_type"] == "COMPLETED"
    assert root["parameters"]["spec"] == str(benchmark.root)
    first, second = (pages.run(child) for child in pages.below(root["id"]))
    assert {first["name"], second["name"]} == {"c000", "c001"}
    name = first["name"]
    expected = {f"{name}/{stage}" for stage in (*STAGES, "checks", "seal")}
    assert pages.tasks(first["id"]) == dict.fromkeys(expected, "COMPLETED")
    assert any("p0 dialogue: " in line and "model calls" in line for line in pages.logs(first["id"]))
    artifacts = pages.artifacts()
    assert artifacts["whole-progress-c000"]["data"] == 100
    assert "persona" in str(artifacts["whole-cost"]["data"])
    assert "2 conversations checked" in str(artifacts["whole-findings"]["data"])
    assert "127.0.0.1:8000" in str(artifacts["whole-review"]["data"])
    assert servers_of(os.getpid()) == []  # no server of our own beside the user's

    inline = benchmark_of(out / "inline", "whole", conversations=2)
    assert (await run_inline(inline, answered_by(CountingModel()))).failures == summary.failures
    assert [contents(benchmark, i) for i in ("c000", "c001")] == [contents(inline, i) for i in ("c000", "c001")]

    again = CountingModel()
    assert (await run(benchmark, again)).finished == 2
    assert again.keys == []


async def test_a_stage_is_retried_by_prefect_and_finds_its_replies(pages: Pages, out: Path) -> None:
    model = FailingOnce("user_turns")
    summary = await run(benchmark_of(out, "retried"), model)

    assert summary.finished == 1
    assert "user_turns" not in {unit.stage for _, unit in summary.failures}
    assert len(model.keys) == len(set(model.keys))  # what was answered before the failure is not asked again
    (root,) = pages.runs("retried")
    (child,) = pages.below(root["id"])
    rows = pages.ask("/task_runs/filter", {"flow_runs": {"id": {"any_": [child]}}, "limit": 200})
    assert {row["name"]: row["run_count"] for row in rows}["c000/p0/user_turns"] == 2


@pytest.mark.slow  # processes of their own, each with an import of Prefect
async def test_a_run_that_failed_is_retried_from_prefects_command_line(pages: Pages, out: Path) -> None:
    benchmark = benchmark_of(out, "failed")
    summary = await run(benchmark, FailingOnce("dialogue", times=99))
    assert summary.finished == 0
    (root,) = pages.runs("failed")
    assert root["state_type"] == "FAILED"
    assert "c000: dialogue p0.s" in root["state"]["message"]
    assert "nobody listens" in root["state"]["message"]

    retried = await asyncio.to_thread(pages.command, "flow-run", "retry", root["id"], "--entrypoint", ENTRYPOINT)
    assert retried.returncode == 0, retried.stdout + retried.stderr
    row = pages.run(root["id"])
    assert (row["state_type"], row["run_count"]) == ("COMPLETED", 2)
    assert benchmark.sealed_ids == ("c000",)
    again = CountingModel()
    assert (await run_inline(benchmark, answered_by(again))).finished == 1  # what `longbeam resume` does
    assert again.keys == []


async def test_a_run_that_is_cancelled_on_the_pages_stops_before_its_next_stage(pages: Pages, out: Path) -> None:
    def cancel() -> None:
        (root,) = pages.runs("unwanted")
        pages.set_state(root["id"], "CANCELLING")

    benchmark, model = benchmark_of(out, "unwanted"), Acting("/user_turns/", cancel)
    summary = await run(benchmark, model)

    assert summary.finished == 0
    assert {key.split("/")[1] for key in model.unit_keys} == {"persona", "plan", "user_turns"}
    (root,) = pages.runs("unwanted")
    assert root["state_type"] == "CANCELLED"
    (child,) = pages.below(root["id"])
    assert pages.run(child)["state_type"] == "CANCELLED"

    rest = CountingModel()
    assert (await run_inline(benchmark, answered_by(rest))).finished == 1  # another runner goes on
    assert not set(rest.keys) & set(model.keys)


async def test_a_paused_run_waits_before_its_next_stage_until_it_goes_on(pages: Pages, out: Path) -> None:
    seen, paused, loop = list[str](), asyncio.Event(), asyncio.get_running_loop()

    def pause() -> None:
        (root,) = pages.runs("resting")
        pages.set_state(root["id"], "PAUSED", "Paused")
        loop.call_soon_threadsafe(paused.set)

    async def go_on(model: CountingModel) -> None:
        await paused.wait()
        await asyncio.sleep(4)
        seen.extend(key.split("/")[1] for key in model.unit_keys)
        (root,) = await asyncio.to_thread(pages.runs, "resting")
        await asyncio.to_thread(pages.set_state, root["id"], "RUNNING")

    model = Acting("/user_turns/", pause)
    waking = asyncio.create_task(go_on(model))
    summary = await run(benchmark_of(out, "resting"), model)
    await waking
    assert "dialogue" not in seen
    assert summary.finished == 1
    (root,) = pages.runs("resting")
    assert root["state_type"] == "COMPLETED"


async def test_a_suspended_run_of_a_command_ends_and_is_said_to_be_suspended(pages: Pages, out: Path) -> None:
    verdicts: list[str] = []

    def suspend() -> None:
        (root,) = pages.runs("later")
        # Prefect suspends runs of deployments only, unless a client of its API forces the state.
        verdicts.append(pages.set_state(root["id"], "PAUSED", "Suspended"))
        verdicts.append(pages.set_state(root["id"], "PAUSED", "Suspended", is_forced=True))

    said: list[str] = []
    summary = await run(benchmark_of(out, "later"), Acting("/user_turns/", suspend), said)
    assert verdicts == ["ABORT", "ACCEPT"]
    assert summary.finished == 0
    assert said[-1] == "the run was suspended on Prefect's pages"
    (root,) = pages.runs("later")
    assert (root["state_type"], root["state_name"]) == ("PAUSED", "Suspended")


async def test_a_bug_keeps_its_exception(pages: Pages, out: Path) -> None:
    with pytest.raises(ZeroDivisionError, match="a bug"):
        await run(benchmark_of(out, "buggy"), CountingModel(error=ZeroDivisionError("a bug")))


@pytest.mark.slow  # processes of their own, each with an import of Prefect
def test_ctrl_c_keeps_the_replies_and_a_killed_run_is_closed_by_the_next(pages: Pages, out: Path) -> None:
    command = [sys.executable, "-m", "longbeam", "generate", "--name", "stopped", "--length", "16K", "--out", str(out)]
    for number, expected in ((signal.SIGINT, "CRASHED"), (signal.SIGKILL, "RUNNING")):
        log = out.parent / f"calls-{number}"
        started = [*command, "--runner", "prefect", "--invocation-log", str(log)]
        process = subprocess.Popen(started, stderr=subprocess.PIPE, text=True, cwd=REPOSITORY)
        with process:
            while not log.exists() or len(log.read_text().splitlines()) < 30:
                assert process.poll() is None
            process.send_signal(number)
            assert process.wait(300) == (130 if number == signal.SIGINT else -9)
            assert process.stderr is not None
            told = process.stderr.read()
        if number == signal.SIGINT:
            assert "nothing is lost. Go on with: longbeam resume stopped" in told
            assert "Traceback" not in told
        assert pages.runs("stopped")[-1]["state_type"] == expected
    done = subprocess.run([*command, "--runner", "prefect"], capture_output=True, text=True, cwd=REPOSITORY)
    assert "1 of 1 conversation finished" in done.stdout + done.stderr
    assert [row["state_type"] for row in pages.runs("stopped")] == ["CRASHED", "CRASHED", "COMPLETED"]


async def test_a_server_that_goes_away_costs_pages_and_no_work(prefect_home: Path) -> None:
    def kill() -> None:
        (child,) = servers_of(os.getpid())
        os.kill(child, signal.SIGKILL)

    benchmark, said = benchmark_of(prefect_home.parent, "abandoned"), list[str]()
    model = Acting("/dialogue/", kill)
    summary = await run(benchmark, model, said)

    assert summary.finished == 1
    assert len(model.keys) == len(set(model.keys))
    assert "Prefect's server is gone" in said[-1]
    assert said[0].startswith("Prefect's pages: http://127.0.0.1:")
    assert f"PREFECT_HOME={prefect_home} prefect server start" in said[0]
    assert prefect_home.name == HOME
