from __future__ import annotations

import time

import pytest

from longbeam.text import fenced_spans, quotable, sentences


def _split(text: str) -> list[str]:
    return [text[a:b] for a, b in sentences(text)]


def test_sentences_keep_abbreviations_decimals_and_versions_whole() -> None:
    text = "Dr. Lee said 14.5 is fine, e.g. with v2.3.1. then i left! See J. Smith at 5 p.m. on Monday. Done?"
    assert _split(text) == [
        "Dr. Lee said 14.5 is fine, e.g. with v2.3.1.",
        "then i left!",
        "See J. Smith at 5 p.m. on Monday.",
        "Done?",
    ]


def test_sentences_go_on_behind_a_factorial_within_a_calculation() -> None:
    text = "That makes 5! / 3! = 20, or 6! - 5! = 600. I have 3! What now? It is 4!\n\n2 more."
    assert _split(text) == [
        "That makes 5! / 3! = 20, or 6! - 5! = 600.",
        "I have 3!",
        "What now?",
        "It is 4!",
        "2 more.",
    ]


def test_sentences_leave_out_list_markers_and_code() -> None:
    text = "## Plan\n\nFirst line\ngoes on.\n\n1. Buy it. Now.\n- [x] Sell\n\n```py\nx = 1. + 2\n```\n> Quoted."
    assert _split(text) == ["Plan", "First line\ngoes on.", "Buy it.", "Now.", "Sell", "Quoted."]


def test_fenced_spans_tell_the_unclosed() -> None:
    assert [closed for _, closed in fenced_spans("```\na\n```\n~~~\nb")] == [True, False]
    assert fenced_spans("use ```x``` here") == ()


@pytest.mark.parametrize(
    "table",
    [
        "| Item | Cost |\n|---|---|\n| Tiles | $210 |",
        "| Item | Cost |\n| :-- | --: |\n| Tiles | $210 |",
        "Item | Cost\n--- | ---\n| Tiles | $210 |",
        "> | Item | Cost |\n> |---|---|\n> | Tiles | $210 |",
    ],
)
def test_the_head_of_a_table_tells_nothing_that_is_quoted(table: str) -> None:
    text = f"Here it is:\n\n{table}\n\nThat is all | or not."
    assert [text[a:b] for a, b in quotable(text)] == ["Here it is:", "| Tiles | $210 |", "That is all | or not."]


@pytest.mark.parametrize("tail", [" " * 200_000, "-" * 200_000 + "x", "|-" * 100_000 + "x", "> " * 100_000])
def test_a_long_line_below_a_bar_takes_no_time(tail: str) -> None:
    began = time.process_time()
    quotable(f"a | b\n{tail}")
    assert time.process_time() - began < 2
