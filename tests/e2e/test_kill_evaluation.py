"""An evaluation that is killed while it prepares, answers and judges: nothing is paid twice, the same bytes."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from longbeam.errors import StoreError
from longbeam.pipeline.evaluate import results_path
from longbeam.pipeline.run import run_inline
from longbeam.schemas import BenchmarkSpec
from longbeam.store import WorkLog, create_benchmark, open_benchmark
from tests.wired import offline


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
        try:
            with WorkLog.open_read_only(path) as log:
                calls = Counter[str]()
                for row in log.journal.usage():  # a stage has a row for each prompt
                    calls[row.stage] += row.calls
                return calls
        except StoreError:  # the run has not written it yet
            return Counter()

    def committed(self) -> set[str]:
        """Keys of the replies that are in the journal."""
        path = self.out / "short" / "evaluation" / "c000.sqlite"
        if not path.exists():
            return set()
        with WorkLog.open_read_only(path) as log:
            return set(log.journal.reply_keys())

    def run(self, kill_at: tuple[str, int] | None = None) -> None:
        """Run to the end, or until the journal has that many replies of a stage, then SIGKILL."""
        with self._started() as process:
            while process.poll() is None and (kill_at is None or self.stages()[kill_at[0]] < kill_at[1]):
                time.sleep(0.005)
            if kill_at is not None:
                assert process.poll() is None, "the run ended before it was to be killed"
                process.send_signal(signal.SIGKILL)
            process.wait()
        assert process.returncode == (0 if kill_at is None else -signal.SIGKILL)

    def run_for(self, calls: int) -> bool:
        """Run until so many more calls are answered, then SIGKILL; return whether it was killed before its end."""
        known = len(self.answered())
        with self._started() as process:
            while process.poll() is None and len(self.answered()) - known < calls:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.wait()
        return process.returncode == -signal.SIGKILL

    def _started(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "longbeam", "evaluate", "short", "--out", str(self.out)]
        command += ["--system", "light,summary", "--invocation-log", str(self.log)]
        environment = {**os.environ, "PYTHONHASHSEED": self.hash_seed}
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def results(self) -> bytes:
        """The results file."""
        return results_path(open_benchmark(self.out, "short")).read_bytes()


async def _made(*outs: Path) -> None:
    spec = BenchmarkSpec.model_validate({"name": "short", "seed": 5, "length": "16K", "domains": ["coding"]})
    first, *others = outs
    await run_inline(create_benchmark(spec, first), offline())
    for out in others:
        shutil.copytree(first, out)


@pytest.mark.slow  # kills within a process are in tests/pipeline/evaluate/test_evaluating_light.py
@pytest.mark.timeout(600)  # four runs, on a machine that may be busy
async def test_an_evaluation_pays_nothing_twice_when_it_is_killed(tmp_path: Path) -> None:
    whole, killed = Evaluation(tmp_path / "whole", "1"), Evaluation(tmp_path / "killed", "2")
    await _made(whole.out, killed.out)
    whole.run()
    stages = ("prepare", "answer", "judge")
    replies = whole.stages()

    paid_twice, seen = Counter[str](), list[Counter[str]]()
    for stage in (*stages, None):
        before, known = killed.committed(), len(killed.answered())
        killed.run((stage, replies[stage] // 2) if stage else None)
        seen.append(killed.stages())
        paid_twice.update(key for key in killed.answered()[known:] if key in before)

    for stage, at_its_kill in zip(stages, seen, strict=False):
        assert 0 < at_its_kill[stage] < replies[stage], f"killed in the middle of {stage}"
    assert paid_twice == {}
    assert killed.results() == whole.results()


@pytest.mark.slow
@pytest.mark.timeout(1_200)
async def test_ten_kills_at_random_moments_leave_the_same_results(tmp_path: Path) -> None:
    whole, killed = Evaluation(tmp_path / "whole", "1"), Evaluation(tmp_path / "killed", "2")
    await _made(whole.out, killed.out)
    whole.run()
    drawn, calls = random.Random(45), len(whole.answered())
    paid_twice, kills = Counter[str](), 0
    for _ in range(10):
        before, known = killed.committed(), len(killed.answered())
        kills += killed.run_for(drawn.randint(1, calls // 10))
        paid_twice.update(key for key in killed.answered()[known:] if key in before)
    before, known = killed.committed(), len(killed.answered())
    killed.run()
    paid_twice.update(key for key in killed.answered()[known:] if key in before)
    assert kills == 10
    assert paid_twice == {}
    assert killed.results() == whole.results()
