"""Main questions: batches, the check that every bullet is said, the order of turns."""

from __future__ import annotations

import datetime as dt
import json
from itertools import count

import pytest

from longbeam.generators import (
    DIALOGUE,
    Deck,
    Frame,
    Layout,
    Ledger,
    TurnBatch,
    TurnScene,
    batches_of,
    check_turns,
    draw_cards,
    gist_of,
    last_questions,
    ordered_turns,
    stepped_end,
    without_repeats,
    write_user_turns,
)
from longbeam.models import ModelCall
from longbeam.prompts.calls import (
    BulletBrief,
    LedgerLine,
    Stage,
    UserTurnDraft,
    UserTurnsInputs,
    UserTurnsReply,
    longest_message,
)
from longbeam.schemas import (
    CONFIDED,
    Bullet,
    BulletKind,
    Category,
    IncidentKind,
    Making,
    SubPlan,
    TurnLengths,
    UserTurn,
    ValueKind,
    incident_counts,
)
from longbeam.text import money
from tests.builders import good_conversation
from tests.generators.scripted import ScriptedModel, asker_for, faults_of

DAY = dt.date(2024, 3, 4)


def _bullet(ordinal: int, kind: BulletKind = BulletKind.EVENT, text: str = "I paid $40 for paint.") -> Bullet:
    return Bullet(bullet_id=f"p0.s0.b{ordinal}", kind=kind, narrative="n", topic="paint", text=text, happens_on=DAY)


def _brief(ordinal: int, kind: BulletKind = BulletKind.EVENT) -> BulletBrief:
    fact = LedgerLine(
        fact_id=f"p0.f{ordinal}",
        subject="paint",
        attribute="cost",
        kind=ValueKind.MONEY,
        is_fixed=True,
        value=money(40),
    )
    return BulletBrief(bullet=_bullet(ordinal, kind), facts=(fact,), old_values=(None,))


def _reply(*turns: tuple[str, list[str]]) -> UserTurnsReply:
    return UserTurnsReply(turns=[UserTurnDraft(text=text, voices=voices) for text, voices in turns])


def _sub_plan(*bullets: Bullet) -> SubPlan:
    return SubPlan(plan_index=0, sub_plan_index=0, anchor=DAY, bullets=bullets)


def test_batches_are_contiguous_and_specials_come_last() -> None:
    kinds = [BulletKind.EVENT] * 5 + [BulletKind.UPDATE] + [BulletKind.EVENT] * 2
    sub_plan = _sub_plan(*(_bullet(i, kind) for i, kind in enumerate(kinds)))
    layout = Layout(sub_plans=1, bullets_per_sub_plan=7, batches=3, questions=2, specials=1, wishes=1)
    batches = batches_of(sub_plan, layout)
    # 7 ordinary bullets in 3 groups: 3, 2, 2
    assert [b.bullet_ids for b in batches] == [
        ("p0.s0.b0", "p0.s0.b1", "p0.s0.b2"),
        ("p0.s0.b3", "p0.s0.b4"),
        ("p0.s0.b6", "p0.s0.b7"),
        ("p0.s0.b5",),
    ]
    assert [b.questions for b in batches] == [2, 2, 2, 1]


def test_a_bullet_is_told_before_a_batch_only_if_its_message_is() -> None:
    sub_plan = _sub_plan(*(_bullet(i) for i in range(3)), _bullet(3, BulletKind.UPDATE), _bullet(4))
    fused = UserTurn(turn_id="x1", text="two and four", bullet_ids=("p0.s0.b2", "p0.s0.b4"))
    early = UserTurn(turn_id="x0", text="nought and one", bullet_ids=("p0.s0.b0", "p0.s0.b1"))
    batch = TurnBatch(batch_index=2, bullet_ids=("p0.s0.b3",), questions=1).behind(sub_plan, [early, fused])
    assert batch.told_later == ("p0.s0.b2",)
    assert batch.asked == ("nought and one", "two and four")


def test_a_batch_keeps_all_further_questions_of_those_before_it() -> None:
    sub_plan = _sub_plan(_bullet(0), _bullet(1))
    told = UserTurn(turn_id="x0", text="nought", bullet_ids=("p0.s0.b0",))
    further = [UserTurn(turn_id=f"x{i}", text=f"Question {i}?", bullet_ids=()) for i in range(1, 30)]
    batch = TurnBatch(batch_index=2, bullet_ids=("p0.s0.b1",), questions=1).behind(sub_plan, [told, *further])
    assert batch.further == tuple(t.text for t in further)


async def test_a_batch_is_shown_what_those_before_it_ask_and_not_what_is_told_later() -> None:
    head = good_conversation().head
    ledger = Ledger.of(head.plans[0])
    sub_plan = ledger.sub_plans[0]
    first, later, own = sub_plan.bullets[:3]
    frame = Frame(seed=head.seed, profile=head.profile, relationships=head.relationships, narratives=head.narratives)
    stage = Stage(stage_index=0, first_day=sub_plan.anchor, last_day=sub_plan.bullets[-1].happens_on)
    batch = TurnBatch(
        batch_index=1,
        bullet_ids=(own.bullet_id,),
        questions=1,
        told_later=(later.bullet_id,),
        asked=("Is the oven hot enough?",),
        further=("Is the tin too small?",),
    )
    turn = {"text": f"{own.text} What now?", "voices": [own.bullet_id]}
    model = ScriptedModel({"user_turns": [json.dumps({"turns": [turn]})]})
    await write_user_turns(asker_for(model), TurnScene(frame, ledger, stage, sub_plan), batch)
    request = model.calls[0].messages()[-1].content
    assert "- Is the oven hot enough?" in request
    assert "Is the tin too small?" not in request  # for a writer that answers by rule
    assert first.text in request
    assert later.text not in request


def test_turns_that_say_every_bullet_pass() -> None:
    reply = _reply(("I paid $40 for paint. Was that much?", ["p0.s0.b0"]), ("What next?", []))
    assert not list(check_turns(reply, [_brief(0)], 2))


def test_turns_that_miss_or_invent_are_refused() -> None:
    good = ("I paid $40 for paint. Was that much?", ["p0.s0.b0"])
    cases = [
        (_reply(("What next?", [])), "no turn voices p0.s0.b0"),
        (_reply(("I bought paint. Was that wise?", ["p0.s0.b0"])), "does not say '$40'"),
        (_reply(good, ("And?", ["p0.s0.b9"])), "'p0.s0.b9', which is not in this batch"),
        (_reply(good, (good[0] + " Hm?", ["p0.s0.b0"])), "voiced by two turns"),
        (_reply(good, ("More?", [])), "2 turns; exactly 1"),
    ]
    for reply, reason in cases:
        problems = list(check_turns(reply, [_brief(0)], 1))
        assert any(reason in problem for problem in problems), (reason, problems)


def test_a_message_that_the_form_cut_is_refused() -> None:
    briefs = [_brief(0)]
    cards = draw_cards(briefs, 1, Deck(TurnLengths.BEAM, Category.GENERAL, "k"))
    longest = longest_message(cards)
    whole = "I paid $40 for paint. " + "Well, " * longest
    assert longest == 12 * cards[0].most_words
    (problem,) = check_turns(_reply((whole[:longest], ["p0.s0.b0"])), briefs, 1, cards=cards)
    assert "goes on and on" in problem
    assert not list(check_turns(_reply((whole[: longest - 20], ["p0.s0.b0"])), briefs, 1, cards=cards))


def test_same_question_twice_is_refused() -> None:
    reply = _reply(("I paid $40 for paint.", ["p0.s0.b0"]), ("What  now?", []), ("what now?", []))
    assert list(check_turns(reply, [_brief(0)], 3)) == ["two turns are the same"]


def test_contradiction_needs_a_turn_of_its_own() -> None:
    reply = _reply(("I paid $40 for paint, and $40 again.", ["p0.s0.b0", "p0.s0.b1"]))
    problems = list(check_turns(reply, [_brief(0), _brief(1, BulletKind.CONTRADICTION)], 1))
    assert "p0.s0.b1 must have a turn of its own" in problems


def test_bullet_without_values_must_be_said_in_its_words() -> None:
    wish = BulletBrief(
        bullet=_bullet(0, BulletKind.INSTRUCTION, "Whenever prices come up, please convert them into euros as well.")
    )
    said = _reply(("Could you convert prices into euros whenever they come up, please?", ["p0.s0.b0"]))
    unsaid = _reply(("Could you be more careful with money from now on?", ["p0.s0.b0"]))
    assert not list(check_turns(said, [wish], 1))
    assert "does not say it" in "; ".join(check_turns(unsaid, [wish], 1))


def test_turns_are_numbered_in_the_order_of_the_story() -> None:
    sub_plan = _sub_plan(*(_bullet(i) for i in range(3)))
    turns = [
        UserTurn(turn_id="x0", text="c", bullet_ids=("p0.s0.b2",)),
        UserTurn(turn_id="x1", text="a", bullet_ids=("p0.s0.b0",)),
        UserTurn(turn_id="x2", text="about b", bullet_ids=(), about_bullet_ids=("p0.s0.b1",)),
    ]
    assert [(t.turn_id, t.text) for t in ordered_turns(sub_plan, turns)] == [
        ("p0.s0.t0", "a"),
        ("p0.s0.t1", "about b"),
        ("p0.s0.t2", "c"),
    ]


def test_repeats_that_voice_nothing_are_left_out() -> None:
    asked: set[str] = set()
    first = UserTurn(turn_id="x0", text="What next?", bullet_ids=())
    again = UserTurn(turn_id="x1", text="what  NEXT?", bullet_ids=())
    needed = UserTurn(turn_id="x2", text="What next?", bullet_ids=("p0.s0.b0",))
    assert without_repeats([first], asked) == (first,)
    assert without_repeats([again, needed], asked) == (needed,)


def test_stepped_end_begins_at_the_same_item_for_a_while() -> None:
    # steps of 5 items, at least 10 and fewer than 15 of them
    assert stepped_end(range(9), 10) == tuple(range(9))
    assert [stepped_end(range(n), 10)[0] for n in (10, 14, 15, 19, 20)] == [0, 0, 5, 5, 10]
    assert all(10 <= len(stepped_end(range(n), 10)) < 15 for n in range(10, 60))


async def test_ids_of_the_plan_in_a_turn_are_asked_again() -> None:
    conversation = good_conversation().head
    ledger = Ledger.of(conversation.plans[0])
    sub_plan = ledger.sub_plans[0]
    bullet = sub_plan.bullets[0]
    good = f"{bullet.text} What should I do?"
    replies = [
        json.dumps({"turns": [{"text": text, "voices": [bullet.bullet_id]}]})
        for text in (f"{good} See p0.s0.b0.", f"{good} My name is [Your Name].", good)
    ]
    model = ScriptedModel({"user_turns": replies})
    frame = Frame(
        seed=conversation.seed,
        profile=conversation.profile,
        relationships=conversation.relationships,
        narratives=conversation.narratives,
    )
    stage = Stage(stage_index=0, first_day=sub_plan.anchor, last_day=sub_plan.anchor)
    batch = TurnBatch(batch_index=0, bullet_ids=(bullet.bullet_id,), questions=1)

    (turn,) = await write_user_turns(asker_for(model), TurnScene(frame, ledger, stage, sub_plan), batch)

    assert turn.text == good
    assert ["p0.s0.b0" in faults_of(c) for c in model.calls] == [False, True, False]
    assert "[Your Name]" in faults_of(model.calls[2])


def test_earlier_questions_are_shown_without_their_code_and_by_their_end() -> None:
    code = "\n".join(f"    step_{i}()" for i in range(40))
    assert gist_of("Why does it fail?") == "Why does it fail?"
    assert gist_of(f"Here:\n```python\n{code}\n```\nWhy does it fail?") == "Here: Why does it fail?"
    long = gist_of(f"{'Well. ' * 100}Why does it fail?")
    assert long.startswith("... ")
    assert long.endswith("Why does it fail?")
    assert len(long) <= 244


async def test_a_turn_that_adds_a_value_is_asked_again_and_reported_in_the_end() -> None:
    head = good_conversation().head
    ledger = Ledger.of(head.plans[0])
    sub_plan = ledger.sub_plans[0]
    bullet = sub_plan.bullets[2]  # "The renovation budget is $18,000."
    added = f"{bullet.text} I also paid a $412 deposit to Karl on May 3, 2022. Was that wise?"
    model = ScriptedModel({"user_turns": [json.dumps({"turns": [{"text": added, "voices": [bullet.bullet_id]}]})]})
    frame = Frame(seed=head.seed, profile=head.profile, relationships=head.relationships, narratives=head.narratives)
    stage = Stage(stage_index=0, first_day=sub_plan.anchor, last_day=sub_plan.anchor)
    batch = TurnBatch(batch_index=0, bullet_ids=(bullet.bullet_id,), questions=1)
    asker = asker_for(model, writer="openai:some-model")

    await write_user_turns(asker, TurnScene(frame, ledger, stage, sub_plan), batch)

    assert all(said in faults_of(model.calls[1]) for said in ("$412", "May 3, 2022"))
    incident = next(i for i in asker.incidents if i.kind is IncidentKind.UNGROUNDED)
    assert all(said in incident.detail for said in ("$412", "May 3, 2022"))


async def test_the_slip_of_a_card_passes_is_tagged_and_is_no_fact() -> None:
    head = good_conversation().head
    ledger = Ledger.of(head.plans[0])
    sub_plan = ledger.sub_plans[0]
    bullet = sub_plan.bullets[2]  # "The renovation budget is $18,000."
    frame = Frame(seed=head.seed, profile=head.profile, relationships=head.relationships, narratives=head.narratives)
    stage = Stage(stage_index=0, first_day=sub_plan.anchor, last_day=sub_plan.anchor)

    def slipping(call: ModelCall) -> str:
        assert isinstance(call.inputs, UserTurnsInputs)
        (card,) = call.inputs.cards
        said = f"The budget is {card.slip.said.text}, no, sorry: " if card.slip else ""
        text = f"{said}{bullet.text} Is that enough?"
        return json.dumps({"turns": [{"text": text, "voices": [bullet.bullet_id]}]})

    def has_slip(index: int) -> bool:
        deck = Deck(TurnLengths.BEAM, frame.seed.category, f"3/c000/p0.s0/cards/{index}")
        return draw_cards(ledger.briefs([bullet]), 1, deck)[0].slip is not None

    batch = TurnBatch(batch_index=next(filter(has_slip, count())), bullet_ids=(bullet.bullet_id,), questions=1)
    is_said = json.dumps({"verdicts": [{"claim": 1, "reason": "It is corrected.", "is_said": True}]})
    model = ScriptedModel({"user_turns": slipping, "check_entailment": [is_said]})
    asker = asker_for(model, writer="openai:some-model")

    (turn,) = await write_user_turns(asker, TurnScene(frame, ledger, stage, sub_plan), batch)

    (incident,) = asker.incidents
    assert incident.kind is IncidentKind.DECLARED
    said = incident.detail.split("'")[1]
    assert said != "$18,000"
    assert said in turn.text
    assert turn.slip == said
    assert incident.detail == f"the turn that voices {bullet.bullet_id} says {said!r} by a slip and means '$18,000'"
    assert said not in {a.value.text for own in ledger.by_bullet.values() for a in own if a.value}
    assert incident_counts([Making(incidents=(incident,))]) == {"declared": 1}


async def test_a_bullet_that_no_reply_says_is_said_in_its_own_words() -> None:
    head = good_conversation().head
    ledger = Ledger.of(head.plans[0])
    sub_plan = ledger.sub_plans[0]
    told, missed = sub_plan.bullets[2:4]
    turn = {"text": f"{told.text} Is that enough?", "voices": [told.bullet_id]}
    model = ScriptedModel({"user_turns": [json.dumps({"turns": [turn]})]})
    frame = Frame(seed=head.seed, profile=head.profile, relationships=head.relationships, narratives=head.narratives)
    stage = Stage(stage_index=0, first_day=sub_plan.anchor, last_day=sub_plan.anchor)
    batch = TurnBatch(batch_index=0, bullet_ids=(told.bullet_id, missed.bullet_id), questions=2)
    asker = asker_for(model)

    turns = await write_user_turns(asker, TurnScene(frame, ledger, stage, sub_plan), batch)

    assert [(t.text, t.bullet_ids) for t in turns] == [
        (turn["text"], (told.bullet_id,)),
        (missed.text, (missed.bullet_id,)),
    ]
    assert [i.kind for i in asker.incidents] == [IncidentKind.MENDED]


@pytest.mark.parametrize(
    ("kind", "variety", "may_be"),
    [
        (BulletKind.SIDE, "", True),
        (BulletKind.SIDE, CONFIDED, False),
        (BulletKind.EVENT, "", True),
        (BulletKind.INSTRUCTION, "", False),
    ],
)
def test_what_nothing_rests_on_may_be_left_unsaid(kind: BulletKind, variety: str, may_be: bool) -> None:
    bullet = good_conversation().head.plans[0].sub_plans[0].bullets[2]
    brief = BulletBrief(bullet=bullet.model_copy(update={"kind": kind, "variety": variety}))
    assert brief.may_be_unsaid is may_be


@pytest.mark.parametrize(("left_out", "calls"), [((2,), 1), ((2, 3), 3)], ids=["one of two", "more than may be"])
async def test_a_writer_may_leave_a_bullet_unsaid_but_not_all(left_out: tuple[int, ...], calls: int) -> None:
    head = good_conversation().head
    ledger = Ledger.of(head.plans[0])
    sub_plan = ledger.sub_plans[0]
    own = sub_plan.bullets[2:4]
    left = [sub_plan.bullets[i].bullet_id for i in left_out]
    turns = [{"text": f"{b.text} Enough?", "voices": [b.bullet_id]} for b in own if b.bullet_id not in left]
    model = ScriptedModel({"user_turns": [json.dumps({"turns": turns, "unsaid": left})]})
    frame = Frame(seed=head.seed, profile=head.profile, relationships=head.relationships, narratives=head.narratives)
    stage = Stage(stage_index=0, first_day=sub_plan.anchor, last_day=sub_plan.anchor)
    batch = TurnBatch(batch_index=0, bullet_ids=tuple(b.bullet_id for b in own), questions=2)

    made = await write_user_turns(asker_for(model), TurnScene(frame, ledger, stage, sub_plan), batch)

    assert len(made) == 1
    assert len(model.calls) == calls  # a second bullet may not stay unsaid: it is asked for


def test_an_assistant_remembers_the_last_questions_and_not_what_was_told() -> None:
    def turn(i: int, text: str) -> UserTurn:
        return UserTurn(turn_id=f"p0.s0.t{i}", text=text, bullet_ids=())

    turns = [
        turn(0, "The hall costs $85. What do I write to Allen?"),
        turn(1, "Just say yes."),
        turn(2, "```\na ? b\n```"),
    ]
    assert last_questions((), turns) == ("What do I write to Allen?",)
    many = [turn(i, f"What about number {i}?") for i in range(DIALOGUE.remembered_questions)]
    assert last_questions(("What was first?",), many) == tuple(t.text for t in many)
