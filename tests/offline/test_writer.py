"""The offline writer: a pure function of the call, with a rule for every prompt."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from pydantic import Field

from longbeam.models import ModelCall
from longbeam.offline import OfflineWriter, augment, pack_for, wishes
from longbeam.prompts import PROMPTS, default_registry
from longbeam.prompts.calls import AugmentInputs
from longbeam.schemas import BulletKind, ReplyModel, Role
from tests.prompts.samples import SAMPLES, extras_of


def _call(prompt_id: str, *, generation: int = 0, seed: int = 1) -> ModelCall:
    return ModelCall(
        prompt=default_registry()[prompt_id],
        inputs=SAMPLES[prompt_id],
        role=Role.WRITER,
        model="offline",
        benchmark_seed=seed,
        unit_key="c000/stage/unit/place",
        generation=generation,
        extras=extras_of(prompt_id, SAMPLES[prompt_id]),
    )


@pytest.mark.parametrize("prompt_id", [p.prompt_id for p in PROMPTS])
async def test_every_prompt_has_a_rule_whose_reply_fits_its_schema(prompt_id: str) -> None:
    reply = await OfflineWriter().complete(_call(prompt_id))
    schema = default_registry()[prompt_id].output
    assert reply.text.strip()
    assert reply.model == "offline"
    if schema is not None:
        schema.model_validate_json(reply.text)


class Opinion(ReplyModel):
    """A reply for which there is no rule."""

    verdict: Literal["yes", "no"]
    reasons: list[str] = Field(min_length=2)
    strength: int = Field(ge=3)
    second: Verdict | None
    note: str = ""


class Verdict(ReplyModel):
    is_sure: bool


@pytest.mark.parametrize("output", [Opinion, None])
async def test_a_prompt_without_a_rule_gets_the_least_reply_of_its_schema(output: type[ReplyModel] | None) -> None:
    call = _call("user_answer")
    prompt = replace(call.prompt, prompt_id="asked_for_the_first_time", output=output)
    reply = await OfflineWriter().complete(replace(call, prompt=prompt))
    if output is None:
        assert reply.text == "nothing"
    else:
        expected = Opinion(verdict="yes", reasons=["nothing"] * 2, strength=3, second=Verdict(is_sure=False))
        assert output.model_validate_json(reply.text) == expected


async def test_replies_do_not_depend_on_earlier_calls() -> None:
    fresh = {p.prompt_id: (await OfflineWriter().complete(_call(p.prompt_id))).text for p in PROMPTS}
    used = OfflineWriter()
    for prompt in reversed(PROMPTS):
        await used.complete(_call(prompt.prompt_id, seed=9))
        assert (await used.complete(_call(prompt.prompt_id))).text == fresh[prompt.prompt_id]


async def test_another_generation_may_say_it_otherwise() -> None:
    texts = {(await OfflineWriter().complete(_call("assistant_reply", generation=g))).text for g in range(4)}
    assert len(texts) == 4


async def test_the_faults_of_a_retry_reach_the_writer() -> None:
    call = _call("user_answer")
    again = call.inputs.model_copy(update={"feedback": "you said exactly this before"})
    retried = replace(call, extras=extras_of("user_answer", again), generation=1)
    assert (await OfflineWriter().complete(retried)).text.startswith("As I said, ")
    assert not (await OfflineWriter().complete(call)).text.startswith("As I said, ")


async def test_invocation_log_has_a_line_per_call(tmp_path: Path) -> None:
    log = tmp_path / "calls.log"
    writer = OfflineWriter(invocation_log=log)
    calls = [_call("assistant_reply"), _call("narratives"), _call("assistant_reply")]
    for call in calls:
        await writer.complete(call)
    assert log.read_text().splitlines() == [c.key for c in calls]


def test_preferences_go_on_when_all_of_them_are_taken() -> None:
    sample = SAMPLES["augment"]
    assert isinstance(sample, AugmentInputs)
    everything = wishes(pack_for(sample.seed)).preferences
    taken = tuple(p.condition for p in everything)
    target = sample.wishes[0].model_copy(update={"kind": BulletKind.PREFERENCE})
    asked = sample.model_copy(update={"wishes": (target,), "taken_conditions": taken, "replaceable": ()})
    (again,) = augment(asked, random.Random("r"), "1/c000").wishes
    assert again.condition in taken


def test_a_preference_that_may_be_replaced_gets_its_later_form() -> None:
    sample = SAMPLES["augment"]
    assert isinstance(sample, AugmentInputs)
    own = next(p for p in wishes(pack_for(sample.seed)).preferences if p.later)
    told = sample.replaceable[0].model_copy(
        update={"topic": own.topic, "condition": own.condition, "requirement": own.requirement}
    )
    target = sample.wishes[0].model_copy(update={"kind": BulletKind.PREFERENCE})
    asked = sample.model_copy(update={"wishes": (target,), "replaceable": (told,)})
    (grown,) = augment(asked, random.Random("r"), "1/c000").wishes
    assert own.later is not None
    assert (grown.condition, grown.requirement) == (own.condition, own.later.requirement)
