"""The offline writer: a pure function of the call, with a rule for every prompt."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from pydantic import Field

from longbeam.models import ModelCall
from longbeam.offline import OfflineWriter, Preference, pack_for, sub_plan, wishes
from longbeam.prompts import PROMPTS, default_registry
from longbeam.prompts.calls import SubPlanInputs
from longbeam.schemas import Bullet, BulletKind, ReplyModel, Role
from tests.prompts.samples import SAMPLES, SHEET, extras_of


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


def test_preferences_go_on_when_earlier_plans_have_told_them_all() -> None:
    sample = SAMPLES["sub_plan"]
    assert isinstance(sample, SubPlanInputs)
    assert sample.chapter is not None
    everything = wishes(pack_for(sample.seed)).preferences

    def told(preference: Preference) -> Bullet:
        now = preference.later or preference  # all that can change has changed already
        given = {"topic": now.topic, "condition": now.condition, "requirement": now.requirement}
        return sample.chapter.standing[0].model_copy(update=given)  # type: ignore[union-attr]

    standing = tuple(told(p) for p in everything)
    chapter = sample.chapter.model_copy(update={"standing": standing})
    lines = tuple(line for line in SHEET.stages[1] if line.kind is BulletKind.PREFERENCE)
    reply = sub_plan(sample.model_copy(update={"chapter": chapter, "lines": lines}), SHEET, "c000")

    again = [b for b in reply.bullets if b.requirement]
    assert len(again) == len(lines) == 2
    in_force = {(b.topic, b.condition): b.requirement for b in standing}
    assert all(in_force[b.topic, b.condition] == b.requirement for b in again)
