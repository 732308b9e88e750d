"""SIGKILL at a hundred random moments over all runners, through faults: the same bytes, and no reply is lost twice."""

from __future__ import annotations

import os
import random
import subprocess
import time
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.killing import MARK, survivors
from tests.e2e.loopback import HttpRun, http_run, loopback

SPEC = 'name = "killed"\nseed = 11\nlength = "16K"\nconversations = 3\ndomains = ["coding", "lifestyle", "cooking"]\n'
KILLED_UNTIL = 0.9
"""Share of the calls of a run without faults after which none is killed: the last of a run take no time."""
CONCURRENCY = 16
TRANSPORT_FAULTS = ("latency_ms=2", "jitter_ms=20", "rate_limited=0.05", "failing=0.05")
"""Faults after which a call is repeated, and none that puts another reply in the place of the right one."""
START_S = 400
PATIENCE_S = 90

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.mark.parametrize(
    ("runner", "kills", "options"),
    [
        ("inline", 50, ()),
        ("prefect", 30, ()),
        ("dask", 10, ("--workers", "2")),
    ],
)
def test_bytes_are_the_same_after_kills_at_random_moments(
    tmp_path: Path, runner: str, kills: int, options: tuple[str, ...]
) -> None:
    with loopback() as server:
        quiet = http_run(tmp_path, SPEC, server)
        assert quiet.run() == 0
        expected, calls = quiet.bench.export(), server.counts()["answered"]
    with loopback(*TRANSPORT_FAULTS) as server:
        folder = tmp_path / runner
        folder.mkdir()
        run = http_run(folder, SPEC, server)
        run = replace(run, bench=replace(run.bench, runner=runner, options=options, timeout_s=1200))
        lost = 0
        for moment in sorted(random.Random(runner).sample(range(5, int(calls * KILLED_UNTIL)), kills)):
            kill(run, moment)
            lost += run.lost()
        assert run.run() == 0
        again = server.counts()["asked_again"]
        print(f"{runner}: {kills} kills, {lost} answered calls lost, {again} of {calls} asked again")
        assert again <= lost <= kills * CONCURRENCY
        assert run.bench.export() == expected


def kill(run: HttpRun, answered: int) -> None:
    """Go on until the server has answered so many calls in all; then SIGKILL, and wait until nothing is left of it."""
    mark, errors = uuid.uuid4().hex, run.bench.out.parent / "stderr.txt"
    with (
        errors.open("wb") as stderr,
        subprocess.Popen(
            run.bench.command(CONCURRENCY),
            env={**os.environ, MARK: mark},
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        ) as process,
    ):
        deadline = time.monotonic() + START_S
        while process.poll() is None and run.server.counts()["answered"] < answered:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert process.poll() is None, f"the run ended before it was killed: {errors.read_text()[-2000:]}"
        process.kill()
    assert survivors(mark, PATIENCE_S) == []
    run.wait_until_quiet()
