"""An evaluation that is killed while it answers and while it judges: nothing is paid twice, the same bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from longbeam.pipeline.benchmark import create_benchmark, open_benchmark
from longbeam.pipeline.evaluating import results_path
from longbeam.pipeline.run import run_inline
from longbeam.schemas.spec import BenchmarkSpec
from longbeam.store.worklog import WorkLog


class Evaluation:
    """`longbeam evaluate` of one benchmark in a process of its own."""

    def __init__(self, out: Path, hash_seed: str) -> None:
        self.out, self.hash_seed = out, hash_seed
        self.log = out / "invocations.log"

    def answered(self) -> list[str]:
        """Keys of the calls that the offline writer answered so far."""
        return self.log.read_text().splitlines() if self.log.exists() else []

    def stages(self) -> Counter[str]:
        """How many replies of each stage are in the journal."""
        path = self.out / "short" / "evaluation" / "c000.sqlite"
        with WorkLog.open_read_only(path) as log:
            return Counter({row.stage: row.calls for row in log.usage()})

    def committed(self) -> set[str]:
        """Keys of the replies that are in the journal."""
        path = self.out / "short" / "evaluation" / "c000.sqlite"
        if not path.exists():
            return set()
        with WorkLog.open_read_only(path) as log:
            return set(log.reply_keys())

    def run(self, kill_after: int | None = None) -> None:
        """Run to the end, or until that many calls were answered in all, then SIGKILL."""
        command = [sys.executable, "-m", "longbeam", "evaluate", "short", "--out", str(self.out)]
        command += ["--system", "rag,summary", "--invocation-log", str(self.log)]
        environment = {**os.environ, "PYTHONHASHSEED": self.hash_seed}
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            while process.poll() is None and (kill_after is None or len(self.answered()) < kill_after):
                time.sleep(0.005)
            if kill_after is not None:
                assert process.poll() is None, "the run ended before it was to be killed"
                process.send_signal(signal.SIGKILL)
            process.wait()
        assert kill_after is not None or process.returncode == 0

    def results(self) -> bytes:
        """The results file."""
        return results_path(open_benchmark(self.out, "short")).read_bytes()


async def _made(out: Path) -> None:
    spec = BenchmarkSpec.model_validate({"name": "short", "seed": 5, "length": "16K", "domains": ["coding"]})
    await run_inline(create_benchmark(spec, out))


@pytest.mark.timeout(600)  # four runs, on a machine that may be busy
async def test_an_evaluation_pays_nothing_twice_when_it_is_killed(tmp_path: Path) -> None:
    whole, killed = Evaluation(tmp_path / "whole", "1"), Evaluation(tmp_path / "killed", "2")
    for out in (whole.out, killed.out):
        await _made(out)
    whole.run()
    total, answers = len(whole.answered()), whole.stages()["answer"]
    assert len(set(whole.answered())) == total

    paid_twice, seen_stages = Counter[str](), []
    for moment in (answers // 2, (answers + total) // 2, None):
        before, seen = killed.committed(), len(killed.answered())
        killed.run(moment)
        seen_stages.append(set(killed.stages()))
        paid_twice.update(key for key in killed.answered()[seen:] if key in before)

    assert "answer" in seen_stages[0]
    assert "judge" in seen_stages[1]
    assert paid_twice == {}
    assert killed.results() == whole.results()
