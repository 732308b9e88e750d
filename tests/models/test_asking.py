"""Asking: parse, check, ask again with the reason, give up after three."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial

import pytest

from longbeam.errors import ProviderError, ReplyError, RunStopped
from longbeam.models import (
    CALLING,
    LEFT_OUT,
    MOST_FAULTS,
    Acceptance,
    Asker,
    ModelCall,
    in_neutral_words,
    parse_reply,
    passages_in,
    with_passages,
)
from longbeam.prompts.calls import PersonalityInputs, QuestionDetectorInputs, QuestionDetectorReply, TurnState
from longbeam.schemas import BenchmarkSpec, IncidentKind, Limits, ModelReply, NeutralInputs
from tests.generators.scripted import ScriptedModel, asker_for, faults_of

YES = '{"reason": "it asks", "asks_user": true}'
INPUTS = QuestionDetectorInputs(reply="Shall we?")
LONGER = QuestionDetectorInputs(reply="Shall we go to the harbour tonight?")
PERSONALITY = PersonalityInputs(gender="female", traits=("calm",) * 6)


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
    assert "asks_user" in faults_of(model.calls[1])
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
        "question_detector", INPUTS, accept=Acceptance(check=lambda r: ["must be no"] if r.asks_user else [])
    )
    assert not reply.asks_user
    assert faults_of(model.calls[1]) == "must be no"


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
    assert ["yrsa" in faults_of(c) for c in model.calls] == [False, True, True]

    model = ScriptedModel({"question_detector": [copied]})
    told = QuestionDetectorInputs(reply="Shall we ask Yrsa?")
    reply = await asker_for(model).structured("question_detector", told)
    assert reply.reason == "Yrsa asks"


async def test_a_retry_shows_the_last_reply_and_all_faults_behind_the_same_request() -> None:
    """Found 9: a retry was told the first fault only and did not see its own earlier reply."""
    model = ScriptedModel({"question_detector": [YES, YES.replace("true", "false")]})
    faults = ["the reason is too short", "it must be no"]
    await asker_for(model).structured(
        "question_detector", INPUTS, accept=Acceptance(check=lambda r: faults if r.asks_user else [])
    )

    first, second = model.calls
    request = first.messages()
    assert second.messages()[: len(request)] == request  # a prefix cache serves it
    reply, said = second.messages()[len(request) :]
    assert (reply.role, reply.content) == ("assistant", YES)
    assert said.role == "user"
    assert all(fault in said.content for fault in faults)


async def test_a_retry_names_twelve_faults_at_most() -> None:
    model = ScriptedModel({"question_detector": [YES, YES.replace("true", "false")]})
    faults = [f"fault {i}" for i in range(20)]
    await asker_for(model).structured(
        "question_detector", INPUTS, accept=Acceptance(check=lambda r: faults if r.asks_user else [])
    )
    retry = model.calls[1].retry
    assert retry is not None
    assert list(retry.faults) == faults[:MOST_FAULTS] == faults[:12]


async def test_a_reply_that_repeats_the_refused_one_is_not_shown_again() -> None:
    model = ScriptedModel({"question_detector": ["same"]})
    with pytest.raises(ReplyError):
        await asker_for(model).structured("question_detector", INPUTS)
    assert [call.retry and call.retry.reply for call in model.calls] == [None, "same", ""]


class _Narrow(ScriptedModel):
    """A model for whose context a retry is too long: one that shows a reply, or every one."""

    def __init__(self, answers: list[str], *, every: bool) -> None:
        super().__init__({"question_detector": answers})
        self._every = every

    async def complete(self, call: ModelCall) -> ModelReply:
        if call.retry is not None and (call.retry.reply or self._every):
            self.calls.append(call)
            raise ProviderError("12,589 tokens", kind="context_length", is_retryable=False)
        return await super().complete(call)


async def test_a_retry_too_long_for_the_model_does_not_show_the_last_reply() -> None:
    model = _Narrow(["nonsense", YES], every=False)
    assert (await asker_for(model).structured("question_detector", INPUTS)).asks_user
    assert [call.retry and call.retry.reply for call in model.calls] == [None, "nonsense", ""]


async def test_a_retry_that_never_fits_leaves_what_can_be_mended() -> None:
    no = QuestionDetectorReply(reason="", asks_user=False)
    accept = Acceptance(check=lambda r: ["must be no"] if r.asks_user else [], mend=lambda _: no)
    model = _Narrow([YES], every=True)
    asker = asker_for(model)
    assert await asker.structured("question_detector", INPUTS, accept=accept) == no
    with pytest.raises(ReplyError, match="must be no"):
        await asker.structured("question_detector", INPUTS, accept=replace(accept, mend=None))


async def test_a_request_too_long_for_the_model_is_not_repeated() -> None:
    class Narrower(ScriptedModel):
        async def complete(self, call: ModelCall) -> ModelReply:
            self.calls.append(call)
            raise ProviderError("12,589 tokens", kind="context_length", is_retryable=False)

    model = Narrower({})
    with pytest.raises(ProviderError, match="12,589 tokens"):
        await asker_for(model).structured("question_detector", INPUTS)
    assert len(model.calls) == 1


async def test_a_retry_does_not_repeat_a_refusal_to_the_model() -> None:
    model = ScriptedModel({"question_detector": ["I'm sorry, but I can't assist with that.", YES]})
    await asker_for(model).structured("question_detector", INPUTS)
    assert [m.role for m in model.calls[1].messages()] == [m.role for m in model.calls[0].messages()]


async def test_only_the_beginning_of_an_endless_reply_is_shown() -> None:
    model = ScriptedModel({"question_detector": ["no " * 100_000, YES]})
    await asker_for(model).structured("question_detector", INPUTS)
    assert len(model.calls[1].messages()[-2].content) == CALLING.shown_characters


@pytest.mark.parametrize(
    ("named", "sent"), [(None, [None, 1, 1]), (0.0, [0, 0.3, 0.6]), (0.9, [0.9, 1, 1]), (1.3, [1.3] * 3)]
)
async def test_retries_are_warmer(named: float | None, sent: list[float | None]) -> None:
    model = ScriptedModel({"question_detector": ["nonsense"]})
    sampling = {} if named is None else {"detector": {"temperature": named}}
    spec = BenchmarkSpec.model_validate({"name": "test", "sampling": sampling})
    with pytest.raises(ReplyError):
        await replace(asker_for(model), spec=spec).structured("question_detector", INPUTS)
    assert [c.sampling.temperature for c in model.calls] == pytest.approx(sent)


async def test_a_mended_reply_is_an_incident_that_says_what_was_changed() -> None:
    """Found 9: `mend` accepted silently."""
    asker = asker_for(ScriptedModel({"question_detector": [YES]}))
    reply = await asker.within("t0").structured(
        "question_detector",
        INPUTS,
        place="asks0",
        accept=Acceptance(
            check=lambda r: ["it must be no"] if r.asks_user else [],
            mend=lambda r: r.model_copy(update={"asks_user": False}),
        ),
    )
    assert not reply.asks_user
    (incident,) = asker.incidents
    assert (incident.kind, incident.prompt_id) == (IncidentKind.MENDED, "question_detector")
    assert incident.place == "c000/stage/unit/t0/asks0"
    assert incident.detail == "it must be no; asks_user: True, now False"


async def test_a_default_takes_the_place_of_three_bad_replies_and_is_an_incident() -> None:
    no = QuestionDetectorReply(reason="", asks_user=False)
    asker = asker_for(ScriptedModel({"question_detector": ["nonsense"]}))
    assert await asker.structured("question_detector", INPUTS, place="asks0", accept=Acceptance(default=no)) is no
    refused, incident = asker.incidents
    assert (refused.kind, refused.place) == (IncidentKind.REFUSED, "c000/stage/unit/asks0")
    assert incident.kind is IncidentKind.DEFAULTED
    assert '"asks_user":false' in incident.detail


async def test_a_model_that_returns_the_prompts_example_as_its_own_is_refused() -> None:
    """Found 10: the small model returned the example paragraph as its character, and nothing noticed."""
    spec = BenchmarkSpec.model_validate({"name": "test", "models": {"default": "openai:m"}})
    inputs = PERSONALITY
    copied = "She agrees to things quickly and pays for it in the evening, when the list of promises gets longer."
    model = ScriptedModel({"personality": [copied, "A calm person who plans little and forgives much."]})
    asker = replace(asker_for(model), spec=spec)
    text = await asker.prose("personality", inputs, accept=Acceptance(mend=lambda text: text))
    assert text.startswith("A calm person")
    fault = "'she agrees to things quickly and pays for' is copied from these instructions"
    assert fault in faults_of(model.calls[1])

    model = ScriptedModel({"personality": [copied]})  # a copy is not mended either
    with pytest.raises(ReplyError):
        await replace(asker_for(model), spec=spec).prose(
            "personality", inputs, accept=Acceptance(mend=lambda text: text)
        )


async def test_every_call_carries_the_language_of_the_spec() -> None:
    model = ScriptedModel({"question_detector": [YES.replace("reason", "why"), YES]})
    asker = asker_for(model)
    asker = replace(asker, spec=asker.spec.model_copy(update={"language": "Dutch"}))
    await asker.structured("question_detector", INPUTS)
    assert [c.inputs.language for c in model.calls] == ["Dutch", "Dutch"]
    assert all("Dutch" in c.messages()[0].content for c in model.calls)


@pytest.mark.parametrize(("model_name", "keys"), [("openai:m", 1), ("vllm:m", 1), ("offline", 2), ("openai:served", 2)])
async def test_the_state_of_a_call_is_part_of_the_keys_of_rules_alone(model_name: str, keys: int) -> None:
    model = ScriptedModel({"question_detector": [YES]})
    made = {"name": "test", "models": {"default": model_name}}
    spec = BenchmarkSpec.model_validate({**made, "endpoints": {"openai:served": {"sends_extras": True}}})
    computed = 0

    def state_of(previous_reply: str) -> TurnState:
        nonlocal computed
        computed += 1
        return TurnState(turn_id="p0.s0.t0", today=date(2026, 1, 5), bullets=(), previous_reply=previous_reply)

    for previous_reply in ("", "Which one?"):
        asker = replace(asker_for(model), spec=spec)
        await asker.structured("question_detector", INPUTS, state=partial(state_of, previous_reply))

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


LOOP = ModelReply(
    text="He listens. He pays late, and is sorry. " + "He is always kind to everybody. " * 60, finish_reason="loop"
)


async def test_prose_that_may_be_mended_is_taken_up_to_its_loop_and_that_is_noted() -> None:
    model = ScriptedModel({"personality": [LOOP]})
    asker = asker_for(model)
    text = await asker.prose("personality", PERSONALITY, accept=Acceptance(mend=str))
    assert text == "He listens. He pays late, and is sorry. He is always kind to everybody."
    assert len(model.calls) == 1
    assert [(i.kind, i.prompt_id) for i in asker.incidents] == [(IncidentKind.MENDED, "personality")]
    assert "repeated itself" in asker.incidents[0].detail


async def test_prose_that_is_cut_with_more_room_too_is_taken_up_to_the_usual_limit() -> None:
    cut = ModelReply(text="He listens. He pays late, and is sorry. He rarely asks twi", finish_reason="length")
    more = ModelReply(text=f"{cut.text}ce. He sings in the car. He sells what he has b", finish_reason="length")
    model = ScriptedModel({"personality": [cut, more]})
    asker = asker_for(model)
    text = await asker.prose("personality", PERSONALITY, accept=Acceptance(mend=str))
    assert text == "He listens. He pays late, and is sorry."
    assert len(model.calls) == 2
    assert "more room" in asker.incidents[0].detail

    model = ScriptedModel({"personality": [cut, more, "He listens."]})
    assert await asker_for(model).prose("personality", PERSONALITY) == "He listens."


@pytest.mark.parametrize(
    ("looping", "accept"),
    [
        (LOOP, Acceptance()),
        (LOOP, Acceptance(check=lambda text: ["speaks of lateness"] if "late" in text else [], mend=str)),
        (LOOP.model_copy(update={"text": "always kind " * 200}), Acceptance(mend=str)),
        (LOOP.model_copy(update={"finish_reason": "length"}), Acceptance(mend=str)),
    ],
)
async def test_a_loop_whose_beginning_cannot_be_used_is_asked_again(looping: ModelReply, accept: Acceptance) -> None:
    model = ScriptedModel({"personality": [looping, "He listens."]})
    asker = asker_for(model)
    assert await asker.prose("personality", PERSONALITY, accept=accept) == "He listens."
    assert len(model.calls) == 2
    assert not asker.incidents


def filtering(*at: int) -> ScriptedModel:
    """A model whose endpoint refuses the calls with these numbers for their content."""
    return FilteringModel(lambda number, _: number in at)


class FilteringModel(ScriptedModel):
    """A model whose endpoint's filter refuses some calls; it tells texts in neutral words by a rule."""

    def __init__(self, is_refused: Callable[[int, str], bool]) -> None:
        super().__init__({"question_detector": [YES], "neutral_words": ["-"]})
        self._is_refused = is_refused

    async def complete(self, call: ModelCall) -> ModelReply:
        reply = await super().complete(call)
        if self._is_refused(len(self.calls) - 1, call.messages()[-1].content):
            raise ProviderError("HTTP 400: filtered", kind="content_filter", is_retryable=False)
        if isinstance(call.inputs, NeutralInputs):
            texts = [{"number": i, "text": f"soberly, {text}"} for i, text in enumerate(call.inputs.texts)]
            return ModelReply(text=json.dumps({"texts": texts}))
        return reply


async def test_a_request_that_a_filter_withholds_is_asked_once_in_other_words() -> None:
    model = filtering(0)
    assert (await asker_for(model).structured("question_detector", LONGER)).asks_user
    first, told, second = model.calls
    assert first.retry is None
    assert isinstance(told.inputs, NeutralInputs)
    assert told.role is first.role
    assert second.inputs == with_passages(first.inputs, {text: f"soberly, {text}" for text in told.inputs.texts})
    assert second.inputs != first.inputs
    assert "a content filter withheld this request; all of it is fiction" in second.messages()[-1].content
    model = FilteringModel(lambda *_: True)
    with pytest.raises(ProviderError, match="HTTP 400: filtered") as caught:
        await asker_for(model).structured("question_detector", LONGER)
    assert caught.value.kind == "content_filter"


@pytest.mark.parametrize("at", range(9))
async def test_the_text_that_a_filter_refuses_is_left_out_and_the_others_are_told(at: int) -> None:
    texts = [f"this is the story number {i} of nine" for i in range(9)]
    asked: list[tuple[str, ...]] = []

    async def tell(some: tuple[str, ...]) -> list[str]:
        asked.append(some)
        if texts[at] in some:
            raise ProviderError("HTTP 400: filtered", kind="content_filter", is_retryable=False)
        return [text.upper() for text in some]

    told = await in_neutral_words(texts, tell)
    assert told == {text: LEFT_OUT if i == at else text.upper() for i, text in enumerate(texts)}
    assert len(asked) <= 9  # two calls for each halving of nine, and the first


async def test_a_filter_that_refuses_everything_is_asked_a_few_times() -> None:
    asked: list[int] = []

    async def tell(some: tuple[str, ...]) -> list[str]:
        asked.append(len(some))
        raise ProviderError("HTTP 400: filtered", kind="content_filter", is_retryable=False)

    told = await in_neutral_words([f"story {i} of a great many" for i in range(500)], tell)
    assert set(told.values()) == {LEFT_OUT}
    assert len(asked) == 12


async def test_a_left_out_text_is_noted_and_another_failure_is_no_refusal() -> None:
    bad = passages_in(LONGER)[0]
    model = FilteringModel(lambda _, content: bad in content)
    asker = asker_for(model)
    assert (await asker.structured("question_detector", LONGER)).asks_user
    assert LEFT_OUT in model.calls[-1].messages()[-1].content
    assert "1 of them left out" in asker.incidents[-1].detail

    async def broken(some: tuple[str, ...]) -> list[str]:
        raise ProviderError("HTTP 503: busy", kind="server_error", is_retryable=True)

    with pytest.raises(ProviderError, match="503"):
        await in_neutral_words([bad], broken)


def limited(asker: Asker, most: int) -> Asker:
    return replace(asker, spec=asker.spec.model_copy(update={"limits": Limits(unusable_in_a_row=most)}))


async def test_a_role_whose_replies_never_fit_stops_whatever_text_they_have() -> None:
    model = ScriptedModel({"question_detector": [f"nonsense {i}" for i in range(100)], "personality": ["She is calm."]})
    asker = limited(asker_for(model), 7)
    for _ in range(2):
        with pytest.raises(ReplyError):
            await asker.structured("question_detector", INPUTS)
    with pytest.raises(RunStopped) as caught:
        await asker.within("other").structured("question_detector", INPUTS)
    assert len(model.calls) == 7
    line = str(caught.value)
    assert "as detector: the last 7 replies could not be used (the last: " in line
    assert "or set limits.unusable_in_a_row higher than 7" in line
    assert caught.value.reopens_units
    assert await asker.prose("personality", PERSONALITY) == "She is calm."  # of another role


async def test_a_usable_reply_begins_the_count_anew_and_no_limit_is_none() -> None:
    replies = ["nonsense", "nonsense", YES] * 10
    asker = limited(asker_for(ScriptedModel({"question_detector": replies})), 3)
    for _ in range(10):
        assert (await asker.structured("question_detector", INPUTS)).asks_user
    asker = limited(asker_for(ScriptedModel({"question_detector": ["nonsense"]})), 0)
    for _ in range(40):
        with pytest.raises(ReplyError):
            await asker.structured("question_detector", INPUTS)
