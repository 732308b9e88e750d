"""Conditions of standing wishes that one question can meet both of."""

from __future__ import annotations

import pytest

from longbeam.text import overlapping


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("when I ask about fish", "when I ask what fish costs"),
        ("when I ask why a dish failed", "when I ask why the dish has failed again"),
        ("when I ask", "When I ask "),
    ],
)
def test_conditions_of_one_question_overlap(one: str, other: str) -> None:
    assert overlapping(one, other)
    assert overlapping(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("when I ask how to store something", "when I ask how long something has to cook"),
        ("when I ask for a recipe", "when I ask for a plan of the week"),
        ("when I ask", "when I ask about fish"),
    ],
)
def test_conditions_of_different_questions_do_not(one: str, other: str) -> None:
    assert not overlapping(one, other)
