"""Output of an earlier version is resumed without a call: an excerpt of a work log that it made (`tests/recorded/`)."""

from __future__ import annotations

import gzip
import shutil
import sqlite3
from pathlib import Path

import pytest

from longbeam.errors import ProviderError
from longbeam.keys import UnitKey
from longbeam.models.base import ModelCall, Models
from longbeam.pipeline.run.driver import open_run, seeds_of, talk_conversation
from longbeam.pipeline.run.scheduling import Schedule
from longbeam.schemas.calls import ModelReply
from longbeam.store.layout import Benchmark, open_benchmark

RECORDED = Path(__file__).parents[2] / "recorded"
NAME = "frontier16"


class RefusingModel:
    """Answers nothing and notes who asked."""

    def __init__(self) -> None:
        self.asked: list[UnitKey] = []

    async def complete(self, call: ModelCall) -> ModelReply:
        """Raise ProviderError."""
        self.asked.append(UnitKey.parse(call.unit_key))
        raise ProviderError("nobody is to be asked", kind="refused", is_retryable=False)


@pytest.fixture
def recorded(tmp_path: Path) -> Benchmark:
    """The excerpt as a benchmark, in a folder of its own."""
    root = tmp_path / NAME
    (root / "work").mkdir(parents=True)
    shutil.copy(RECORDED / f"{NAME}.spec.json", root / "spec.json")
    work_log = gzip.decompress((RECORDED / f"{NAME}.sqlite.gz").read_bytes())
    (root / "work" / "c000.sqlite").write_bytes(work_log)
    return open_benchmark(tmp_path, NAME)


async def test_all_recorded_units_are_made_again_from_the_journal(recorded: Benchmark) -> None:
    before, model = _units(recorded), RefusingModel()
    (seed,) = seeds_of(recorded)
    async with open_run(recorded, "c000", seed, Models(model), Schedule(16)) as run:
        # The excerpt has no reply of the second sub-plan's dialogue.
        assert await talk_conversation(run) is None
        assert {(key.stage, key.unit) for key in model.asked} == {("dialogue", "p0.s1")}

    after = _units(recorded)
    assert set(after) - set(before) == {("dialogue", "p0.s1")}
    records = {unit: records for unit, (_, records) in after.items() if unit in before}
    assert records == {unit: records for unit, (_, records) in before.items()}
    # The old fingerprints knew neither sampling nor rules: they no longer count, and nothing was lost with them.
    assert all(after[unit][0] != fingerprint for unit, (fingerprint, _) in before.items())


def _units(benchmark: Benchmark) -> dict[tuple[str, str], tuple[str, list[str]]]:
    """Return the fingerprint and the records, as JSON, of every unit by stage and key."""
    with sqlite3.connect(benchmark.work_path("c000")) as db:
        found = db.execute("SELECT unit_id, stage, unit_key, fingerprint FROM units").fetchall()
        query = "SELECT json FROM records WHERE unit_id = ? ORDER BY ordinal"
        return {
            (stage, key): (fingerprint, [text for (text,) in db.execute(query, (unit_id,))])
            for unit_id, stage, key, fingerprint in found
        }
