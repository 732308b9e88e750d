"""LIGHT under evaluation: what a killed preparation, a grid and an embedder pay for."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from longbeam.errors import SpecError
from longbeam.evaluation import ablations, arm_of, arms_of, rows_of, variants
from longbeam.models import ModelCall
from longbeam.models.embedders import HashedEmbedder
from longbeam.offline import OfflineWriter
from longbeam.pipeline.evaluate import EvaluationRequest, evaluate
from longbeam.pipeline.run import run_inline
from longbeam.schemas import BenchmarkSpec, EvaluationRun, EvaluationSettings, ModelReply, Result
from longbeam.store import Benchmark, create_benchmark, open_benchmark
from tests.wired import answered_by, offline


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One short conversation, generated once for all tests here."""
    out = tmp_path_factory.mktemp("made")
    spec = BenchmarkSpec.model_validate({"name": "short", "seed": 5, "length": "16K", "domains": ["coding"]})
    asyncio.run(run_inline(create_benchmark(spec, out), offline()))
    return out


@pytest.fixture
def benchmark(made: Path, out: Path) -> Benchmark:
    shutil.copytree(made, out)
    return open_benchmark(out, "short")


class Killed(Exception):
    """As if the process had died."""


class Keeping(OfflineWriter):
    """Keeps the keys of its calls; dies before call `dies_at`, and goes on dying."""

    def __init__(self, dies_at: int = 10**9) -> None:
        super().__init__()
        self.keys: list[str] = []
        self._dies_at = dies_at

    async def complete(self, call: ModelCall) -> ModelReply:
        if len(self.keys) >= self._dies_at:
            raise Killed
        self.keys.append(call.key)
        return await super().complete(call)


async def _evaluated(
    benchmark: Benchmark, model: OfflineWriter, **values: object
) -> tuple[EvaluationRun, list[Result]]:
    return await evaluate(
        benchmark,
        EvaluationRequest(benchmark.spec, [arm_of("light", values)], EvaluationSettings()),
        answered_by(model),
    )


async def test_a_killed_preparation_and_a_killed_judge_are_paid_for_once(benchmark: Benchmark) -> None:
    keys: list[str] = []
    for dies_at in (15, 200):  # in the middle of keys and notes, then of filters, answers and verdicts
        model = Keeping(dies_at)
        with pytest.raises(Killed):
            await _evaluated(benchmark, model)
        keys += model.keys
    last = Keeping()
    resumed = await _evaluated(benchmark, last)
    keys += last.keys
    assert len(keys) == len(set(keys))
    again = Keeping()
    assert await _evaluated(benchmark, again) == resumed
    assert again.keys == []


async def test_a_grid_asks_once_what_its_arms_ask_alike(benchmark: Benchmark) -> None:
    model = Keeping()
    arms = arms_of("light", [], ["light.k=2,5", "light.without=nothing,working"])
    _, results = await evaluate(
        benchmark, EvaluationRequest(benchmark.spec, arms, EvaluationSettings()), answered_by(model)
    )
    assert len({row.system for row in rows_of(results)}) == 4
    assert len(model.keys) == len(set(model.keys))
    alone = Keeping()
    await _evaluated(benchmark, alone, k=7)  # another context, but the same keys, notes and filter
    assert len(alone.keys) < len(model.keys) / 3


def test_ablations_are_rows_beside_the_whole() -> None:
    grid = ["light.k=5,10", *ablations("filter,working", "light,rag")]
    rows = [a.name for a in arms_of("light", [], grid)]
    assert rows[:3] == ["light[k=5]", "light[k=5,without=filter]", "light[k=5,without=working]"]
    assert len(rows) == 6
    assert ablations("", "light") == []
    with pytest.raises(SpecError, match=r"--without notes: .*light has retrieval, scratchpad"):
        ablations("notes", "light")


def test_a_variant_is_asked_of_the_systems_that_have_it() -> None:
    assert variants("released", "light,rag,cogcanvas") == ["light.variant=released", "cogcanvas.variant=released"]
    assert [a.name for a in arms_of("light,rag", variants("released", "light,rag"), [])] == [
        "light[variant=released]",
        "rag",
    ]
    assert variants("", "light") == []
    with pytest.raises(SpecError, match=r"--variant old: .*light has paper, released"):
        variants("old", "light,rag")
    with pytest.raises(SpecError, match=r"--variant released: .*none has variants"):
        variants("released", "rag")


async def test_light_finds_evidence_that_chance_does_not(benchmark: Benchmark) -> None:
    arms = [arm_of("light", {}), arm_of("search_tool", {}), *arms_of("random_units", [], [])]
    _, results = await evaluate(
        benchmark, EvaluationRequest(benchmark.spec, arms, EvaluationSettings(budget=2_000)), offline()
    )
    recall = {row.system: row.recall or 0 for row in rows_of(results)}
    assert recall["light"] > recall["random_units"]
    assert recall["search_tool"] > recall["random_units"]


async def test_a_second_run_embeds_nothing(benchmark: Benchmark) -> None:
    class Counting(HashedEmbedder):
        texts = 0

        async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> NDArray[np.float32]:
            self.texts += len(texts)
            return await super().embed(texts, is_query=is_query)

    async def run(embedder: Counting, **values: object) -> tuple[EvaluationRun, list[Result]]:
        arms = [arm_of("light", values)]
        return await evaluate(
            benchmark, EvaluationRequest(benchmark.spec, arms, EvaluationSettings()), offline(), embedder=embedder
        )

    first, again = Counting(), Counting()
    results = await run(first)
    (light,) = results[0].preparations
    assert 0 < light.usage.embedded_texts <= first.texts
    assert light.usage.embedded_tokens > light.usage.embedded_texts
    assert await run(again) == results
    assert again.texts == 0
    # Another arm needs the same vectors of texts and questions.
    await run(again, k=9)
    assert again.texts == 0
