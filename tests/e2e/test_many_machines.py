"""Two workers of a cluster, one of which is killed; Ctrl-C; and the command itself killed.

The workers are processes of this machine: what they share is the folder, as machines would.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
import uuid
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from longbeam.store import Benchmark, Holder, living_holder, open_benchmark
from tests.e2e.killing import MARK, Bench, survivors

SPEC = 'name = "spread"\nseed = 11\nlength = "16K"\nconversations = 3\ndomains = ["coding", "lifestyle", "cooking"]\n'
CONCURRENCY = 8
CALLS_BEFORE = 120
"""Of some 1,070: both workers are at their first conversation."""
START_S = 400
"""Until the first calls: Prefect's server and a cluster start, which takes minutes on a busy machine."""
PATIENCE_S = 90
"""For what a killed command leaves on a busy machine."""
RUNNERS = pytest.mark.parametrize("runner", ["dask"])

pytestmark = pytest.mark.slow


class Command:
    """A `generate` that runs in a session of its own, as one started from a terminal."""

    def __init__(self, bench: Bench) -> None:
        bench.out.mkdir(parents=True, exist_ok=True)
        self.bench = bench
        self.mark = uuid.uuid4().hex
        self.stderr = bench.out / "stderr.txt"
        with self.stderr.open("wb") as stderr:
            self.process = subprocess.Popen(
                bench.command(CONCURRENCY),
                env={**os.environ, MARK: self.mark},
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
            )

    def wait_for_calls(self, count: int) -> None:
        deadline = time.monotonic() + START_S
        while len(self.bench.invocations()) < count:
            assert self.process.poll() is None, self.stderr.read_text()
            assert time.monotonic() < deadline, self.stderr.read_text()
            time.sleep(0.005)

    def end(self, timeout_s: float = 600) -> int:
        return self.process.wait(timeout_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def bench_of(tmp_path: Path, runner: str) -> Bench:
    path = tmp_path / "spread.toml"
    path.write_text(SPEC)
    options = ("--workers", "2", "--scratch", str(tmp_path / "scratch")) if runner != "inline" else ()
    return Bench(path, tmp_path / runner, runner, options)


def benchmark_of(bench: Bench) -> Benchmark:
    return open_benchmark(bench.out, bench.name)


def holders(bench: Bench) -> dict[str, Holder]:
    """Who makes what now."""
    benchmark = benchmark_of(bench)
    found = {i: living_holder(benchmark.lease_folder(i)) for i in benchmark.conversation_ids}
    return {i: holder for i, holder in found.items() if holder is not None}


def paid_twice(bench: Bench) -> int:
    """How many answers were given to a call that had been answered."""
    return sum(count - 1 for count in Counter(bench.invocations()).values())


def assert_same_as_inline(bench: Bench, tmp_path: Path) -> None:
    inline = bench_of(tmp_path, "inline")
    inline.run()
    assert bench.export() == inline.export()


@RUNNERS
def test_a_worker_is_killed_and_the_export_is_that_of_an_inline_run(runner: str, tmp_path: Path) -> None:
    bench = bench_of(tmp_path, runner)
    with Command(bench) as command:
        command.wait_for_calls(CALLS_BEFORE)
        now = holders(bench)
        assert len({holder.pid for holder in now.values()}) == 2, "two workers are at it"
        conversation_id, victim = min(now.items())
        os.kill(victim.pid, signal.SIGKILL)
        assert command.end() == 0, command.stderr.read_text()

    lease = max(benchmark_of(bench).lease_folder(conversation_id).glob("*.lease"))
    assert int(lease.stem) >= 2, "another worker went on"
    # When it ended it may have had answers that were not recorded yet: no more than its calls in flight.
    assert paid_twice(bench) <= CONCURRENCY // 2
    assert survivors(command.mark) == []
    assert list((tmp_path / "scratch").iterdir()) == []
    assert_same_as_inline(bench, tmp_path)


@RUNNERS
def test_ctrl_c_stops_cleanly_and_another_runner_goes_on(runner: str, tmp_path: Path) -> None:
    bench = bench_of(tmp_path, runner)
    with Command(bench) as command:
        command.wait_for_calls(CALLS_BEFORE)
        os.killpg(command.process.pid, signal.SIGINT)
        assert command.end() == 130, command.stderr.read_text()

    assert "nothing is lost. Go on with: longbeam resume spread" in command.stderr.read_text()
    assert "Traceback" not in command.stderr.read_text()
    assert survivors(command.mark) == []
    assert holders(bench) == {}
    assert bench.committed() == set(bench.invocations())
    here = Bench(bench.spec, bench.out)
    here.run()
    assert paid_twice(bench) == 0
    assert_same_as_inline(here, tmp_path)


@RUNNERS
def test_the_command_itself_is_killed_and_goes_on(runner: str, tmp_path: Path) -> None:
    bench = bench_of(tmp_path, runner)
    with Command(bench) as command:
        command.wait_for_calls(CALLS_BEFORE)

    assert survivors(command.mark, patience_s=PATIENCE_S) == []
    with Command(bench) as again:
        assert again.end() == 0, again.stderr.read_text()
    assert paid_twice(bench) <= CONCURRENCY
    assert survivors(again.mark) == []
    assert_same_as_inline(bench, tmp_path)
