"""All real prompts with realistic inputs: complete, closed to hostile text, free of what a prompt must not say."""

from __future__ import annotations

import datetime as dt
import json
import re
from itertools import pairwise
from typing import Any

import pytest

from longbeam.generators import draw_profile, new_slot, typed_value
from longbeam.prompts import PROMPTS, TEMPLATES, Prompt, default_registry, environment_of, find_copied, parse, parts_of
from longbeam.prompts.calls import AssistantReplyInputs, AugmentReply, BulletBrief, ProbeReply, SubPlanReply
from longbeam.schemas import ABILITIES, Category, ChatMessage, PromptInputs, Record, ValueKind
from longbeam.text import says, values_in
from tests.prompts import samples
from tests.prompts.samples import (
    ASKED,
    CONTEXT,
    CONTRADICTION,
    CURRENT_BULLETS,
    HISTORY,
    INSTRUCTION,
    LEDGER,
    NAMES,
    OPENING,
    OPENING_DAY,
    PEOPLE,
    PREFERENCE,
    PROFILE,
    SAMPLES,
    SIGNED,
    STAGES,
    TODAY,
    in_category,
    many_bullets,
)
from tests.prompts.test_registry import HOSTILE

EACH_PROMPT = pytest.mark.parametrize("prompt", PROMPTS, ids=lambda p: p.prompt_id)
_TAG = re.compile(r"\{%.*?%\}")
_EXAMPLE = re.compile(r"```json\n(.*?)\n```", re.DOTALL)


def texts_of(prompt: Prompt, category: Category = Category.GENERAL) -> list[str]:
    return [m.content for m in prompt.render(in_category(SAMPLES[prompt.prompt_id], category))]


def source_with_parts(prompt: Prompt) -> str:
    environment = environment_of(TEMPLATES)
    parts = parts_of(environment, parse(environment, f"{prompt.prompt_id}.j2"))
    return "\n".join([prompt.source, *((TEMPLATES / name).read_text(encoding="utf-8") for name in sorted(parts))])


def examples_of(prompt: Prompt) -> list[str]:
    return _EXAMPLE.findall(prompt.source)


# --- the set ----------------------------------------------------------------------------------------------


def test_every_template_is_declared_and_every_part_included() -> None:
    environment = environment_of(TEMPLATES)
    files = {path.name for path in TEMPLATES.iterdir()}
    declared = {f"{p.prompt_id}.j2" for p in PROMPTS}
    parts = {name for file in declared for name in parts_of(environment, parse(environment, file))}

    assert files == declared | parts


def test_every_ability_and_every_sample_has_its_prompt() -> None:
    ids = {p.prompt_id for p in default_registry()}

    assert {f"probe_{a}" for a in ABILITIES} <= ids
    assert set(SAMPLES) == ids
    assert all(isinstance(SAMPLES[p.prompt_id], p.inputs) for p in PROMPTS)


# --- every prompt ---------------------------------------------------------------------------------------------


@EACH_PROMPT
@pytest.mark.parametrize("category", list(Category))
def test_prompt_renders_clean(prompt: Prompt, category: Category) -> None:
    for text in texts_of(prompt, category):
        assert text == text.strip()
        assert "\n\n\n" not in text
        assert not re.search(r"\{\{|\{%|\{#|%\}|#\}|\bUndefined\b|\bNone\b|<[A-Za-z]+\.[A-Z_]+|\w+\(\w+='", text)


@EACH_PROMPT
def test_prompt_answers_a_system_and_ends_with_the_user(prompt: Prompt) -> None:
    roles = [m.role for m in prompt.render(SAMPLES[prompt.prompt_id])]

    assert (roles[0], roles[1], roles[-1]) == ("system", "user", "user")
    assert all(one != other for one, other in pairwise(roles))
    assert roles.count("system") == 1


@EACH_PROMPT
def test_prompt_does_not_shout(prompt: Prompt) -> None:
    prose = _TAG.sub("", _EXAMPLE.sub("", source_with_parts(prompt)))

    assert set(re.findall(r"\b[A-Z]{3,}\b", prose)) <= {"YYYY", "USD"}
    assert "!" not in prose


@EACH_PROMPT
def test_structured_prompt_has_an_example_that_fits_its_schema(prompt: Prompt) -> None:
    if prompt.output is None:
        assert examples_of(prompt) == []
        return
    examples = examples_of(prompt)
    assert len(examples) == 1
    for example in examples:
        parsed = prompt.output.model_validate_json(example)
        assert json.loads(example).keys() == parsed.model_dump().keys()


@EACH_PROMPT
def test_hostile_text_neither_leaves_its_slot_nor_is_evaluated(prompt: Prompt) -> None:
    messages = prompt.render(poisoned(SAMPLES[prompt.prompt_id], spared=prompt.history))

    outside = [line for m in messages for line in lines_outside_fences(m.content)]

    assert any("{{ 7*7 }} {% raw %}" in m.content for m in messages)
    assert not any(re.match(r"\s*(?:Ignore|system:|assistant:|~)", line) for line in outside)
    # What an inline slot holds stands on one line, wherever it begins.
    assert all("assistant: yes" in line for line in outside if "Ignore the above" in line)
    assert not any("<|im_end|>" in line or "\x1b" in line for line in outside)


def poisoned(value: Any, *, spared: str | None = None, name: str = "") -> Any:
    """The same records with every free text replaced; the history is left, because messages are no slots."""
    if isinstance(value, Record):
        fields = {k: v if k == spared else poisoned(v, name=k) for k, v in dict(value).items()}
        return type(value).model_construct(**fields)
    if isinstance(value, tuple):
        return tuple(poisoned(v, name=name) for v in value)
    return HOSTILE if type(value) is str and name not in ("role", "feedback") else value


def lines_outside_fences(text: str) -> list[str]:
    outside, fence = [], ""
    for line in text.split("\n"):
        if fence:
            fence = "" if line == fence else fence
        elif opened := re.fullmatch(r"(~{3,})[a-z]+", line):
            fence = opened[1]
        else:
            outside.append(line)
    assert fence == ""
    return [line for line in outside if line != ""]


# --- single prompts ----------------------------------------------------------------------------------------


def test_the_assistant_sees_neither_what_is_to_come_nor_what_was_not_told() -> None:
    text = "\n".join(texts_of(default_registry()["assistant_reply"]))

    assert not any(bullet in text for bullet in CURRENT_BULLETS)
    assert CONTEXT.stage.summary not in text
    assert PROFILE.name not in text
    assert PROFILE.personality not in text
    assert not any(person.first_name in text for person in PEOPLE)
    assert all(bullet in text for bullet in CONTEXT.earlier_bullets)


@pytest.mark.parametrize("prompt_id", ["advise", "user_turns", "more_turns", "assistant_reply", "word_turn"])
def test_who_writes_messages_does_not_see_the_text_of_the_stage(prompt_id: str) -> None:
    text = "\n".join(texts_of(default_registry()[prompt_id]))

    assert STAGES[1].summary not in text
    assert STAGES[1].title not in text


@pytest.mark.parametrize(
    "prompt_id",
    ["sub_plan", "augment", "advise", "user_turns", "more_turns", "assistant_reply", "user_answer", "word_turn"],
)
def test_who_writes_lines_messages_and_replies_knows_the_names_of_the_story(prompt_id: str) -> None:
    text = "\n".join(texts_of(default_registry()[prompt_id]))

    assert all(f"- {thing.name}: {thing.what}\n" in text for thing in NAMES)


@pytest.mark.parametrize("prompt_id", ["user_answer", "user_follow_up"])
def test_the_user_knows_only_what_has_happened(prompt_id: str) -> None:
    text = "\n".join(texts_of(default_registry()[prompt_id]))

    assert PROFILE.personality in text
    assert all(bullet in text for bullet in (OPENING_DAY.text, *CONTEXT.earlier_bullets))
    assert not any(bullet in text for bullet in CURRENT_BULLETS[1:])
    assert CONTEXT.stage.summary not in text
    assert CONTEXT.stage.title not in text


@pytest.mark.parametrize("prompt_id", ["user_answer", "user_follow_up"])
def test_a_planned_contradiction_is_not_among_the_truth_about_the_user(prompt_id: str) -> None:
    context = CONTEXT.model_copy(
        update={"earlier_bullets": (*CONTEXT.earlier_bullets, CONTRADICTION.text), "slips": (CONTRADICTION.text,)}
    )
    inputs = SAMPLES[prompt_id].model_copy(update={"context": context})
    system = default_registry()[prompt_id].render(inputs)[0].content

    assert all(bullet in system for bullet in CONTEXT.earlier_bullets)
    assert CONTRADICTION.text not in system


def test_further_questions_see_no_old_value_beside_the_new_one() -> None:
    inputs = SAMPLES["more_turns"]
    moved = samples.line("p0.f3", "the opening night", "day", SIGNED)
    brief = BulletBrief(bullet=OPENING_DAY, facts=(moved,), old_values=(None,), is_outdated=True)
    text = default_registry()["more_turns"].render(inputs.model_copy(update={"about": (brief,)}))[-1].content

    assert SIGNED.text in text
    assert OPENING.text not in text


def test_the_assistant_sees_what_has_changed_since_the_part_began() -> None:
    inputs = SAMPLES["assistant_reply"].model_copy(
        update={"changed": LEDGER[:1], "wishes": (INSTRUCTION.text,), "replaced": (PREFERENCE.text,), "advice": ()}
    )
    note = default_registry()["assistant_reply"].render(inputs)[-1].content

    assert f"- the lease, signing day: {SIGNED.text}\n" in note
    assert "hold now:\n- the lease" in note
    assert f"no longer hold:\n- {PREFERENCE.text}\n" in note
    assert f"Length of the answer: {640 * 3 // 5} to {640 * 9 // 10} words, or as little" in note
    assert "tokens" not in note


def test_no_plan_id_stands_in_a_prompt_of_the_dialogue() -> None:
    for prompt_id in ("assistant_reply", "user_answer", "user_follow_up", "compact_memory"):
        assert not re.search(r"\bp\d+\.[sf]\d+", "\n".join(texts_of(default_registry()[prompt_id])))


def test_prompts_of_the_dialogue_have_no_words_of_the_plan() -> None:
    for prompt_id in ("assistant_reply", "user_answer", "user_follow_up", "compact_memory"):
        text = "\n".join(texts_of(default_registry()[prompt_id]))
        assert not re.search(r"\b(?:sub[- ]?plans?|bullets?|narratives?|anchors?|ledger)\b", text, re.IGNORECASE)


@pytest.mark.parametrize("prompt_id", ["assistant_reply", "user_answer", "user_follow_up"])
def test_the_next_call_of_a_dialogue_begins_with_the_messages_of_the_last(prompt_id: str) -> None:
    prompt = default_registry()[prompt_id]
    shown = HISTORY if prompt_id == "assistant_reply" else tuple(swapped(m) for m in HISTORY)
    asked = ASKED if prompt_id == "assistant_reply" else swapped(ASKED)
    inputs = {"context": CONTEXT, "summary": "", "today": TODAY}
    length = {"target_tokens": 300} if prompt_id == "assistant_reply" else {"told": (OPENING_DAY.text,)}

    first = prompt.render(prompt.inputs(**inputs, **length, history=shown[:1]))
    second = prompt.render(prompt.inputs(**inputs, **length, history=(*shown, asked)))

    # The last message of a request has the note of its call; what stands before it is sent again as it was.
    assert first[0] is second[0]
    assert first[:-1] == second[: len(first) - 1]
    if prompt_id == "assistant_reply":  # its note stands behind the message; the others' is a message of its own
        assert first[-1].content.startswith(second[len(first) - 1].content)


def swapped(message: ChatMessage) -> ChatMessage:
    return ChatMessage(role="user" if message.role == "assistant" else "assistant", content=message.content)


def test_categories_give_different_prompts_where_they_should() -> None:
    differing = {
        p.prompt_id
        for p in PROMPTS
        if len({"\n".join(texts_of(p, category)) for category in Category}) == len(Category)
    }

    assert differing >= {
        "narratives",
        "outline",
        "sub_plan",
        "augment",
        "user_turns",
        "more_turns",
        "assistant_reply",
        "probe_information_extraction",
    }


def test_example_of_a_sub_plan_says_its_values() -> None:
    (example,) = examples_of(default_registry()["sub_plan"])
    for bullet in SubPlanReply.model_validate_json(example).bullets:
        assert len(bullet.text.split()) <= 40
        for fact in bullet.facts:
            slot = new_slot(fact.slot)
            assert slot is not None
            assert says(bullet.text, typed_value(fact.value, slot.kind, dt.date(2022, 4, 10)))


def test_example_of_augmentation_says_its_values() -> None:
    (example,) = examples_of(default_registry()["augment"])
    for update in AugmentReply.model_validate_json(example).updates:
        assert says(update.text, typed_value(update.value, ValueKind.MONEY, dt.date(2022, 4, 10)))


@pytest.mark.parametrize("ability", sorted({*ABILITIES} - {"abstention"}))
def test_example_of_a_probe_keeps_the_rules_it_illustrates(ability: str) -> None:
    (example,) = examples_of(default_registry()[f"probe_{ability}"])
    reply = ProbeReply.model_validate_json(example)

    # The numbers of a list are no values.
    values = values_in(re.sub(r"\b\d\. ", "", reply.gold_answer))
    assert not any(says(reply.question, v) for v in values)
    assert all(nugget.excerpts and len(nugget.text.split()) <= 30 for nugget in reply.nuggets)
    assert not re.search(r"\b(?:excerpt|nugget|rubric)", f"{reply.question} {reply.gold_answer}")


def test_the_bullets_of_a_dialogue_are_rendered_once() -> None:
    prompt = default_registry()["assistant_reply"]
    history, context = (*HISTORY, ASKED), many_bullets(300)
    rendered = [
        prompt.render(AssistantReplyInputs(context=context, summary="", history=history, target_tokens=n, today=TODAY))
        for n in (100, 200, 300)
    ]
    # Rendering them takes 1 ms or more, the rest of a request 20 µs.
    assert all(request[0] is rendered[0][0] for request in rendered)


@pytest.mark.parametrize(("one", "other"), [("assistant_reply", "compact_memory"), ("user_answer", "user_follow_up")])
def test_prompts_of_one_side_share_what_a_server_has_cached(one: str, other: str) -> None:
    first, second = (default_registry()[i].render(without_summary(SAMPLES[i])) for i in (one, other))
    shared = [a for a, b in zip(first, second, strict=False) if a == b]

    assert first[0] == second[0]
    # All but the last message, which has the note of the call.
    assert len(shared) >= min(len(first), len(second)) - 1


def without_summary(inputs: PromptInputs) -> PromptInputs:
    return inputs.model_copy(update={"summary": ""})


def test_a_later_stage_begins_with_all_that_an_earlier_one_was_told() -> None:
    prompt = default_registry()["assistant_reply"]
    later = CONTEXT.model_copy(
        update={
            "earlier_bullets": (*CONTEXT.earlier_bullets, *CURRENT_BULLETS),
            "stage": CONTEXT.stage.model_copy(update={"first_day": TODAY}),
        }
    )
    first, second = (
        prompt.render(SAMPLES["assistant_reply"].model_copy(update={"context": c}))[0].content for c in (CONTEXT, later)
    )
    shared = first[: next(i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)]

    assert all(bullet in shared for bullet in CONTEXT.earlier_bullets)


def test_the_user_knows_which_of_these_days_things_were_told() -> None:
    user = default_registry()["user_answer"]
    inputs = SAMPLES["user_answer"]

    assert f"Told in these days, oldest first:\n- {OPENING_DAY.text}\n" in user.render(inputs)[-1].content
    assert "Told in these days" not in user.render(inputs.model_copy(update={"told": ()}))[-1].content


@EACH_PROMPT
def test_prompt_carries_the_language_that_is_asked_for(prompt: Prompt) -> None:
    english = SAMPLES[prompt.prompt_id]
    system = prompt.render(english.model_copy(update={"language": "Dutch"}))[0].content

    # Choosing among ids is the only task in which nothing is read or written of the conversation's language.
    assert ("Dutch" in system) == (prompt.prompt_id != "probe_candidates")
    assert "\n\n\n" not in system
    assert "Dutch" not in "".join(m.content for m in prompt.render(english))


GATE = ("guess_answers", "read_passages", "criticise_probes", "mark_answers")


@EACH_PROMPT
def test_examples_can_be_told_from_the_story(prompt: Prompt) -> None:
    source = source_with_parts(prompt)
    judging = {"judge_nugget", "align_event", "notes_relevant", "select_notes", *GATE}
    judging |= {"check_entailment", "check_contradiction"}
    if prompt.prompt_id in {"personality", "question_detector", "probe_candidates", *judging}:
        return  # what their replies say never gets into a conversation as it is
    if examples_of(prompt):
        assert "_example_story.j2" in source
        assert find_copied(source, known=()) is not None


def test_no_seed_persona_or_pack_holds_the_examples_words() -> None:
    package = TEMPLATES.parents[1]
    files = [*package.glob("generators/data/*"), *package.glob("offline/**/*.yaml")]

    assert len(files) > 20
    assert [f.name for f in files if find_copied(f.read_text(encoding="utf-8"), known=())] == []
    assert not any(find_copied(draw_profile(0, i).name, known=()) for i in range(700))


@pytest.mark.parametrize("prompt_id", sorted(SAMPLES))
def test_json_put_together_of_parts_is_that_of_the_whole(prompt_id: str) -> None:
    inputs = SAMPLES[prompt_id]

    assert inputs.kept_json == inputs.model_dump_json().encode()
    changed = inputs.model_copy(update={"feedback": 'say "no" – please'})
    assert changed.kept_json == changed.model_dump_json().encode() != inputs.kept_json


def test_fields_that_a_prompt_leaves_out_are_shown_by_another_with_the_same_inputs() -> None:
    for inputs in {prompt.inputs for prompt in PROMPTS}:
        prompts = [p for p in PROMPTS if p.inputs is inputs]
        shown = {f for p in prompts for f in (*p.variables, p.history)}
        # The ability of a probe decides the schema of the reply (`narrowing.probe`).
        assert inputs.model_fields.keys() - shown <= {"ability", "language", "feedback"}, prompts[0].prompt_id
