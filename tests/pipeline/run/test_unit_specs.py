"""What makes a unit run again: each dependency is changed alone, and exactly the units that have it run again."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from longbeam.generators.probes import generator_for
from longbeam.keys import ProbeId
from longbeam.pipeline.run import DeclaredPrompts, UnitSpec, run_inline
from longbeam.prompts import PromptRegistry, default_registry
from longbeam.schemas import BenchmarkSpec, Record, UserTurn
from longbeam.store import Benchmark, WorkLog, create_benchmark
from tests.pipeline.conftest import CountingModel
from tests.wired import answered_by

ENDPOINT, OTHER = "openai:stand-in", "openai:other"
EXTRAS = {"sends_extras": True}
"""The offline writer answers for the endpoints, so it gets what it reads."""
UnitId = tuple[str, str]
"""Stage and key."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """A short conversation whose models all have an endpoint, as language models do."""
    spec = BenchmarkSpec.model_validate(
        {
            "name": "short",
            "seed": 5,
            "length": "16K",
            "domains": ["coding"],
            "models": {"default": ENDPOINT},
            "endpoints": {ENDPOINT: EXTRAS, OTHER: EXTRAS},
        }
    )
    benchmark = create_benchmark(spec, tmp_path_factory.mktemp("finished"))
    asyncio.run(run_inline(benchmark, answered_by(CountingModel())))
    return benchmark


@dataclass(frozen=True)
class Change:
    """One dependency that is changed, and the units that have it."""

    units: Callable[[UnitId], bool]
    spec: dict[str, object] | None = None
    prompt: str = ""
    version: str = ""


def _stages(*names: str) -> Callable[[UnitId], bool]:
    return lambda unit: unit[0] in names


def _is_worded(unit: UnitId) -> bool:
    """Whether a unit of the stage `probes` asks a model: some abilities word their probes by code."""
    ability = ProbeId.parse(unit[1]).ability
    return unit[1].endswith(".candidates") or generator_for(ability).word is None


CHANGES: dict[str, Change] = {
    "the version of a prompt of every sub-plan's questions": Change(_stages("user_turns"), prompt="user_turns"),
    "the version of a prompt of the dialogue": Change(_stages("dialogue"), prompt="assistant_reply"),
    "the version of a detector's prompt": Change(_stages(), prompt="question_detector"),
    "the version of a prompt that fills a dialogue": Change(_stages("dialogue"), prompt="more_turns"),
    "the version of an ability's prompt": Change(
        lambda unit: unit[0] == "probes" and unit[1].startswith("knowledge_update.") and "candidates" not in unit[1],
        prompt="probe_knowledge_update",
    ),
    "the version of the outline's prompt": Change(lambda unit: unit == ("plan", "p0.outline"), prompt="outline"),
    "the version of the events' prompt": Change(lambda unit: unit[1].endswith(".events"), prompt="events"),
    "a role's model": Change(_stages("dialogue"), spec={"models": {"default": ENDPOINT, "assistant": OTHER}}),
    "the detector's model": Change(_stages(), spec={"models": {"default": ENDPOINT, "detector": OTHER}}),
    "the model of a role that several stages ask": Change(
        _stages("persona", "user_turns", "dialogue"), spec={"models": {"default": ENDPOINT, "writer": OTHER}}
    ),
    "a role's temperature": Change(
        lambda unit: unit[0] == "probes" and _is_worded(unit), spec={"sampling": {"prober": {"temperature": 0.3}}}
    ),
    "the planner's temperature": Change(_stages("plan"), spec={"sampling": {"planner": {"temperature": 0.3}}}),
    "the rules of a model that answers by rule": Change(
        lambda unit: unit[0] != "seal" and (unit[0] != "probes" or _is_worded(unit)),
        version="the next release",
    ),
    "max_tokens": Change(_stages(), spec={"sampling": {"default": {"max_tokens": 4_000}}}),
    "a price": Change(_stages(), spec={"endpoints": {ENDPOINT: {**EXTRAS, "price": {"input": 1, "output": 2}}}}),
    "limits": Change(_stages(), spec={"limits": {"concurrency": 3, "max_cost_usd": 9.5}}),
    "the address of an endpoint": Change(
        _stages(), spec={"endpoints": {ENDPOINT: {**EXTRAS, "base_url": "http://127.0.0.1:9/v1"}}}
    ),
}


@pytest.mark.parametrize("name", CHANGES)
async def test_exactly_the_units_that_depend_on_it_run_again(name: str, finished: Benchmark, tmp_path: Path) -> None:
    change = CHANGES[name]
    benchmark = _copy_of(finished, tmp_path, change.spec or {})
    model, before = CountingModel(), _fingerprints(benchmark)
    models = answered_by(model)
    if change.version:
        models = replace(models, version_of=lambda _: change.version)
    summary = await run_inline(benchmark, models, prompts=_prompts(change.prompt))

    after = _fingerprints(benchmark)
    again = {unit for unit in after if after[unit] != before.get(unit)}
    assert again == {unit for unit in before if change.units(unit)}
    assert summary.remade == Counter(stage for stage, _ in again)
    asked = {tuple(key.split("/")[1:3]) for key in model.unit_keys}
    assert asked <= again
    assert bool(asked) is bool(again)


async def test_an_input_record_that_changes_runs_the_units_that_read_it_again(
    finished: Benchmark, tmp_path: Path
) -> None:
    benchmark = _copy_of(finished, tmp_path, {})
    before = _fingerprints(benchmark)
    with WorkLog.open(benchmark.work_path("c000")) as log:
        batches = [key for stage, key in before if stage == "user_turns" and key.startswith("p0.s1.b")]
        last = max(batches, key=lambda key: int(key.rpartition("b")[2]))  # no batch behind it is shown its turns
        turns = list(log.units.records("user_turns", UserTurn, unit_keys=[last]))
        changed = [turn.model_copy(update={"text": f"Well, {turn.text}"}) for turn in turns]
        unit = log.units.find("user_turns", last)
        assert changed
        assert unit is not None
        log.units.finish("user_turns", last, fingerprint=unit.fingerprint, records=changed)
    await run_inline(benchmark, answered_by(CountingModel()))

    after = _fingerprints(benchmark)
    again = {unit for unit in after if after[unit] != before.get(unit)}
    # What is left of a plan's budget depends on all its dialogues: extensions are left aside.
    first = {unit for unit in again if unit[0] not in {"probes", "seal"} and ".settle" not in unit[1]}
    assert first == {("dialogue", "p0.s1")}
    assert ("seal", "conversation") in again


async def test_a_unit_may_ask_only_the_prompts_that_it_names() -> None:
    prompts = DeclaredPrompts(default_registry(), UnitSpec("plan", Record, ("outline",)))
    assert prompts["outline"].prompt_id == "outline"
    with pytest.raises(KeyError, match="stage 'plan' asks 'sub_plan'"):
        prompts["sub_plan"]


def _copy_of(finished: Benchmark, folder: Path, changes: dict[str, object]) -> Benchmark:
    shutil.copytree(finished.root.parent, folder, dirs_exist_ok=True)
    spec = BenchmarkSpec.model_validate({**finished.spec.model_dump(mode="json"), **changes})
    return create_benchmark(spec, folder)


def _prompts(raised: str) -> PromptRegistry:
    registry = default_registry()
    return registry.replaced(replace(registry[raised], version=99)) if raised else registry


def _fingerprints(benchmark: Benchmark) -> dict[UnitId, str]:
    with sqlite3.connect(benchmark.work_path("c000")) as db:
        rows = db.execute("SELECT stage, unit_key, fingerprint FROM units").fetchall()
    return {(stage, key): fingerprint for stage, key, fingerprint in rows}
