"""What the question detector is shown of a reply."""

from __future__ import annotations

import pytest

from longbeam.generators import END_CHARACTERS, asking_part, may_ask


def test_short_reply_is_kept_whole() -> None:
    assert asking_part("Two weeks.\n\nWhich day suits you?\n") == "Two weeks.\n\nWhich day suits you?"


def test_questions_before_the_end_are_kept_and_gaps_are_marked() -> None:
    end = "x" * END_CHARACTERS
    reply = f"First.\nSecond.\nHow many guests are there?\nThird.\n{end}"
    assert asking_part(reply) == f"[...]\nHow many guests are there?\n[...]\n{end}"


def test_question_marks_in_code_ask_nobody() -> None:
    end = "x" * END_CHARACTERS
    reply = f"```sql\nSELECT * FROM t WHERE a = ?\n```\n質問はありますか？\n{end}"
    assert asking_part(reply) == f"[...]\n質問はありますか？\n{end}"


def test_end_is_kept_in_whole_lines() -> None:
    line = "y" * (END_CHARACTERS - 1)
    assert asking_part(f"a\nb\n{line}z") == f"[...]\n{line}z"
    assert asking_part("") == ""


@pytest.mark.parametrize(
    ("reply", "language", "asks"),
    [
        ("Take the blue one.", "English", False),
        ("Take the blue one. Which room is it for?", "English", True),
        ("Take the blue one. Let me know the size of the room.", "English", True),
        ("Could you tell me the size of the room.", "English", True),
        ("Please share the bill, and I will check it.", "English", True),
        ("```sql\nSELECT * FROM t WHERE a = ?\n```\nThat is all.", "English", False),
        ("Nimm das blaue.", "German", True),
    ],
)
def test_a_reply_may_ask_by_a_question_mark_or_by_words_and_in_other_languages_always(
    reply: str, language: str, asks: bool
) -> None:
    assert may_ask(reply, language) is asks
