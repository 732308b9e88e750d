"""A benchmark through Prefect for real, with a fake in the model's place; the tests build on each other."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from longbeam.errors import ProviderError
from longbeam.flows import HOME, run_with_prefect
from longbeam.models import ModelCall
from longbeam.pipeline.run import SilentProgress
from longbeam.schemas import BenchmarkSpec, ModelReply
from longbeam.store import Benchmark, WorkLog, create_benchmark
from tests.flows.processes import servers_of, wait_until_gone
from tests.pipeline.conftest import HeldModel
from tests.wired import answered_by

# Prefect leaves its client's sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


MUTE_RUN = """
import asyncio, sys
from pathlib import Path
from longbeam.flows.runner import run_with_prefect
from longbeam.store.layout import open_benchmark
from longbeam.pipeline.run.units import SilentProgress
from tests.wired import answered_by

class MuteModel:
    async def complete(self, call):
        print("asked", flush=True)
        await asyncio.sleep(600)

benchmark = open_benchmark(Path(sys.argv[1]), sys.argv[2])
asyncio.run(run_with_prefect(benchmark, answered_by(MuteModel()), progress=SilentProgress()))
"""


class DeafModel:
    """Answers nothing; `broken` is a bug instead of a failure."""

    def __init__(self, *, broken: bool = False) -> None:
        self.broken = broken
        self.calls = 0

    async def complete(self, call: ModelCall) -> ModelReply:
        self.calls += 1
        await asyncio.sleep(0)
        if self.broken:
            raise ZeroDivisionError("a bug")
        raise ProviderError("nobody listens", kind="server_error", is_retryable=False)


@pytest.fixture
def benchmark(prefect_home: Path) -> Benchmark:
    """A benchmark beside the room's Prefect home, so that its database is made once."""
    out = prefect_home.parent
    return create_benchmark(BenchmarkSpec(name="deaf", conversations=2, length=16_000), out)


def flow_states(home: Path) -> list[str]:
    """States of all flow runs, oldest first, as Prefect has recorded them."""
    return [state for (state,) in recorded(home, "SELECT state_type FROM flow_run ORDER BY start_time")]


def task_states(home: Path) -> list[str]:
    """`name STATE` of the task runs of the last flow run."""
    rows = recorded(
        home,
        "SELECT name, state_type FROM task_run WHERE flow_run_id ="
        " (SELECT id FROM flow_run ORDER BY start_time DESC LIMIT 1) ORDER BY name",
    )
    return [" ".join(row) for row in rows]


def recorded(home: Path, query: str) -> list[tuple[str, ...]]:
    with contextlib.closing(sqlite3.connect(home / "prefect.db")) as db:
        return db.execute(query).fetchall()


def until_shown_as(states: list[str], home: Path) -> None:
    found: list[str] = []
    while found != states:
        time.sleep(0.05)
        with contextlib.suppress(sqlite3.OperationalError):  # the server is making its database
            found = flow_states(home)


def test_a_killed_run_leaves_no_process(benchmark: Benchmark) -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", MUTE_RUN, str(benchmark.root.parent), benchmark.spec.name],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None
    with run.stdout:
        try:
            assert run.stdout.readline() == "asked\n"  # the run does not wait for its server
            until_shown_as(["RUNNING"], benchmark.root.parent / HOME)
            (server,) = servers_of(run.pid)
        finally:
            run.send_signal(signal.SIGKILL)
            run.wait()

    assert wait_until_gone(server, timeout_s=10)
    assert flow_states(benchmark.root.parent / HOME) == ["RUNNING"]


async def test_the_next_run_closes_it_and_shows_its_own_failures(benchmark: Benchmark) -> None:
    summary = await run_with_prefect(benchmark, answered_by(DeafModel()), progress=SilentProgress())

    assert (summary.conversations, summary.finished) == (2, 0)
    assert {conversation_id for conversation_id, _ in summary.failures} == {"c000", "c001"}
    home = benchmark.root.parent / HOME
    assert flow_states(home) == ["CRASHED", "FAILED"]
    # what needs the persona is not begun
    assert task_states(home) == ["c000/persona FAILED", "c001/persona FAILED"]


async def test_a_bug_keeps_its_exception(benchmark: Benchmark) -> None:
    with pytest.raises(ZeroDivisionError, match="a bug"):
        await run_with_prefect(benchmark, answered_by(DeafModel(broken=True)), progress=SilentProgress())


async def test_a_stopped_run_sends_no_call_while_its_server_stops(prefect_home: Path) -> None:
    benchmark = create_benchmark(BenchmarkSpec(name="held", length=16_000), prefect_home.parent)
    model = HeldModel(30)
    running = asyncio.create_task(run_with_prefect(benchmark, answered_by(model), progress=SilentProgress()))
    await model.is_holding.wait()
    await asyncio.sleep(0.1)  # until all calls that may be in flight are
    sent = len(model.keys)
    running.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    model.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert len(model.keys) == sent
    with WorkLog.open_read_only(benchmark.work_path("c000")) as log:
        assert all(log.journal.reply_of(key) for key in model.keys)


def test_the_home_of_a_benchmark_is_beside_it(prefect_home: Path) -> None:
    assert prefect_home.name == HOME
