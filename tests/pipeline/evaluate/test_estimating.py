from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from longbeam.errors import RunStopped
from longbeam.evaluation import Arm, arm_of
from longbeam.library import measurement_of
from longbeam.models import CostMeter, Models, load_tokenizer
from longbeam.offline import OfflineWriter
from longbeam.pipeline.cost import CountingModel
from longbeam.pipeline.evaluate import (
    EvaluationRequest,
    estimate_evaluation,
    evaluate,
    render_estimate,
)
from longbeam.pipeline.run import evaluation_usage, run_inline
from longbeam.schemas import BenchmarkSpec, EvaluationSettings, PreparationUsage
from longbeam.store import Benchmark, create_benchmark
from longbeam.terminal import duration
from longbeam.wiring import services
from tests.models.endpoint import Answer, endpoint
from tests.wired import answered_by, offline

PRICED = {"openai:small": {"base_url": "http://127.0.0.1:9/v1", "price": {"input": 2.0, "output": 8.0}}}
MODELS = {"reader": "openai:small", "judge": "offline", "extractor": "offline"}


@pytest.fixture
async def benchmark(spec: BenchmarkSpec, out: Path) -> Benchmark:
    made = create_benchmark(spec, out)
    await run_inline(made, offline())
    return made


def priced(spec: BenchmarkSpec) -> BenchmarkSpec:
    return BenchmarkSpec.model_validate({**spec.model_dump(), "endpoints": PRICED})


async def test_an_estimate_prices_all_conversations_and_touches_nothing(benchmark: Benchmark) -> None:
    two = replace(benchmark, spec=benchmark.spec.model_copy(update={"conversations": 2}))
    shutil.copyfile(two.sealed_path("c000"), two.sealed_path("c001"))
    before = sorted(two.root.rglob("*"))
    arms = [arm_of("rag", {}), arm_of("long_context", {}), Arm("gold")]
    spec = priced(two.spec).model_copy(update={"models": MODELS})
    found = await estimate_evaluation(two, EvaluationRequest(spec, arms, EvaluationSettings()), services())
    assert sorted(two.root.rglob("*")) == before
    rows = {(row.system, row.stage): row for row in found.rows}
    long, short = rows["long_context", "answer"], rows["rag", "answer"]
    assert long.calls == short.calls == 40  # twenty probes in each conversation
    assert long.prompt_tokens > 3 * short.prompt_tokens
    assert long.cost_usd == pytest.approx((long.prompt_tokens * 2 + long.output_tokens * 8) / 1e6)
    assert rows["gold", "judge"].cost_usd == 0
    assert "shorter than a language model's" in render_estimate(found)
    asked = sum(row.calls for (_, stage), row in rows.items() if stage == "answer")  # rules judge
    assert found.rounds == math.ceil(asked / spec.limits.concurrency)
    assert f"{duration(found.seconds + 2 * found.rounds)} at 2 s a reply of a language model" in render_estimate(found)


async def test_an_estimate_asks_no_embedding_model_and_says_that_embeddings_are_not_priced(
    benchmark: Benchmark,
) -> None:
    async with endpoint(Answer("no embedding model", status=404)) as (fake, url):
        spec = BenchmarkSpec.model_validate(
            {**benchmark.spec.model_dump(), "endpoints": {"openai:e": {"base_url": url}}}
        )
        measurement = measurement_of(replace(benchmark, spec=spec), [arm_of("rag", {})], {"embedder": "openai:e"})
        found = await measurement.estimate()
    assert fake.bodies == []
    assert found.embedder == "openai:e"
    assert "embeddings of openai:e are not priced" in render_estimate(found)
    assert "embeddings" not in render_estimate(found.model_copy(update={"embedder": ""}))


async def test_a_capped_evaluation_goes_on_and_pays_for_no_call_twice(benchmark: Benchmark) -> None:
    spec = priced(benchmark.spec).model_copy(update={"models": MODELS}).for_any_model()
    request = EvaluationRequest(spec, [arm_of("rag", {"k": "1"})], EvaluationSettings())

    def metered(cap: float) -> tuple[Models, CostMeter]:
        capped = spec.model_copy(update={"limits": spec.limits.model_copy(update={"max_cost_usd": cap})})
        counting = CountingModel(OfflineWriter(), load_tokenizer(spec.tokenizer))
        meter = CostMeter(counting, capped, before=evaluation_usage(benchmark))
        return answered_by(meter), meter

    models, first = metered(0.03)
    with pytest.raises(RunStopped, match=r"max_cost_usd = 0\.03"):
        await evaluate(benchmark, request, models)
    assert 0 < first.spent_usd <= 0.03
    models, second = metered(5.0)
    run, _ = await evaluate(benchmark, request, models)
    answers = sum(row.calls for row in second.usage() if row.stage == "answer")
    assert answers == len(run.probes)  # the calls of both runs together


class Declaring:
    """A memory whose own model reads each exchange."""

    def __init__(self, settings: object, tools: object) -> None:
        raise AssertionError("an estimate makes no product")

    @staticmethod
    def expected_usage(exchanges: int) -> PreparationUsage:
        return PreparationUsage(model_calls=exchanges, prompt_tokens=100 * exchanges, cost_usd=0.5)

    def add(self, exchange: object, timestamp: object) -> None: ...

    def search(self, query: str, k: int) -> list[str]:
        return []


class Silent(Declaring):
    """A memory that answers by itself and declares nothing."""

    expected_usage = None  # type: ignore[assignment]

    def answer(self, question: object, budget: int) -> str:
        return ""


async def test_an_estimate_has_a_row_for_each_system(benchmark: Benchmark) -> None:
    arms = [arm_of(Declaring, {}), arm_of("http://127.0.0.1:9", {}), arm_of(Silent, {}), arm_of("bm25", {})]
    found = await measurement_of(benchmark, arms, {}).estimate()
    rows = {(row.system, row.stage): row for row in found.rows}
    exchanges = rows["Declaring", "prepare"].calls
    assert (exchanges > 10, rows["Declaring", "prepare"].cost_usd) == (True, 0.5)
    for name in ("Declaring", "http://127.0.0.1:9"):  # as much as the floor that fills the budget
        assert rows[name, "answer"].calls == rows["bm25", "answer"].calls == 20
        assert rows[name, "answer"].prompt_tokens == pytest.approx(rows["bm25", "answer"].prompt_tokens, rel=0.05)
    assert ("Silent", "answer") not in rows
    assert rows["Silent", "judge"].calls > 0
    assert found.unknown == ["http://127.0.0.1:9", "Silent"]
    assert found.cost_usd == 0.5
    assert "not in this sum: what http://127.0.0.1:9, Silent may ask by themselves" in render_estimate(found)
