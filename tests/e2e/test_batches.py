"""A run whose probes and narratives go out in batches: the same bytes, also when it is killed while a batch is out."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

from longbeam.store.batch_files import BatchFiles
from tests.e2e.killing import Bench
from tests.e2e.loopback import HttpRun, http_run, loopback

TWO = 'name = "two"\nseed = 23\nlength = "16K"\nconversations = 2\ndomains = ["trip", "coding"]\n'
BATCH = '[batch]\nstages = ["probes", "narratives"]\nwait_s = 0.5\npoll_s = 0.1\n'


def _kill_while_a_batch_is_out(run: HttpRun, number: int) -> None:
    """Run until so many batches in all were received by the server, then SIGKILL."""
    files = BatchFiles(run.bench.out / run.bench.name / "batches")
    with subprocess.Popen(run.bench.command(16), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and sum(bool(entry.batch_id) for entry in files.entries()) < number:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)


def test_a_run_with_batches_has_the_same_bytes_through_kills_and_pays_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(TWO)
    in_process = Bench(path, tmp_path / "in_process")
    in_process.run()
    with loopback("batch_s=1") as server:
        run = http_run(tmp_path, TWO + BATCH, server)
        for number in (1, 2):
            _kill_while_a_batch_is_out(run, number)
        assert run.run() == 0
        counts = server.counts()
    assert run.bench.export() == in_process.export()
    batches = BatchFiles(run.bench.out / run.bench.name / "batches").entries()
    assert len(batches) >= 2
    batched = {request_id for entry in batches for request_id in entry.request_ids}
    assert sum(len(entry.request_ids) for entry in batches) == len(batched), "a batched call was paid twice"
    assert counts["asked_again"] <= 2 * 16  # at most the unbatched calls that were in flight at the kills
