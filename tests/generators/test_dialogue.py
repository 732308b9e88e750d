"""One sub-plan's dialogue: limits of the detectors, the budget, memory, keys and times."""

from __future__ import annotations

import gc
import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from longbeam.errors import ReplyError
from longbeam.generators import (
    DIALOGUE,
    Frame,
    Ledger,
    SubPlanMaterial,
    Talk,
    TurnPlace,
    context_of,
    draw_reaction,
    extend,
    history_tokens,
    mend_turn,
    standing_bullets,
    talk,
)
from longbeam.models import Asker, ModelCall, load_tokenizer
from longbeam.offline import WriterExtras
from longbeam.prompts.calls import (
    AssistantReplyInputs,
    EntailmentInputs,
    ProjectName,
    Reaction,
    Stage,
    TurnState,
    UserReplyInputs,
    WordTurnInputs,
)
from longbeam.schemas import (
    BenchmarkSpec,
    BulletKind,
    Domain,
    IncidentKind,
    Message,
    MessageKind,
    MessageRole,
    OnContradiction,
    TurnWriting,
    UserTurn,
)
from tests.builders import good_conversation
from tests.generators.scripted import ScriptedModel, asker_for, faults_of

TOKENIZER = load_tokenizer("o200k_base")
NO_QUESTION = json.dumps({"reason": "none", "asks_user": False})
QUESTION = json.dumps({"reason": "one", "asks_user": True})


def _material(share: int, sub_plan: int = 0, turns: int | None = None) -> SubPlanMaterial:
    head = good_conversation().head
    plan = head.plans[0]
    chosen = plan.sub_plans[sub_plan]
    stage = Stage(stage_index=sub_plan, first_day=chosen.anchor, last_day=chosen.bullets[-1].happens_on)
    planned = tuple(
        UserTurn(turn_id=f"{chosen.key}.t{i}", text=f"{b.text} What now, number {i}?", bullet_ids=(b.bullet_id,))
        for i, b in enumerate(chosen.bullets[:turns])
    )
    frame = Frame(seed=head.seed, profile=head.profile, relationships=head.relationships, narratives=head.narratives)
    return SubPlanMaterial(frame, Ledger.of(plan), stage, chosen, planned, share)


def _reply_of_the_length_asked(call: ModelCall) -> str:
    assert isinstance(call.inputs, AssistantReplyInputs)
    # Each reply asks something, so that the question detector judges it.
    return "word " * (call.inputs.target_tokens - 2) + call.unit_key.rpartition("/")[2].replace(".", "") + "?"


def _place(call: ModelCall) -> str:
    """Where a call stands, in words that are no id of a plan."""
    return call.unit_key.replace(".", "-")


def _numbered(prefix: str) -> object:
    return lambda call: f"{prefix} {_place(call)}"


def _more_turns(call: ModelCall) -> str:
    count = call.inputs.model_dump()["questions"]
    texts = [f"And what about it, {_place(call)}, {i}?" for i in range(count)]
    return json.dumps({"turns": [{"text": t, "asks_about": []} for t in texts]})


def _model(**changes: object) -> ScriptedModel:
    script: dict[str, object] = {
        "assistant_reply": _reply_of_the_length_asked,
        "question_detector": [NO_QUESTION],
        "user_answer": _numbered("Because of"),
        "user_follow_up": _numbered("And then"),
        "more_turns": _more_turns,
        "compact_memory": [" It was talked about."],
    }
    return ScriptedModel({**script, **changes})  # type: ignore[arg-type]


def _reacting(model: ScriptedModel, *wanted: Reaction | None, **more: Any) -> Asker:  # Any: what `asker_for` takes
    """Return an asker under a seed whose first turn has these reactions."""
    asker, told = asker_for(model, **more), _material(share=1).sub_plan.bullets[:1]
    for seed in range(100_000):
        key = f"{seed}/c000/p0.s0.t0"
        if all(draw_reaction(key, told, i) is reaction for i, reaction in enumerate(wanted)):
            return replace(asker, spec=asker.spec.model_copy(update={"seed": seed}))
    raise AssertionError(wanted)


def _tokens(messages: tuple[Message, ...]) -> int:
    return sum(m.tokens for m in messages)


def _count(model: ScriptedModel, prompt_id: str) -> int:
    return sum(c.prompt.prompt_id == prompt_id for c in model.calls)


async def test_every_planned_turn_is_asked_and_answered() -> None:
    material = _material(share=3_000)
    messages = await talk(asker_for(_model()), TOKENIZER, material)
    asked = [m for m in messages if m.kind is MessageKind.QUESTION]
    assert [m.content for m in asked[: len(material.turns)]] == [t.text for t in material.turns]
    assert {b for m in asked for b in m.bullet_ids} == {b.bullet_id for b in material.sub_plan.bullets}
    assert [m.role for m in messages] == [MessageRole.USER, MessageRole.ASSISTANT] * (len(messages) // 2)


async def test_share_is_used_to_within_a_short_exchange() -> None:
    for share in (1_500, 4_000, 9_000, 30_000):
        messages = await talk(asker_for(_model()), TOKENIZER, _material(share))
        # an exchange is left out when fewer than 90 + 60 tokens remain; counting may be off by a few a reply
        assert -60 <= share - _tokens(messages) <= 160, share


async def test_more_turns_are_asked_for_only_when_the_planned_run_out() -> None:
    model = _model()
    material = _material(share=600)
    await talk(asker_for(model), TOKENIZER, material)
    assert _count(model, "more_turns") == 0
    model = _model()
    await talk(asker_for(model), TOKENIZER, _material(share=20_000))
    assert _count(model, "more_turns") > 0


async def test_turns_that_only_elaborate_are_left_out_when_tokens_are_short() -> None:
    material = _material(share=500)
    extra = UserTurn(turn_id="p0.s0.t9", text="Just curious, how would others see it?", bullet_ids=())
    turns = (extra, *material.turns)
    short = SubPlanMaterial(**{**material.__dict__, "turns": turns})
    messages = await talk(asker_for(_model()), TOKENIZER, short)
    assert extra.text not in [m.content for m in messages]
    assert {b for m in messages for b in m.bullet_ids} == {b.bullet_id for b in material.sub_plan.bullets}


async def test_assistant_may_ask_back_twice_and_no_more() -> None:
    model = _model(question_detector=[QUESTION])
    messages = await talk(asker_for(model), TOKENIZER, _material(share=6_000, turns=1))
    first_turn = [m.kind for m in messages if m.turn_index == 0]
    answers = [k for k in first_turn if k is MessageKind.ANSWER]
    assert len(answers) == DIALOGUE.max_answers == 2


async def test_a_reply_that_asks_nothing_is_not_judged() -> None:
    model = _model(assistant_reply=lambda call: f"Take the blue one, {_place(call)}.", question_detector=[QUESTION])
    messages = await talk(asker_for(model), TOKENIZER, _material(share=600, turns=1))
    assert _count(model, "question_detector") == 0
    assert MessageKind.ANSWER not in {m.kind for m in messages}


async def test_user_may_follow_up_twice_and_no_more() -> None:
    model = _model(assistant_reply=_numbered("Take the blue one"))
    asker = _reacting(model, Reaction.ASKS_ON, Reaction.OBJECTS, Reaction.ASKS_ON)
    messages = await talk(asker, TOKENIZER, _material(share=6_000, turns=1))
    first_turn = [m.kind.value for m in messages if m.turn_index == 0]
    assert first_turn == ["question", "reply", "follow_up", "reply", "follow_up", "reply"]
    assert DIALOGUE.max_follow_ups == 2


async def test_a_turn_may_have_both_answers_and_follow_ups_under_keys_of_their_own() -> None:
    model = _model(
        assistant_reply=lambda call: f"Take the blue one, {_place(call)}{'?' * call.unit_key.endswith('question0')}",
        question_detector=[QUESTION],
    )
    asker = _reacting(model, Reaction.OBJECTS, None)
    messages = await talk(asker, TOKENIZER, _material(share=6_000, turns=1))
    first_turn = [m.kind.value for m in messages if m.turn_index == 0]
    assert first_turn == ["question", "reply", "answer", "reply", "follow_up", "reply"]
    keys = [c.unit_key for c in model.calls]
    assert len(set(keys)) == len(keys)
    objection = next(c for c in model.calls if c.prompt.prompt_id == "user_follow_up")
    assert "does not sit right with you" in objection.messages()[-1].content


async def test_an_acceptance_is_an_answer_that_a_short_reply_ends() -> None:
    model = _model(assistant_reply=lambda call: f"Take the blue one, {_place(call)}.")
    asker = _reacting(model, Reaction.ACCEPTS)
    messages = await talk(asker, TOKENIZER, _material(share=6_000, turns=1))
    assert [m.kind.value for m in messages if m.turn_index == 0] == ["question", "reply", "answer", "reply"]
    assert _count(model, "user_answer") == 0
    _, last = [c.inputs for c in model.calls if "/p0.s0.t0/reply" in c.unit_key]
    assert isinstance(last, AssistantReplyInputs)
    assert last.target_tokens < 70
    assert not last.asks_back


async def test_a_reply_that_was_to_ask_back_and_ends_with_a_question_is_not_judged() -> None:
    model = _model(assistant_reply=lambda call: f"Take the blue one. Which room is it for, {_place(call)}?")
    await talk(asker_for(model), TOKENIZER, _material(share=6_000))
    asked_back = {
        c.unit_key.rpartition("/")[0]
        for c in model.calls
        if isinstance(c.inputs, AssistantReplyInputs) and c.inputs.asks_back and c.unit_key.endswith("replyquestion0")
    }
    judged = {c.unit_key.rpartition("/")[0] for c in model.calls if c.unit_key.endswith("/asks0")}
    assert asked_back
    assert asked_back.isdisjoint(judged)


async def test_nobody_objects_twice_in_a_row() -> None:
    model = _model(assistant_reply=_numbered("Take the blue one"))
    await talk(_reacting(model, Reaction.OBJECTS, Reaction.OBJECTS), TOKENIZER, _material(share=6_000))
    reactions = [c.inputs.reaction for c in model.calls if isinstance(c.inputs, UserReplyInputs)]
    assert reactions[:2] == [Reaction.OBJECTS, Reaction.ASKS_ON]
    assert (Reaction.OBJECTS, Reaction.OBJECTS) not in set(pairwise(reactions))


async def test_a_reply_asks_nothing_where_there_is_no_room_for_an_answer() -> None:
    asked = 0
    for seed in range(40):
        model = _model()
        asker = asker_for(model)
        asker = replace(asker, spec=asker.spec.model_copy(update={"seed": seed}))
        messages = await talk(asker, TOKENIZER, _material(share=2_000))
        turns = [m.turn_index for m in messages if m.kind is MessageKind.ANSWER]
        places = [c.unit_key for c in model.calls if isinstance(c.inputs, AssistantReplyInputs) and c.inputs.asks_back]
        asked += len(places)
        assert len({place.rpartition("/")[0] for place in places}) <= len(set(turns))
    assert asked


async def test_same_answer_twice_is_asked_again() -> None:
    def answer(call: ModelCall) -> str:
        return f"It depends on {_place(call)}." if faults_of(call) else "Yes, of course."

    model = _model(question_detector=[QUESTION], user_answer=answer)
    messages = await talk(asker_for(model), TOKENIZER, _material(share=6_000, turns=1))
    said = [m.content for m in messages if m.kind is MessageKind.ANSWER]
    assert said[0] == "Yes, of course."
    assert said[1].startswith("It depends on ")
    assert len(set(said)) == len(said)


async def test_short_context_folds_the_history_earlier() -> None:
    model = _model()
    asker = asker_for(model)
    endpoints = {"openai:m": {"context": 8_192}}
    spec = asker.spec.model_validate({"name": "x", "models": {"default": "openai:m"}, "endpoints": endpoints})
    await talk(replace(asker, spec=spec), TOKENIZER, _material(share=20_000))
    replies = [c.inputs for c in model.calls if isinstance(c.inputs, AssistantReplyInputs)]
    longest = max(sum(TOKENIZER.count(m.content) for m in r.history) for r in replies)
    # 8,192 / 1.2 = 6,827 of our tokens, less 4,000 for the rest of a request
    assert longest <= 2_827
    assert _count(model, "compact_memory") >= 5  # with 9,000 tokens it would be two


def test_history_is_as_long_as_the_context_of_the_assistants_model_allows() -> None:
    def spec(**settings: object) -> BenchmarkSpec:
        models = {"default": "openai:a", "assistant": "openai:b"}
        return BenchmarkSpec.model_validate({"name": "x", "models": models, "endpoints": {"openai:b": settings}})

    assert history_tokens(spec()) == history_tokens(spec(context=32_768)) == DIALOGUE.history_tokens
    assert history_tokens(spec(context=2_048)) == 1_000
    assert (
        history_tokens(BenchmarkSpec(name="x", endpoints={"openai:a": {"context": 2_048}})) == DIALOGUE.history_tokens
    )


async def test_memory_is_compacted_rarely_and_the_history_stays_bounded() -> None:
    model = _model()
    await talk(asker_for(model), TOKENIZER, _material(share=40_000))
    replies = [c.inputs for c in model.calls if isinstance(c.inputs, AssistantReplyInputs)]
    longest = max(sum(TOKENIZER.count(m.content) for m in r.history) for r in replies)
    assert longest <= DIALOGUE.history_tokens
    # 40,000 tokens in steps of at least 9,000 - 1,800 tokens: four or five times, not once a message
    assert 4 <= _count(model, "compact_memory") <= 5
    assert replies[0].summary == ""
    assert replies[-1].summary == "It was talked about."
    assert all(r.history[0].role == "user" for r in replies)


async def test_requests_of_the_assistant_only_grow_between_two_summaries() -> None:
    model = _model(question_detector=[QUESTION, NO_QUESTION], compact_memory=_numbered("Summary"))
    await talk(asker_for(model), TOKENIZER, _material(share=20_000))
    replies = [c.inputs for c in model.calls if isinstance(c.inputs, AssistantReplyInputs)]
    for before, after in pairwise(replies):
        if before.summary == after.summary:
            assert after.history[: len(before.history)] == before.history
    assert len({r.summary for r in replies}) < len(replies) / 4


async def test_user_sees_the_newest_messages_with_the_roles_exchanged() -> None:
    model = _model(question_detector=[QUESTION])
    messages = await talk(asker_for(model), TOKENIZER, _material(share=9_000))
    calls = [c.inputs for c in model.calls if isinstance(c.inputs, UserReplyInputs)]
    assert max(len(c.history) for c in calls) >= DIALOGUE.user_messages
    said = [m.content for m in messages]
    last = calls[-1].history
    place = said.index(last[-1].content)
    assert [m.content for m in last] == said[place - len(last) + 1 : place + 1]
    assert last[-1].role == "user"  # it was the assistant's


async def test_keys_are_unique_and_times_never_go_back() -> None:
    model = _model(question_detector=[QUESTION, NO_QUESTION])
    messages = await talk(asker_for(model), TOKENIZER, _material(share=12_000))
    keys = [m.message_key for m in messages]
    assert len(set(keys)) == len(keys)
    assert keys[:2] == ["p0.s0.t0.n0", "p0.s0.t0.n1"]
    times = [m.sent_at for m in messages]
    assert times == sorted(times)


async def test_extension_keeps_what_was_said_and_adds_to_it() -> None:
    material = _material(share=2_000)
    said = await talk(asker_for(_model()), TOKENIZER, material)
    longer = SubPlanMaterial(**{**material.__dict__, "share": 5_000})
    more = await extend(asker_for(_model()), TOKENIZER, longer, said)
    assert [m.content for m in more[: len(said)]] == [m.content for m in said]
    assert len({m.message_key for m in more}) == len(more) > len(said)
    assert 4_840 <= _tokens(more) <= 5_060


async def test_texts_that_show_the_machinery_are_asked_again() -> None:
    def answer(call: ModelCall) -> str:
        return _reply_of_the_length_asked(call) if faults_of(call) else "As p0.s0.b1 says, dear [insert name]."

    model = _model(assistant_reply=answer)
    said = await talk(asker_for(model), TOKENIZER, _material(share=2_000))
    assert not any("p0.s0" in m.content for m in said)
    asked_again = [c for c in model.calls if c.prompt.prompt_id == "assistant_reply" and faults_of(c)]
    assert asked_again
    assert all("'p0.s0.b1'" in faults_of(c) for c in asked_again)


def test_context_shows_earlier_bullets_and_the_state_they_leave() -> None:
    material = _material(share=1_000, sub_plan=1)
    context = context_of(material, OnContradiction.IGNORE)
    first = material.ledger.sub_plans[0]
    assert context.earlier_bullets == tuple(b.text for b in first.bullets)
    first_of_now = material.sub_plan.bullets[0].bullet_id
    assert context.state == material.ledger.changed_lines(before=first_of_now)
    assert context_of(_material(share=1_000), OnContradiction.IGNORE).earlier_bullets == ()


@pytest.mark.parametrize(("domain", "of_code"), [(Domain.CODING, ["jobs.py"]), (Domain.GENERAL, [])])
def test_the_assistant_knows_names_that_were_told_and_those_of_code_that_nobody_tells(
    domain: Domain, of_code: list[str]
) -> None:
    material = _material(8_000, sub_plan=1)
    first, second = (part.bullets[0] for part in material.ledger.sub_plans[:2])
    told, to_come = (b.text.split()[-1].strip(".,?!") for b in (first, second))
    names = tuple(ProjectName(name=n, what="a thing", stage=1) for n in (told, to_come, "jobs.py"))
    late = ProjectName(name="report.py", what="the report", stage=3)
    stage = material.stage.model_copy(update={"names": (*names, late)})
    seed = material.frame.seed.model_copy(update={"domain": domain})
    frame = material.frame.model_copy(update={"seed": seed})
    context = context_of(replace(material, stage=stage, frame=frame), OnContradiction.IGNORE)

    assert [thing.name for thing in context.names] == [told, *of_code]


def test_evolved_preference_replaces_its_elder() -> None:
    wish = (
        good_conversation()
        .head.plans[0]
        .bullets()[0]
        .model_copy(update={"kind": BulletKind.PREFERENCE, "topic": "lists", "condition": "when I ask for lists"})
    )
    later = wish.model_copy(update={"bullet_id": "p0.s1.b9", "text": "Shorter lists now.", "variety": "evolved"})
    assert standing_bullets([wish, later]) == (later,)


async def test_repeated_further_questions_are_left_out_and_do_not_fail_the_dialogue() -> None:
    def more(call: ModelCall) -> str:
        count = call.inputs.model_dump()["questions"]
        texts = [f"And {_place(call)}, {i}?" for i in range(count)]
        if count > 1:
            texts[0] = "And what about it?"
        return json.dumps({"turns": [{"text": t, "asks_about": []} for t in texts[:count]]})

    messages = await talk(asker_for(_model(more_turns=more)), TOKENIZER, _material(share=20_000))
    asked = [m.content for m in messages if m.kind is MessageKind.QUESTION]
    assert len(set(asked)) == len(asked)
    assert asked.count("And what about it?") == 1


async def test_dialogue_without_further_questions_ends_short_and_does_not_fail() -> None:
    model = _model(more_turns=[json.dumps({"turns": []})])
    messages = await talk(asker_for(model), TOKENIZER, _material(share=20_000))
    planned = _material(share=20_000).turns
    assert [m.content for m in messages if m.kind is MessageKind.QUESTION] == [t.text for t in planned]
    assert _tokens(messages) < 20_000


@pytest.mark.parametrize(
    ("served_by", "is_told"), [({}, True), ({"detector": "openai:m"}, True), ({"default": "openai:m"}, False)]
)
async def test_only_calls_to_rules_carry_the_state_of_the_turn(served_by: dict[str, str], is_told: bool) -> None:
    model = _model()
    spec = BenchmarkSpec.model_validate({"name": "test", "models": {"default": "offline", **served_by}})
    await talk(replace(asker_for(model), spec=spec), TOKENIZER, _material(600, turns=1))

    states = [c.extras.state for c in model.calls if isinstance(c.extras, WriterExtras)]
    assert bool(states) is is_told
    assert any(isinstance(s, TurnState) and s.bullets for s in states) is is_told


async def test_the_state_of_a_reply_tells_all_that_the_assistant_has_asked_in_the_part() -> None:
    model = _model()
    messages = await talk(
        asker_for(model), TOKENIZER, _material(share=3 * DIALOGUE.history_tokens)
    )  # the history is folded
    replies = [m.content for m in messages if m.role is MessageRole.ASSISTANT]
    last = [c for c in model.calls if c.prompt.prompt_id == "assistant_reply"][-1]
    assert isinstance(last.extras, WriterExtras)
    assert isinstance(last.extras.state, TurnState)
    assert last.extras.state.asked == tuple(replies[:-1])  # each of them ends with its question


async def test_a_finished_dialogue_is_freed_without_a_garbage_collection() -> None:
    gc.collect()
    gc.disable()
    try:
        messages = await talk(asker_for(_model()), TOKENIZER, _material(share=1_500))
        held = [o for o in gc.get_objects() if isinstance(o, Talk)]
    finally:
        gc.enable()
    assert messages
    assert held == []


@pytest.mark.parametrize(
    ("prompt_id", "new", "known"),
    [
        ("user_answer", "Karl wants $412 for it.", "Tom wants $900 for it."),
        ("user_follow_up", "And if Karl wants $412?", "And if Tom wants $900?"),
        ("assistant_reply", "You told me that Karl wants $412.", "You told me that Tom wants $900."),
    ],
)
async def test_a_message_with_a_new_value_is_asked_again_with_the_reason(prompt_id: str, new: str, known: str) -> None:
    """Found 4: answers, follow-ups and replies were checked for traces and repeats only."""
    detectors = {"question_detector": [QUESTION]} if prompt_id == "user_answer" else {}
    model = _model(**(detectors | {prompt_id: [new, known]}))
    material = _material(share=2_000, turns=4)  # the fourth bullet: Tom asks for $900
    asker = _reacting(model, Reaction.ASKS_ON, writer="openai:some-model")

    messages = await talk(asker, TOKENIZER, material)

    asked = [c for c in model.calls if c.prompt.prompt_id == prompt_id]
    assert "$412" in faults_of(asked[1])
    assert all("$412" not in m.content for m in messages)


async def test_a_further_turn_with_a_new_value_is_asked_again_with_the_reason() -> None:
    """Found 4: extra turns were checked for traces and repeats only."""

    def more(call: ModelCall) -> str:
        price = "that" if call.retry else "$412"
        texts = [f"Is {price} too much, {_place(call)}, {i}?" for i in range(call.inputs.model_dump()["questions"])]
        return json.dumps({"turns": [{"text": t} for t in texts]})

    model = _model(more_turns=more)
    messages = await talk(asker_for(model, writer="openai:some-model"), TOKENIZER, _material(share=14_000, turns=4))

    assert any("$412" in faults_of(c) for c in model.calls if c.prompt.prompt_id == "more_turns")
    assert all("$412" not in m.content for m in messages)


async def test_the_users_side_is_shown_what_was_told_and_nothing_to_come() -> None:
    model = _model(question_detector=[QUESTION])
    material = _material(share=9_000)
    await talk(asker_for(model), TOKENIZER, material)
    answers = [c for c in model.calls if isinstance(c.inputs, UserReplyInputs)]
    bullets = material.sub_plan.bullets
    assert answers
    for call in answers:
        turn = int(call.unit_key.rpartition(".t")[2].partition("/")[0])
        prompt = "\n".join(m.content for m in call.messages())
        # Each turn voices one bullet; those of the turns to come are unknown.
        assert not any(b.text in prompt for b in bullets[turn + 1 :])


async def test_the_users_side_sees_the_people_and_things_that_have_come_up_and_no_others() -> None:
    model = _model(question_detector=[QUESTION])
    material = _material(share=9_000)
    early, late = material.frame.relationships.people[:2]
    texts = (f"{early.first_name} calls it the Heron. What now?", f"{late.first_name} is in. And the Attic?")
    asked = tuple(t.model_copy(update={"text": text}) for t, text in zip(material.turns, texts, strict=False))
    turns = (*asked, *material.turns[2:])
    names = tuple(ProjectName(name=name, what="a place", stage=1) for name in ("Heron", "Attic"))
    stage = material.stage.model_copy(update={"names": names})
    await talk(asker_for(model), TOKENIZER, replace(material, turns=turns, stage=stage))
    first, *_, last = [c for c in model.calls if c.prompt.prompt_id == "user_answer"]
    shown = ["\n".join(m.content for m in c.messages() if m.role != "assistant") for c in (first, last)]
    assert f"- {early.first_name}: " in shown[0]
    assert "- Heron: a place" in shown[0]
    assert f"- {late.first_name}: " not in shown[0]
    assert "- Attic: " not in shown[0]
    assert f"- {late.first_name}: " in shown[1]
    assert "- Attic: a place" in shown[1]


async def test_the_users_side_sees_the_values_that_hold_now() -> None:
    model = _model(question_detector=[QUESTION])
    material = _material(share=9_000, sub_plan=1)
    await talk(asker_for(model), TOKENIZER, material)
    last = [c.inputs for c in model.calls if isinstance(c.inputs, UserReplyInputs)][-1]
    assert last.changed
    assert last.changed == material.ledger.lines_updated_by(material.sub_plan.bullets)


async def test_an_answer_may_have_an_opinion_and_a_decision_but_no_new_value() -> None:
    """Found 4: new facts of answers were policed nowhere."""
    model = _model(question_detector=[QUESTION])
    await talk(asker_for(model), TOKENIZER, _material(share=2_000, turns=1))
    note = next(c for c in model.calls if c.prompt.prompt_id == "user_answer").messages()[-1].content
    assert "an opinion" in note
    assert "a decision" in note
    assert "do not know" not in note
    assert "A new date, amount, count, version or name is all that stays out." in note


async def test_a_reply_ends_without_a_question_where_its_card_has_none() -> None:
    model = _model()
    await talk(asker_for(model), TOKENIZER, _material(share=4_000))
    notes = {
        c.inputs.asks_back: c.messages()[-1].content for c in model.calls if isinstance(c.inputs, AssistantReplyInputs)
    }
    assert "ends without a question" in notes[False]
    assert "ends with one question" in notes[True]


async def test_a_reply_is_asked_to_be_as_long_as_its_message_asks() -> None:
    material = _material(share=1_600, turns=2)
    short, long = "Is that right?", "Which pan, which heat, and why? Please write me a plan, step by step."
    turns = tuple(t.model_copy(update={"text": text}) for t, text in zip(material.turns, (short, long), strict=True))
    model = _model()
    await talk(asker_for(model), TOKENIZER, replace(material, turns=turns))
    replies = [c.inputs for c in model.calls if isinstance(c.inputs, AssistantReplyInputs)]
    asked = {r.history[-1].content: r.target_tokens for r in replies}
    assert asked[short] * 2 < asked[long]


@pytest.mark.parametrize(("wants_yes", "most"), [(True, 20), (False, 1_150)])
async def test_a_turn_that_wants_a_yes_gets_one_in_whatever_words_it_asks(wants_yes: bool, most: int) -> None:
    turn = (
        _material(1).turns[0].model_copy(update={"text": "Name the firm. Say ja and no more.", "wants_yes": wants_yes})
    )
    model = _model()
    await talk(asker_for(model), TOKENIZER, replace(_material(share=2_000), turns=(turn,)))
    first = next(c for c in model.calls if isinstance(c.inputs, AssistantReplyInputs))
    assert isinstance(first.inputs, AssistantReplyInputs)
    assert (first.inputs.target_tokens <= 20) is wants_yes
    assert first.inputs.target_tokens <= most
    assert ("1 to 12 words" in first.messages()[-1].content) is wants_yes


async def test_news_from_the_users_life_gets_a_short_reply() -> None:
    material = _material(share=4_000)
    bullets = tuple(b.model_copy(update={"kind": BulletKind.SIDE}) for b in material.sub_plan.bullets)
    sub_plan = material.sub_plan.model_copy(update={"bullets": bullets})
    ledger = replace(material.ledger, sub_plans=(sub_plan, *material.ledger.sub_plans[1:]))
    model = _model()
    await talk(asker_for(model), TOKENIZER, replace(material, ledger=ledger, sub_plan=sub_plan))
    replies = [c.inputs for c in model.calls if c.unit_key.endswith("/replyquestion0")]
    planned = [r.target_tokens for r in replies[: len(material.turns)] if isinstance(r, AssistantReplyInputs)]
    assert max(planned) * 9 // 10 <= 110  # words; the length varies up to 1.15


# --- messages that are worded when they are due -----------------------------------------------------------------


def _reply_on_all_things(call: ModelCall) -> str:
    topics = sorted({b.topic for b in good_conversation().head.plans[0].bullets()})
    return f"This is about {', '.join(topics)}: {_reply_of_the_length_asked(call)}"


def _worded(words: object, **changes: object) -> tuple[ScriptedModel, Asker]:
    """Return a model and an asker of a spec whose turns are worded in the dialogue, in these words."""
    model = _model(**{"word_turn": words, "assistant_reply": _reply_on_all_things, **changes})
    asker = asker_for(model)
    return model, replace(asker, spec=asker.spec.model_copy(update={"turns": TurnWriting.IN_DIALOGUE}))


def _drafts(model: ScriptedModel) -> list[WordTurnInputs]:
    return [c.inputs for c in model.calls if isinstance(c.inputs, WordTurnInputs)]


async def test_a_turn_is_worded_when_it_is_due_with_the_last_reply_before_the_writer() -> None:
    model, asker = _worded(lambda call: f"Thanks, done. {call.inputs.model_dump()['draft']}")
    material = _material(share=3_000)
    messages = await talk(asker, TOKENIZER, material)
    first, *asked = [m for m in messages if m.kind is MessageKind.QUESTION]
    planned = [t.text for t in material.turns]
    assert first.content == planned[0], "nothing was said before that it could take up"
    assert [m.content for m in asked[: len(planned) - 1]] == [f"Thanks, done. {text}" for text in planned[1:]]
    assert [i.draft for i in _drafts(model)][: len(planned) - 1] == planned[1:]
    assert _drafts(model)[0].history[-1].content == messages[1].content
    assert {b for m in messages for b in m.bullet_ids} == {b.bullet_id for b in material.sub_plan.bullets}


@pytest.mark.parametrize("reply", [_reply_of_the_length_asked, _reply_on_all_things])
async def test_a_message_is_worded_anew_where_it_takes_the_reply_up_or_the_reply_may_have_answered_it(
    reply: object,
) -> None:
    model, asker = _worded(lambda call: call.inputs.model_dump()["draft"], assistant_reply=reply)
    material = _material(share=9_000)
    events = tuple(t for t in material.turns if material.ledger.bullet[t.bullet_ids[0]].kind is BulletKind.EVENT)
    await talk(asker, TOKENIZER, replace(material, turns=events))
    worded = [i for i in _drafts(model) if i.draft in [t.text for t in events]]
    if reply is _reply_on_all_things:
        assert len(worded) == len(events) - 1
    else:
        assert len(worded) < len(events) - 1
        assert all(i.takes_up for i in worded)


async def test_a_message_that_asks_nothing_and_takes_nothing_up_stays_as_its_batch_has_it() -> None:
    model, asker = _worded(lambda call: call.inputs.model_dump()["draft"])
    material = _material(share=9_000)
    turns = tuple(t.model_copy(update={"text": t.text.partition(" What now")[0]}) for t in material.turns)
    await talk(asker, TOKENIZER, replace(material, turns=turns))
    worded = [i for i in _drafts(model) if i.draft in [t.text for t in turns]]
    assert all(i.takes_up for i in worded)


@pytest.mark.parametrize("changed", [{"language": "German"}, {"kind": BulletKind.PREFERENCE}])
async def test_messages_in_other_languages_and_those_with_a_wish_are_always_worded_anew(
    changed: dict[str, str],
) -> None:
    model, asker = _worded(lambda call: call.inputs.model_dump()["draft"], assistant_reply=_reply_of_the_length_asked)
    asker = replace(asker, spec=asker.spec.model_copy(update={"language": changed.get("language", "English")}))
    material = _material(share=9_000)
    if "kind" in changed:
        for bullet in material.ledger.bullet.values():
            material.ledger.bullet[bullet.bullet_id] = bullet.model_copy(update=changed)
    await talk(asker, TOKENIZER, material)
    worded = [i.draft for i in _drafts(model)]
    assert {t.text for t in material.turns[1:]} <= set(worded)


async def test_a_day_that_the_batch_gives_may_stand_in_the_wording() -> None:
    model, asker = _worded(lambda call: f"Thanks, done. {call.inputs.model_dump()['draft']}")
    spec = asker_for(model, writer="openai:m").spec  # what it writes is checked
    asker = replace(asker, spec=spec.model_copy(update={"turns": TurnWriting.IN_DIALOGUE}))
    material = _material(share=1_500)
    first, second, *_ = material.turns
    second = second.model_copy(update={"text": f"{second.text} That was last Sunday."})
    messages = await talk(asker, TOKENIZER, replace(material, turns=(first, second)))
    assert f"Thanks, done. {second.text}" in [m.content for m in messages]


async def test_a_wording_takes_up_the_reply_where_its_draw_says_so() -> None:
    model, asker = _worded(lambda call: call.inputs.model_dump()["draft"])
    await talk(asker, TOKENIZER, _material(share=9_000))
    calls = [c for c in model.calls if isinstance(c.inputs, WordTurnInputs)]
    notes = {bool(c.inputs.takes_up): c.messages()[-1].content for c in calls if isinstance(c.inputs, WordTurnInputs)}
    assert "- It begins with " in notes[True]
    assert "no word on the message above" in notes[False]


async def test_a_message_of_a_side_story_takes_nothing_up() -> None:
    model, asker = _worded(lambda call: call.inputs.model_dump()["draft"])
    material = _material(share=9_000)
    plan = good_conversation().head.plans[0]
    aside = [
        part.model_copy(update={"bullets": [b.model_copy(update={"kind": BulletKind.SIDE}) for b in part.bullets]})
        for part in plan.sub_plans
    ]
    ledger = Ledger.of(plan.model_copy(update={"sub_plans": tuple(aside)}))
    await talk(asker, TOKENIZER, replace(material, ledger=ledger))
    drafts = [i for i in _drafts(model) if i.draft in {t.text for t in material.turns}]
    assert drafts
    assert not any(i.takes_up for i in drafts)


async def test_a_wording_that_loses_what_it_should_tell_gives_way_to_the_batch() -> None:
    _, asker = _worded(lambda call: f"Thanks, that is all of it, {_place(call)}.")
    material = _material(share=1_500)
    messages = await talk(asker, TOKENIZER, material)
    assert [m.content for m in messages if m.bullet_ids] == [t.text for t in material.turns]
    assert any(i.prompt_id == "word_turn" for i in asker.incidents)


async def test_the_checker_judges_a_wording_that_rules_cannot_tell_and_a_refused_one_gives_way_to_the_batch() -> None:
    """Found 2 in the dialogue: a wording in other words than its bullet passed, whatever it said."""
    material = _material(share=1_500, turns=2)
    told = material.turns[1]
    doubtful = "I nearly signed the lease on March 6, 2024. What now?"
    refused = json.dumps({"verdicts": [{"claim": 1, "reason": "it did not happen", "is_said": False}]})
    model = _model(word_turn=[doubtful], check_entailment=[refused])
    asker = asker_for(model, writer="openai:m")
    asker = replace(asker, spec=asker.spec.model_copy(update={"turns": TurnWriting.IN_DIALOGUE}))
    messages = await talk(asker, TOKENIZER, material)
    judged = [c for c in model.calls if isinstance(c.inputs, EntailmentInputs)]
    assert [c.unit_key for c in judged] == [f"c000/stage/unit/{told.turn_id}/word/says.0"] * 3
    assert {c.inputs.claims for c in judged} == {(material.ledger.bullet[told.bullet_ids[0]].text,)}
    assert told.text in [m.content for m in messages]
    assert "it did not happen" in faults_of([c for c in model.calls if isinstance(c.inputs, WordTurnInputs)][1])


async def test_a_message_with_pasted_material_stays_as_it_is() -> None:
    model, asker = _worded(["never asked"])
    material = _material(share=1_500)
    pasted = tuple(t.model_copy(update={"text": f"{t.text}\n```\nx = 1\n```"}) for t in material.turns)
    messages = await talk(asker, TOKENIZER, replace(material, turns=pasted))
    assert [m.content for m in messages if m.bullet_ids] == [t.text for t in pasted]
    assert len(_drafts(model)) == sum(m.kind is MessageKind.QUESTION and not m.bullet_ids for m in messages)


@pytest.mark.parametrize(("slip", "taken"), [("$81,000", 1), ("", 0)])
async def test_a_reply_that_takes_up_a_slip_is_asked_for_again(slip: str, taken: int) -> None:
    material = _material(share=250)
    text = "The renovation budget is $81,000, no, sorry: $18,000. Is that enough?"
    turn = material.turns[2].model_copy(update={"text": text, "slip": slip})
    replies = ["Your budget is $81,000, so it is.", "Your budget is $18,000, so it is."]
    asker = asker_for(_model(assistant_reply=replies), writer="openai:some-model")
    messages = await talk(asker, TOKENIZER, replace(material, turns=(turn,)))
    assert messages[1].content == replies[taken]


async def test_a_follow_up_that_takes_up_a_slip_is_asked_for_again() -> None:
    material = _material(share=400)
    text = "The renovation budget is $81,000, no, sorry: $18,000. Is that enough?"
    turn = material.turns[2].model_copy(update={"text": text, "slip": "$81,000"})
    follow_ups = ["What would $81,000 get me?", "What would $18,000 get me?"]
    model = _model(user_follow_up=follow_ups)
    asker = _reacting(model, Reaction.ASKS_ON, writer="openai:some-model")
    messages = await talk(asker, TOKENIZER, replace(material, turns=(turn.model_copy(update={"turn_id": "p0.s0.t0"}),)))
    assert messages[2].content == follow_ups[1]


async def test_a_turn_that_is_asked_anew_has_its_own_slip() -> None:
    material = _material(share=250)
    turn = material.turns[2]
    text = "The renovation budget is $81,000, no, sorry: $18,000. Is that enough?"
    replies = ["Your budget is $81,000, so it is.", "Your budget is $18,000, so it is."]
    asker = asker_for(_model(assistant_reply=replies), writer="openai:some-model")
    talk_ = Talk(asker, TOKENIZER, replace(material, turns=(turn,)))
    await talk_.run(turn.model_copy(update={"text": text, "slip": "$81,000"}))
    assert talk_.messages()[1].content == replies[1]


@pytest.mark.parametrize(("kind", "taken"), [(BulletKind.PASTED, 1), (BulletKind.EVENT, 0)])
async def test_a_reply_that_takes_up_the_claim_of_a_pasted_document_is_asked_for_again(
    kind: BulletKind, taken: int
) -> None:
    material = _material(share=250)
    text = "A neighbour wrote: “Your budget is $81,000.” I haven't checked it. Can you make it shorter?"
    bullets = [b.model_copy(update={"kind": kind, "text": text}) for b in material.sub_plan.bullets[:1]]
    sub_plan = material.sub_plan.model_copy(update={"bullets": (*bullets, *material.sub_plan.bullets[1:])})
    ledger = replace(material.ledger, sub_plans=(sub_plan, *material.ledger.sub_plans[1:]))
    turn = material.turns[0].model_copy(update={"text": text})
    replies = ["Your budget is $81,000, so it is.", "It could be two words."]
    asker = asker_for(_model(assistant_reply=replies), writer="openai:some-model")
    material = replace(material, ledger=ledger, sub_plan=sub_plan, turns=(turn,))
    messages = await talk(asker, TOKENIZER, material)
    assert messages[1].content == replies[taken]


async def test_a_reply_that_keeps_a_trace_of_the_machinery_is_left_out_with_its_turn() -> None:
    traces = "~~~reason\nThe last reply could not be used. Please give me a question that I can answer."
    model = _model(assistant_reply=[traces, traces, traces, "Good."])
    asker = asker_for(model, writer="openai:some-model")
    messages = await talk(asker, TOKENIZER, _material(share=400, turns=2))
    assert all("could not be used" not in m.content for m in messages)
    assert any(i.kind is IncidentKind.SKIPPED for i in asker.incidents)


async def test_question_that_every_reply_repeats_cannot_be_mended() -> None:
    material = _material(share=1_500, turns=1)
    said = await talk(asker_for(_model()), TOKENIZER, material)
    place = TurnPlace(material, TOKENIZER, said, taken=frozenset())
    question = said[-2].model_copy(update={"message_key": "p0.s0.t9.n0", "turn_index": 9, "bullet_ids": ()})
    turn = (question, said[-1])
    same = json.dumps({"turns": [{"text": question.content, "asks_about": []}]})
    model = _model(more_turns=[same])
    with pytest.raises(ReplyError, match="asked before"):
        await mend_turn(asker_for(model), place, turn, {question.message_key: "it repeats itself"})
    assert _count(model, "more_turns") == 3


async def test_lost_turn_that_was_put_in_between_is_no_missing_part() -> None:
    material = _material(share=9_000)
    turn_id = f"{material.sub_plan.key}.t{len(material.turns)}"  # the first turn that nobody planned

    def reply(call: ModelCall) -> str:
        return "" if f"{turn_id}/reply" in call.unit_key else f"Take the blue one, {_place(call)}."

    asker = asker_for(model := _model(assistant_reply=reply))
    await talk(asker, TOKENIZER, material)
    replies = [call.unit_key for call in model.calls if call.prompt.prompt_id == "assistant_reply"]
    last = next(i for i, key in enumerate(replies) if f"{material.turns[-1].turn_id}/reply" in key)
    assert any(f"{turn_id}/reply" in key for key in replies[:last])
    lost = [(i.kind, i.place) for i in asker.incidents if i.kind in (IncidentKind.SKIPPED, IncidentKind.ENDED)]
    assert lost == [(IncidentKind.ENDED, f"{asker.unit_key}/{turn_id}")]
