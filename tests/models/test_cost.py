"""The meter: prices, what counts as free, and a cap that is not passed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from longbeam.errors import RunStopped, SpecError
from longbeam.models.base import ModelCall
from longbeam.models.cost import CostMeter, cost_of, cost_usd, price_of, unpriced_models
from longbeam.prompts.calls.dialogue import QuestionDetectorInputs
from longbeam.prompts.declarations import default_registry
from longbeam.schemas.calls import ModelReply
from longbeam.schemas.spec import BenchmarkSpec, Price, Role
from longbeam.schemas.usage import Usage

PRICE = {"input": 0.4, "cached": 0.1, "output": 1.6}


class Fixed:
    """Answers everything with the same counts."""

    def __init__(self, delay_s: float = 0.0) -> None:
        self.asked = 0
        self._delay_s = delay_s

    async def complete(self, call: ModelCall) -> ModelReply:
        self.asked += 1
        await asyncio.sleep(self._delay_s)
        return ModelReply(text="ok", prompt_tokens=1_000, cached_tokens=600, output_tokens=100, reasoning_tokens=40)


def _spec(cap: float | None = None, price: dict[str, float] | None = PRICE, **endpoint: Any) -> BenchmarkSpec:
    settings = {**endpoint, **({"price": price} if price else {})}
    fields: dict[str, Any] = {"name": "x", "models": {"default": "openai:m"}, "endpoints": {"openai:m": settings}}
    return BenchmarkSpec.model_validate({**fields, "limits": {"max_cost_usd": cap} if cap else {}})


def _call(n: int = 0) -> ModelCall:
    return ModelCall(
        prompt=default_registry()["question_detector"],
        inputs=QuestionDetectorInputs(reply="Which day?"),
        role=Role.DETECTOR,
        model="openai:m",
        benchmark_seed=0,
        unit_key=f"c000/dialogue/p0.s0/t{n}",
    )


# 400 fresh at 0.4, 600 cached at 0.1, 100 output at 1.6 per million: 160 + 60 + 160 millionths of a dollar
ONE_CALL = 380e-6


def test_cached_tokens_have_their_own_price_and_default_to_the_input_price() -> None:
    tokens = {"prompt_tokens": 1_000, "cached_tokens": 600, "output_tokens": 100}
    assert cost_usd(Price(**PRICE), **tokens) == pytest.approx(ONE_CALL)
    assert cost_usd(Price(input=0.4, output=1.6), **tokens) == pytest.approx(560e-6)


def test_only_models_that_take_no_money_are_free_without_a_price() -> None:
    spec = _spec(price=None)
    assert price_of(spec, "openai:m") is None
    assert unpriced_models(spec) == ("openai:m",)
    assert price_of(spec, "offline") == price_of(spec, "vllm:m") == Price()
    assert price_of(_spec(price=None, sends_extras=True), "openai:m") == Price()
    row = Usage(stage="plan", role="planner", prompt_id="outline", model="openai:m", prompt_tokens=10)
    assert cost_of({"openai:m": None}, [row]) is None


async def test_meter_adds_what_the_journals_held_to_what_it_counts() -> None:
    before = Usage(stage="plan", role="planner", prompt_id="outline", model="openai:m", calls=1, prompt_tokens=10_000)
    meter = CostMeter(Fixed(), _spec(), before=[before])
    await meter.complete(_call(0))
    await meter.complete(_call(1))
    assert meter.spent_usd == pytest.approx(10_000 * 0.4e-6 + 2 * ONE_CALL)
    detector, planner = meter.usage()
    assert (detector.calls, detector.prompt_tokens, detector.reasoning_tokens) == (2, 2_000, 80)
    assert planner == before


async def test_cap_is_not_passed_however_many_calls_are_in_flight() -> None:
    cap = 10.5 * ONE_CALL
    inner = Fixed(delay_s=0.001)
    meter = CostMeter(inner, _spec(cap))
    await meter.complete(_call())  # so that the cost of a call is known
    results = await asyncio.gather(*(meter.complete(_call(n)) for n in range(50)), return_exceptions=True)
    stops = [r for r in results if isinstance(r, RunStopped)]
    assert (inner.asked, len(stops)) == (10, 41)
    assert meter.spent_usd == pytest.approx(10 * ONE_CALL)
    assert str(stops[0]).startswith("limits.max_cost_usd = 0.00399 is reached: $0.0004 is spent, $0.0034 may go to")
    assert "--max-cost" in str(stops[0])


async def test_money_is_set_aside_for_a_prompt_that_was_never_asked() -> None:
    # 2,000 tokens of output at $1.60 a million are $0.0032
    inner = Fixed()
    with pytest.raises(RunStopped):
        await CostMeter(inner, _spec(0.003)).complete(_call())
    assert inner.asked == 0


def test_cap_without_a_price_is_refused() -> None:
    with pytest.raises(SpecError, match=r"max_cost_usd = 5: 'openai:m' has no price.*\[endpoints\.\"openai:m\"\]"):
        CostMeter(Fixed(), _spec(5.0, price=None))
