"""The meter: prices, what counts as free, and a cap that is not passed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, strategies as st

from longbeam.errors import RunStopped, SpecError
from longbeam.models import CostMeter, LimitedModel, ModelCall, Sampling, cost_of, cost_usd, price_of, unpriced_models
from longbeam.prompts import default_registry
from longbeam.prompts.calls import QuestionDetectorInputs
from longbeam.schemas import BenchmarkSpec, ModelReply, Price, Role, Usage

PRICE = {"input": 0.4, "cached": 0.1, "output": 1.6}


class Fixed:
    """Answers everything with the same counts, or those of its list in turn."""

    def __init__(self, *counts: tuple[int, int]) -> None:
        self.asked = 0
        self.most_at_once = 0
        self._at_once = 0
        self._counts = counts

    async def complete(self, call: ModelCall) -> ModelReply:
        prompt, output = self._counts[self.asked % len(self._counts)] if self._counts else (1_000, 100)
        self.asked += 1
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        await asyncio.sleep(0)
        self._at_once -= 1
        return ModelReply(text="ok", prompt_tokens=prompt, cached_tokens=prompt * 6 // 10, output_tokens=output)


def _spec(cap: float | None = None, price: dict[str, float] | None = PRICE, **endpoint: Any) -> BenchmarkSpec:
    settings = {**endpoint, **({"price": price} if price else {})}
    fields: dict[str, Any] = {"name": "x", "models": {"default": "openai:m"}, "endpoints": {"openai:m": settings}}
    return BenchmarkSpec.model_validate({**fields, "limits": {"max_cost_usd": cap} if cap else {}})


def _call(n: int = 0, size: int = 10_000, max_tokens: int | None = 200) -> ModelCall:
    return ModelCall(
        prompt=default_registry()["question_detector"],
        inputs=QuestionDetectorInputs(reply="x" * size),
        role=Role.DETECTOR,
        model="openai:m",
        benchmark_seed=0,
        unit_key=f"c000/dialogue/p0.s0/t{n}",
        sampling=Sampling(max_tokens=max_tokens),
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
    assert (detector.calls, detector.prompt_tokens, detector.output_tokens) == (2, 2_000, 200)
    assert planner == before


async def test_calls_wait_where_those_in_flight_may_spend_the_rest() -> None:
    inner = Fixed()
    meter = CostMeter(inner, _spec(20.5 * ONE_CALL))
    results = await asyncio.gather(*(meter.complete(_call(n)) for n in range(50)), return_exceptions=True)
    # A call may be more than 10,000 bytes, so at most 10,000 tokens and 200 of a reply: 0.00432 of 0.00779 dollars.
    # After the first, it is at most 1.5 times as dense: 600 and 320 millionths, 2.4 times its cost.
    assert inner.asked in (18, 19)
    assert 1 < inner.most_at_once < 10
    assert meter.spent_usd == pytest.approx(inner.asked * ONE_CALL)
    stops = [r for r in results if isinstance(r, RunStopped)]
    assert len(stops) == 50 - inner.asked
    assert str(stops[0]).startswith("limits.max_cost_usd = 0.00779 is reached: $0.00")
    assert "--max-cost" in str(stops[0])


async def test_a_stopped_run_does_not_send_the_calls_that_wait_for_money() -> None:
    class Held(Fixed):
        is_sent, gate = asyncio.Event(), asyncio.Event()

        async def complete(self, call: ModelCall) -> ModelReply:
            self.is_sent.set()
            await self.gate.wait()
            return await super().complete(call)

    inner = Held()
    spec = _spec(15 * ONE_CALL)  # a first call may cost 0.00432 dollars: one is sent, the others wait
    model = LimitedModel(CostMeter(inner, spec), spec)
    running = asyncio.gather(*(model.complete(_call(n)) for n in range(3)), return_exceptions=True)
    await inner.is_sent.wait()
    running.cancel()
    inner.gate.set()
    await asyncio.wait([running])
    assert inner.asked == 1


@given(
    counts=st.lists(st.tuples(st.integers(1_500, 2_200), st.integers(0, 200)), min_size=1, max_size=8),
    cap=st.floats(0.0001, 0.05),
)
def test_a_dearer_call_does_not_pass_the_cap(counts: list[tuple[int, int]], cap: float) -> None:
    # 2,200 is less than 1.5 * 1,500: no prompt is denser than the bound allows.
    inner = Fixed(*counts)

    async def run() -> float:
        meter = CostMeter(inner, _spec(cap))
        await asyncio.gather(*(meter.complete(_call(n)) for n in range(60)), return_exceptions=True)
        return meter.spent_usd

    assert asyncio.run(run()) <= cap


@pytest.mark.parametrize(("max_tokens", "cap"), [(None, 0.003), (2_000, 0.003), (200, 0.004)])
async def test_money_is_set_aside_before_a_first_call(max_tokens: int | None, cap: float) -> None:
    # 2,000 tokens of a reply at $1.60 a million are $0.0032; 10,000 bytes of a prompt are at most $0.004
    inner = Fixed()
    with pytest.raises(RunStopped, match="may cost"):
        await CostMeter(inner, _spec(cap)).complete(_call(max_tokens=max_tokens))
    assert inner.asked == 0


async def test_a_thinking_model_is_given_room_for_twice_its_longest_thought() -> None:
    class Thinking(Fixed):
        async def complete(self, call: ModelCall) -> ModelReply:
            return (await super().complete(call)).model_copy(update={"reasoning_tokens": 50})

    inner = Thinking()
    meter = CostMeter(inner, _spec(0.0065))
    for n in range(20):
        await asyncio.gather(meter.complete(_call(n)), return_exceptions=True)
    # 1.5 * 1,000 tokens at $0.4 and 200 + 2 * 50 at $1.6 a million are $0.00108: 0.0065 has room for it after 14 calls
    assert inner.asked == 15


def test_cap_without_a_price_is_refused() -> None:
    with pytest.raises(SpecError, match=r"max_cost_usd = 5: 'openai:m' has no price.*\[endpoints\.\"openai:m\"\]"):
        CostMeter(Fixed(), _spec(5.0, price=None))
