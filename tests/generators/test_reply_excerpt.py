"""What the question detector is shown of a reply."""

from __future__ import annotations

import pytest

from longbeam.generators import DIALOGUE, asking_part, asks, ends_asking


def test_short_reply_is_kept_whole() -> None:
    assert asking_part("Two weeks.\n\nWhich day suits you?\n") == "Two weeks.\n\nWhich day suits you?"


def test_questions_before_the_end_are_kept_and_gaps_are_marked() -> None:
    end = "x" * DIALOGUE.end_characters
    reply = f"First.\nSecond.\nHow many guests are there?\nThird.\n{end}"
    assert asking_part(reply) == f"[...]\nHow many guests are there?\n[...]\n{end}"


def test_question_marks_in_code_ask_nobody() -> None:
    end = "x" * DIALOGUE.end_characters
    reply = f"```sql\nSELECT * FROM t WHERE a = ?\n```\n質問はありますか？\n{end}"
    assert asking_part(reply) == f"[...]\n質問はありますか？\n{end}"


def test_end_is_kept_in_whole_lines() -> None:
    line = "y" * (DIALOGUE.end_characters - 1)
    assert asking_part(f"a\nb\n{line}z") == f"[...]\n{line}z"
    assert asking_part("") == ""


@pytest.mark.parametrize(
    ("reply", "has_question", "at_end"),
    [
        ("Take the blue one.", False, False),
        ("Take the blue one. Which room is it for?", True, True),
        ("Which room is it for? Take the blue one.", True, False),
        ("Take the blue one. (Or is it too **dark?**)\n", True, True),
        ("質問はありますか？", True, True),
        ('Ask her "And what else?" and wait.', False, False),
        ("Ask her “And what else?” Which day suits you?", True, True),
        ("```sql\nSELECT * FROM t WHERE a = ?\n```\nThat is all.", False, False),
    ],
)
def test_a_reply_asks_where_it_has_a_question_mark_outside_of_code(
    reply: str, has_question: bool, at_end: bool
) -> None:
    assert (asks(reply), ends_asking(reply)) == (has_question, at_end)
