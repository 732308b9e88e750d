"""Words that stand close enough together to say something of all of them."""

from __future__ import annotations

from longbeam.text import READING, stand_together, within_reach


def test_words_of_one_paragraph_stand_together_and_those_of_a_long_reply_do_not() -> None:
    assert stand_together("dana painted the kitchen", ["dana", "kitchen"])
    assert not stand_together(f"dana came. {'and so on. ' * 60} the kitchen", ["dana", "kitchen"])
    assert stand_together(f"dana came. {'and so on. ' * 60} the kitchen of dana", ["dana", "kitchen"])
    assert not stand_together("dana came", ["dana", "kitchen"])


def test_the_reach_counts_between_the_outermost_starts() -> None:
    assert within_reach([[0, 900], [900 - READING.reach]])
    assert not within_reach([[0], [READING.reach + 1]])
    assert within_reach([])
