"""Asking: parse, check, ask again with the reason, give up after three."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import partial

import pytest

from longbeam.errors import ReplyError
from longbeam.models.asking import parse_reply
from longbeam.prompts.calls.dialogue import (
    FollowUpDetectorInputs,
    QuestionDetectorInputs,
    QuestionDetectorReply,
    TurnState,
)
from longbeam.schemas.calls import ModelReply
from longbeam.schemas.spec import BenchmarkSpec
from tests.generators.scripted import ScriptedModel, asker_for

YES = '{"reason": "it asks", "asks_user": true}'
INPUTS = QuestionDetectorInputs(reply="Shall we?")


async def test_structured_reply_is_parsed() -> None:
    model = ScriptedModel({"question_detector": [YES]})
    reply = await asker_for(model).structured("question_detector", INPUTS, place="t0")
    assert reply == QuestionDetectorReply(reason="it asks", asks_user=True)
    assert [c.unit_key for c in model.calls] == ["c000/stage/unit/t0"]


async def test_malformed_reply_is_asked_again_with_the_reason() -> None:
    model = ScriptedModel({"question_detector": ['{"reason": "no verdict"}', YES]})
    reply = await asker_for(model).structured("question_detector", INPUTS)
    assert reply.asks_user
    assert [c.generation for c in model.calls] == [0, 1]
    assert "asks_user" in model.calls[1].inputs.feedback
    assert "asks_user" in model.calls[1].messages()[-1].content
    assert model.calls[0].key != model.calls[1].key


async def test_three_bad_replies_raise_with_the_last_reason() -> None:
    model = ScriptedModel({"question_detector": ["nonsense"]})
    with pytest.raises(ReplyError, match="c000/stage/unit, prompt 'question_detector': 3 replies did not fit"):
        await asker_for(model).structured("question_detector", INPUTS)
    assert len(model.calls) == 3


async def test_check_refuses_what_parses() -> None:
    model = ScriptedModel({"question_detector": [YES, YES.replace("true", "false")]})
    reply = await asker_for(model).structured(
        "question_detector", INPUTS, check=lambda r: "must be no" if r.asks_user else None
    )
    assert not reply.asks_user
    assert model.calls[1].inputs.feedback == "must be no"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (ModelReply(text=YES, finish_reason="length"), "cut off at its length limit"),
        (ModelReply(text="", finish_reason="content_filter"), "withheld by a content filter"),
    ],
)
async def test_cut_and_withheld_replies_are_not_used(reply: ModelReply, reason: str) -> None:
    model = ScriptedModel({"question_detector": [reply]})
    with pytest.raises(ReplyError, match=reason):
        await asker_for(model).structured("question_detector", INPUTS)


async def test_next_generation_of_a_unit_has_keys_of_its_own() -> None:
    model = ScriptedModel({"question_detector": ["nonsense"]})
    for generation in (0, 1):
        asker = replace(asker_for(model), generation=generation)
        with pytest.raises(ReplyError):
            await asker.structured("question_detector", INPUTS)
    assert [c.generation for c in model.calls] == [0, 1, 2, 3, 4, 5]
    assert len({c.key for c in model.calls}) == 6


@pytest.mark.parametrize("text", [YES, f"```json\n{YES}\n```", f"Here it is: {YES} I hope it helps."])
def test_wrapping_is_taken_off(text: str) -> None:
    assert parse_reply(text, QuestionDetectorReply) == QuestionDetectorReply(reason="it asks", asks_user=True)


def test_values_are_never_made_up() -> None:
    with pytest.raises(ValueError, match="Invalid JSON"):
        parse_reply('{"reason": "x"', QuestionDetectorReply)
    with pytest.raises(ValueError, match="asks_user: Field required"):
        parse_reply('{"reason": "x"}', QuestionDetectorReply)


async def test_words_of_a_prompts_example_are_asked_again_unless_the_story_has_them() -> None:
    copied = '{"reason": "Yrsa asks", "asks_user": true}'
    model = ScriptedModel({"question_detector": [copied, copied, YES]})
    reply = await asker_for(model).structured("question_detector", INPUTS)
    assert reply.reason == "it asks"
    # The feedback names the word; that does not make it the story's.
    assert ["yrsa" in c.inputs.feedback for c in model.calls] == [False, True, True]

    model = ScriptedModel({"question_detector": [copied]})
    told = QuestionDetectorInputs(reply="Shall we ask Yrsa?")
    reply = await asker_for(model).structured("question_detector", told)
    assert reply.reason == "Yrsa asks"


async def test_every_call_carries_the_language_of_the_spec() -> None:
    model = ScriptedModel({"question_detector": [YES.replace("reason", "why"), YES]})
    asker = asker_for(model)
    asker = replace(asker, spec=asker.spec.model_copy(update={"language": "Dutch"}))
    await asker.structured("question_detector", INPUTS)
    assert [c.inputs.language for c in model.calls] == ["Dutch", "Dutch"]
    assert all("Dutch" in c.messages()[0].content for c in model.calls)


@pytest.mark.parametrize(("model_name", "keys"), [("openai:m", 1), ("vllm:m", 1), ("offline", 2), ("openai:served", 2)])
async def test_the_state_of_a_call_is_part_of_the_keys_of_rules_alone(model_name: str, keys: int) -> None:
    model = ScriptedModel({"follow_up_detector": ['{"reason": "all is said", "asks_on": false}']})
    made = {"name": "test", "models": {"default": model_name}}
    spec = BenchmarkSpec.model_validate({**made, "endpoints": {"openai:served": {"sends_extras": True}}})
    inputs = FollowUpDetectorInputs(title="A trip", question="When?", reply="In May.", follow_ups=0)
    computed = 0

    def state_of(previous_reply: str) -> TurnState:
        nonlocal computed
        computed += 1
        return TurnState(turn_id="p0.s0.t0", today=date(2026, 1, 5), bullets=(), previous_reply=previous_reply)

    for previous_reply in ("", "Which one?"):
        asker = replace(asker_for(model), spec=spec)
        await asker.structured("follow_up_detector", inputs, state=partial(state_of, previous_reply))

    first, second = model.calls
    assert first.messages() == second.messages()
    assert len({first.key, second.key}) == keys
    assert computed == (2 if keys == 2 else 0)
    assert [c.extras is None for c in model.calls] == [keys == 1] * 2


async def test_another_message_is_another_call() -> None:
    model = ScriptedModel({"question_detector": [YES]})
    spec = BenchmarkSpec.model_validate({"name": "test", "models": {"default": "openai:m"}})
    for reply in ("Shall we?", "Shall we go?"):
        asker = replace(asker_for(model), spec=spec)
        await asker.structured("question_detector", QuestionDetectorInputs(reply=reply))

    assert len({c.key for c in model.calls}) == 2
