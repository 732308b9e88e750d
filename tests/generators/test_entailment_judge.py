"""Judging of wordings: who is asked, when a fault counts, and what becomes of wordings that stay wrong."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace

import pytest

from longbeam.generators import Augmented, Targets, Voicing, contradiction_fault, unsaid_claims, write_special_bullets
from longbeam.models import Asker
from longbeam.prompts.calls import BulletBrief, ContradictionKind, EntailmentInputs, SpokenDay, ToldRemark
from longbeam.schemas import Bullet, BulletKind, IncidentKind, Role
from tests.generators.scripted import ScriptedModel, asker_for, faults_of
from tests.generators.test_augmentation import _task
from tests.generators.test_choices import ANCHORS

CHECKER, SECOND = "openai:a", "openai:b"
TOLD = "I sold my kiln in May."


def _verdicts(*is_said: bool) -> str:
    found = [{"claim": i, "reason": f"reason {i}", "is_said": said} for i, said in enumerate(is_said, 1)]
    return json.dumps({"verdicts": found})


def _asker(model: ScriptedModel, **models: str) -> Asker:
    asker = asker_for(model)
    named = {"default": "openai:writer", "checker": CHECKER, **models}
    return replace(asker, spec=asker.spec.model_copy(update={"models": named}))


async def test_the_checker_says_which_claims_a_message_lacks() -> None:
    model = ScriptedModel({"check_entailment": [_verdicts(True, False)]})
    assert await unsaid_claims(_asker(model), "m", "Hello.", ("a", "b")) == {"b": "reason 2"}
    assert [(c.role, c.model) for c in model.calls] == [(Role.CHECKER, CHECKER)]


async def test_an_error_counts_only_when_both_checkers_find_it() -> None:
    model = ScriptedModel({"check_entailment": [_verdicts(False, False, True), _verdicts(True, False)]})
    missed = await unsaid_claims(_asker(model, second_checker=SECOND), "m", "Hello.", ("a", "b", "c"))
    assert missed == {"b": "reason 2"}
    assert [(c.role, c.model) for c in model.calls] == [(Role.CHECKER, CHECKER), (Role.SECOND_CHECKER, SECOND)]
    second = model.calls[1].inputs
    assert isinstance(second, EntailmentInputs)
    assert second.claims == ("a", "b")


async def test_the_second_checker_is_not_asked_where_the_first_finds_nothing() -> None:
    model = ScriptedModel({"check_entailment": [_verdicts(True)]})
    assert await unsaid_claims(_asker(model, second_checker=SECOND), "m", "Hello.", ("a",)) == {}
    assert len(model.calls) == 1


EARLIER = ToldRemark(text="earlier", day=dt.date(2024, 3, 4))
LATER = ToldRemark(text="later", day=dt.date(2024, 5, 6))


async def test_a_checker_that_cannot_be_read_finds_no_fault_and_is_reported() -> None:
    model = ScriptedModel({"check_entailment": ["no"], "check_contradiction": ["no"]})
    asker = _asker(model)
    assert await unsaid_claims(asker, "m", "Hello.", ("a",)) == {}
    assert await contradiction_fault(asker, "m", EARLIER, LATER) == ""
    assert [i.kind for i in asker.incidents] == [IncidentKind.REFUSED, IncidentKind.DEFAULTED] * 2


async def test_nobody_is_asked_where_the_checks_are_off() -> None:
    model = ScriptedModel({})
    assert await unsaid_claims(asker_for(model), "m", "Hello.", ("a",)) == {}
    assert await contradiction_fault(asker_for(model), "m", EARLIER, LATER) == ""
    assert model.calls == []


async def test_only_doubtful_wordings_are_judged_and_a_refused_one_voices_nothing() -> None:
    bullets = [
        Bullet(
            bullet_id=f"p0.s0.b{i}", kind=BulletKind.EVENT, narrative="n", topic="t", text=text, happens_on=ANCHORS[0]
        )
        for i, text in enumerate((TOLD, "I bought a lathe."))
    ]
    model = ScriptedModel({"check_entailment": [_verdicts(False)]})
    voicing = Voicing(_asker(model), tuple(BulletBrief(bullet=b) for b in bullets))
    text = "I nearly sold my kiln in May. I bought a lathe. Was that wise?"
    (fault,) = await voicing.judge([(text, ["p0.s0.b0", "p0.s0.b1"])])
    assert fault == "the turn that voices p0.s0.b0 does not say it: reason 1"
    (call,) = model.calls
    assert isinstance(call.inputs, EntailmentInputs)
    assert call.inputs.claims == (TOLD,)
    assert voicing.said(text, ["p0.s0.b0", "p0.s0.b1"]) == ["p0.s0.b1"]
    assert [i.kind for i in voicing.asker.incidents] == [IncidentKind.NOT_ENTAILED]


async def test_the_checker_reads_the_days_of_a_message_as_the_plan_writes_them() -> None:
    told = Bullet(bullet_id="b", kind=BulletKind.EVENT, narrative="n", topic="t", text=TOLD, happens_on=ANCHORS[0])
    model = ScriptedModel({"check_entailment": [_verdicts(True)]})
    voicing = Voicing(_asker(model), (BulletBrief(bullet=told),))
    voicing.days = {"b": (SpokenDay(text="August 10, 2025", said="Sunday"),)}
    assert await voicing.judge([("Sunday I nearly sold my kiln in May.", ["b"])]) == []
    (call,) = model.calls
    assert isinstance(call.inputs, EntailmentInputs)
    assert call.inputs.message == "August 10, 2025 I nearly sold my kiln in May."


# --- special bullets --------------------------------------------------------------------------------------------


WISH = {"target_id": "w0", "condition": "when I ask", "requirement": "totals", "text": "Totals.", "topic": "totals"}


async def _augmented(update: str, denial: str, *checks: str) -> tuple[Augmented, ScriptedModel, Targets, Asker]:
    """Ask for one update, to $500, and one contradiction with these words; the reply stays the same."""
    task = _task()
    slip = task.targets.contradictions[0].model_copy(update={"slip": ContradictionKind.ONCE})
    task = replace(task, targets=task.targets.model_copy(update={"contradictions": (slip,)}))
    thing, topic = task.targets.updates[0].fact.subject, slip.bullet.topic
    reply = {
        "updates": [{"target_id": "u0", "value": "$500", "text": update.format(thing=thing)}],
        "contradictions": [{"target_id": "c0", "text": denial.format(thing=topic)}],
        "wishes": [WISH],
    }
    model = ScriptedModel({"augment": [json.dumps(reply)], "check_contradiction": checks, "check_entailment": checks})
    asker = _asker(model)
    return await write_special_bullets(asker, task), model, task.targets, asker


GOOD_DENIAL = "I never paid anything for {thing}."
EXCLUDED = '{"reason": "It was paid for.", "can_both_be_true": false}'


@pytest.mark.parametrize("update", ["The pizza now costs $500, it was $85 before.", "The pizza now costs $500."])
async def test_an_update_of_another_thing_is_refused_and_left_out_in_the_end(update: str) -> None:
    made, model, targets, asker = await _augmented(update, GOOD_DENIAL, EXCLUDED)
    assert [c.prompt.prompt_id for c in model.calls[:3]] == ["augment", "check_contradiction", "augment"]
    assert f"does not name '{targets.updates[0].fact.subject}'" in faults_of(model.calls[2])
    assert sorted(b.kind for b in made.bullets) == [BulletKind.CONTRADICTION, BulletKind.INSTRUCTION]
    assert [i.kind for i in asker.incidents].count(IncidentKind.NOT_ENTAILED) == 1


async def test_a_contradiction_that_has_nothing_to_do_with_its_statement_is_refused() -> None:
    made, model, _, _ = await _augmented("{thing} costs $500 now.", "I like pizza a lot.")
    assert "nothing to do with the statement" in faults_of(model.calls[1])
    assert sorted(b.kind for b in made.bullets) == [BulletKind.INSTRUCTION, BulletKind.UPDATE]


async def test_the_checker_decides_on_contradictions_that_rules_cannot_judge() -> None:
    compatible = '{"reason": "Both can be true.", "can_both_be_true": true}'
    made, model, _, _ = await _augmented("{thing} costs $500 now.", "I like {thing} a lot.", compatible)
    assert [c.prompt.prompt_id for c in model.calls] == ["augment", "check_contradiction"] * 4
    assert "Both can be true." in faults_of(model.calls[2])
    assert BulletKind.CONTRADICTION not in [b.kind for b in made.bullets]
    made, model, _, _ = await _augmented("{thing} costs $500 now.", "I like {thing} a lot.", EXCLUDED)
    assert [c.prompt.prompt_id for c in model.calls] == ["augment", "check_contradiction"]
    assert BulletKind.CONTRADICTION in [b.kind for b in made.bullets]
