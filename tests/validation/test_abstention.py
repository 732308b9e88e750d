"""Answers that stand in the conversation although a probe says that they are missing."""

from __future__ import annotations

import pytest

from longbeam.validation import check_conversation
from tests.builders import good_conversation
from tests.validation.faults import append
from tests.validation.told import asks, imported, names

TOPICS = "What specific topics were covered during the June 14 call with HR to finalize onboarding?"


def of_message(question: str, message: str) -> list[str]:
    said = (message, "Good.", *("Let us speak of the weather.", "Fine.") * 6)
    asked = asks("abstention", question, "There is no information on this.", {})
    return [n for n in names(imported(said, asked), "abstention") if n != "abstention.searched"]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (TOPICS, "On the June 14 call with HR we finalized onboarding, and the topics were parking, dental and pay."),
        ("How many pages does the report on the harbour have?", "My report on the harbour now has 48 pages."),
        ("When did Lawrence repair the old gate?", "Lawrence did repair the old gate on March 3, by the way."),
        ("Who painted the sign of the bakery?", "The sign of the bakery was painted by Ottilie, for cake."),
        ("What techniques did Shawn recommend at the hub?", "Shawn at the hub did recommend techniques like framing."),
    ],
)
def test_a_sentence_that_answers_is_a_warning(question: str, message: str) -> None:
    assert of_message(question, message) == ["abstention.maybe_answered"]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (TOPICS, "I just scheduled a call with HR for June 14, so can you help me finalize the onboarding questions?"),
        ("How many pages does the report on the harbour have?", "My report on the harbour has too many pages already."),
        ("When did Lawrence repair the old gate?", "Lawrence wants to repair the old gate, as soon as it is dry."),
        ("Who painted the sign of the bakery?", "Somebody painted the sign of the bakery in a rather loud red."),
        ("What techniques did Shawn recommend at the hub?", "I met Shawn at the hub, would you recommend a present?"),
        ("What was discussed during the meeting at the film office?", "I have a meeting at the film office on Monday."),
    ],
)
def test_a_sentence_on_the_same_thing_is_no_answer(question: str, message: str) -> None:
    assert of_message(question, message) == []


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("At the hub Shawn did recommend these techniques: framing, silence and a slow first line.", True),
        ("At the hub Shawn did recommend a slow first line.", False),  # the noun that is asked for is not named
        ("There are many techniques for a story, such as framing and silence.", False),
    ],
)
def test_a_reply_that_answers_is_a_warning(reply: str, found: bool) -> None:
    question = "What techniques did Shawn recommend at the hub?"
    said = ("I was out.", reply, *("Let us speak of the weather.", "Fine.") * 6)
    given = names(imported(said, asks("abstention", question, "There is no information on this.", {})), "abstention")
    assert ("abstention.maybe_answered" in given) is found


def test_words_that_lie_all_over_a_message_are_no_answer() -> None:
    scattered = "I met Shawn today. The hub was full. Techniques of framing bore me. What do you recommend for lunch?"
    assert of_message("What techniques did Shawn recommend at the hub?", scattered) == []


def test_an_answer_is_found_beside_a_search_that_misses_it() -> None:
    reader = good_conversation()
    told = append(16, " For the equipment the bank would charge an interest rate of 4 percent.")(reader)
    kinds = [f.check for f in check_conversation(told) if f.subject == "abstention.0"]
    assert kinds == ["abstention.maybe_answered"]


def test_a_message_without_a_statement_answers_nothing() -> None:
    question = "What colour is the garden gate of the house?"
    assert "abstention.maybe_answered" not in names(
        imported([question, "I do not know."], asks("abstention", question, "Not said.", {})), "abstention"
    )
