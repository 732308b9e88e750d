"""What the assistant gives in a chat is advice of the plan, where it can be asked for as such."""

from __future__ import annotations

import pytest

from longbeam.generators import Statement, verified, with_replies_advice
from longbeam.generators.chat_ledger import plan_of
from longbeam.schemas import AdviceKind, Message, MessageRole, Plan
from tests.generators.test_chat_ledger import draft, message

USER, ASSISTANT = MessageRole.USER, MessageRole.ASSISTANT
SLOT = {"subject": "the van", "attribute": "suggested reserve"}


def stated(at: Message, value: str, says: str = "fact", slot: dict[str, str] = SLOT) -> Statement:
    found = verified(draft(quote=at.content, value=value, says=says, **slot), [at])
    assert found is not None
    return found


def advised(*told: tuple[Message, str, str]) -> tuple[Plan, dict[str, tuple[str, ...]]]:
    """The plan of statements, each of a message of its own, with advice."""
    messages = [at for at, _, _ in told]
    plan, voiced = plan_of(messages, [stated(*one) for one in told])
    return with_replies_advice(plan, voiced, messages)


RESERVE = message(0, "A reserve of €300 is enough.", ASSISTANT)


def test_an_amount_of_the_assistants_is_advice_and_no_fact() -> None:
    plan, voiced = advised((RESERVE, "€300", "fact"))
    (advice,) = plan.advice
    assert (advice.advice_id, advice.kind, advice.topic, advice.attribute) == (
        "p0.s0.a0",
        AdviceKind.FIGURE,
        "the van",
        "reserve",
    )
    assert (plan.facts, plan.assertions) == ((), ())
    assert voiced == {RESERVE.message_key: ("p0.s0.b0", "p0.s0.a0")}


def test_a_day_is_advice_and_another_value_that_is_called_a_change_corrects_it() -> None:
    day = message(0, "May 3, 2024 is a reserve day.", ASSISTANT)
    corrected = message(1, "Make the reserve day May 8, 2024.", ASSISTANT)
    plan, _ = advised((day, "May 3, 2024", "fact"), (corrected, "May 8, 2024", "change"))
    assert [(a.kind, a.corrects) for a in plan.advice] == [
        (AdviceKind.DAY, ""),
        (AdviceKind.CORRECTION, "p0.s0.a0"),
    ]


@pytest.mark.parametrize(
    "told",
    [
        [(message(0, "A reserve of €300 is enough."), "€300", "fact")],
        [(message(0, "Set €300 aside.", ASSISTANT), "€300", "fact")],  # nobody reads what for
        [(message(0, "Keep Transvia in reserve.", ASSISTANT), "Transvia", "fact")],
        [(RESERVE, "€300", "fact"), (message(1, "A reserve of €400.", ASSISTANT), "€400", "fact")],
    ],
)
def test_what_cannot_be_asked_for_as_advice_stays_a_fact(told: list[tuple[Message, str, str]]) -> None:
    plan, voiced = advised(*told)
    assert plan.advice == ()
    assert len(plan.assertions) == len(told)
    assert voiced == {at.message_key: (f"p0.s{i}.b0",) for i, (at, _, _) in enumerate(told)}
