"""What a text says that an amount of money is for: both belong together, and nothing denies it."""

from __future__ import annotations

import pytest

from longbeam.text import money, use_quote

USE = "a second pot of glue"


@pytest.mark.parametrize(
    "text",
    [
        "Put another $9 beside the money for the stage and keep it for a second pot of glue.",
        "Put another $9 aside. Keep it for a second pot of glue.",
        "With **$9** more there is enough for **a second pot of glue**.",
        "For a second pot of glue, keep another 9 dollars ready.",
        "Your $45 does not cover the glue, so put another $9 aside for a second pot of glue.",
        "Put another $9 beside the $45 for the paint, and keep it for a second pot of glue.",
        "Put another $9 aside and do not touch it; it is for a second pot of glue, so that you are not stuck.",
        "Keep $9 not for nails but for a second pot of glue.",
        "- $12: nails\n- $9: a second pot of glue",
    ],
)
def test_a_sentence_or_two_say_what_an_amount_is_for(text: str) -> None:
    quote = use_quote(text, money(9), USE)
    assert quote is not None
    assert quote in text
    assert "nails\n" not in quote


@pytest.mark.parametrize(
    "text",
    [
        "Put another $9 aside.",
        "Put another $8 aside for a second pot of glue.",
        "Put another €9 aside for a second pot of glue.",
        "I would not keep $9 for a second pot of glue.",
        "Don't put $9 aside; a second pot of glue is on its way.",
        "A second pot of glue isn't worth $9.",
        "For a second pot of glue, not $9 but $12.",
        "Keep $9 for new brushes, and never for a second pot of glue.",
        "Put another $9 beside the stage: $5 for brushes and $4 for a second pot of glue.",
        "Keep $9 to $12 ready for a second pot of glue.",
        "Keep $9-12 ready for a second pot of glue.",
        "- $9: nails\n- a second pot of glue: $12",
        "Keep $9 for nails. It rains a lot. A second pot of glue would be useful, too.",
    ],
)
def test_an_amount_that_is_denied_or_belongs_to_something_else_has_no_use(text: str) -> None:
    assert use_quote(text, money(9), USE) is None


def test_a_purpose_may_have_a_denial_of_its_own() -> None:
    said = "Keep $9 ready for a guest who cannot eat wheat."
    assert use_quote(said, money(9), "a guest who cannot eat wheat") == said


def test_the_shorter_of_two_quotes_is_taken() -> None:
    said = "Keep $9 for a second pot of glue."
    told = f"{said} With $9 in mind, buy early, buy well, and think of a second pot of glue."
    assert use_quote(told, money(9), USE) == said
