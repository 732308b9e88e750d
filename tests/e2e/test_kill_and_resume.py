"""The same bytes whatever the concurrency and however often a run is killed; nothing is paid for twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.killing import Bench, kill_and_resume
from tests.flows.processes import servers_of

SHORT = 'name = "short"\nseed = 11\nlength = "16K"\nconversations = 2\ndomains = ["coding", "lifestyle"]\n'
CHECKED = 'name = "checked"\nseed = 21\nlength = "16K"\ndomains = ["trip"]\n[checks]\nmodel = true\n'
CHECKS = {"check_contradiction": 2, "guess_answers": 1, "read_passages": 3, "criticise_probes": 1, "mark_answers": 1}
"""Prompts of the checker in the order of a run, and how many of their replies are there at the kill."""
LONG = 'name = "long"\nseed = 12\nlength = "128K"\nconversations = 2\ndomains = ["math", "coding"]\n'


def _moments(total: int, kills: int, seed: int) -> list[int]:
    # Moments are numbers of answered calls, so that a slow machine is killed at the same places as a fast one.
    return sorted(random.Random(seed).sample(range(1, total), kills))


def _bench(tmp_path: Path, spec: str, run: str, runner: str = "inline") -> Bench:
    name = spec.split('"')[1]
    path = tmp_path / f"{name}.toml"
    path.write_text(spec)
    return Bench(path, tmp_path / run, runner)


def _same_bytes_however_made(tmp_path: Path, spec: str, runner: str, kills: int) -> None:
    serial = _bench(tmp_path, spec, "serial")
    serial.run(concurrency=1)
    parallel = _bench(tmp_path, spec, "parallel", runner)
    parallel.run(concurrency=16)
    killed = _bench(tmp_path, spec, "killed", runner)
    total = len(serial.invocations())
    done, paid_twice = kill_and_resume(killed, _moments(total, kills, seed=3))
    assert done == kills
    assert paid_twice == {}
    assert len(set(serial.invocations())) == total, "an uninterrupted run asks nothing twice"
    assert serial.export() == parallel.export() == killed.export()


def test_export_is_equal_after_kills_inline(tmp_path: Path) -> None:
    _same_bytes_however_made(tmp_path, SHORT, "inline", kills=2)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_kills_amid_the_checks_of_a_model_lose_nothing(tmp_path: Path) -> None:
    whole, killed = (_bench(tmp_path, CHECKED, run) for run in ("whole", "killed"))
    whole.run()
    paid_twice: set[str] = set()
    for prompt_id, replies in CHECKS.items():

        def is_amid(prompt_id: str = prompt_id, replies: int = replies) -> bool:
            return killed.committed_of(prompt_id) >= replies

        assert not is_amid(), prompt_id
        before, seen = (killed.committed() if killed.out.exists() else set()), len(killed.invocations())
        assert killed.run_and_kill_when(is_amid, concurrency=1), prompt_id
        assert is_amid(), prompt_id
        paid_twice |= before & set(killed.invocations()[seen:])
    before, seen = killed.committed(), len(killed.invocations())
    killed.run()
    assert paid_twice | before & set(killed.invocations()[seen:]) == set()
    assert killed.export() == whole.export()


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_export_is_equal_after_five_kills_with_prefect(tmp_path: Path) -> None:
    _same_bytes_however_made(tmp_path, LONG, "prefect", kills=5)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("after", [5, 150, 550])
def test_a_run_that_loses_its_prefect_server_goes_on(tmp_path: Path, after: int) -> None:
    inline, bench = _bench(tmp_path, SHORT, "inline"), _bench(tmp_path, SHORT, "prefect", "prefect")
    inline.run()
    bench.out.mkdir()
    with subprocess.Popen(bench.command(16), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        while run.poll() is None and bench.answered() < after:
            time.sleep(0.005)
        for server in servers_of(run.pid):
            os.kill(server, signal.SIGKILL)
        _, said = run.communicate(timeout=300)

    assert run.returncode == 0, said[-2000:]
    assert bench.export() == inline.export()
