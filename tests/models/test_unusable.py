"""A model that has never given a text that answers stops the run. Virtual time.

Texts that do not fit their form are counted by role, in test_asking.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence

import pytest

from longbeam.errors import RunStopped
from longbeam.models import CALLING, LimitedModel, ModelCall
from longbeam.schemas import BenchmarkSpec, ModelReply
from tests.models.calls import call, spec_of
from tests.virtual_time import run_virtually

EMPTY = ModelReply(text="")
THOUGHT = ModelReply(text="", finish_reason="length", reasoning_tokens=500)
REFUSAL = ModelReply(text="I'm sorry, but I can't assist with that.")
MISFIT = ModelReply(text="no JSON at all")
BATCHED = {"batch": {"stages": ["probes"]}}


class Endpoint:
    """Answers its n-th call by `replies(n)`, after `latency_s(n)`."""

    def __init__(
        self, replies: Callable[[int], ModelReply], latency_s: Callable[[int], float] = lambda number: 0.05
    ) -> None:
        self._replies, self._latency_s = replies, latency_s
        self.asked = self.in_flight = self.most = 0

    async def complete(self, call: ModelCall) -> ModelReply:
        number, self.asked = self.asked, self.asked + 1
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        await asyncio.sleep(self._latency_s(number))
        self.in_flight -= 1
        return self._replies(number)


Outcomes = Sequence[ModelReply | BaseException]


def ask(endpoint: Endpoint, count: int, *, at_once: bool = False, spec: BenchmarkSpec | None = None) -> Outcomes:
    """Return what `count` calls end with, one after the other or all at once; a `spec` sends them in batches."""
    unit_key = "c000/probes/x" if spec else "c000/dialogue/p0.s0/t0"

    async def run() -> Outcomes:
        model = LimitedModel(endpoint, spec or spec_of(), rng=random.Random(1))
        calls = [call(said=str(number), unit_key=unit_key) for number in range(count)]
        if at_once:
            return await asyncio.gather(*map(model.complete, calls), return_exceptions=True)
        return [(await asyncio.gather(model.complete(c), return_exceptions=True))[0] for c in calls]

    return run_virtually(run())


def lines_of(outcomes: Outcomes) -> set[str]:
    return {str(o) for o in outcomes if isinstance(o, RunStopped)}


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (EMPTY, "all 12 were empty. Check the name of the model and the chat template of its server"),
        (ModelReply(text="<think>Yes or no?</think>\n"), "all 12 were empty"),
        (
            ModelReply(text="").with_text_in("reasoning_content"),
            "all 12 were empty: their texts stood in the field 'reasoning_content' (12) of the message in place of"
            " 'content'. A parser of its server takes answers for thoughts or tool calls",
        ),
        (
            THOUGHT,
            "all 12 spent their whole length limit on reasoning. In the spec, raise max_tokens in [sampling.detector]",
        ),
        (ModelReply(text="", finish_reason="length"), "spent their whole length limit on reasoning"),
        (REFUSAL, "all 12 were refusals (the last: I'm sorry, but I can't assist with that.). Name another model in"),
        (ModelReply(text="", refusal="No."), "all 12 were refusals (the last: No.). Name another model in [models]"),
        (ModelReply(text="", finish_reason="content_filter"), "all 12 were refusals. Name another model in [models]"),
    ],
)
def test_a_model_without_a_usable_reply_stops_the_run_and_keeps_what_came(reply: ModelReply, said: str) -> None:
    endpoint = Endpoint(lambda number: reply)
    outcomes = ask(endpoint, 20)
    assert endpoint.asked == CALLING.unusable_replies == 12
    assert outcomes[:12] == [reply] * 12  # the journal above keeps each of them
    (line,) = lines_of(outcomes[12:])
    assert line.startswith("openai:m has given no usable reply since this run began: all 12 ")
    assert said in line
    assert "\n" not in line


def test_unusable_replies_of_several_kinds_are_counted_by_kind() -> None:
    (line,) = lines_of(ask(Endpoint(lambda number: EMPTY if number % 3 else THOUGHT), 13))
    assert "of 12 replies, 8 were empty and 4 spent their whole length limit on reasoning. Check the name" in line
    assert "In the spec, raise max_tokens" in line


@pytest.mark.parametrize(
    "usable", [MISFIT, ModelReply(text="Half a sen", finish_reason="length"), ModelReply(text="Bonjour à tous")]
)
def test_one_text_switches_the_guard_off(usable: ModelReply) -> None:
    endpoint = Endpoint(lambda number: usable if number == CALLING.unusable_replies - 1 else EMPTY)
    outcomes = ask(endpoint, 100)
    assert endpoint.asked == 100
    assert not lines_of(outcomes)


def test_replies_on_their_way_are_awaited_before_the_run_stops() -> None:
    endpoint = Endpoint(lambda number: EMPTY)
    outcomes = ask(endpoint, 500, at_once=True)
    assert endpoint.asked < 64  # those in flight when the twelfth came
    assert endpoint.asked == sum(isinstance(o, ModelReply) for o in outcomes)
    assert len(lines_of(outcomes)) == 1


def test_a_slow_usable_reply_behind_quick_refusals_keeps_the_run_going() -> None:
    endpoint = Endpoint(
        lambda number: ModelReply(text="yes") if number == 3 else REFUSAL, lambda number: 60 if number == 3 else 0.05
    )
    outcomes = ask(endpoint, 200, at_once=True)
    assert not lines_of(outcomes)
    assert endpoint.asked == 200


def test_a_usable_reply_of_another_model_does_not_help() -> None:
    async def run() -> RunStopped:
        model = LimitedModel(Endpoint(lambda number: EMPTY if number else ModelReply(text="yes")), spec_of())
        await model.complete(call("openai:other"))
        for number in range(CALLING.unusable_replies):
            await model.complete(call(said=str(number)))
        with pytest.raises(RunStopped, match="openai:m has given no usable reply"):
            await model.complete(call(said="one more"))
        with pytest.raises(RunStopped) as caught:
            await model.complete(call("openai:other"))  # the whole run stops, in one line
        return caught.value

    assert "openai:m" in str(run_virtually(run()))


def test_a_batch_is_judged_as_a_whole() -> None:
    spec = BenchmarkSpec.model_validate({**spec_of().model_dump(), **BATCHED})
    late = Endpoint(lambda number: EMPTY if number < 50 else ModelReply(text="yes"), lambda number: 3600)
    assert not lines_of(ask(late, 60, at_once=True, spec=spec))
    assert late.most == 60  # no place is taken
    useless = Endpoint(lambda number: EMPTY, lambda number: 3600)
    assert lines_of(ask(useless, 20, spec=spec))
    assert useless.asked == CALLING.unusable_replies


def test_a_server_in_this_process_is_told_to_leave_thinking_out() -> None:
    spec = BenchmarkSpec.model_validate(
        {"name": "a", "models": {"default": "vllm:Big"}, "endpoints": {"vllm:Big": {"reasoning": True}}}
    )

    async def run() -> str:
        model = LimitedModel(Endpoint(lambda number: THOUGHT), spec)
        for _ in range(CALLING.unusable_replies):
            await model.complete(call("vllm:Big"))
        with pytest.raises(RunStopped) as caught:
            await model.complete(call("vllm:Big"))
        return str(caught.value)

    assert 'or set reasoning = false in [endpoints."vllm:Big"]' in run_virtually(run())
