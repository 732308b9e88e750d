"""Probes that ask the same in other words."""

from __future__ import annotations

import pytest

from longbeam.schemas import Probe
from tests.validation.told import asks, imported, names

SAID = ("My first sprint ends on March 29, 2024, with Tom as reviewer.", "Good.")


def sprint(question: str, gold: str, *, ability: str = "information_extraction", number: int = 0) -> Probe:
    return asks(ability, question, gold, {0: "support"}, number=number)


@pytest.mark.parametrize("ability", ["information_extraction", "multi_session_reasoning"])
def test_the_same_question_in_other_words_is_named(ability: str) -> None:
    first = sprint("When does my first sprint end?", "It ends on March 29, 2024.")
    second = sprint(
        "What is the last day of my first sprint?", "The last day is 2024-03-29.", ability=ability, number=1
    )
    assert "probe_set.same_in_other_words" in names(imported(SAID, first, second), "probe_set")


def test_the_same_length_in_another_unit_is_the_same_answer() -> None:
    first = sprint("How long does my first sprint take?", "It takes 2 weeks.")
    second = sprint("What is the length of my first sprint?", "14 days.", number=1)
    other = sprint("What is the length of my first sprint?", "13 days.", number=1)
    assert "probe_set.same_in_other_words" in names(imported(SAID, first, second), "probe_set")
    assert "probe_set.same_in_other_words" not in names(imported(SAID, first, other), "probe_set")


def test_another_answer_from_the_same_message_is_another_question() -> None:
    first = sprint("When does my first sprint end?", "It ends on March 29, 2024.")
    second = sprint("Who reviews my first sprint?", "Tom reviews it.", number=1)
    assert "probe_set.same_in_other_words" not in names(imported(SAID, first, second), "probe_set")


def test_what_was_never_said_is_another_question_than_what_was() -> None:
    never = sprint("What colour is the cargo bike that I bought second-hand?", "No information.", ability="abstention")
    never = never.model_copy(update={"evidence": ()})
    said = sprint("What did the cargo bike cost me when I bought it second-hand?", "€2,140, or €2,410?", number=1)
    assert "probe_set.same_in_other_words" not in names(imported(SAID, never, said), "probe_set")
