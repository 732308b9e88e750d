"""After three replies that miss what was asked, code puts right what is code's; what the words lack stays."""

from __future__ import annotations

import datetime as dt

import pytest

from longbeam.errors import ReplyError
from longbeam.generators import Voicing
from longbeam.generators.user_turns import _mended as mended_turns
from longbeam.models import MOST_FAULTS, Acceptance
from longbeam.prompts.calls import BulletBrief, BulletDraft, QuestionDetectorInputs, UserTurnDraft, UserTurnsReply
from longbeam.schemas import Bullet, BulletKind, IncidentKind
from tests.generators.scripted import ScriptedModel, asker_for

FIRST = dt.date(2024, 3, 4)
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


def test_bullets_are_voiced_by_the_first_turn_that_claims_and_says_them() -> None:
    told = "I sold my kiln."
    bullet = Bullet(bullet_id="p0.s0.b0", kind=BulletKind.EVENT, narrative="n", topic="t", text=told, happens_on=FIRST)
    own = ["p0.s0.b0"]
    turns = [("How hot is it?", own), (f"{told} One?", own * 2), ("  ", []), (f"{told} Two?", [*own, "p7.s7.b7"])]
    reply = UserTurnsReply(turns=[UserTurnDraft(text=text, voices=voices) for text, voices in turns])
    voicing = Voicing(asker_for(ScriptedModel({})), (BulletBrief(bullet=bullet),))
    made = mended_turns(reply, voicing)
    assert [(t.text, t.voices) for t in made.turns] == [
        (f"{told} One?", own),
        (f"{told} Two?", []),
    ]
    (incident,) = voicing.asker.incidents
    assert incident.kind is IncidentKind.NOT_ENTAILED
    assert "the turn that voices p0.s0.b0 does not say it" in incident.detail


def test_facts_with_a_blank_value_are_left_out() -> None:
    blank = {"slot": "text", "name": "a", "value": " "}
    assert BulletDraft.model_validate({"event": "e1", "text": "It is so.", "facts": [blank]}).facts == []
