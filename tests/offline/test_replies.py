"""Replies: about what was asked, with the user's values, of the length asked for, and not over and over."""

from __future__ import annotations

import datetime as dt
import random
import re

import pytest

from longbeam.models import load_tokenizer
from longbeam.offline import (
    Pack,
    Thread,
    ask_back_for,
    asked_card,
    assemble,
    assistant_reply,
    concerns,
    detect_question,
    fields_of,
    fill,
    follow_up_kind,
    more_turns,
    names_of,
    openings,
    pack_for,
    threads_elsewhere,
    upper_first,
    user_answer,
    user_follow_up,
    user_turns,
    wishes,
    within_sentence,
)
from longbeam.offline.turns import _LONG_AGO
from longbeam.prompts.calls import (
    AssistantReplyInputs,
    BulletBrief,
    DialogueContext,
    LedgerLine,
    QuestionDetectorInputs,
    Reaction,
    Stage,
    TurnCard,
    TurnsSoFar,
    TurnState,
    UserReplyInputs,
    UserTurnDraft,
    UserTurnsInputs,
)
from longbeam.schemas import CLOSING, Advice, AdviceKind, Bullet, BulletKind, ChatMessage, ValueKind
from longbeam.text import date_value, money, sentences
from tests.builders import good_conversation
from tests.offline.good_pack import good_pack

TODAY = dt.date(2024, 3, 4)
HEAD = good_conversation().head
STAGE = Stage(stage_index=0, first_day=TODAY, last_day=TODAY + dt.timedelta(days=30))


def _pack() -> Pack:
    return pack_for(HEAD.seed)


def _thread() -> Thread:
    return next(t for t in _pack().threads if t.things)


def _brief(kind: BulletKind = BulletKind.EVENT) -> BulletBrief:
    thread = _thread()
    due = date_value(TODAY + dt.timedelta(days=14))
    bullet = Bullet(
        bullet_id="p0.s0.b0",
        kind=kind,
        narrative=thread.narrative,
        topic=thread.things[0],
        text=f"I want to be done by {due.text}.",
        happens_on=TODAY,
    )
    line = LedgerLine(
        fact_id="p0.f0",
        subject=thread.things[0],
        attribute="target date",
        kind=ValueKind.DATE,
        is_fixed=False,
        value=due,
    )
    return BulletBrief(bullet=bullet, facts=(line,), old_values=(None,))


def _context() -> DialogueContext:
    return DialogueContext(
        seed=HEAD.seed,
        profile=HEAD.profile,
        stage=STAGE,
        earlier_bullets=(),
        state=(),
        instructions=(),
    )


BATCH = TurnsSoFar(first_ordinal=0)


def _state(kind: BulletKind = BulletKind.EVENT) -> TurnState:
    return TurnState(turn_id="p0.s0.t0", today=TODAY, bullets=(_brief(kind),))


def _inputs(text: str, *, tokens: int = 600, said: str = "") -> AssistantReplyInputs:
    history = [ChatMessage(role="user", content="Hello."), ChatMessage(role="assistant", content=said)] if said else []
    return AssistantReplyInputs(
        context=_context(),
        summary="",
        history=(*history, ChatMessage(role="user", content=text)),
        target_tokens=tokens,
        today=TODAY,
    )


def _question() -> tuple[str, str]:
    """A question of the thread's first card, and something that the card says of it."""
    thread = _thread()
    card = thread.cards[0]
    thing = thread.things[0]
    return card.ask[0].format(it=thing), thing


def test_reply_is_about_the_card_asked_for() -> None:
    question, thing = _question()
    card = _thread().cards[0]
    reply = assistant_reply(_inputs(question), _state(), random.Random(1))
    advice = [p.do.format(it=thing) for p in card.points]
    assert sum(a.casefold() in reply.casefold() for a in advice) >= len(advice) - 1


def test_reply_takes_up_the_user_s_value() -> None:
    replies = [assistant_reply(_inputs(_question()[0]), _state(), random.Random(i)) for i in range(8)]
    # fourteen days from the day on which it is said
    assert all("March 18, 2024" in r and "14 days" in r for r in replies)


@pytest.mark.parametrize("tokens", [100, 300, 600, 900])
def test_reply_is_never_much_longer_than_asked(tokens: int) -> None:
    tokenizer = load_tokenizer("o200k_base")
    for i in range(20):
        length = tokenizer.count(assistant_reply(_inputs(_question()[0], tokens=tokens), _state(), random.Random(i)))
        # blocks are never cut within a sentence or a table row; one of them may be over
        assert length <= tokens * 1.3 + 60


def test_what_was_just_said_is_not_said_again() -> None:
    question, _ = _question()
    first = assistant_reply(_inputs(question, tokens=900), _state(), random.Random(1))
    again = assistant_reply(_inputs(question, tokens=900, said=first), _state(), random.Random(2))
    first_lines = {line for line in first.splitlines() if len(line) > 60}
    assert len(first_lines & set(again.splitlines())) <= 1


def test_update_is_acknowledged_with_the_new_value() -> None:
    reply = assistant_reply(_inputs("It is March 18, 2024 now."), _state(BulletKind.UPDATE), random.Random(3))
    assert "March 18, 2024" in reply.split("\n\n")[0]


def test_an_answer_is_taken_up_in_its_own_words() -> None:
    said = "Two evenings a week, and sometimes a Sunday."
    replies = [
        openings.after_answer("the shed", f"Well, yes. {said} Ask me again.", random.Random(i)) for i in range(9)
    ]
    assert any(said.rstrip(".") in reply for reply in replies)
    assert not any("Ask me again" in reply for reply in replies)


def test_opening_takes_up_the_value_that_the_question_names() -> None:
    brief = _brief()
    budget = brief.facts[0].model_copy(update={"attribute": "budget", "value": money(300, "USD")})
    brief = brief.model_copy(update={"facts": (*brief.facts, budget), "old_values": (None, None)})
    for seed in range(20):
        text = openings.opening(brief, "the shed", "With $300, where do I begin?", TODAY, random.Random(seed))
        assert "$300" in text


def test_a_reply_warns_of_nothing_twice() -> None:
    thread = _thread()
    card, fields = thread.cards[0], {"it": thread.things[0]}
    for seed in range(30):
        reply = assistant_reply(_inputs(_question()[0], tokens=1100), _state(), random.Random(seed))
        assert all(reply.count(text.format(**fields)) <= 1 for text in (*card.watch, *card.check))


def test_closing_question_is_detected_and_answered_in_its_thread() -> None:
    thread = _thread()
    back = thread.ask_back[0]
    question = back.q.format(it=thread.things[0])
    assert detect_question(QuestionDetectorInputs(reply=f"Do this.\n\n{question}")).asks_user
    assert not detect_question(QuestionDetectorInputs(reply="Why? Because.\n\nDo this.")).asks_user
    state = TurnState(
        turn_id="p0.s0.t0", today=TODAY, bullets=(_brief(),), kind="answer", previous_reply=f"Do this.\n\n{question}"
    )
    inputs = UserReplyInputs(context=_context(), summary="", history=(), today=TODAY, told=())
    answer = user_answer(inputs, state, random.Random(1)).casefold()
    assert any(a.format(it=thread.things[0]).casefold().rstrip(".") in answer for a in back.a)


def test_second_follow_up_is_of_another_kind() -> None:
    kinds = []
    for ordinal in (0, 1):
        state = TurnState(turn_id="p0.s0.t0", today=TODAY, bullets=(_brief(),), ordinal=ordinal)
        inputs = UserReplyInputs(context=_context(), summary="", history=(), today=TODAY, told=())
        kinds.append(follow_up_kind(user_follow_up(inputs, state, random.Random(5)), _thread().things[0]))
    assert None not in kinds
    assert kinds[0] != kinds[1]


def test_who_accepts_a_reply_states_no_second_start_of_the_thing() -> None:
    """Readers of 411: "I'll start with X on DATE" was another start date than the one told."""
    state = TurnState(turn_id="p0.s0.t0", today=TODAY, bullets=(_brief(),), ordinal=0)
    inputs = UserReplyInputs(context=_context(), summary="", history=(), today=TODAY, told=())
    accepts = inputs.model_copy(update={"reaction": Reaction.ACCEPTS})
    said = {user_follow_up(accepts, state, random.Random(i)) for i in range(40)}
    assert any("begin with your first step" in text for text in said)
    assert not [text for text in said if re.search(r"\b(?:start|begin)\b", text) and _thread().things[0] in text]


def test_follow_ups_of_a_stage_on_one_thing_all_differ() -> None:
    inputs = UserReplyInputs(context=_context(), summary="", history=(), today=TODAY, told=())
    turns = [(turn, ordinal) for turn in range(150) for ordinal in (0, 1)]  # more than a stage of 1M tokens has
    asked = [
        user_follow_up(
            inputs,
            TurnState(turn_id=f"p1.s0.t{turn}", today=TODAY, bullets=(_brief(),), ordinal=ordinal),
            random.Random(1),
        )
        for turn, ordinal in turns
    ]
    assert len(set(asked)) == len(turns)
    assert not [text for text in asked if re.match(r"(.{4,}?[.!?] )\1", text)], "no opening stands twice"


def test_follow_up_that_was_asked_before_is_put_otherwise() -> None:
    state = TurnState(turn_id="p2.s0.t90", today=TODAY, bullets=(_brief(),), ordinal=0)
    first = UserReplyInputs(context=_context(), summary="", history=(), today=TODAY, told=())
    again = first.model_copy(update={"feedback": "this was said before"})
    asked = [
        user_follow_up(first, state, random.Random(1)),
        *(user_follow_up(again, state, random.Random(i)) for i in range(6)),
    ]
    assert len(set(asked)) >= 6
    assert None not in [follow_up_kind(text, _thread().things[0]) for text in asked]


def test_a_question_of_the_assistants_is_asked_once_in_a_stage() -> None:
    thread, (thing, other, *_) = _thread(), _thread().things
    question = ask_back_for(thread, thing, 0, asked=())
    assert question
    assert ask_back_for(thread, thing, 0, asked=(question,)) == ""
    assert ask_back_for(thread, other, 0, asked=(question,))


def test_a_reply_does_not_ask_back_what_was_asked_before_its_history() -> None:
    text, thing = _question()
    inputs = _inputs(text).model_copy(update={"asks_back": True})
    question = ask_back_for(_thread(), thing, 0, asked=())
    asked = _state().model_copy(update={"asked": (question,)})
    assert question in assistant_reply(inputs, _state(), random.Random(3))
    assert question not in assistant_reply(inputs, asked, random.Random(3))


def test_the_same_answer_in_another_plan_has_another_end() -> None:
    thing = _thread().things[0]
    said = _inputs("", said=ask_back_for(_thread(), thing, 0, asked=())).history
    context = _context().model_copy(update={"earlier_plans": "They began."})
    inputs = UserReplyInputs(context=context, summary="", history=said, today=TODAY, told=())

    def ends(plan_index: int) -> set[str]:
        state = _state().model_copy(update={"turn_id": f"p{plan_index}.s0.t0", "previous_reply": said[1].content})
        texts = [user_answer(inputs, state, random.Random(i)) for i in range(20)]
        return {text[slice(*sentences(text)[-1])] for text in texts}

    assert ends(1).isdisjoint(ends(2))


def test_a_question_on_a_thing_of_an_earlier_plan_is_answered_from_its_own_pack() -> None:
    own = {q.q for t in _pack().threads for q in t.ask_back}
    elsewhere = next(t for t in threads_elsewhere().values() if t.things and t.ask_back[0].q not in own)
    bullet = _brief().bullet.model_copy(update={"narrative": elsewhere.narrative, "topic": elsewhere.things[0]})
    reply = elsewhere.ask_back[0].q.format(it=elsewhere.things[0])
    state = _state().model_copy(update={"bullets": (BulletBrief(bullet=bullet),), "previous_reply": reply})
    inputs = UserReplyInputs(context=_context(), summary="", history=(), today=TODAY, told=())
    assert "I can't say" not in user_answer(inputs, state, random.Random(1))


def test_further_questions_are_those_that_no_message_has_asked_in_other_words_around_them() -> None:
    inputs = UserTurnsInputs(
        seed=HEAD.seed,
        profile=HEAD.profile,
        people=HEAD.relationships.people,
        stage=STAGE,
        batch=(),
        about=(_brief(),),
        questions=1,
    )
    *earlier, left = [ask for card in _thread().cards for ask in card.ask]
    said = tuple(f"Hm. {fill(ask, {'it': _thread().things[0]})} I have paper ready." for ask in earlier)
    state = BATCH.model_copy(update={"asked": said})
    texts = [more_turns(inputs, state, random.Random(seed)).turns[0].text for seed in range(20)]
    forms = [fill(left, {"it": it})[1:] for it in names_of(_thread().things[0])]
    assert all(any(form in text for form in forms) for text in texts)


def _due(topic: str) -> Advice:
    return Advice(
        advice_id="p0.s0.a0",
        kind=AdviceKind.CORRECTION,
        bullet_id="p0.s0.b0",
        narrative="n",
        topic=topic,
        attribute="time limit",
        text=f"On second thought, the time limit for {topic} should be 40 minutes.",
    )


def test_advice_on_something_else_comes_last_behind_a_sentence_that_leads_over() -> None:
    text, thing = _question()

    def reply(topic: str) -> list[str]:
        state = _state().model_copy(update={"due": (_due(topic),)})
        return assistant_reply(_inputs(text), state, random.Random(2)).split("\n\n")

    assert reply(thing)[1] == _due(thing).text
    apart = next(part for part in reply("the hall rent") if _due("the hall rent").text in part)
    lead = apart.removesuffix(_due("the hall rent").text)
    assert lead.rstrip().endswith((".", ":"))
    assert "the hall rent" in lead
    assert apart in reply("the hall rent")[-2:]  # behind it only a last line


def _message_of(first: BulletBrief, second: BulletBrief, asks_about: str, seed: int = 4) -> UserTurnDraft:
    """The message that tells two bullets; the reply is about the last of those that it voices."""
    card = TurnCard(bullet_ids=("p0.s0.b0", "p0.s0.b1"), least_words=1, most_words=60, asks_about=asks_about)
    inputs = UserTurnsInputs(
        seed=HEAD.seed,
        profile=HEAD.profile,
        people=HEAD.relationships.people,
        stage=STAGE,
        batch=(first, second),
        questions=1,
        cards=(card,),
    )
    (turn,) = user_turns(inputs, BATCH, random.Random(seed)).turns
    return turn


def _second(**changed: object) -> BulletBrief:
    brief = _brief()
    return brief.model_copy(update={"bullet": brief.bullet.model_copy(update={"bullet_id": "p0.s0.b1", **changed})})


def test_a_message_of_two_bullets_asks_about_the_one_that_its_card_names() -> None:
    turn = _message_of(_brief(), _second(topic=_thread().things[1]), "p0.s0.b0")
    assert turn.voices == ["p0.s0.b1", "p0.s0.b0"]


def test_a_message_with_a_wish_behind_its_news_asks_about_the_news() -> None:
    turn = _message_of(_brief(), _second(kind=BulletKind.INSTRUCTION), "")
    assert turn.voices == ["p0.s0.b1", "p0.s0.b0"]


def test_a_question_behind_the_news_of_another_thing_names_its_own() -> None:
    thing, other = _thread().things[:2]
    beat = next(b for b in _thread().beats if all("{it}" in ask.q for ask in b.ask))
    told = fill(beat.tell[0], {**dict.fromkeys(fields_of(beat.tell[0]), "four"), "it": thing})
    first = _brief().bullet.model_copy(update={"text": f"{upper_first(told)}."})
    second = _second(topic=other, text=f"There is a date for {other}.")
    for seed in range(10):
        text = _message_of(BulletBrief(bullet=first), second, "p0.s0.b0", seed).text
        assert thing in text.partition(other)[2]


def test_a_question_is_recognized_whatever_words_its_day_is_said_in() -> None:
    pack = Pack.model_validate(good_pack())
    thread = pack.threads[0]
    ask = thread.beats[0].ask[0].model_copy(update={"q": "What is to be done by {due} for {it}?"})
    beat = thread.beats[0].model_copy(update={"ask": (ask,)})
    thread = thread.model_copy(update={"beats": (beat, *thread.beats[1:])})
    fields = {"it": "the gate", "due": "February 27, 2025"}
    for said in ("February 27, 2025", "February 27", "the 27th", "next Friday"):
        found = asked_card(thread, f"Hm. What is to be done by {said} for the gate?", fields)
        assert found is not None
        assert found.card == ask.card
    assert asked_card(thread, "What is to be done for the gate?", fields) is None


def test_update_of_an_earlier_plan_says_that_it_goes_back() -> None:
    def opening(bullet_id: str, seed: int) -> str:
        changed = _brief(BulletKind.UPDATE)
        bullet = changed.bullet.model_copy(update={"bullet_id": bullet_id, "target_bullet_id": "p0.s0.b0"})
        inputs = UserTurnsInputs(
            seed=HEAD.seed,
            profile=HEAD.profile,
            people=HEAD.relationships.people,
            stage=STAGE,
            batch=(changed.model_copy(update={"bullet": bullet}),),
            questions=1,
            cards=(TurnCard(bullet_ids=(bullet_id,), least_words=1, most_words=60),),
        )
        return user_turns(inputs, BATCH, random.Random(seed)).turns[0].text.partition("I want to be done")[0]

    assert all(opening("p2.s0.b9", seed) in _LONG_AGO for seed in range(8))
    assert not any(opening("p0.s3.b9", seed) in _LONG_AGO for seed in range(8))


@pytest.mark.parametrize("there", [{"variety": CLOSING}, {"kind": BulletKind.INSTRUCTION}])
def test_questions_beside_outcomes_and_wishes_are_about_what_was_told_before_them(there: dict[str, object]) -> None:
    told, last = _brief().bullet, _brief().bullet.model_copy(update={"bullet_id": "p0.s0.b9", **there})
    inputs = UserTurnsInputs(
        seed=HEAD.seed,
        profile=HEAD.profile,
        people=HEAD.relationships.people,
        stage=STAGE,
        batch=(BulletBrief(bullet=last),),
        context=(told,),
        questions=5,
    )
    more = user_turns(inputs, BATCH, random.Random(1)).turns[1:]
    assert [t.asks_about for t in more] == [[told.bullet_id]] * 4
    assert all(_thread().things[0] in t.text for t in more)
    without = user_turns(inputs.model_copy(update={"context": ()}), BATCH, random.Random(1)).turns[1:]
    subject = within_sentence(HEAD.seed.subtopics[STAGE.stage_index % len(HEAD.seed.subtopics)])
    assert all(subject in t.text for t in without)


def test_questions_of_different_stages_never_coincide() -> None:
    texts: list[str] = []
    for stage_index in range(10):
        inputs = UserTurnsInputs(
            seed=HEAD.seed,
            profile=HEAD.profile,
            people=HEAD.relationships.people,
            stage=STAGE.model_copy(update={"stage_index": stage_index}),
            batch=(_brief(),),
            questions=9,
        )
        texts += [t.text for t in user_turns(inputs, BATCH, random.Random(stage_index)).turns[1:]]
    assert len(set(texts)) == len(texts) == 80


def test_assembling_takes_whole_blocks_and_cuts_only_at_sentences() -> None:
    first, second = "One is the first of all sentences. Two comes next.", "Three is a longer sentence. Four follows it."
    table = "| a | b |\n| --- | --- |\n" + "| 1 | 2 |\n" * 40 + "| 3 | 4 |"
    assert assemble(iter([first, second]), 9) == first
    assert assemble(iter([first, second]), 220) == f"{first}\n\n{second}"
    # a block that cannot be cut is left out for one that fits
    assert assemble(iter([first, table, second]), 300) == f"{first}\n\n{second}"
    assert assemble(iter([table]), 5) == table
    # of a block that is too long, whole sentences; its first alone may be a heading that announces what is cut off
    long = f"{second} {'This goes on and on. ' * 20}".strip()
    assert assemble(iter([first, long]), 300).startswith(f"{first}\n\n{second} This")
    assert len(assemble(iter([first, long]), 300)) <= 300
    # where next to nothing is left, nothing is squeezed in
    assert assemble(iter([first, second]), 100) == first


def test_a_wish_concerns_what_its_condition_is_about_and_not_any_question() -> None:
    assert concerns("when I ask what to eat", "What should I eat before the session?")
    assert not concerns("when I ask what to eat", "What can I do about the session length?")
    assert not concerns("when I ask how others do something", "How do I start?")
    assert not concerns("when I ask about a job on a ladder", "How do I compare prices for the painting job?")
    assert concerns("when I ask about a job on a ladder", "Is the job done faster from a ladder?")
    assert not concerns("when I ask how to put something up", "Where do I put the papers?")


def test_a_wish_is_agreed_to_without_a_thing_that_it_was_not_said_of() -> None:
    wish = next(w for w in wishes(_pack()).instructions if any("{it}" in h for h in w.honour))
    brief = _brief(BulletKind.INSTRUCTION)
    bullet = brief.bullet.model_copy(update={"condition": wish.condition, "requirement": wish.requirement})
    thing = _thread().things[0]
    state = _state().model_copy(update={"bullets": (BulletBrief(bullet=bullet),)})
    told = [assistant_reply(_inputs("Please do so."), state, random.Random(i)) for i in range(20)]
    assert not [text for text in told if thing in text.split("\n\n")[1]]


def test_another_value_does_not_send_a_thing_back_to_its_beginning() -> None:
    brief = _brief(BulletKind.CONTRADICTION)
    brief = brief.model_copy(update={"bullet": brief.bullet.model_copy(update={"variety": "other_value"})})
    said = {openings.opening(brief, "the roof", "", TODAY, random.Random(i)) for i in range(40)}
    assert not [text for text in said if re.search(r"zero|from the beginning|fresh eyes|first steps", text)]


def test_a_pasted_document_is_answered_and_not_something_else() -> None:
    state = _state(BulletKind.PASTED)
    thing = _thread().things[0]
    reply = assistant_reply(_inputs("Can you make it shorter?"), state, random.Random("s"))
    assert "figure" in reply.split("\n\n")[0]
    assert thing.casefold() in reply.split("\n\n")[0].casefold()
