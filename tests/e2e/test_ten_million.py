"""10M tokens in ten plans: the same bytes for one call at a time, for 64, and for a run that is killed ten times.

Three runs of some 40,000 calls: `make e2e`, or `python -m pytest -m slow tests/e2e/test_ten_million.py -s`. Another
length: `LONGBEAM_TEST_LENGTH=2M`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.e2e.killing import Bench, kill_and_resume

KILLS = 10
HOURS = 2 * 3600


@pytest.mark.slow
@pytest.mark.timeout(3 * HOURS)
@pytest.mark.parametrize("strategy", ["sequential"])
def test_export_of_many_plans_is_equal_at_any_concurrency_and_after_ten_kills(tmp_path: Path, strategy: str) -> None:
    length = os.environ.get("LONGBEAM_TEST_LENGTH", "10M")
    spec = tmp_path / "long.toml"
    spec.write_text(f'name = "long"\nlength = "{length}"\nstrategy = "{strategy}"\n')
    serial, parallel, killed = (Bench(spec, tmp_path / name, timeout_s=HOURS) for name in ("one", "many", "killed"))
    serial.run(concurrency=1)
    total = serial.answered()
    print(f"{length} {strategy}: {total} calls\nconcurrency 1:  {serial.export()}")
    parallel.run(concurrency=64)
    print(f"concurrency 64: {parallel.export()}")
    moments = [total * (i + 1) // (KILLS + 1) for i in range(KILLS)]
    done, paid_twice = kill_and_resume(killed, moments)
    print(f"killed {done} times: {killed.export()}")
    assert done == KILLS
    assert paid_twice == {}
    assert len(serial.invocations()) == total == len(set(serial.invocations()))
    assert serial.export() == parallel.export() == killed.export()
