"""Greetings that name a part of the day."""

from __future__ import annotations

import pytest

from longbeam.text import Hours, greeted_hours


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("Good evening! The pump is in.", (18, 24)),
        ("Hi, good morning to you.", (0, 11)),
        ("Evening, one thing about the pump.", (18, 24)),
        ("Good afternoon all", (13, 17)),
        ("Evening classes begin on March 6.", None),
        ("It was a good evening with the choir.", None),
    ],
)
def test_a_greeting_gives_its_hours(text: str, hours: Hours | None) -> None:
    assert greeted_hours(text) == hours
