"""After three replies that miss what was asked, code puts right what is code's; what the words lack stays."""

from __future__ import annotations

import datetime as dt

import pytest

from longbeam.errors import ReplyError
from longbeam.generators.augmentation import _mended as mended_specials
from longbeam.generators.plan_history import PlanHistory
from longbeam.generators.plans import _mended as mended_plan
from longbeam.generators.special_targets import choose_targets
from longbeam.generators.user_turns import _mended as mended_turns
from longbeam.prompts.calls.dialogue import QuestionDetectorInputs
from longbeam.prompts.calls.plans import AugmentReply, BulletDraft, ContradictionDraft, FactDraft, Stage, UpdateDraft
from longbeam.prompts.calls.user_turns import BulletBrief, UserTurnDraft, UserTurnsReply
from longbeam.schemas.plans import Bullet, BulletKind, ValueKind
from longbeam.text.values import money
from tests.generators.scripted import ScriptedModel, asker_for
from tests.generators.test_special_targets import _plan

FIRST, LAST = dt.date(2024, 3, 4), dt.date(2024, 3, 10)
STAGE = Stage(stage_index=0, first_day=FIRST, last_day=LAST)
YES = '{"reason": "it asks", "asks_user": true}'


async def test_last_reply_that_parsed_is_mended() -> None:
    model = ScriptedModel({"question_detector": [YES, "no JSON at all"]})
    reply = await asker_for(model).structured(
        "question_detector",
        QuestionDetectorInputs(reply="Shall we?"),
        check=lambda r: "must be no",
        mend=lambda r: r.model_copy(update={"reason": "mended"}),
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
            check=lambda r: "must be no",
            mend=mend,
        )


def _draft(kind: BulletKind, day: dt.date = FIRST, **more: object) -> BulletDraft:
    return BulletDraft.model_validate(
        {"kind": kind, "narrative": "n", "topic": "t", "text": "It is so.", "happens_on": day, **more}
    )


def test_plan_gets_the_kinds_asked_for_and_days_in_order() -> None:
    drafts = [
        _draft(BulletKind.EVENT, LAST + dt.timedelta(days=9)),
        _draft(BulletKind.EVENT, FIRST + dt.timedelta(days=2)),
        _draft(BulletKind.EVENT),
        _draft(BulletKind.EVENT),
    ]
    made = mended_plan(drafts, STAGE, {"event": 2, "preference": 1}, {"n"}, set())
    # Two keep their kind, the third becomes what is lacking, the fourth has no place; the first moves to the last day.
    assert [(d.kind, d.happens_on) for d in made] == [
        (BulletKind.PREFERENCE, FIRST),
        (BulletKind.EVENT, FIRST + dt.timedelta(days=2)),
        (BulletKind.EVENT, LAST),
    ]


def test_plan_without_a_known_narrative_cannot_be_mended() -> None:
    with pytest.raises(ValueError, match="names narrative 'n'"):
        mended_plan([_draft(BulletKind.EVENT)], STAGE, {"event": 1}, {"other"}, set())


def test_plan_makes_new_facts_of_unknown_ones() -> None:
    fact = FactDraft(fact_id="p0.f99", subject="s", attribute="a", value=money(4))
    made = mended_plan([_draft(BulletKind.EVENT, facts=[fact])], STAGE, {"event": 1}, {"n"}, set())
    assert [f.fact_id for f in made[0].facts] == [""]


def test_special_bullets_get_a_target_each() -> None:
    targets = choose_targets(_plan(), 2, "key", PlanHistory())[1]
    reply = AugmentReply(
        updates=[UpdateDraft(target_id="u1", value=money(i), text=f"${i}") for i in (1, 2, 3)],
        contradictions=[ContradictionDraft(target_id="c9", text="Never.", variety="other_value")],
        instructions=[],
    )
    made = mended_specials(reply, targets, 1)
    assert [(d.target_id, d.text) for d in made.updates] == [("u1", "$1"), ("u0", "$2")]
    # A contradiction by another value needs one.
    assert [(d.target_id, d.variety) for d in made.contradictions] == [("c0", "never_statement")]


def test_bullets_are_voiced_by_the_first_turn_that_claims_them() -> None:
    bullet = Bullet(bullet_id="p0.s0.b0", kind=BulletKind.EVENT, narrative="n", topic="t", text="x", happens_on=FIRST)
    turns = [("One?", ["p0.s0.b0", "p0.s0.b0"]), ("  ", []), ("Two?", ["p0.s0.b0", "p7.s7.b7"])]
    reply = UserTurnsReply(turns=[UserTurnDraft(text=text, voices=voices) for text, voices in turns])
    made = mended_turns(reply, (BulletBrief(bullet=bullet),))
    assert [(t.text, t.voices) for t in made.turns] == [("One?", ["p0.s0.b0"]), ("Two?", [])]


def test_values_that_no_calendar_and_nobody_has_are_left_out() -> None:
    def drafted(**value: object) -> FactDraft:
        given = {"kind": "date", "text": "then", **value}
        return FactDraft.model_validate({"subject": "s", "attribute": "a", "value": given})

    assert drafted(date="2024-02-30").value.date is None
    assert drafted(date="2024-02-29").value.date == dt.date(2024, 2, 29)
    assert drafted(kind=ValueKind.NUMBER, number=1e300).value.number is None
    assert drafted(kind=ValueKind.NUMBER, number=12.5).value.number == 12.5


def test_facts_with_a_blank_value_are_left_out() -> None:
    blank = {"subject": "s", "attribute": "a", "value": {"kind": "text", "text": " "}}
    assert _draft(BulletKind.EVENT, facts=[blank]).facts == []
    update = {"target_id": "u0", "text": "Now.", "value": {"kind": "text", "text": ""}}
    denial = {"target_id": "c0", "text": "Never.", "value": {"kind": "text", "text": ""}}
    reply = AugmentReply.model_validate({"updates": [update], "contradictions": [denial], "instructions": []})
    assert reply.updates == []
    assert reply.contradictions[0].value is None
