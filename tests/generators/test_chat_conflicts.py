"""Pairs of statements of one's own chats that may contradict each other, and what becomes of those confirmed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from longbeam.generators import Opposed, Statement, confirmed, opposed_pairs, verified
from longbeam.generators.chat_ledger import plan_of
from longbeam.generators.probes import Histories
from longbeam.prompts.calls import StatementDraft
from longbeam.schemas import BulletKind, IncidentKind, Message, MessageRole, Stance
from tests.generators.scripted import ScriptedModel, asker_for
from tests.generators.test_chat_ledger import message

FAR = 6
"""Least distance of two statements, in messages."""


def stated(at: Message, text: str, value: str, slot: str = "the van, price", says: str = "fact") -> Statement:
    subject, attribute = slot.split(", ")
    found = verified(
        StatementDraft.model_validate(
            {"message": 0, "quote": text, "says": says, "subject": subject, "attribute": attribute, "value": value}
        ),
        [at],
    )
    assert found is not None
    return found


def pairs(*told: tuple[int, str, str, str, str], assistant: int = -1) -> list[tuple[str, str]]:
    """The values of the pairs among statements, each with its place, text, value, slot and form."""
    texts = {place: text for place, text, *_ in told}
    messages = [
        message(i, texts.get(i, "Hello."), MessageRole.ASSISTANT if i == assistant else MessageRole.USER)
        for i in range(20)
    ]
    found = opposed_pairs(messages, [stated(messages[place], *rest) for place, *rest in told])
    return [(p.earlier.value.text, p.later.value.text) for p in found if p.earlier.value and p.later.value]


FIRST = (0, "The van costs €1,150.", "€1,150", "the van, price", "fact")
OTHER = (FAR, "The van costs €1,290.", "€1,290", "the van, price", "fact")


def test_two_values_of_one_thing_are_a_pair() -> None:
    assert pairs(FIRST, OTHER) == [("€1,150", "€1,290")]


def test_a_pair_may_name_the_thing_a_little_differently() -> None:
    slot = "the removal van, full price"
    assert pairs(FIRST, (FAR, "The removal van costs €1,290.", "€1,290", slot, "fact")) == [("€1,150", "€1,290")]


@pytest.mark.parametrize(
    "other",
    [
        (FAR - 1, "The van costs €1,290.", "€1,290", "the van, price", "fact"),  # too near
        (FAR, "The van costs €1,290 now.", "€1,290", "the van, price", "change"),
        (FAR, "The van costs 1150 euros.", "1150 euros", "the van, price", "fact"),
        (FAR, "The van costs $1,290.", "$1,290", "the van, price", "fact"),
        (FAR, "The flat costs €1,290.", "€1,290", "the flat, price", "fact"),
        (FAR, "The van has €1,290 of rust.", "€1,290", "the van, damage", "fact"),
        (FAR, "It costs €1,290.", "€1,290", "the van, price", "fact"),  # nobody knows what
        (FAR, "The van costs €1,290, not €1,150.", "€1,290", "the van, price", "fact"),
        (FAR, "I plan to sell the van for €1,290.", "€1,290", "the van, price", "fact"),
        (FAR, "I was wrong the other day. The van costs €1,290.", "€1,290", "the van, price", "fact"),
        (FAR, "The van costs €1,290. In spring it was €1,150.", "€1,290", "the van, price", "fact"),
    ],
)
def test_what_can_be_true_or_is_settled_by_itself_is_no_pair(other: tuple[int, str, str, str, str]) -> None:
    assert pairs(FIRST, other) == []


@pytest.mark.parametrize("value", ["€1,150", "€1,290", "€1,400"])
@pytest.mark.parametrize("says", ["fact", "change"])
def test_a_third_statement_on_the_thing_settles_the_matter(value: str, says: str) -> None:
    assert pairs(FIRST, OTHER, (2 * FAR, f"The van costs {value}.", value, "the van, price", says)) == []


def test_the_assistant_contradicts_nobody() -> None:
    assert pairs(FIRST, OTHER, assistant=FAR) == []


MET = (0, "I see Goran for chess twice a week.", "twice a week", "Goran, chess", "fact")
NEVER = "I have never played chess with Goran, so where would I find a rather patient teacher for a late beginner?"


def denied(*told: tuple[int, str, str, str, str]) -> list[str]:
    """The quotes of the statements that the denial, in the last message, is paired with."""
    texts = {place: text for place, text, *_ in told}
    messages = [message(i, texts.get(i, "Hello.")) for i in range(FAR + 1)] + [message(FAR + 1, NEVER)]
    draft = StatementDraft(message=0, quote=NEVER, says="denial", subject="Goran")
    denial = verified(draft, messages[-1:])
    assert denial is not None
    found = opposed_pairs(messages, [*(stated(messages[place], *rest) for place, *rest in told), denial])
    assert all(p.later is denial for p in found)
    return [p.earlier.quote for p in found]


def test_a_denial_is_paired_with_the_earlier_statement_that_has_most_of_what_it_denies() -> None:
    other = (1, "I owe Goran €20.", "€20", "Goran, debt", "fact")
    assert denied(MET, other) == [MET[1]]


@pytest.mark.parametrize(
    "told",
    [
        (2, *MET[1:]),  # too near
        (0, "I played chess for two weeks.", "two weeks", "chess, length", "fact"),
        (0, "I plan to play chess with Goran on May 3, 2024.", "May 3, 2024", "Goran, chess", "fact"),
        (0, "I owe Goran €20 for the tickets and the taxi.", "€20", "Goran, debt", "fact"),
    ],
)
def test_a_denial_of_something_else_is_paired_with_nothing(told: tuple[int, str, str, str, str]) -> None:
    assert denied(told) == []


def test_a_denial_of_one_word_is_paired_with_what_is_told_of_it_before_what_only_names_it() -> None:
    never = "I have never been to Trieste."
    texts = ["The saga of Trieste has 412 pages.", "I spent a week in Trieste with Lena."]
    messages = [message(i, (texts + ["Hello."] * 6)[i]) for i in range(8)] + [message(8, never)]
    denial = verified(StatementDraft(message=0, quote=never, says="denial", subject="Trieste"), messages[-1:])
    assert denial is not None
    saga = stated(messages[0], texts[0], "412 pages", "the saga, length")
    stay = stated(messages[1], texts[1], "a week", "the stay in Trieste, length")
    company = stated(messages[1], texts[1], "Lena", "the stay in Trieste, company")
    assert [p.earlier for p in opposed_pairs(messages, [saga, stay, company, denial])] == [stay, saga]


def test_what_else_a_denial_says_that_it_does_not_know_is_no_part_of_it() -> None:
    told = "I ran the Freita trail race together with Beatriz."
    never = "I've never run a race with Beatriz, so I don't know how people cope with different paces."
    messages = [message(0, told), *(message(i, "Hello.") for i in range(1, FAR)), message(FAR, never)]
    denial = verified(StatementDraft(message=0, quote=never, says="denial", subject="Beatriz"), messages[-1:])
    assert denial is not None
    first = stated(messages[0], told, "Beatriz", "the Freita trail race, partner")
    assert [(p.earlier, p.later) for p in opposed_pairs(messages, [first, denial])] == [(first, denial)]


def test_the_assistant_denies_nothing() -> None:
    messages = [message(0, NEVER, MessageRole.ASSISTANT)]
    assert verified(StatementDraft(message=0, quote=NEVER, says="denial", subject="Goran"), messages) is None


def test_a_confirmed_denial_contests_what_it_denies_and_another_one_is_left_out() -> None:
    messages = [message(0, MET[1]), message(1, NEVER)]
    told, denial = (
        stated(messages[0], *MET[1:4]),
        verified(StatementDraft(message=0, quote=NEVER, says="denial", subject="Goran"), messages[1:]),
    )
    assert denial is not None
    plan, _ = plan_of(messages, [told, denial], {denial.digest: told.digest})
    (conflict,) = Histories([plan]).conflicts()
    assert (conflict.statement.text, conflict.denial.text, conflict.denial.variety) == (
        MET[1],
        NEVER,
        "never_statement",
    )
    assert [life.steps for life in Histories([plan]).lives()] == [()]
    assert [b.text for b in plan_of(messages, [told, denial])[0].bullets()] == [MET[1]]


def _pair() -> tuple[list[Message], Opposed]:
    messages = [message(i, "Hello.") for i in range(FAR + 1)]
    messages[0] = message(0, "Hello. The van is a find! It costs €1,150. I love it.")
    messages[FAR] = message(FAR, OTHER[1])
    told = [stated(messages[0], "It costs €1,150.", "€1,150"), stated(messages[FAR], *OTHER[1:3])]
    (pair,) = opposed_pairs(messages, told)
    return messages, pair


def _verdict(*, is_possible: bool) -> str:
    return json.dumps({"reason": "r", "can_both_be_true": is_possible, "is_plausible": False})


async def test_the_checker_reads_both_with_the_sentences_around_them() -> None:
    _, pair = _pair()
    model = ScriptedModel({"check_contradiction": [_verdict(is_possible=False)]})
    assert await confirmed(asker_for(model, writer="openai:a"), pair) == (pair,)
    (call,) = model.calls
    assert "The van is a find! It costs €1,150. I love it." in call.messages()[-1].content
    assert OTHER[1] in call.messages()[-1].content


@pytest.mark.parametrize("reply", [_verdict(is_possible=True), "I do not know."])
async def test_a_pair_that_no_checker_confirms_is_none(reply: str) -> None:
    _, pair = _pair()
    model = ScriptedModel({"check_contradiction": [reply]})
    assert await confirmed(asker_for(model, writer="openai:a"), pair) == ()


async def test_a_second_checker_has_to_confirm_too() -> None:
    _, pair = _pair()
    model = ScriptedModel({"check_contradiction": [_verdict(is_possible=False), _verdict(is_possible=True)]})
    asker = asker_for(model, writer="openai:a")
    models = {**asker.spec.models, "second_checker": "openai:b"}
    assert await confirmed(replace(asker, spec=asker.spec.model_copy(update={"models": models})), pair) == ()
    assert [c.model for c in model.calls] == ["openai:a", "openai:b"]


async def test_an_unfit_checker_confirms_nothing() -> None:
    _, pair = _pair()
    model = ScriptedModel({"check_contradiction": [_verdict(is_possible=False)], "check_entailment": ["no"]})
    asker = asker_for(model, writer="openai:a")
    checks = asker.spec.checks.model_copy(update={"least_accuracy": 0.8})
    asker = replace(asker, spec=asker.spec.model_copy(update={"checks": checks}))
    assert await confirmed(asker, pair) == ()
    assert [i.kind for i in asker.incidents] == [IncidentKind.UNFIT]
    assert "no contradiction: r" in asker.incidents[0].detail


async def test_nobody_is_asked_where_models_do_not_check() -> None:
    _, pair = _pair()
    model = ScriptedModel({})
    assert await confirmed(asker_for(model), pair) == ()
    assert model.calls == []


def test_a_confirmed_pair_is_a_conflict_that_contests_its_fact() -> None:
    messages, pair = _pair()
    plan, voiced = plan_of(messages, [pair.earlier, pair.later], {pair.later.digest: pair.earlier.digest})
    statement, denial = plan.bullets()
    assert (denial.kind, denial.variety, denial.target_bullet_id) == (
        BulletKind.CONTRADICTION,
        "other_value",
        statement.bullet_id,
    )
    assert [a.stance for a in plan.assertions] == [Stance.SETS, Stance.DENIES]
    assert list(voiced) == [messages[0].message_key, messages[FAR].message_key]
    histories = Histories([plan])
    (conflict,) = histories.conflicts()
    assert [v.text for v in conflict.values] == ["€1,150", "€1,290"]
    assert not conflict.is_decided
    (life,) = histories.lives()
    assert life.steps == ()
