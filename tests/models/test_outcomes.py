"""Replies that are no answer: each is named, asked again its own way, and kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from longbeam.errors import ReplyError
from longbeam.models import ModelCall, outcome_of, spoken, wrong_language
from longbeam.prompts.calls import PersonalityInputs, QuestionDetectorInputs
from longbeam.schemas import BenchmarkSpec, ModelReply, RoleSampling
from longbeam.text import language_of
from tests.generators.scripted import ScriptedModel, asker_for, faults_of

ENGLISH = (
    "You could ask the bakery on the corner for the flour that it has left over on Friday, because the price of it "
    "is lower at the end of the week and you have room for two bags in your cellar. That leaves you with enough."
)
FRENCH = (
    "Vous pouvez demander à la boulangerie du coin si elle vous vend la farine du vendredi, parce que le prix "
    "est plus bas en fin de semaine et que vous avez de la place pour deux sacs dans votre cave avec une porte."
)
GERMAN = (
    "Sie können die Bäckerei an der Ecke fragen, ob sie Ihnen das Mehl verkauft, das am Freitag übrig ist, weil der "
    "Preis am Ende der Woche niedriger ist und Sie im Keller Platz für zwei Säcke haben, wenn Sie nicht zu viel lagern "
    "und die Tür mit einem Gitter versehen ist."
)
CHINESE = "您可以问问街角的面包店星期五剩下的面粉是否卖给您，因为周末的价格更低，而且您的地下室有放两袋面粉的地方。" * 2
CODE = "```python\n" + "for item in basket:\n    total += item.price * item.count\n" * 10 + "```"
INPUTS = QuestionDetectorInputs(reply="Shall we?")
YES = '{"reason": "it asks", "asks_user": true}'


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (ModelReply(text="Half a sen", finish_reason="length"), "length"),
        (ModelReply(text="", finish_reason="length", reasoning_tokens=500), "reasoning"),
        (ModelReply(text="<think>Let me see", finish_reason="length"), "reasoning"),
        (ModelReply(text="", finish_reason="length"), "length"),
        (ModelReply(text="again and again", finish_reason="loop"), "loop"),
        (ModelReply(text="", finish_reason="content_filter"), "content_filter"),
        (ModelReply(text="", refusal="I will not do that."), "refusal"),
        (ModelReply(text="I'm sorry, but I can't assist with that."), "refusal"),
        (ModelReply(text="Unfortunately, I cannot create such a text."), "refusal"),
        (ModelReply(text=" \n"), "empty"),
        (ModelReply(text="<think>Yes or no?</think>\n"), "empty"),
        (ModelReply(text=CHINESE), "wrong_language"),
        (ModelReply(text=FRENCH), "wrong_language"),
    ],
)
def test_a_reply_that_is_no_answer_has_a_name(reply: ModelReply, kind: str) -> None:
    outcome = outcome_of(reply, language_of("English"), is_prose=True)
    assert outcome is not None
    assert outcome.kind == kind


@pytest.mark.parametrize(
    "text",
    [
        ENGLISH,
        "I'm sorry to hear that. Your landlord has to give notice.",
        "I can't believe it is March already!",
        CODE,
        "42",
        "Zoë's café, Málaga: 1,200 €",
    ],
)
def test_an_answer_is_an_answer(text: str) -> None:
    assert outcome_of(ModelReply(text=text), language_of("English"), is_prose=True) is None


def test_thoughts_are_not_what_was_said() -> None:
    assert spoken(ModelReply(text="<think>Is it?</think>\n\nIt is.")) == "It is."
    assert spoken(ModelReply(text="so yes.</think>It is.")) == "It is."  # the opening stood in the prompt


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        (ENGLISH, "English", ""),
        (FRENCH, "French", ""),
        (GERMAN, "german", ""),
        (CHINESE, "Chinese", ""),
        (ENGLISH, "French", "English"),
        (FRENCH, "German", "French"),
        (ENGLISH, "Chinese", "Latin letters"),
        (CHINESE, "German", "Han letters"),
        (CODE, "French", ""),
        (ENGLISH, "Klingon", ""),  # nothing is known of it
        (f"He said {CHINESE[:30]}, which is to say: {ENGLISH}", "English", ""),
    ],
)
def test_languages_are_told_apart(text: str, language: str, found: str) -> None:
    assert wrong_language(text, language_of(language), is_prose=True) == found


def test_json_is_judged_by_its_letters_alone() -> None:
    assert wrong_language('{"questions": ["' + CHINESE + '"]}', language_of("English"), is_prose=False) == "Han letters"
    assert wrong_language('{"questions": ["' + ENGLISH + '"]}', language_of("French"), is_prose=False) == ""
    assert wrong_language('{"questions": ["' + CHINESE + '"]}', language_of("Chinese"), is_prose=False) == ""


async def calls_of(replies: list[ModelReply | str], sampling: RoleSampling) -> list[ModelCall]:
    model = ScriptedModel({"question_detector": replies})
    spec = BenchmarkSpec.model_validate({"name": "a", "sampling": {"detector": sampling}})
    await replace(asker_for(model), spec=spec).structured("question_detector", INPUTS)
    return model.calls


async def test_a_cut_reply_is_asked_again_with_more_room_and_the_same_words() -> None:
    cut = ModelReply(text="{", finish_reason="length")
    thought = ModelReply(text="", reasoning_tokens=9, finish_reason="length")
    calls = await calls_of([cut, thought, YES], RoleSampling(max_tokens=100, temperature=0.3))
    assert [c.sampling.max_tokens for c in calls] == [100, 200, 800]
    assert {c.sampling.temperature for c in calls} == {0.3}
    assert {faults_of(c) for c in calls} == {""}
    assert len({c.key for c in calls}) == 3


async def test_a_reply_cut_at_the_endpoints_own_limit_is_asked_to_be_shorter() -> None:
    calls = await calls_of([ModelReply(text="{", finish_reason="length"), YES], RoleSampling())
    assert calls[1].sampling.max_tokens is None
    assert "write less" in faults_of(calls[1])


async def test_a_refusal_is_answered_with_its_reason_and_fails_by_its_name() -> None:
    model = ScriptedModel({"question_detector": [ModelReply(text="", refusal="No.")]})
    with pytest.raises(ReplyError, match=r"the reply was a refusal \(No\.\)") as caught:
        await asker_for(model).structured("question_detector", INPUTS)
    assert caught.value.kind == "refusal"
    assert "all of this is fiction" in faults_of(model.calls[1])


async def test_prose_in_another_language_is_asked_for_again() -> None:
    model = ScriptedModel({"personality": [CHINESE, ENGLISH]})
    inputs = PersonalityInputs.model_construct(**dict.fromkeys(PersonalityInputs.model_fields, ""))
    text = await asker_for(model).prose("personality", inputs)
    assert text == ENGLISH
    assert faults_of(model.calls[1]) == "the reply was in Han letters; write it in English"


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (ModelReply(text="", refusal="No."), "the reply was a refusal (No.)"),
        (ModelReply(text="la la", finish_reason="loop"), "the reply repeated itself until it was cut off"),
        (ModelReply(text="", finish_reason="content_filter"), "the reply was withheld by a content filter"),
        (ModelReply(text=FRENCH), "the reply was in French"),
    ],
)
async def test_an_error_leaves_out_what_is_said_to_the_model(reply: ModelReply, told: str) -> None:
    model = ScriptedModel({"personality": [reply]})
    inputs = PersonalityInputs.model_construct(**dict.fromkeys(PersonalityInputs.model_fields, ""))
    with pytest.raises(ReplyError) as caught:
        await asker_for(model).prose("personality", inputs)
    assert str(caught.value).endswith(f"the last: {told}")
    assert faults_of(model.calls[1]).startswith(f"{told}; ")


async def test_an_error_about_reasoning_names_the_setting_of_its_role() -> None:
    model = ScriptedModel({"question_detector": [ModelReply(text="", finish_reason="length", reasoning_tokens=9)]})
    with pytest.raises(ReplyError, match=r"went into reasoning.*[Rr]aise max_tokens in \[sampling\.detector\]"):
        await asker_for(model, writer="openai:m").structured("question_detector", INPUTS)
