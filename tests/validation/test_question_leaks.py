"""Questions that repeat a short instruction."""

from __future__ import annotations

import pytest

from tests.validation.told import asks, imported, names

INSTRUCTION = "When I ask for book tips, always say how long the book is."


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What could I read after a good sea story?", []),
        (f"What could I read after a good sea story? {INSTRUCTION}", ["question_leaks.requirement"]),
    ],
)
def test_a_question_that_repeats_a_short_instruction_is_an_error(question: str, expected: list[str]) -> None:
    cited = {0: "instruction"}
    probe = asks("instruction_following", question, "It gives the length.", cited, instruction=INSTRUCTION)
    assert names(imported((INSTRUCTION, "I will."), probe), "question_leaks") == expected


@pytest.mark.parametrize(
    ("use", "expected"),
    [("spare tiles", []), ("the kitchen", ["question_leaks.answer"])],
)
def test_a_question_may_name_the_amount_whose_use_it_asks_for_and_not_the_use(use: str, expected: list[str]) -> None:
    said = f"Put another $60 aside and keep it for {use}."
    asked, gold = "What was the other $60 for the kitchen for?", f"The other $60 was for {use}."
    probe = asks("information_extraction", asked, gold, {1: "support"}, variety="use", computed_value=use)
    assert names(imported(("The kitchen is $400.", said), probe), "question_leaks") == expected


@pytest.mark.parametrize(
    ("criterion", "expected"),
    [("States a gap of 8 weeks between stays", []), ("States 8 weeks and 2 stays", ["question_leaks.some_values"])],
)
def test_a_value_that_no_criterion_asks_for_gives_nothing_away(criterion: str, expected: list[str]) -> None:
    said, asked = "Let 8 weeks pass between two stays.", "How long should the gap between two stays be?"
    probe = asks("information_extraction", asked, "At least 8 weeks between two stays.", {0: "support"})
    probe = probe.model_copy(update={"rubric": (probe.rubric[0].model_copy(update={"text": criterion}),)})
    assert names(imported((said, "Yes."), probe), "question_leaks") == expected
