"""Output of an earlier version is read and resumed: an excerpt of a work log that it made (`tests/recorded/`)."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from longbeam.errors import ProviderError
from longbeam.keys import UnitKey
from longbeam.models import ModelCall, Models
from longbeam.pipeline.run import (
    RunContext,
    Schedule,
    finished_conversations,
    open_run,
    run_inline,
    seeds_of,
    talk_conversation,
)
from longbeam.prompts import default_registry
from longbeam.schemas import ModelReply
from longbeam.store import Benchmark, open_benchmark, seal_conversation
from tests.recorded.recording import FOLDER, NAME, work_log
from tests.tiny import tiny_conversation


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
    """The recorded benchmark up to the first dialogue, in a folder of its own."""
    root = tmp_path / NAME
    (root / "work").mkdir(parents=True)
    shutil.copy(FOLDER / f"{NAME}.spec.json", root / "spec.json")
    path = root / "work" / "c000.sqlite"
    path.write_bytes(work_log())
    with sqlite3.connect(path) as db:
        last = "stage IN ('probes', 'seal') OR (stage = 'dialogue' AND unit_key LIKE '%p0.s1%')"
        db.execute(f"DELETE FROM replies WHERE {last}")
        db.execute(f"DELETE FROM records WHERE unit_id IN (SELECT unit_id FROM units WHERE {last})")
        db.execute(f"DELETE FROM units WHERE {last}")
    return open_benchmark(tmp_path, NAME)


async def test_recorded_units_stay_until_one_whose_prompt_has_changed_since(recorded: Benchmark) -> None:
    before, model = _units(recorded), RefusingModel()
    (seed,) = seeds_of(recorded)
    async with open_run(RunContext(recorded, Models(model), Schedule(16)), "c000", seed) as run:
        assert await talk_conversation(run) is None
        # The personality is kept. The prompt of the narratives has another version, and all later units need them.
        assert {(key.stage, key.unit) for key in model.asked} == {("persona", "narratives")}

    before.pop(("persona", "narratives"))
    after = _units(recorded)
    assert {unit: after[unit][1] for unit in before} == {unit: records for unit, (_, records) in before.items()}
    # The old fingerprints knew neither sampling nor rules: they no longer count, and nothing was lost with them.
    personality = "persona", "personality"
    assert after[personality][0] != before[personality][0]


def _units(benchmark: Benchmark) -> dict[tuple[str, str], tuple[str, list[str]]]:
    """Return the fingerprint and the records, as JSON, of every unit by stage and key."""
    with sqlite3.connect(benchmark.work_path("c000")) as db:
        found = db.execute("SELECT unit_id, stage, unit_key, fingerprint FROM units").fetchall()
        query = "SELECT json FROM records WHERE unit_id = ? ORDER BY ordinal"
        return {
            (stage, key): (fingerprint, [text for (text,) in db.execute(query, (unit_id,))])
            for unit_id, stage, key, fingerprint in found
        }


async def test_a_finished_benchmark_of_an_earlier_version_is_resumed_without_a_request(recorded: Benchmark) -> None:
    """The prompts have changed since, and so would everything be asked again that they are part of."""
    sealed = tiny_conversation()
    seal_conversation(recorded.sealed_path("c000"), sealed.head, sealed.said, sealed.asked)
    kept = replace(recorded, kept=finished_conversations(recorded, default_registry()))
    model = RefusingModel()
    summary = await run_inline(kept, Models(model))
    assert (summary.finished, summary.calls, model.asked) == (1, 0, [])
    assert (await run_inline(recorded, Models(model))).calls > 0  # `generate` brings it up to date
