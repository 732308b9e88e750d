from __future__ import annotations

import pytest

from longbeam.text import (
    denied_words,
    is_asked_at,
    is_denied_at,
    words_of_hearsay,
    words_of_intention,
    words_of_the_unreal,
    words_supposing,
    words_taking_back,
)


def test_words_behind_a_negator_in_its_clause_are_denied() -> None:
    assert denied_words("I have never fired a kiln, and the hall is cold.") == {"fire", "kiln"}
    assert denied_words("Chloe doesn't pick up; no doubt she is busy.") == {"pick"}
    assert denied_words("The hall rent is $85.") == frozenset()


@pytest.mark.parametrize(
    "text", ["It is not $85.", "It isn’t $85", "$300 instead of $85", "no longer $85", "never cost $85"]
)
def test_a_value_behind_a_negator_is_denied(text: str) -> None:
    assert is_denied_at(text, text.index("$85"))


@pytest.mark.parametrize("text", ["It is $85.", "I don't mind that it is $85", "Not bad: the hall costs $85"])
def test_a_value_that_is_claimed_beside_a_negator_is_not_denied(text: str) -> None:
    assert not is_denied_at(text, text.index("$85"))


@pytest.mark.parametrize(
    ("sentence", "is_asked"),
    [
        ("Is $85 too much for a pizza?", True),
        ("So, would the hall cost $85?", True),
        ("Why does the hall cost $85?", False),
        ("The hall costs $85, so should I take it?", False),
        ("Is it fair, since I pay $85?", False),
        ("Is the hall $85.", False),
    ],
)
def test_only_questions_of_yes_and_no_ask_about_what_they_say(sentence: str, is_asked: bool) -> None:
    assert is_asked_at(sentence, sentence.index("$85") if "$85" in sentence else 0) is is_asked


def test_words_that_take_back_suppose_or_report() -> None:
    assert words_taking_back("It is $85. No wait, I was wrong about that.") == ("no wait", "i was wrong")
    assert words_supposing("Suppose it is $85.") == ("suppose",)
    assert words_of_hearsay("My neighbour claims that it is $85") == {"claims"}
    assert words_of_intention("I'm trying to sell it, and I like it.") == {"trying"}
    assert words_of_the_unreal("It used to be $85, if I may say so.") == {"used to", "if", "may"}
    assert not words_taking_back("It costs $85.")
    assert not words_supposing("It costs $85.")
