"""Lists that replies give where the user asked for them."""

from __future__ import annotations

import datetime as dt

import pytest

from longbeam.generators import advice_quote, items_in, listed_advice
from longbeam.schemas import AdviceKind, Message, MessageKind, MessageRole, UserTurn
from tests.generators.test_dialogue import _material

SUB_PLAN = _material(1_000).sub_plan
HOST = SUB_PLAN.bullets[1]
STEPS = """Do it in this order:

1. **Sort the receipts.** Put last month's in one pile, by day.
2. Tick each line of the statement: pencil is enough.
3. Write down what is left, with the day

That takes half an hour."""


def _said(reply: str, turn: int = 0) -> list[Message]:
    def message(role: MessageRole, kind: MessageKind, ordinal: int, text: str) -> Message:
        return Message(
            message_key=f"{SUB_PLAN.key}.t{turn}.n{ordinal}",
            role=role,
            speaker=role.value,
            kind=kind,
            sent_at=dt.datetime(2024, 3, 5, 9, ordinal),
            content=text,
            tokens=9,
        )

    return [
        message(MessageRole.USER, MessageKind.QUESTION, 0, "How do I go about it?"),
        message(MessageRole.ASSISTANT, MessageKind.REPLY, 1, reply),
    ]


def _turn(wants: AdviceKind | None, turn: int = 0) -> UserTurn:
    return UserTurn(turn_id=f"{SUB_PLAN.key}.t{turn}", text="?", bullet_ids=(HOST.bullet_id,), wants=wants)


def test_an_item_is_the_beginning_of_its_line() -> None:
    assert items_in(STEPS) == (
        "Sort the receipts",
        "Tick each line of the statement",
        "Write down what is left",
    )


@pytest.mark.parametrize(
    "reply",
    [
        "Sort, tick, write.",
        "1. Sort\n2. Tick",  # too few to ask for
        "1. Sort\n2. Tick\n3. Write\n\nOr:\n\n1. Ask\n2. Wait\n3. Pay",  # which of the two?
        "1. Sort\n2. Tick\n3. sort",  # not three different ones
        "```\n1. Sort\n2. Tick\n3. Write\n```",
    ],
)
def test_other_replies_have_no_list_to_ask_for(reply: str) -> None:
    assert items_in(reply) == ()


def test_a_list_that_was_asked_for_is_advice_on_the_thing_of_the_message() -> None:
    (given,) = listed_advice(SUB_PLAN, (), _said(STEPS), [_turn(AdviceKind.STEPS)])
    assert given.message_key == f"{SUB_PLAN.key}.t0.n1"
    assert (given.advice.advice_id, given.advice.kind) == (f"{SUB_PLAN.key}.a0", AdviceKind.STEPS)
    assert (given.advice.topic, given.advice.attribute) == (HOST.topic, "steps")
    quote = advice_quote(given.advice, STEPS)
    assert quote is not None
    assert quote.startswith("Do it in this order:\n\n1. **Sort the receipts")
    assert quote.endswith("Write down what is left, with the day")


@pytest.mark.parametrize("wants", [None, AdviceKind.FIGURE])
def test_a_list_that_nobody_asked_for_is_no_advice(wants: AdviceKind | None) -> None:
    assert list(listed_advice(SUB_PLAN, (), _said(STEPS), [_turn(wants)])) == []


def test_a_thing_has_one_list_of_a_kind() -> None:
    turns = [_turn(AdviceKind.STEPS, 0), _turn(AdviceKind.STEPS, 1), _turn(AdviceKind.OPTIONS, 2)]
    said = [m for i in range(3) for m in _said(STEPS, i)]
    given = [(g.advice.kind, g.advice.advice_id) for g in listed_advice(SUB_PLAN, (), said, turns)]
    assert given == [(AdviceKind.STEPS, f"{SUB_PLAN.key}.a0"), (AdviceKind.OPTIONS, f"{SUB_PLAN.key}.a1")]
