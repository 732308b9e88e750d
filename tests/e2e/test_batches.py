"""Runs and evaluations of which stages go out in batches: the same bytes, also when killed while a batch is out."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from longbeam.store import BatchFiles
from tests.e2e.killing import Bench
from tests.e2e.loopback import HttpRun, http_run, loopback

ONE = 'name = "one"\nseed = 23\nlength = "16K"\ndomains = ["trip"]\n'
TWO = 'name = "two"\nseed = 23\nlength = "16K"\nconversations = 2\ndomains = ["trip", "coding"]\n'
CHECKS = "[checks]\nmodel = true\n"
BATCH = '[batch]\nstages = ["narratives", "probes", "checks", "judge"]\nwait_s = 0.5\npoll_s = 0.1\n'


def _kill_while_a_batch_is_out(run: HttpRun, number: int) -> None:
    """Run until so many batches in all were received by the server, then SIGKILL."""
    files = BatchFiles(run.bench.out / run.bench.name / "batches")
    with subprocess.Popen(run.bench.command(16), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and sum(bool(entry.batch_id) for entry in files.entries()) < number:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)


@pytest.mark.slow  # batches within a process are in tests/models
@pytest.mark.timeout(600)
def test_a_run_with_batches_has_the_same_bytes_through_kills_and_pays_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(TWO + CHECKS)
    in_process = Bench(path, tmp_path / "in_process")
    in_process.run()
    with loopback("batch_s=1") as server:
        run = http_run(tmp_path, TWO + CHECKS + BATCH, server)
        for number in (1, 2):
            _kill_while_a_batch_is_out(run, number)
        assert run.run() == 0
        counts = server.counts()
    assert run.bench.export() == in_process.export()
    batches = BatchFiles(run.bench.out / run.bench.name / "batches").entries()
    assert len(batches) >= 2
    batched = {request_id for entry in batches for request_id in entry.request_ids}
    assert sum(len(entry.request_ids) for entry in batches) == len(batched), "a batched call was paid twice"
    assert len(batched) == sum(_is_batched(*call) for call in _calls(run.bench))
    assert any("/checks/" in unit_key for unit_key, _ in _calls(run.bench))
    assert counts["asked_again"] <= 2 * 16  # at most the unbatched calls that were in flight at the kills


def _calls(bench: Bench) -> list[tuple[str, str]]:
    """Return unit key and prompt of the replies in the journals."""
    found = []
    for path in (bench.out / bench.name / "work").glob("*.sqlite"):
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            found += db.execute("SELECT unit_key, prompt_id FROM replies").fetchall()
    return found


def _is_batched(unit_key: str, prompt_id: str) -> bool:
    return unit_key.split("/")[1] in ("probes", "checks") or prompt_id == "narratives"


def _scores(bench: Bench, *models: str) -> dict[str, float]:
    """Evaluate a benchmark with these models, and return the score of each system."""
    command = [sys.executable, "-m", "longbeam", "evaluate", bench.name, "--out", str(bench.out), "--system", "rag"]
    done = subprocess.run([*command, "--json", *models], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return {row["system"]: row["paper"] for row in json.loads(done.stdout)["rows"]}


@pytest.mark.slow  # the run with batches above is made in every `make test`
@pytest.mark.timeout(600)
def test_an_evaluation_whose_judge_is_asked_in_batches_has_the_same_scores(tmp_path: Path) -> None:
    with loopback("batch_s=0.2") as server:
        run = http_run(tmp_path, ONE + BATCH, server)
        assert run.run() == 0
        by_rule = _scores(run.bench)
        files, received = BatchFiles(run.bench.out / run.bench.name / "batches"), server.counts()["received"]
        made = len(files.entries())
        assert _scores(run.bench, "--judge", "openai:offline") == by_rule
        judged = sum(len(entry.request_ids) for entry in files.entries()[made:])
        assert judged == server.counts()["received"] - received > 100  # no call went out alone
