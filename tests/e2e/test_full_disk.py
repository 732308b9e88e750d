"""A disk that fills up during a run: calls in flight may be lost, no others; with room again the run goes on."""

from __future__ import annotations

import random
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.killing import Bench
from tests.e2e.loopback import HttpRun, http_run, loopback

SPEC = 'name = "full"\nseed = 11\nlength = "16K"\nconversations = 2\ndomains = ["coding", "lifestyle"]\n'
CONCURRENCY = 16
WAL_BYTES = 3_000_000
"""Less than a whole run of the spec writes; the write-ahead log is not folded before it has 64 MB."""
ROOM_BYTES = 16 * 2**20
"""Room that a run leaves for the replies on their way."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The export of a run that had room."""
    bench = bench_in(tmp_path_factory.mktemp("undisturbed"))
    bench.run()
    return bench.export()


def bench_in(folder: Path) -> Bench:
    spec = folder / "full.toml"
    spec.write_text(SPEC)
    return Bench(spec, folder / "out")


def fills_up(bench: Bench, limit: Callable[[], None] | None = None) -> None:
    """Run until the disk is full."""
    bench.out.mkdir(exist_ok=True)
    ran = subprocess.run(bench.command(CONCURRENCY), capture_output=True, text=True, timeout=600, preexec_fn=limit)

    assert ran.returncode in (1, 2), ran.stderr[-2000:]
    assert "Traceback" not in ran.stderr
    assert any("disk" in line for line in ran.stderr.splitlines()[-2:])


def assert_few_are_lost(run: HttpRun) -> None:
    """Assert that no more calls are lost than were in flight."""
    lost = run.lost()
    print(f"{lost} of {run.server.counts()['answered']} answered calls are lost")
    assert lost <= CONCURRENCY


def no_file_beyond(size: int) -> Callable[[], None]:
    """Return a function that limits the size of each file that a process writes."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_file_that_may_not_grow_loses_the_calls_in_flight_at_most(tmp_path: Path) -> None:
    with loopback("latency_ms=5", "jitter_ms=20") as server:
        run = http_run(tmp_path, SPEC, server)
        fills_up(run.bench, no_file_beyond(600_000))
        assert_few_are_lost(run)


@pytest.mark.slow
@pytest.mark.parametrize("size", random.Random(1).sample(range(200_000, WAL_BYTES), 20))
def test_a_file_that_may_not_grow_at_any_moment(tmp_path: Path, undisturbed: dict[str, str], size: int) -> None:
    with loopback("latency_ms=5", "jitter_ms=20") as server:
        run = http_run(tmp_path, SPEC, server)
        fills_up(run.bench, no_file_beyond(size))
        assert_few_are_lost(run)
        assert run.run() == 0
    assert run.bench.export() == undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("extra", random.Random(2).sample(range(200_000, WAL_BYTES), 20))
def test_a_small_disk_loses_nothing(tmp_path: Path, undisturbed: dict[str, str], extra: int) -> None:
    bench = bench_in(tmp_path)
    bench.out.mkdir()
    with small_disk(bench.out, ROOM_BYTES + extra):
        fills_up(bench)
        assert set(bench.invocations()) <= bench.committed()
        subprocess.run(["mount", "-o", "remount,size=64m", str(bench.out)], check=True)
        bench.run()
        assert bench.export() == undisturbed


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[None]:
    """Mount a file system of this size in memory; the test is skipped where that is not allowed."""
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting is for root")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)
