"""What replies bring in unasked is read out of them, checked by code, and asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longbeam.errors import ProviderError
from longbeam.models import ModelCall
from longbeam.pipeline.run import run_inline
from longbeam.prompts.calls import ExtractFactsInputs
from longbeam.schemas import Advice, BenchmarkSpec, IncidentKind, Message, MessageRole, ModelReply, Probe
from longbeam.store import Benchmark, SealedConversation, create_benchmark
from tests.pipeline.conftest import CountingModel
from tests.wired import answered_by

RESERVE = "Put $7,313 aside as the emergency reserve of the oven."
CHANGED = (
    "For the shed I would keep a paint reserve of $611.",
    "For the shed make the paint reserve $733 instead.",
)
REPEATED = "A week later I would still put $8,421 aside as the moving reserve of the van."


class Talkative(CountingModel):
    """The offline writer, whose assistant names amounts that nobody planned, and whose checker notes them."""

    def __init__(self, *, notes: bool = True) -> None:
        super().__init__()
        self._notes = notes

    async def complete(self, call: ModelCall) -> ModelReply:
        """Answer; two replies of the first sub-plan and one of the second say more than they were to say."""
        reply = await super().complete(call)
        if call.prompt.prompt_id == "assistant_reply":
            first, last = CHANGED
            further = {"s0.t2": RESERVE, "s0.t4": REPEATED, "s1.t3": REPEATED, "s0.t6": first, "s1.t5": last}
            said = next(
                (text for place, text in further.items() if call.unit_key.endswith(f"{place}/replyquestion0")), ""
            )
            return reply.model_copy(update={"text": f"{reply.text}\n\n{said}".strip()})
        if isinstance(call.inputs, ExtractFactsInputs) and self._notes:
            return reply.model_copy(update={"text": json.dumps({"statements": [*_noted(call.inputs)]})})
        return reply


def _noted(inputs: ExtractFactsInputs):  # noqa: ANN202
    for message in inputs.messages:
        if RESERVE in message.content:
            fact = {"message": message.number, "says": "fact", "subject": "the oven"}
            yield {**fact, "quote": RESERVE, "attribute": "suggested emergency reserve", "value": "$7,313"}
            yield {**fact, "quote": RESERVE, "attribute": "emergency reserve", "value": "$9,999"}  # not said
            yield {**fact, "quote": RESERVE, "attribute": "delivery fee", "value": "$7,313"}  # of something else
            yield {
                **fact,
                "quote": RESERVE,
                "subject": "the marquee",
                "attribute": "emergency reserve",
                "value": "$7,313",
            }
        for quote, says, value in zip(CHANGED, ("fact", "change"), ("$611", "$733"), strict=True):
            if quote in message.content:
                fact = {"message": message.number, "says": says, "subject": "the shed"}
                yield {**fact, "quote": quote, "attribute": "paint reserve", "value": value}
        if REPEATED in message.content:
            fact = {"message": message.number, "says": "fact", "subject": "the van"}
            yield {**fact, "quote": REPEATED, "attribute": "moving reserve", "value": "$8,421"}


def spec_of(**values: object) -> BenchmarkSpec:
    return BenchmarkSpec.model_validate(
        {
            "name": "short",
            "seed": 12,
            "length": "16K",
            "domains": ["cooking"],
            "abilities": ["information_extraction"],
            "checks": {"model": True, "least_accuracy": 0},
            **values,
        }
    )


async def _made(out: Path, model: CountingModel, **values: object) -> Benchmark:
    benchmark = create_benchmark(spec_of(**values), out)
    summary = await run_inline(benchmark, answered_by(model))
    assert summary.failures == ()
    return benchmark


def _sealed(benchmark: Benchmark) -> tuple[list[Advice], list[Message], list[Probe]]:
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        advice = [a for plan in sealed.head.plans for a in plan.advice]
        return advice, list(sealed.messages()), list(sealed.probes())


@pytest.fixture
async def made(out: Path) -> Benchmark:
    return await _made(out, Talkative())


async def test_an_amount_that_a_reply_brings_in_unasked_is_advice_with_a_probe(made: Benchmark) -> None:
    advice, messages, probes = _sealed(made)
    (given,) = (a for a in advice if a.value and a.value.text == "$7,313")
    (reply,) = (m for m in messages if given.advice_id in m.bullet_ids)
    assert (given.topic, given.attribute, given.text) == ("the oven", "emergency reserve", RESERVE)
    assert (reply.role, RESERVE in reply.content) == (MessageRole.ASSISTANT, True)
    (probe,) = (p for p in probes if given.advice_id in p.bullet_ids)
    assert "$7,313" in probe.gold_answer
    assert [e.message_key for e in probe.evidence] == [reply.message_key]


async def test_what_two_replies_say_is_no_unasked_advice(made: Benchmark) -> None:
    advice, messages, _ = _sealed(made)
    assert sum(REPEATED in m.content for m in messages) == 2
    assert not [a for a in advice if a.value and a.value.text == "$8,421"]


async def test_what_a_later_reply_changes_is_no_unasked_advice(made: Benchmark) -> None:
    advice, messages, _ = _sealed(made)
    assert all(any(quote in m.content for m in messages) for quote in CHANGED)
    assert not [a for a in advice if a.topic == "the shed"]


async def test_a_passage_without_a_usable_reply_is_left_out(out: Path) -> None:
    class Broken(Talkative):
        async def complete(self, call: ModelCall) -> ModelReply:
            reply = await super().complete(call)
            is_read = isinstance(call.inputs, ExtractFactsInputs)
            return reply.model_copy(update={"text": "I cannot."}) if is_read else reply

    benchmark = await _made(out, Broken())
    assert not [a for a in _sealed(benchmark)[0] if a.topic == "the oven"]


async def test_a_passage_too_long_for_the_model_is_left_out_and_noted(out: Path) -> None:
    class Short(Talkative):
        async def complete(self, call: ModelCall) -> ModelReply:
            if isinstance(call.inputs, ExtractFactsInputs):
                raise ProviderError("8,802 tokens", kind="context_length", is_retryable=False)
            return await super().complete(call)

    benchmark = await _made(out, Short())
    assert not [a for a in _sealed(benchmark)[0] if a.topic == "the oven"]
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        noted = [i for i in sealed.head.making.incidents if i.prompt_id == "extract_facts"]
    assert noted
    assert {(i.kind, i.detail) for i in noted} == {
        (IncidentKind.DEFAULTED, "nothing is read out of this passage: 8,802 tokens")
    }


async def test_nothing_is_read_where_the_assistant_is_to_bring_nothing_in(out: Path) -> None:
    model = Talkative()
    await _made(out, model, probes={"assistant_share": 0})
    assert not any(prompt == "extract_facts" for _, prompt in model.calls)


async def test_what_was_read_is_not_paid_for_again(made: Benchmark) -> None:
    made.sealed_path("c000").unlink()
    again = Talkative()
    await run_inline(made, answered_by(again))
    assert again.calls == {}
    assert any(a.value and a.value.text == "$7,313" for a in _sealed(made)[0])


async def test_replies_are_read_only_where_models_check(out: Path) -> None:
    silent = Talkative()
    benchmark = await _made(out, silent, checks={"model": False})
    assert not any(prompt == "extract_facts" for _, prompt in silent.calls)
    assert not [a for a in _sealed(benchmark)[0] if a.value and a.value.text == "$7,313"]


async def test_a_passage_knows_what_was_read_in_earlier_ones(out: Path) -> None:
    known: list[str] = []

    class Noting(Talkative):
        async def complete(self, call: ModelCall) -> ModelReply:
            if isinstance(call.inputs, ExtractFactsInputs):
                known.extend(call.inputs.known)
            return await super().complete(call)

    await _made(out, Noting())
    assert any("the shed, paint reserve: $611" in line for line in known)
