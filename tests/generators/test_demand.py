"""How much a message asks for."""

from __future__ import annotations

import pytest

from longbeam.generators.demand import LEAST, MOST, demand_of


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("Thanks, that settles it.", "How hot should the oil be?"),
        ("I fry at 180 degrees. Is that right?", "How hot should the oil be?"),
        ("How hot should the oil be?", "How hot should the oil be? And how do I see it?"),
        ("How hot should the oil be?", "Can you write me a plan for the evening?"),
        ("Why does this fail?", "Why does this fail?\n\n```\n" + "print('x')\n" * 30 + "```"),
    ],
)
def test_more_asked_is_more_demand(less: str, more: str) -> None:
    assert LEAST <= demand_of(less) < demand_of(more) <= MOST


def test_question_marks_in_code_ask_nothing() -> None:
    assert demand_of("See `a ? b : c` here.") == demand_of("See it here.")


def test_other_languages_are_read_by_their_questions() -> None:
    assert demand_of("油は何度ですか？") == demand_of("How hot should the oil be?")
