"""Words that tell a plan, and words that tell what came of it."""

from __future__ import annotations

import pytest

from longbeam.text import is_planned, is_result


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
