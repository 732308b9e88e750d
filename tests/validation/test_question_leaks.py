"""Questions that repeat a short instruction."""

from __future__ import annotations

import pytest

from tests.validation.told import asks, imported, names

INSTRUCTION = "When I ask for book tips, always say how long the book is."


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What could I read after a good sea story?", []),
        (f"What could I read after a good sea story? {INSTRUCTION}", ["question_leaks.requirement"]),
    ],
)
def test_a_question_that_repeats_a_short_instruction_is_an_error(question: str, expected: list[str]) -> None:
    cited = {0: "instruction"}
    probe = asks("instruction_following", question, "It gives the length.", cited, instruction=INSTRUCTION)
    assert names(imported((INSTRUCTION, "I will."), probe), "question_leaks") == expected
