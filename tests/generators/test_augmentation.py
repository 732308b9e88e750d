"""Special bullets: replies that miss their targets are refused, and only these are asked for again."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace

import pytest

from longbeam.generators import Augmented, Frame, StageToAugment, Targets, augmented_plan, write_special_bullets
from longbeam.prompts.calls import (
    LONGEST_TEXT,
    AugmentInputs,
    AugmentReply,
    ContradictionDraft,
    ContradictionKind,
    Place,
    Stage,
    UpdateDraft,
    WishDraft,
    WishTarget,
)
from longbeam.schemas import Assertion, Bullet, BulletKind, IncidentKind, ModelReply, Plan, Stance
from longbeam.text import money
from tests.builders import good_conversation
from tests.generators.scripted import ScriptedModel, asker_for, faults_of
from tests.generators.test_choices import ANCHORS, LAYOUT, _chosen, _plan


def _task(specials: int = 2, plan: Plan | None = None, before: tuple[Augmented, ...] = ()) -> StageToAugment:
    """Return the task of the second stage: an update, a slip about a price and an instruction, or twice as many."""
    head, plan = good_conversation().head, plan or _plan()
    frame = Frame(seed=head.seed, profile=head.profile, relationships=head.relationships, narratives=head.narratives)
    drawn = _chosen(plan, layout=LAYOUT.model_copy(update={"specials": 8}))[1]
    count = specials // 2
    slips = tuple(t.model_copy(update={"slip": ContradictionKind.PRICE}) for t in drawn.contradictions[:count])
    used = {target.place.after for target in (*drawn.updates[:count], *slips)}
    free = [b for b in plan.sub_plans[1].bullets if b.bullet_id not in used]
    wishes = tuple(
        WishTarget(
            target_id=f"w{i}",
            kind=BulletKind.INSTRUCTION,
            aspect="Money",
            narrative="Money",
            place=Place(after=bullet.bullet_id, day=bullet.happens_on),
            uses=("It moves.", "It moves on."),
        )
        for i, bullet in enumerate(free[:count])
    )
    targets = Targets(stage_index=1, updates=drawn.updates[:count], contradictions=slips, wishes=wishes)
    assert len(targets.updates) == len(slips) == len(wishes) == count
    stage = Stage(stage_index=1, first_day=ANCHORS[1], last_day=ANCHORS[1] + dt.timedelta(days=30))
    return StageToAugment(frame, plan, stage, targets, 128_000, before)


def _reply(targets: Targets, **changes: object) -> AugmentReply:
    drafts = {
        "updates": [
            UpdateDraft(target_id=t.target_id, value="$500", text=f"{t.fact.subject} is $500 now.")
            for t in targets.updates
        ],
        "contradictions": [
            ContradictionDraft(target_id=t.target_id, text=f"{t.bullet.topic} was $7.", value="$7")
            for t in targets.contradictions
        ],
        "wishes": [_wish("when I ask", target_id=t.target_id) for t in targets.wishes[:1]],
    }
    return AugmentReply.model_validate({**drafts, **changes})


def _wish(condition: str, requirement: str = "gives totals", **more: str) -> WishDraft:
    told = {"target_id": "w0", "text": "Totals, please.", "topic": "totals"}
    return WishDraft.model_validate({"condition": condition, "requirement": requirement} | told | more)


async def _ask(task: StageToAugment, reply: AugmentReply) -> tuple[Augmented, ScriptedModel]:
    model = ScriptedModel({"augment": [reply.model_dump_json(), _reply(task.targets).model_dump_json()]})
    return await write_special_bullets(asker_for(model), task), model


async def test_special_bullets_get_ids_targets_places_and_assertions() -> None:
    task = _task()
    (update,), (denial,) = task.targets.updates, task.targets.contradictions
    written, _ = await _ask(task, _reply(task.targets))
    by_kind = {b.kind: b for b in written.bullets}
    assert [by_kind[k].bullet_id for k in (BulletKind.UPDATE, BulletKind.CONTRADICTION, BulletKind.INSTRUCTION)] == [
        "p0.s1.b10",
        "p0.s1.b11",
        "p0.s1.b12",
    ]
    assert by_kind[BulletKind.UPDATE].target_bullet_id == update.bullet.bullet_id
    assert by_kind[BulletKind.CONTRADICTION].target_bullet_id == denial.bullet.bullet_id
    assert by_kind[BulletKind.CONTRADICTION].variety == denial.slip.variety == "other_value"
    assert by_kind[BulletKind.INSTRUCTION].narrative == task.targets.wishes[0].narrative
    assert [(a.stance.value, a.value) for a in written.assertions] == [("updates", money(500)), ("denies", money(7))]
    places = {b.bullet_id: after for b, after in zip(written.bullets, written.after, strict=True)}
    assert places["p0.s1.b10"] == update.place.after
    assert [b.happens_on for b in written.bullets] == sorted(b.happens_on for b in written.bullets)


def test_special_bullets_stand_at_their_places() -> None:
    special = Bullet(
        bullet_id="p0.s0.b10",
        kind=BulletKind.UPDATE,
        narrative="Money",
        topic="thing 0",
        text="Thing 0 was $150 after all.",
        happens_on=ANCHORS[0] + dt.timedelta(days=6),
        target_bullet_id="p0.s0.b0",
    )
    told = Assertion(bullet_id="p0.s0.b10", fact_id="p0.f0", stance=Stance.UPDATES, value=money(150))
    made = Augmented(stage_index=0, bullets=(special,), after=("p0.s0.b6",), assertions=(told,))
    result = augmented_plan(_plan(), [made])
    assert [b.bullet_id for b in result.sub_plans[0].bullets][6:8] == ["p0.s0.b6", "p0.s0.b10"]
    assert [a.bullet_id for a in result.assertions].index("p0.s0.b10") == 7
    assert len(result.bullets()) == len(_plan().bullets()) + 1


async def test_the_writer_sees_the_bullets_and_days_around_each_place() -> None:
    task = _task()
    _, model = await _ask(task, _reply(task.targets))
    asked = model.calls[0].inputs
    assert isinstance(asked, AugmentInputs)
    assert [line.bullet for line in asked.lines] == list(task.base.sub_plans[1].bullets)
    then = {target_id: line.bullet.bullet_id for line in asked.lines for target_id in line.then}
    assert then == {target_id: place.after for target_id, place in task.targets.places().items()}
    text = "\n".join(m.content for m in model.calls[0].messages())
    assert f"u0, said on {task.targets.updates[0].place.day.isoformat()}" in text


async def test_the_writer_sees_the_cast_and_what_has_changed_since_it_was_told() -> None:
    people = good_conversation().head.relationships.people
    update = Bullet(
        bullet_id="p0.s0.b10",
        kind=BulletKind.UPDATE,
        narrative="Money",
        topic="thing 0",
        text="Thing 0 is $150.",
        happens_on=ANCHORS[0],
        target_bullet_id="p0.s0.b0",
    )
    told = Assertion(bullet_id=update.bullet_id, fact_id="p0.f0", stance=Stance.UPDATES, value=money(150))
    elsewhere = told.model_copy(update={"fact_id": "p9.f0"})  # a fact of another plan is not among the plan's own
    before = Augmented(stage_index=0, bullets=(update,), after=("p0.s0.b6",), assertions=(told, elsewhere))
    task = _task(before=(before,))
    task = replace(task, stage=task.stage.model_copy(update={"cast": (people[0].first_name,)}))
    _, model = await _ask(task, _reply(task.targets))
    asked = model.calls[0].inputs
    assert isinstance(asked, AugmentInputs)
    assert asked.people == people[:1]
    assert [(line.fact_id, line.value) for line in asked.changed] == [("p0.f0", money(150))]


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        ({"updates": []}, "u0 is missing"),
        ({"contradictions": []}, "c0 is missing"),
        ({"wishes": []}, "w0 is missing"),
    ],
)
async def test_missing_drafts_are_asked_for_again(spoil: dict[str, object], reason: str) -> None:
    task = _task()
    _, model = await _ask(task, _reply(task.targets, **spoil))
    assert len(model.calls) == 2
    assert reason in faults_of(model.calls[1])


@pytest.mark.parametrize(
    ("value", "text", "reason"),
    [
        ("OLD", "Still OLD.", "keeps the old value"),
        ("$900", "It is something else now.", "asserts '$900' and its text does not say it"),
        ("a lot", "THING is a lot now.", "a lot"),
        (" ", "THING is $900 now.", "u0 must state the new value, in `value` and in its text"),
        ("$900", "THING is $900, so I pay for no more of that.", "says 'no more'"),
    ],
)
async def test_an_update_that_says_no_new_value_or_vows_something_is_refused(
    value: str, text: str, reason: str
) -> None:
    task = _task()
    fact = task.targets.updates[0].fact
    assert fact.value is not None
    known = {"OLD": fact.value.text, "THING": fact.subject}
    for word, meant in known.items():
        value, text = value.replace(word, meant), text.replace(word, meant)
    _, model = await _ask(task, _reply(task.targets, updates=[UpdateDraft(target_id="u0", value=value, text=text)]))
    assert reason in faults_of(model.calls[1])


async def test_what_the_form_cut_is_asked_for_again_and_left_out_in_the_end() -> None:
    task = _task()
    looping = ("Well, well, " * 40)[:LONGEST_TEXT]
    asked = _reply(task.targets)
    spoilt = {
        "wishes": [d.model_copy(update={"text": looping}) for d in asked.wishes],
        "contradictions": [d.model_copy(update={"text": looping}) for d in asked.contradictions],
    }
    model = ScriptedModel({"augment": [_reply(task.targets, **spoilt).model_dump_json()]})
    made = await write_special_bullets(asker_for(model), task)
    assert "c0 breaks off in a sentence, 'Well, well, Well, well, Well, well, Well'..." in faults_of(model.calls[1])
    assert [b.kind for b in made.bullets] == [BulletKind.UPDATE]


async def test_only_the_faulty_remark_is_asked_for_again_and_left_out_in_the_end() -> None:
    task = _task()
    empty = [ContradictionDraft(target_id="c0", text=f"{task.targets.contradictions[0].bullet.topic} was cheap.")]
    model = ScriptedModel({"augment": [_reply(task.targets, contradictions=empty).model_dump_json()]})
    asker = asker_for(model)
    made = await write_special_bullets(asker, task)
    first, again = model.calls[:2]
    assert faults_of(again) == "c0 must state another value, in `value` and in its text"
    assert isinstance(first.inputs, AugmentInputs)
    assert isinstance(again.inputs, AugmentInputs)
    assert [t.target_id for t in again.inputs.contradictions] == ["c0"]
    assert (again.inputs.updates, again.inputs.wishes) == ((), ())
    assert set(again.inputs.taken_conditions) - set(first.inputs.taken_conditions) == {"when I ask"}
    assert again.retry is not None
    assert [line[:3] for line in again.retry.kept] == ["u0:", "w0:"]
    assert {b.kind for b in made.bullets} == {BulletKind.UPDATE, BulletKind.INSTRUCTION}
    assert [i.kind for i in asker.incidents][-1] is IncidentKind.SHORT


async def test_the_writer_may_decline_half_of_the_slips_that_nobody_would_make() -> None:
    task = _task(4)
    declined = [ContradictionDraft(target_id=t.target_id, text="unsaid") for t in task.targets.contradictions]
    assert len(declined) > 1
    model = ScriptedModel({"augment": [_reply(task.targets, contradictions=declined).model_dump_json()]})
    asker = asker_for(model)
    made = await write_special_bullets(asker, task)
    may = (len(declined) + 1) // 2
    assert f"{declined[may].target_id} may not stay unsaid as well" in faults_of(model.calls[1])
    assert not [b for b in made.bullets if b.kind is BulletKind.CONTRADICTION]
    assert f"{declined[0].target_id} is left out: its writer leaves it unsaid" in {i.detail for i in asker.incidents}


async def test_a_reply_that_breaks_off_or_has_one_list_gives_the_remarks_that_it_has() -> None:
    task = _task()
    whole = _reply(task.targets).model_dump_json()
    cut = whole[: whole.index(',"wishes"')]
    rest = _reply(task.targets).model_dump_json(include={"wishes"})
    model = ScriptedModel({"augment": [ModelReply(text=cut, finish_reason="length"), rest]})
    made = await write_special_bullets(asker_for(model), task)
    assert faults_of(model.calls[1]) == "w0 is missing"
    assert len(model.calls) == 2
    assert len(made.bullets) == 3


async def test_an_update_without_a_value_costs_no_other() -> None:
    task = _task(4)
    blank, good = _reply(task.targets).model_dump(mode="json")["updates"]
    textless = {"target_id": "u9", "value": "$5"}
    reply = _reply(task.targets).model_dump(mode="json") | {"updates": [blank | {"value": ""}, good, textless]}
    model = ScriptedModel({"augment": [json.dumps(reply), _reply(task.targets).model_dump_json()]})
    await write_special_bullets(asker_for(model), task)
    again = model.calls[1].inputs
    assert isinstance(again, AugmentInputs)
    assert [t.target_id for t in again.updates] == [blank["target_id"]]


async def test_the_typed_value_of_an_update_is_that_of_its_words() -> None:
    task = _task()
    draft = UpdateDraft(target_id="u0", value="$900", text=f"{task.targets.updates[0].fact.subject}: $900.")
    augmented, _ = await _ask(task, _reply(task.targets, updates=[draft]))
    assert [a.value for a in augmented.assertions if a.value is not None and a.value.text == "$900"] == [money(900)]


# --- standing wishes --------------------------------------------------------------------------------------


async def test_wishes_come_to_the_places_of_the_targets_that_they_name() -> None:
    task = _task(4)
    drafts = [_wish("when I ask about rooms", target_id="w1", topic="rooms"), _wish("when I ask about costs")]
    made, _ = await _ask(task, _reply(task.targets, wishes=[d.model_dump() for d in drafts]))
    placed = {b.topic: after for b, after in zip(made.bullets, made.after, strict=True)}
    first, second = task.targets.wishes
    assert (placed["totals"], placed["rooms"]) == (first.place.after, second.place.after)


def _earlier(condition: str, kind: BulletKind = BulletKind.INSTRUCTION) -> Augmented:
    """Return a stage's special bullets: one wish."""
    wish = Bullet(
        bullet_id="p0.s0.b10",
        kind=kind,
        narrative="Money",
        topic="fish",
        text="When I ask about fish, name the bones.",
        happens_on=ANCHORS[0],
        condition=condition,
        requirement="the bones are named",
    )
    return Augmented(stage_index=0, bullets=(wish,), after=("p0.s0.b0",), assertions=())


async def test_an_instruction_that_overlaps_with_one_of_an_earlier_stage_is_refused() -> None:
    task = _task(before=(_earlier("when I ask about fish"),))
    _, model = await _ask(task, _reply(task.targets, wishes=[_wish("when I ask what fish costs")]))
    asked = model.calls[0].inputs
    assert isinstance(asked, AugmentInputs)
    assert asked.taken_conditions == ("when I ask about fish",)
    assert "overlaps with 'when I ask about fish'" in faults_of(model.calls[1])


@pytest.mark.parametrize("requirement", ["names the bones", "gives totals"])
async def test_wishes_of_one_reply_that_overlap_are_refused_and_left_out_in_the_end(requirement: str) -> None:
    task = _task(4)
    clash = [_wish("when I ask about fish"), _wish("when I ask for fish recipes", requirement, target_id="w1")]
    model = ScriptedModel({"augment": [_reply(task.targets, wishes=clash).model_dump_json()]})
    made = await write_special_bullets(asker_for(model), task)
    assert "overlaps with" in faults_of(model.calls[1])
    conditions = [b.condition for b in made.bullets if b.kind is BulletKind.INSTRUCTION]
    assert conditions == ["when I ask about fish"]


async def test_a_preference_with_the_condition_of_one_that_may_be_replaced_replaces_it() -> None:
    before = _earlier("when I ask about fish", BulletKind.PREFERENCE)
    task = _task(before=(before,))
    (target,) = task.targets.wishes
    liked = target.model_copy(update={"kind": BulletKind.PREFERENCE})
    task = replace(task, targets=task.targets.model_copy(update={"wishes": (liked,)}))
    made, model = await _ask(task, _reply(task.targets, wishes=[_wish("When I ask about fish")]))
    assert len(model.calls) == 1
    asked = model.calls[0].inputs
    assert isinstance(asked, AugmentInputs)
    assert [b.condition for b in asked.replaceable] == ["when I ask about fish"]
    (bullet,) = [b for b in made.bullets if b.kind is BulletKind.PREFERENCE]
    assert (bullet.topic, bullet.condition, bullet.variety) == ("fish", "when I ask about fish", "evolved")
    for length, offered in ((16_000, 0), (64_000, 0), (65_000, 1)):
        assert len(replace(task, length=length).replaceable) == offered  # a story of 64K has none to spare
    same = _wish("when I ask about fish", before.bullets[0].requirement)
    (bullet,) = [b for b in (await _ask(task, _reply(task.targets, wishes=[same])))[0].bullets if b.condition]
    assert bullet.variety == ""
