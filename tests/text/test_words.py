from __future__ import annotations

from longbeam.text import bare_words, content_words, words_of


def test_words_are_stems_without_function_words() -> None:
    assert words_of("The sprints ended at 14.5 points") == words_of("sprint ends 14.5 point")


def test_content_words_leave_out_numbers_and_pieces_of_contractions() -> None:
    assert content_words("I've 14 of them, and she didn't say x") == content_words("say")


def test_bare_words_ignore_case_and_punctuation() -> None:
    assert bare_words("What's the  Budget?") == bare_words("what s the budget")
