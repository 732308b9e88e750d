"""Replies that begin well and repeat one sentence to their end."""

from __future__ import annotations

from tests.validation.told import imported, names

OPENING = (
    "Apologise for the tone and keep the point. Ask somebody from outside which of the two plans costs less, put both "
    "numbers on one page, and sleep over it. Whoever is asked first says what matters most; the other one picks the "
    "day. Nobody pays before both have signed, and next Thursday you look at the list together, with tea and no phone."
)


def test_a_reply_that_repeats_itself_in_its_second_half_is_an_error() -> None:
    reply = OPENING + " I hope that this helps you with your plan." * 70
    assert "degenerate.repeats_itself" in names(imported(("What now?", reply)), "degenerate")
