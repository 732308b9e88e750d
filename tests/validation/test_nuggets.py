"""Nuggets that ask for two things, and nuggets about a thing of another probe."""

from __future__ import annotations

import pytest

from tests.validation.told import asks, imported, names

SAID = "The box room is done by June 13, 2023, with 13 hours set aside, and 9 hours a month go into saying no."
GOLD = "The completion date of the box room is June 13, 2023. The planned effort of the box room is 13 hours."


def of_nugget(text: str) -> list[str]:
    probe = asks("summarization", "How does the box room stand?", GOLD, {0: "support"}, text)
    return names(imported((SAID, "I see."), probe), "nuggets")


@pytest.mark.parametrize(
    "text",
    [
        "States that the completion date of the box room is June 13, 2023. It also gives the planned effort",
        "States that the total is 13 hours and the planned effort of shelves and boxes is 13 hours",
    ],
)
def test_a_nugget_of_two_sentences_or_clauses_asks_for_several_things(text: str) -> None:
    assert "nuggets.several_claims" in of_nugget(text)


def test_a_choice_between_two_days_is_no_length_of_time() -> None:
    assert of_nugget("Asks which of the two days for the completion of the box room is right") == []
    assert "nuggets.not_in_gold" in of_nugget("States that the completion of the box room took two days")


def test_a_nugget_about_a_thing_that_nobody_names_is_unrelated() -> None:
    assert of_nugget("States that the planned effort of separable equations is 13 hours") == ["nuggets.unrelated"]
    assert of_nugget("States that the planned effort of the box room is 13 hours") == []
