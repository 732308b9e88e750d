"""Plans: the outline, and the lines of a stage written in groups that grow with acceptance."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from longbeam.errors import ReplyError
from longbeam.generators import (
    Drafted,
    Frame,
    PlanContext,
    PlanHistory,
    layout_for,
    stages_of,
    write_outline,
    write_sub_plan,
)
from longbeam.generators.plans import plan_of
from longbeam.models import ModelCall
from longbeam.prompts.calls import BulletDraft, FactDraft, SheetLine, SubPlanInputs, SubPlanReply
from longbeam.schemas import BulletKind, Category, IncidentKind, Stance, Timeline
from tests.builders import good_conversation
from tests.generators.scripted import ScriptedModel, asker_for

LAYOUT = layout_for(128_000, Category.GENERAL, asked=2).model_copy(update={"sub_plans": 2})
HEAD = good_conversation().head
FRAME = Frame(seed=HEAD.seed, profile=HEAD.profile, relationships=HEAD.relationships, narratives=HEAD.narratives)
STAGES = stages_of(
    Timeline(start=dt.date(2024, 1, 1), end=dt.date(2024, 3, 10)),
    LAYOUT,
    FRAME.narratives,
    FRAME.relationships.people,
)
CONTEXT = PlanContext(0, FRAME, LAYOUT, STAGES, PlanHistory(), rng_key="k", group=6)


def _draft(line: SheetLine) -> BulletDraft:
    """Return good words for a line: an amount of its own."""
    value = f"${100 + line.line}"
    fact = FactDraft(slot="money", name="budget", value=value)
    topic = f"thing {'abcdefghijklmnopqrstuvwxyz'[line.line]}"
    is_wish = line.kind is BulletKind.PREFERENCE
    return BulletDraft(
        line=line.line,
        topic=topic,
        text="Be brief." if is_wish else f"I set aside {value} for {topic}.",
        facts=[] if is_wish else [fact],
        condition=f"when I ask about {topic}" if is_wish else "",
        requirement="is brief" if is_wish else "",
    )


def _reply(drafts: Sequence[BulletDraft]) -> str:
    return SubPlanReply(bullets=list(drafts)).model_dump_json()


def _lines_of(call: ModelCall) -> tuple[SheetLine, ...]:
    assert isinstance(call.inputs, SubPlanInputs)
    return call.inputs.lines


def _model(spoiled: Callable[[ModelCall], bool] = lambda call: False) -> ScriptedModel:
    """Words every line; the first event of a spoiled call speaks of the user."""

    def answer(call: ModelCall) -> str:
        drafts = [_draft(line) for line in _lines_of(call)]
        if spoiled(call):
            first = next(i for i, draft in enumerate(drafts) if draft.facts)
            drafts[first] = drafts[first].model_copy(update={"text": f"The user says: {drafts[first].text}"})
        return _reply(drafts)

    return ScriptedModel({"sub_plan": answer})


async def _write(model: ScriptedModel, *earlier: Drafted) -> Drafted:
    return await write_sub_plan(asker_for(model), CONTEXT, earlier)


async def test_outline_needs_one_draft_per_stage_and_keeps_wants_of_the_cast() -> None:
    one, two = '{"title": "A", "summary": "a"}', '{"title": "B", "summary": "b", "wants": ["w", "x", "y", "z", "more"]}'
    model = ScriptedModel({"outline": [f'{{"stages": [{one}]}}', f'{{"stages": [{one}, {two}]}}']})
    stages = await write_outline(asker_for(model), FRAME, STAGES)
    assert [(s.title, s.first_day) for s in stages] == [("A", dt.date(2024, 1, 1)), ("B", dt.date(2024, 2, 5))]
    assert [len(s.wants) for s in stages] == [0, len(STAGES[1].cast)]
    assert model.calls[1].retry.faults == ("1 stages; exactly 2 are asked for",)  # type: ignore[union-attr]


async def test_names_of_the_outline_hold_in_every_stage_and_faulty_ones_are_left_out() -> None:
    person = FRAME.relationships.people[0].first_name
    user = FRAME.profile.name
    names = [("Pelle", 2), (person, 1), (user, 1), ("pelle", 1), ("Room 12", 1), ("Old Mill", 3), ("The Tin Moon", 1)]
    drafts = [{"name": name, "what": "a thing", "stage": stage} for name, stage in names]
    stages = [{"title": "A", "summary": "a"}, {"title": "B", "summary": "b"}]
    model = ScriptedModel({"outline": [json.dumps({"stages": stages, "names": drafts})]})
    asker = asker_for(model)
    made = await write_outline(asker, FRAME, STAGES)

    assert [[t.name for t in stage.names] for stage in made] == [["Pelle", "The Tin Moon"]] * 2
    assert [[t.name for t in stage.names_known] for stage in made] == [["The Tin Moon"], ["Pelle", "The Tin Moon"]]
    assert len(model.calls) == 1  # the rest of the outline is good: nothing is asked again
    (incident,) = asker.incidents
    assert incident.detail.startswith("5 of 7 names left out; ")


async def test_lines_become_bullets_facts_and_assertions() -> None:
    drafted = await _write(_model())
    assert [b.bullet_id for b in drafted.sub_plan.bullets] == [f"p0.s0.b{i}" for i in range(20)]
    assert [(b.kind, b.happens_on) for b in drafted.sub_plan.bullets] == [
        (line.kind, line.day) for line in CONTEXT.sheet.stages[0]
    ]
    wishes = sum(line.kind is BulletKind.PREFERENCE for line in CONTEXT.sheet.stages[0])
    assert [f.fact_id for f in drafted.facts] == [f"p0.f{i}" for i in range(20 - wishes)]
    assert {a.stance for a in drafted.assertions} == {Stance.SETS}


async def test_slot_named_again_in_a_later_stage_is_told_again() -> None:
    first = await _write(_model())
    second = await _write(_model(), first)
    plan = plan_of([first, second])
    again = [a for a in plan.assertions if a.stance is not Stance.SETS]
    assert again
    assert {a.bullet_id.partition(".b")[0] for a in again} == {"p0.s1"}
    assert len({f.slot for f in plan.facts}) == len({f.fact_id for f in plan.facts}) == len(plan.facts)


async def test_groups_that_are_accepted_at_once_grow_and_the_next_stage_goes_on_with_their_size() -> None:
    model = _model()
    first = await _write(model)
    # 6, then 6 + 3; the five that are left are fewer than the 13 that come next.
    assert [len(_lines_of(call)) for call in model.calls] == [6, 9, 5]
    assert first.group == 18
    await _write(later := _model(), first)
    # Eighteen fit. The fifteenth may tell how a day of those before it went; the end of the story stands alone.
    assert [len(_lines_of(call)) for call in later.calls] == [14, 5, 1]


async def test_a_request_says_what_follows_its_lines() -> None:
    model = _model()
    await _write(model)
    sheet = CONTEXT.sheet.stages[0]
    asked = [call.inputs for call in model.calls if isinstance(call.inputs, SubPlanInputs)]
    assert [inputs.lines_left for inputs in asked] == [14, 5, 0]
    assert {inputs.last_day for inputs in asked} == {sheet[-1].day, None}
    assert (
        f"After these the stage has 14 more, the last told {sheet[-1].day:%Y-%m-%d}"
        in model.calls[0].messages()[-1].content
    )


async def test_a_request_names_the_announced_days_that_others_report() -> None:
    def announced(call: ModelCall) -> str:
        days = {line.line: slot.day for line in _lines_of(call) for slot in line.sets if slot.day and not slot.is_fixed}
        drafts = []
        for line in _lines_of(call):
            draft = _draft(line)
            if day := days.get(line.line):
                said = f"{day:%B} {day.day}"
                fact = FactDraft(slot="date", name="opening day", value=said)
                draft = draft.model_copy(update={"text": f"{draft.topic} opens on {said}.", "facts": [fact]})
            drafts.append(draft)
        return _reply(drafts)

    model = ScriptedModel({"sub_plan": announced})
    for key in "abcd":
        await write_sub_plan(asker_for(model), replace(CONTEXT, rng_key=key), ())
    asked = [call.inputs for call in model.calls if isinstance(call.inputs, SubPlanInputs)]
    assert not asked[0].awaited
    assert any(inputs.awaited for inputs in asked)
    last = ScriptedModel({"sub_plan": announced})
    await _write(last, await _write(last))
    ended = [call.inputs for call in last.calls if isinstance(call.inputs, SubPlanInputs)]
    assert ended[-1].lines_left == 0
    assert not ended[-1].awaited  # no line is left that may tell of one
    for call, inputs in zip(model.calls, asked, strict=True):
        reported = {line.recalls.fact_id for line in inputs.lines if line.outcome_of and line.recalls}
        assert not reported & {slot.fact_id for slot in inputs.awaited}
        text = call.messages()[-1].content
        assert all(f"{s.subject}, {s.attribute} ({s.value.text})" in text for s in inputs.awaited if s.value)


async def test_only_the_faulty_line_of_a_group_is_asked_again_and_the_next_group_is_smaller() -> None:
    model = _model(spoiled=lambda call: len(_lines_of(call)) == 6)
    drafted = await _write(model)
    # The first line of the first group is asked for alone; the next groups have 4, then 6, which is spoiled again.
    assert [len(_lines_of(call)) for call in model.calls] == [6, 1, 4, 6, 1, 4]
    retry = model.calls[1].retry
    assert retry is not None
    assert any("speaks of the user" in fault for fault in retry.faults)
    assert len(retry.kept) == 5
    assert len(drafted.sub_plan.bullets) == 20


async def test_a_group_sees_the_lines_of_the_group_before() -> None:
    model = _model()
    await _write(model)
    inputs = model.calls[1].inputs
    assert isinstance(inputs, SubPlanInputs)
    assert [b.topic for b in inputs.earlier_bullets] == [f"thing {letter}" for letter in "bcdefg"]


async def test_a_line_that_nobody_can_word_is_left_out_and_noted() -> None:
    model = _model(spoiled=lambda call: _lines_of(call)[0].line == 7)
    asker = asker_for(model)
    drafted = await write_sub_plan(asker, CONTEXT, ())
    assert len(drafted.sub_plan.bullets) == 19
    assert [i.kind for i in asker.incidents] == [IncidentKind.REFUSED, IncidentKind.SHORT]


async def test_a_line_that_says_again_what_was_told_is_asked_for_again() -> None:
    told = "Kaja and Hugo carried the limestone bench from the quarry to our garden gate, and both were late."
    before: list[ModelCall] = []

    def answer(call: ModelCall) -> str:
        before.append(call)
        drafts = [_draft(line) for line in _lines_of(call)]
        if len(before) in (1, 2):
            drafts[1] = drafts[1].model_copy(update={"text": told, "facts": []})
        return _reply(drafts)

    model = ScriptedModel({"sub_plan": answer})
    drafted = await write_sub_plan(asker_for(model), CONTEXT, ())
    assert [b.text for b in drafted.sub_plan.bullets].count(told) == 1
    retry = model.calls[2].retry
    assert retry is not None
    assert retry.faults == ("line 8 says again what was told before; each line is one new thing",)


async def test_a_value_that_the_text_of_a_line_does_not_say_is_said_by_code_and_noted() -> None:
    def silent(line: SheetLine) -> BulletDraft:
        draft = _draft(line)
        return draft.model_copy(update={"text": "I set something aside."}) if draft.facts else draft

    asker = asker_for(ScriptedModel({"sub_plan": lambda call: _reply([silent(line) for line in _lines_of(call)])}))
    drafted = await write_sub_plan(asker, CONTEXT, ())
    texts = {b.bullet_id: b.text for b in drafted.sub_plan.bullets}
    assert len(drafted.assertions) > 10
    assert all(a.value is not None and a.value.text in texts[a.bullet_id] for a in drafted.assertions)
    assert {incident.kind for incident in asker.incidents} == {IncidentKind.MENDED}


async def test_a_stage_without_any_line_fails() -> None:
    with pytest.raises(ReplyError, match="no reply had a line that could be used"):
        await _write(ScriptedModel({"sub_plan": [_reply([])]}))


async def test_a_sheet_depends_on_the_plan_alone() -> None:
    assert CONTEXT.sheet.digest == PlanContext(0, FRAME, LAYOUT, STAGES, PlanHistory(), "k", group=9).sheet.digest
    assert CONTEXT.digest != PlanContext(0, FRAME, LAYOUT, STAGES, PlanHistory(), "k", group=9).digest
