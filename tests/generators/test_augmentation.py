"""Special bullets: replies that miss their targets are refused."""

from __future__ import annotations

import datetime as dt

import pytest

from longbeam.generators.augmentation import (
    Augmented,
    StageToAugment,
    areas_of,
    augmented_plan,
    write_special_bullets,
)
from longbeam.generators.plan_history import PlanHistory
from longbeam.generators.plans import Frame
from longbeam.generators.special_targets import Targets, choose_targets, first_place
from longbeam.prompts.calls.plans import (
    AugmentInputs,
    AugmentReply,
    ContradictionDraft,
    InstructionDraft,
    Stage,
    UpdateDraft,
)
from longbeam.schemas.plans import Assertion, Bullet, BulletKind, Stance
from longbeam.text.values import money
from tests.builders import good_conversation
from tests.generators.scripted import ScriptedModel, asker_for
from tests.generators.test_special_targets import ANCHORS, _plan


def test_special_bullets_stand_behind_what_they_look_back_to() -> None:
    plan = _plan()
    special = Bullet(
        bullet_id="p0.s0.b10",
        kind=BulletKind.UPDATE,
        narrative="Money",
        topic="thing 0",
        text="Thing 0 was $150 after all.",
        happens_on=ANCHORS[0],
        target_bullet_id="p0.s0.b0",
    )
    told = Assertion(bullet_id="p0.s0.b10", fact_id="p0.f0", stance=Stance.UPDATES, value=money(150))
    result = augmented_plan(plan, [Augmented(stage_index=0, bullets=(special,), assertions=(told,))], "7/c000")
    bullets = result.sub_plans[0].bullets
    place = next(i for i, b in enumerate(bullets) if b.kind is BulletKind.UPDATE)
    assert place >= first_place(plan.sub_plans[0]) == 6
    assert bullets[place].happens_on == bullets[place - 1].happens_on
    assert [a.bullet_id for a in result.assertions].index("p0.s0.b10") == place
    assert len(result.bullets()) == len(plan.bullets()) + 1


def _reply(targets: Targets, **changes: object) -> AugmentReply:
    drafts = {
        "updates": [
            UpdateDraft(target_id=t.target_id, value=money(500), text="It is $500 now.") for t in targets.updates
        ],
        "contradictions": [
            ContradictionDraft(target_id=t.target_id, text="I never paid for that.", variety="never_statement")
            for t in targets.contradictions
        ],
        "instructions": [
            InstructionDraft(condition="when I ask", requirement="gives totals", text="Totals, please.", topic="totals")
        ],
    }
    return AugmentReply.model_validate({**drafts, **changes})


async def _ask(reply: AugmentReply) -> tuple[Augmented, ScriptedModel]:
    plan, head = _plan(), good_conversation().head
    frame = Frame(seed=head.seed, profile=head.profile, relationships=head.relationships, narratives=head.narratives)
    targets = choose_targets(plan, 1, "7/c000", PlanHistory())[1]
    model = ScriptedModel({"augment": [reply.model_dump_json(), _reply(targets).model_dump_json()]})
    stage = Stage(stage_index=1, first_day=ANCHORS[1], last_day=ANCHORS[1] + dt.timedelta(days=30))
    task = StageToAugment(frame, plan, stage, targets, instructions=1)
    return await write_special_bullets(asker_for(model), task), model


async def test_special_bullets_get_ids_targets_and_assertions() -> None:
    targets = choose_targets(_plan(), 1, "7/c000", PlanHistory())[1]
    written, _ = await _ask(_reply(targets))
    assert [b.bullet_id for b in written.bullets] == ["p0.s1.b10", "p0.s1.b11", "p0.s1.b12"]
    assert [b.kind.value for b in written.bullets] == ["update", "contradiction", "instruction"]
    assert [b.target_bullet_id for b in written.bullets[:2]] == [
        targets.updates[0].bullet.bullet_id,
        targets.contradictions[0].bullet.bullet_id,
    ]
    assert [(a.stance.value, a.value) for a in written.assertions] == [("updates", money(500)), ("denies", None)]


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        ({"updates": []}, "exactly"),
        ({"contradictions": []}, "contradictions must be for exactly"),
        ({"instructions": []}, "0 instructions; exactly 1"),
    ],
)
async def test_missing_drafts_are_asked_for_again(spoil: dict[str, object], reason: str) -> None:
    targets = choose_targets(_plan(), 1, "7/c000", PlanHistory())[1]
    _, model = await _ask(_reply(targets, **spoil))
    assert len(model.calls) == 2
    assert reason in model.calls[1].inputs.feedback


async def test_update_that_keeps_or_does_not_say_its_value_is_refused() -> None:
    targets = choose_targets(_plan(), 1, "7/c000", PlanHistory())[1]
    target = targets.updates[0]
    assert target.fact.value is not None
    same = UpdateDraft(target_id="u0", value=target.fact.value, text=f"Still {target.fact.value.text}.")
    _, model = await _ask(_reply(targets, updates=[same]))
    assert "keeps the old value" in model.calls[1].inputs.feedback
    unsaid = UpdateDraft(target_id="u0", value=money(900), text="It is something else now.")
    _, model = await _ask(_reply(targets, updates=[unsaid]))
    assert "asserts '$900' and its text does not say it" in model.calls[1].inputs.feedback


async def test_stages_are_given_different_areas_and_all_taken_conditions() -> None:
    plan, head = _plan(), good_conversation().head
    frame = Frame(seed=head.seed, profile=head.profile, relationships=head.relationships, narratives=head.narratives)
    labels = [n.label for n in head.narratives]
    stages = [Stage(stage_index=i, first_day=ANCHORS[i], last_day=ANCHORS[i]) for i in range(2)]
    assert [areas_of(frame, s, 1) for s in stages] == [(labels[0],), (labels[1 % len(labels)],)]
    _, model = await _ask(_reply(choose_targets(plan, 1, "7/c000", PlanHistory())[1]))
    asked = model.calls[0].inputs
    assert isinstance(asked, AugmentInputs)
    assert asked.areas == areas_of(frame, stages[1], 1)
    assert asked.taken_conditions == tuple(dict.fromkeys(b.condition for b in plan.bullets() if b.condition))
