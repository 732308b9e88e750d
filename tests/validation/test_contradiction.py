"""Contradictions that are none: both sides can be true, or one of them is about something else."""

from __future__ import annotations

import pytest

from tests.validation.told import asks, imported, names

NEVER_READ = "I've never read any books by Daniel Dennett, can you tell me a bit about his work?"


def of_sides(statement: str, denial: str, question: str, *, denial_first: bool = False) -> list[str]:
    rest = ("What else is new?", "Nothing.") * 4
    first, last = (denial, statement) if denial_first else (statement, denial)
    said = (first, "I see.", *rest, last, "I see.")
    cited = {0: "denial", 10: "statement"} if denial_first else {0: "statement", 10: "denial"}
    gold = f"You said two things that contradict each other: {statement} {denial} Which is right?"
    nugget = "States that the two statements contradict each other"
    return names(imported(said, asks("contradiction_resolution", question, gold, cited, nugget)), "contradiction")


@pytest.mark.parametrize(
    "statement",
    [
        "I'm wondering if I should take Shelly's suggestion to read Daniel Dennett's books, since we met in 2005.",
        "Next month I'm going to read two books by Daniel Dennett.",
        "My sister has read all books by Daniel Dennett.",
        "My sister keeps talking about two books by Daniel Dennett, and she says that I should read them, too.",
    ],
)
def test_a_plan_or_the_deed_of_another_is_no_contradiction_of_never(statement: str) -> None:
    kinds = of_sides(statement, NEVER_READ, "Have I ever read any books by Daniel Dennett?")
    assert kinds == ["contradiction.no_conflict"]


def test_what_happens_after_the_denial_does_not_contradict_it() -> None:
    statement = "Yesterday I finally read one of the books by Daniel Dennett."
    kinds = of_sides(statement, NEVER_READ, "Have I ever read any books by Daniel Dennett?", denial_first=True)
    assert kinds == ["contradiction.no_conflict"]


@pytest.mark.parametrize(
    "statement",
    [
        "I've read two books by Daniel Dennett and plan to read more.",
        "I just read one of the books by Daniel Dennett, what should I think of it?",
        "The books by Daniel Dennett that we read at school still shape how I think.",
        "My sister and I read all the books by Daniel Dennett last year.",
    ],
)
def test_a_deed_that_is_told_as_done_contradicts_never(statement: str) -> None:
    assert of_sides(statement, NEVER_READ, "Have I ever read any books by Daniel Dennett?") == []


def test_a_statement_beside_the_point_is_named() -> None:
    denial = "I've never invited Mason or Michael to any family movie events, can you help me find a film?"
    statement = "I prefer scheduling family activities around nap times, can you suggest a film?"
    question = "Have I ever invited Mason or Michael to join any family movie events?"
    assert of_sides(statement, denial, question) == ["contradiction.different_things"]
