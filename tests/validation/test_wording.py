from __future__ import annotations

import pytest

from longbeam.text import content_words
from longbeam.validation import asks_assistant, asks_for_past, claim


def test_the_opening_of_a_nugget_is_not_its_claim() -> None:
    assert claim("LLM response should state: March 29") == "March 29"
    assert claim("States that it is $28") == "it is $28"
    assert content_words("The first sprints ended") == content_words("first sprint ends")


def test_a_question_about_the_assistant_is_told_from_a_request() -> None:
    assert asks_assistant("Which films did you recommend?")
    assert not asks_assistant("Can you list the order in which I brought them up?")


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What was the original budget?", True),
        ("How much did the rent increase?", True),
        ("Where did I live before?", True),
        ("When does my first sprint end?", False),
        ("What is my budget?", False),
    ],
)
def test_a_question_about_the_past_or_a_change_is_known(question: str, asks: bool) -> None:
    assert asks_for_past(question) is asks
