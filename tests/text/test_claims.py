"""Claims: who says what of whom, and whether it is so, planned, unreal or asked."""

from __future__ import annotations

import pytest

from longbeam.text import (
    Mood,
    Who,
    echoed_denial,
    framing_of,
    is_asked_at,
    is_denied_at,
    is_planned,
    is_result,
    read_claim,
    taken_back,
)


@pytest.mark.parametrize(
    ("text", "mood"),
    [
        ("I've paid $80 for the lamp.", Mood.DONE),
        ("I want to buy the lamp on May 3.", Mood.PLANNED),
        ("Suppose the lamp costs $80.", Mood.UNREAL),
        ("If I had the money, I would pay $80.", Mood.UNREAL),
        ("Is the lamp worth $80?", Mood.ASKED),
        ("The lamp is $80.", Mood.STATED),
        ("Why does the lamp cost $80?", Mood.STATED),
    ],
)
def test_a_claim_has_one_mood(text: str, mood: Mood) -> None:
    assert read_claim(text).mood is mood


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("I sold the lamp.", Who.SPEAKER),
        ("My brother sold the lamp.", Who.OTHER),
        ("My brother says that I should sell it.", Who.OTHER),
        ("You sold the lamp.", Who.ADDRESSEE),
        ("The lamp was sold.", Who.NOBODY),
    ],
)
def test_a_claim_speaks_of_somebody(text: str, who: Who) -> None:
    assert read_claim(text).who is who


def test_a_claim_has_its_thing_its_values_and_what_it_denies() -> None:
    first, second = read_claim("The hall rent is $85."), read_claim("I have never fired a kiln.")
    assert first.thing == {"hall", "rent"}
    assert [value.text for value in first.values] == ["$85"]
    assert (first.is_denied, second.is_denied) == (False, True)
    assert second.denied == {"fire", "kiln"}


@pytest.mark.parametrize(
    ("text", "tense"), [("We met at the station.", -1), ("We will meet at the station.", 1), ("A lamp for $80.", 0)]
)
def test_a_claim_lies_on_one_side_of_today(text: str, tense: int) -> None:
    assert read_claim(text).tense == tense


@pytest.mark.parametrize(
    "text", ["Five states are pencilled in.", "I hope for 9 guests.", "I mean to read it by May 3."]
)
def test_a_plan(text: str) -> None:
    assert (is_planned(text), is_result(text)) == (True, False)


@pytest.mark.parametrize("text", ["In the end 4 states were done.", "I've paid $80.", "We had already eaten; 9 came."])
def test_a_result(text: str) -> None:
    assert (is_planned(text), is_result(text)) == (False, True)


@pytest.mark.parametrize(
    "text", ["The roof is $80.", "I planned 9 guests and 7 came.", "It cost €46, so I'd like to know what it bears."]
)
def test_neither(text: str) -> None:
    assert (is_planned(text), is_result(text)) == (False, False)


def denied(text: str) -> frozenset[str]:
    return read_claim(text).denied


def test_words_behind_a_negator_in_its_clause_are_denied() -> None:
    assert denied("I have never fired a kiln, and the hall is cold.") == {"fire", "kiln"}
    assert denied("Chloe doesn't pick up; no doubt she is busy.") == {"pick"}
    assert denied("The hall rent is $85.") == frozenset()


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


@pytest.mark.parametrize(
    ("before", "word"),
    [
        ("My neighbour claims that", "claims"),
        ("Suppose", "Suppose"),
        ("I'm trying to find out that", "trying"),
        ("Nobody believes:", "believes"),
        ("It is not so that", "not"),
        ("If", "if"),
        ("Guess what,", ""),
        ("Hi again.", ""),
    ],
)
def test_words_in_front_keep_a_sentence_from_being_claimed(before: str, word: str) -> None:
    assert framing_of(before) == word


def test_words_that_take_back() -> None:
    assert taken_back("It is $85. No wait, I was wrong about that.") == "No wait"
    assert not taken_back("It costs $85.")


def test_a_question_echoes_a_denial_whose_words_it_repeats() -> None:
    denial = "I have never cooked the lentil soup for guests, I think."
    assert echoed_denial("Did I ever cook the lentil soup for guests?", denial).startswith("I have never cooked")
    assert echoed_denial("Do I like lentil soup?", denial) == ""
