"""A run that is stopped while calls are in flight: their replies are recorded, and `resume` pays for none again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from longbeam.evaluation import arm_of
from longbeam.pipeline.evaluate import EvaluationRequest, evaluate
from longbeam.pipeline.run import limited_models, run_inline
from longbeam.schemas import BenchmarkSpec, EvaluationSettings
from longbeam.stopping import drop_replies
from longbeam.store import Benchmark, create_benchmark
from tests.pipeline.conftest import CountingModel, HeldModel
from tests.wired import answered_by, offline


async def stop_while_held(running: asyncio.Task[object], model: HeldModel) -> None:
    """Stop the work when its calls are in flight, and answer them afterwards."""
    await model.is_holding.wait()
    for _ in range(20):  # the other calls that are sent in the same moment
        await asyncio.sleep(0)
    running.cancel()
    for _ in range(20):
        await asyncio.sleep(0)
    assert not running.done()
    model.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.parametrize("free", [0, 40, 200])
async def test_replies_in_flight_are_recorded_and_not_paid_again(free: int, spec: BenchmarkSpec, out: Path) -> None:
    benchmark, model = create_benchmark(spec, out), HeldModel(free)
    await stop_while_held(asyncio.create_task(run_inline(benchmark, answered_by(model))), model)
    resumed = CountingModel()
    summary = await run_inline(benchmark, answered_by(resumed))

    assert model.held
    assert summary.finished == 1
    assert set(model.keys).isdisjoint(resumed.keys)


async def test_dropped_replies_end_the_run_and_are_asked_for_again(spec: BenchmarkSpec, out: Path) -> None:
    benchmark, model = create_benchmark(spec, out), HeldModel(40)
    running = asyncio.create_task(run_inline(benchmark, answered_by(model)))
    await model.is_holding.wait()
    running.cancel()
    await asyncio.sleep(0)
    assert drop_replies() >= 1
    with pytest.raises(asyncio.CancelledError):
        await running
    resumed = CountingModel()
    await run_inline(benchmark, answered_by(resumed))

    assert set(model.keys) & set(resumed.keys) == set(model.held)


@pytest.mark.parametrize("held", ["/prepare/", "/answer/", "/judge/"])
async def test_an_evaluation_records_replies_in_flight(held: str, spec: BenchmarkSpec, out: Path) -> None:
    benchmark, model = create_benchmark(spec, out), HeldModel(0, held)
    await run_inline(benchmark, offline())
    await stop_while_held(asyncio.create_task(_evaluated(benchmark, model)), model)
    resumed = CountingModel()
    await _evaluated(benchmark, resumed)

    assert set(model.keys).isdisjoint(resumed.keys)


async def _evaluated(benchmark: Benchmark, model: CountingModel) -> None:
    request = EvaluationRequest(benchmark.spec, [arm_of("summary", {})], EvaluationSettings())
    async with limited_models(answered_by(model), benchmark.spec) as limited:
        await evaluate(benchmark, request, limited)
