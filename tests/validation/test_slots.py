"""Third values: which later sentences give a thing another value, and which speak of something else."""

from __future__ import annotations

import pytest

from longbeam.schemas import ProbeDetails
from longbeam.validation import check_conversation
from tests.builders import good_conversation


def found(gold: str, cited: str, later: str, question: str = "Can you remind me?", old: str = "") -> list[str]:
    """Kinds of findings on later values, where the user first says one sentence and then another."""
    reader = good_conversation()
    reader = reader.with_message(10, content=f"{cited} What comes next?").with_message(16, content=later)
    evidence = reader.probe("knowledge_update").evidence[:1]
    cited_now = evidence[0].model_copy(update={"message_key": reader.said[10].message_key, "quote": cited})
    reader = reader.with_probe(
        "knowledge_update",
        question=question,
        gold_answer=gold,
        evidence=(cited_now,),
        fact_ids=(),
        bullet_ids=(),
        details=ProbeDetails(old_value=old),
    )
    return [f.check for f in check_conversation(reader) if f.check.startswith("later_values.")]


OUTINGS = "The number of trial outings of the power bank is 5 outings."
DAY = "The due date of the sleep diary is March 5, 2024."
PLAN = "The day you had down for having the sleep diary done is March 5, 2024."


@pytest.mark.parametrize(
    ("gold", "cited", "later"),
    [
        (OUTINGS, "I took the power bank on 5 outings.", "The power bank has seen 9 outings."),
        (OUTINGS, "I took the power bank on 5 outings.", "With the power bank we are at twenty-three outings."),
        (DAY, "The sleep diary is due on March 5, 2024.", "The sleep diary is due on the 9th of March 2024 instead."),
        (DAY, "The sleep diary is due on March 5, 2024.", "For the sleep diary it is 2024-03-09 now."),
        (PLAN, "The sleep diary is due on March 5, 2024.", "I moved having the sleep diary done to March 9, 2024."),
        (PLAN, "The sleep diary is due on March 5, 2024.", "My new target for having the sleep diary done is March 9."),
    ],
)
def test_another_value_of_the_same_thing_is_found(gold: str, cited: str, later: str) -> None:
    kinds = {"later_values.maybe_changed", "later_values.third_value", "later_values.changed_later"}
    assert set(found(gold, cited, later)) & kinds


@pytest.mark.parametrize(
    ("gold", "cited", "later"),
    [
        (OUTINGS, "I took the power bank on 5 outings.", "The power bank weighs 9 pounds."),  # another unit
        (OUTINGS, "I took the power bank on 5 outings.", "The walking shoes have seen 9 outings."),  # another thing
        (OUTINGS, "I took the power bank on 5 outings.", "The power bank has seen five outings."),  # the same
        (DAY, "The sleep diary is due on March 5, 2024.", "I bought the sleep diary on March 9, 2024."),  # another date
        (DAY, "The sleep diary is due on March 5, 2024.", "The sleep diary moved on from March 1, 2024."),  # recalled
        (
            PLAN,
            "The sleep diary is due on March 5, 2024.",
            "I can call the sleep diary done since March 4.",
        ),  # a result
    ],
)
def test_what_says_something_else_is_not(gold: str, cited: str, later: str) -> None:
    assert not set(found(gold, cited, later)) & {"later_values.maybe_changed", "later_values.third_value"}
