"""How much a message asks for."""

from __future__ import annotations

import pytest

from longbeam.generators import DIALOGUE, Budget, demand_of, waiting_of


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("Thanks, that settles it.", "How hot should the oil be?"),
        ("I fry at 180 degrees. Is that right?", "How hot should the oil be?"),
        ("How hot should the oil be?", "How hot should the oil be? And how do I see it?"),
        ("How hot should the oil be?", "Can you write me a plan for the evening?"),
        ("Why does this fail?", "Why does this fail?\n\n```\n" + "print('x')\n" * 30 + "```"),
    ],
)
def test_more_asked_is_more_demand(less: str, more: str) -> None:
    assert DIALOGUE.least_demand <= demand_of(less) < demand_of(more) <= DIALOGUE.greatest_demand


def test_question_marks_in_code_ask_nothing() -> None:
    assert demand_of("See `a ? b : c` here.") == demand_of("See it here.")


def test_other_languages_are_read_by_their_questions() -> None:
    assert demand_of("油は何度ですか？") == demand_of("How hot should the oil be?")


@pytest.mark.parametrize(
    "text",
    [
        "The job page is up on my laptop. Is it safe to show it to Lawrence today?",
        "Kathleen read the labels, so can I close that task?",
        "I fry at 180 degrees. Is that right?",
        "Does the index help here?",
        "We meet at noon, agreed?",
    ],
)
def test_a_yes_or_a_no_is_a_short_answer(text: str) -> None:
    most = Budget(100_000).reply_length(waiting_of(()), demand_of(text))
    assert most * 9 // 10 <= 90  # words of the range that the prompt states


@pytest.mark.parametrize(
    "text",
    [
        "Is it better to roast or to fry them?",
        "Can you explain what the lock does?",
        "Should I take the loan?",
        "Do you know how I get the paint off?",
    ],
)
def test_a_question_that_only_begins_like_one_of_yes_and_no_asks_for_more(text: str) -> None:
    assert demand_of(text) >= demand_of("How hot should the oil be?")


def test_a_message_that_wants_a_short_yes_gets_one() -> None:
    wish = "When I ask about costs, name the VAT apart. Just give me a short yes."
    assert demand_of(wish) == DIALOGUE.yes < DIALOGUE.quick
    assert Budget(100_000).reply_length(waiting_of(()), demand_of(wish)) <= 12  # tokens: 1 to 12 words
    assert demand_of("When I ask about costs, name the VAT apart.") == DIALOGUE.statement
    assert (
        demand_of("A short yes to that is enough. Then let me have the query for today's rows.") == DIALOGUE.statement
    )


@pytest.mark.parametrize(
    "question", ["Will you do that?", "Can you stick to that?", "Is that possible?", "Agreed?", "Yes?"]
)
def test_who_asks_for_a_promise_wants_a_yes(question: str) -> None:
    wish = "When I ask how to move people up to the hut, name one task for somebody who cannot carry."
    assert demand_of(f"{wish} {question}") == DIALOGUE.yes
    assert demand_of(f"{wish} What would you name for my mother?") > DIALOGUE.quick


def test_what_is_to_be_short_asks_for_less() -> None:
    asked = "Can you write them a {}text about being in their places when he arrives?"
    assert demand_of(asked.format("short ")) < demand_of(asked.format("")) / 2
    assert demand_of("How do I stop it? Put it in one sentence.") < demand_of("How do I stop it?")
