"""After three replies that miss what was asked, code puts right what is code's; what the words lack stays."""

from __future__ import annotations

import json

import pytest

from longbeam.errors import ReplyError
from longbeam.generators import Frame, Ledger, TurnBatch, TurnScene, write_user_turns
from longbeam.models import MOST_FAULTS, Acceptance
from longbeam.prompts.calls import BulletDraft, QuestionDetectorInputs, Stage
from longbeam.schemas import IncidentKind
from tests.builders import good_conversation
from tests.generators.scripted import ScriptedModel, asker_for

YES = '{"reason": "it asks", "asks_user": true}'


async def test_last_reply_that_parsed_is_mended() -> None:
    model = ScriptedModel({"question_detector": [YES, "no JSON at all"]})
    reply = await asker_for(model).structured(
        "question_detector",
        QuestionDetectorInputs(reply="Shall we?"),
        accept=Acceptance(check=lambda r: ["must be no"], mend=lambda r: r.model_copy(update={"reason": "mended"})),
    )
    assert reply.reason == "mended"
    assert len(model.calls) == 3


async def test_what_cannot_be_mended_says_why() -> None:
    def mend(reply: object) -> object:
        raise ValueError("nothing can be made of it")

    with pytest.raises(ReplyError, match="3 replies did not fit; the last: nothing can be made of it"):
        await asker_for(ScriptedModel({"question_detector": [YES]})).structured(
            "question_detector",
            QuestionDetectorInputs(reply="Shall we?"),
            accept=Acceptance(check=lambda r: ["must be no"], mend=mend),
        )


async def test_an_error_tells_the_first_of_many_faults() -> None:
    asker = asker_for(ScriptedModel({"question_detector": [YES]}))
    faults = [f"fault {i}: {'a long sentence, ' * 4}" for i in range(MOST_FAULTS)]
    with pytest.raises(ReplyError, match=r"the last: fault 0: .* \.\.\.$") as found:
        await asker.structured(
            "question_detector", QuestionDetectorInputs(reply="Shall we?"), accept=Acceptance(check=lambda r: faults)
        )
    assert len(str(found.value)) < 600
    assert f"fault {MOST_FAULTS - 1}" in asker.incidents[-1].detail


async def test_bullets_are_voiced_by_the_first_turn_that_claims_and_says_them() -> None:
    head = good_conversation().head
    ledger = Ledger.of(head.plans[0])
    sub_plan = ledger.sub_plans[0]
    bullet = sub_plan.bullets[2]  # "The renovation budget is $18,000."
    own, told = [bullet.bullet_id], bullet.text
    turns = [("How hot is it?", own), (f"{told} One?", own * 2), ("  ", []), (f"{told} Two?", [*own, "p7.s7.b7"])]
    reply = json.dumps({"turns": [{"text": text, "voices": voices} for text, voices in turns]})
    frame = Frame(seed=head.seed, profile=head.profile, relationships=head.relationships, narratives=head.narratives)
    stage = Stage(stage_index=0, first_day=sub_plan.anchor, last_day=sub_plan.anchor)
    batch = TurnBatch(batch_index=0, bullet_ids=(bullet.bullet_id,), questions=1)
    asker = asker_for(ScriptedModel({"user_turns": [reply]}))

    made = await write_user_turns(asker, TurnScene(frame, ledger, stage, sub_plan), batch)

    assert [(t.text, list(t.bullet_ids)) for t in made] == [(f"{told} One?", own), (f"{told} Two?", [])]
    (incident,) = [i for i in asker.incidents if i.kind is IncidentKind.NOT_ENTAILED]
    assert f"the turn that voices {bullet.bullet_id} does not say it" in incident.detail


def test_facts_with_a_blank_value_are_left_out() -> None:
    blank = {"slot": "text", "name": "a", "value": " "}
    assert BulletDraft.model_validate({"event": "e1", "text": "It is so.", "facts": [blank]}).facts == []
