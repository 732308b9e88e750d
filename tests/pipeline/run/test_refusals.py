"""An endpoint that refuses the calls of one unit for ever: the run goes on, pays for nothing twice, and seals."""

from __future__ import annotations

from pathlib import Path

import pytest

from longbeam.errors import ProviderError
from longbeam.models import ModelCall
from longbeam.pipeline.run import gaps_of, run_inline
from longbeam.schemas import BenchmarkSpec, Checks, ModelReply
from longbeam.store import create_benchmark
from tests.pipeline.conftest import CountingModel
from tests.wired import answered_by

UNITS = ("/plan/p0.s1", "/dialogue/p0.s1/p0.s1.t2/", "/probes/summarization.0")
FURTHER = ("/persona/", "/user_turns/p0.s0", "/dialogue/p0.s0/")


@pytest.mark.parametrize("unit", [*UNITS, *(pytest.param(unit, marks=pytest.mark.slow) for unit in FURTHER)])
async def test_a_refused_unit_becomes_a_gap_and_the_run_seals(spec: BenchmarkSpec, out: Path, unit: str) -> None:
    refusal = ProviderError("HTTP 400: no", kind="bad_request", is_retryable=False)
    benchmark = create_benchmark(spec.model_copy(update={"checks": Checks(gap_share=1.0)}), out)
    model = CountingModel(refuse=unit, error=refusal)
    await run_inline(benchmark, answered_by(model))

    assert any(unit in key for key in model.unit_keys)
    assert benchmark.sealed_path("c000").exists()
    assert bool(gaps_of(benchmark)) is ("/probes/" not in unit)  # a probe leaves its place to the next


@pytest.mark.slow
async def test_one_refused_turn_is_within_the_share_that_is_allowed(spec: BenchmarkSpec, out: Path) -> None:
    longer = spec.model_copy(update={"length": 32_000})
    refusal = ProviderError("HTTP 400: no", kind="bad_request", is_retryable=False)
    benchmark = create_benchmark(longer, out)
    summary = await run_inline(benchmark, answered_by(CountingModel("", "/dialogue/p0.s1/p0.s1.t2/", refusal)))

    assert (summary.finished, summary.failures) == (1, ())
    assert 0 < gaps_of(benchmark)["c000"] <= 0.02


class Filtering(CountingModel):
    """An endpoint whose filter refuses one prompt in forty, by its words."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = 0

    async def complete(self, call: ModelCall) -> ModelReply:
        if int(call.key[:8], 16) % 40 == 0:
            self.refused += 1
            raise ProviderError("HTTP 400: filtered", kind="content_filter", is_retryable=False)
        return await super().complete(call)


async def test_a_filter_that_refuses_one_call_in_forty_leaves_a_whole_conversation(
    spec: BenchmarkSpec, out: Path
) -> None:
    benchmark, model = create_benchmark(spec, out), Filtering()
    summary = await run_inline(benchmark, answered_by(model))
    # A probe that the filter refuses in both its words leaves its place to the next.
    assert (summary.finished, {unit.stage for _, unit in summary.failures} - {"probes"}) == (1, set())
    assert gaps_of(benchmark).get("c000", 0) <= spec.checks.gap_share
    reworded = sum(count for (_, prompt), count in model.calls.items() if prompt == "neutral_words")
    assert 0 < reworded <= model.refused
