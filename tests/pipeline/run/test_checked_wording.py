"""The checker within a run: what it changes is part of a unit's fingerprint, and a stopped run goes on where it was."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest

from longbeam.errors import RunStopped
from longbeam.models import ModelCall
from longbeam.pipeline.run import run_inline
from longbeam.prompts.calls import UserTurnsReply
from longbeam.schemas import BenchmarkSpec, ModelReply, TurnWriting
from longbeam.store import Benchmark, create_benchmark
from tests.pipeline.conftest import CountingModel
from tests.wired import answered_by

ENDPOINT, SECOND = "openai:stand-in", "openai:second"
UnitId = tuple[str, str]
"""Stage and key."""
CHECKS = {"check_entailment", "check_contradiction"}


class RewordingModel(CountingModel):
    """The offline writer, whose messages do not repeat their bullets word for word.

    It stops the run at the judgement number `stop_at` of the stage `stage`.
    """

    def __init__(self, stage: str = "", stop_at: int = 0) -> None:
        super().__init__()
        self.judged: list[tuple[str, str]] = []
        """Stage and key of each call."""
        self._stop = stage, stop_at

    async def complete(self, call: ModelCall) -> ModelReply:
        """Answer; stop the run at a judgement."""
        if call.prompt.prompt_id in CHECKS:
            stage = call.unit_key.split("/")[1]
            self.judged.append((stage, call.key))
            if (stage, sum(own == stage for own, _ in self.judged)) == self._stop:
                raise RunStopped("stopped in the middle of judging")
        reply = await super().complete(call)
        if call.prompt.prompt_id != "user_turns":
            return reply
        turns = UserTurnsReply.model_validate_json(reply.text).turns
        reworded = [turn.model_copy(update={"text": _reworded(turn.text)}) for turn in turns]
        return reply.model_copy(update={"text": UserTurnsReply(turns=reworded).model_dump_json()})


def _reworded(text: str) -> str:
    for old, new in (
        ("I've ", "I have "),
        (" is ", " is now "),
        (" and ", " as well as "),
        (" for ", " in favour of "),
    ):
        text = text.replace(old, new)
    return text


def _spec(model: bool | None, turns: TurnWriting = TurnWriting.BATCHED, **models: str) -> BenchmarkSpec:
    return BenchmarkSpec.model_validate(
        {
            "name": "short",
            "seed": 5,
            "length": "16K",
            "domains": ["coding"],
            "turns": turns,
            "models": {"default": ENDPOINT, **models},
            "endpoints": {ENDPOINT: {"sends_extras": True}, SECOND: {"sends_extras": True}},
            "checks": {"model": model},
        }
    )


def _units(benchmark: Benchmark) -> dict[UnitId, str]:
    with sqlite3.connect(benchmark.work_path("c000")) as db:
        rows = db.execute("SELECT stage, unit_key, fingerprint FROM units").fetchall()
    return {(stage, key): fingerprint for stage, key, fingerprint in rows}


def _records(benchmark: Benchmark) -> list[str]:
    with sqlite3.connect(benchmark.work_path("c000")) as db:
        rows = db.execute("SELECT json FROM records JOIN units USING (unit_id) ORDER BY stage, unit_key, ordinal")
        return [text for (text,) in rows]


def _changed(before: dict[UnitId, str], after: dict[UnitId, str]) -> set[UnitId]:
    """Return the units made again, without the probes' checks and the seal, which names everybody who was asked."""
    return {u for u in before if after[u] != before[u] and u[0] not in ("checks", "seal")}


def _checked(units: Iterable[UnitId]) -> set[UnitId]:
    """Return the units whose wordings a checker judges."""
    return {u for u in units if u[0] == "user_turns" or u[1].endswith(".special")}


@pytest.fixture(scope="module")
def unchecked(tmp_path_factory: pytest.TempPathFactory) -> dict[UnitId, str]:
    """Fingerprints of a run without a checker."""
    benchmark = create_benchmark(_spec(None), tmp_path_factory.mktemp("unchecked"))
    asyncio.run(run_inline(benchmark, answered_by(CountingModel())))
    return _units(benchmark)


async def test_a_checker_and_a_second_one_make_the_checked_units_again(
    unchecked: dict[UnitId, str], tmp_path: Path
) -> None:
    benchmark = create_benchmark(_spec(True), tmp_path)
    model = CountingModel()
    await run_inline(benchmark, answered_by(model))
    once = _units(benchmark)
    assert _changed(unchecked, once) == _checked(unchecked)
    benchmark = create_benchmark(_spec(True, second_checker=SECOND), tmp_path)
    await run_inline(benchmark, answered_by(CountingModel()))
    twice = _units(benchmark)
    assert _changed(once, twice) == _checked(once)


async def test_a_new_checker_makes_dialogues_again_only_where_they_word_the_turns(tmp_path: Path) -> None:
    made = []
    for model in (False, True):
        benchmark = create_benchmark(_spec(model, TurnWriting.IN_DIALOGUE), tmp_path)
        await run_inline(benchmark, answered_by(CountingModel()))
        made.append(_units(benchmark))
    before, after = made
    assert _changed(before, after) == _checked(before) | {u for u in before if u[0] == "dialogue"}


@pytest.mark.parametrize(
    ("turns", "stage"),
    [
        (TurnWriting.BATCHED, "user_turns"),
        pytest.param(TurnWriting.IN_DIALOGUE, "dialogue", marks=pytest.mark.slow),
    ],
)
async def test_a_run_that_stops_while_a_message_is_judged_goes_on_there(
    tmp_path: Path, turns: TurnWriting, stage: str
) -> None:
    whole = create_benchmark(_spec(True, turns), tmp_path / "whole")
    uninterrupted = RewordingModel()
    assert (await run_inline(whole, answered_by(uninterrupted))).finished == 1
    assert [own for own, _ in uninterrupted.judged].count(stage) >= 3

    benchmark = create_benchmark(_spec(True, turns), tmp_path / "stopped")
    stopping = RewordingModel(stage, stop_at=3)
    assert "middle of judging" in (await run_inline(benchmark, answered_by(stopping))).stopped
    resumed = RewordingModel()
    assert (await run_inline(benchmark, answered_by(resumed))).finished == 1
    # Judgements before the stop are in the journal; the one that stopped the run is made again.
    stop = [i for i, (own, _) in enumerate(stopping.judged) if own == stage][2]
    assert set(stopping.judged[:stop]).isdisjoint(resumed.judged)
    assert set(stopping.judged) | set(resumed.judged) == set(uninterrupted.judged)
    assert _records(benchmark) == _records(whole)
