"""Forms of the sentences in which a user states wishes, drawn by code so that a plan's wishes are not all alike."""

from __future__ import annotations

import random

FORMS = (
    "the occasion first, then the wish, plainly",
    "the wish first, then the occasion",
    "a reason from the user's own life first, then the wish in half a sentence",
    "what goes wrong for the user without it, then the wish",
    "a weakness or a habit of the user's that makes it needed, then the wish",
    "a rule for the two of them, short and a little stiff",
    "thrown in as an afterthought, half a sentence",
)
"""Forms of a sentence that states a wish with its occasion. None brings in somebody who reads the answers along: from
such a person something may be kept (`side_stories.tell_confidences`), which everybody must then leave unsaid."""


def wish_forms(rng_key: str, count: int) -> tuple[str, ...]:
    """Return the forms of a plan's wishes in their order: each form once before any comes again."""
    rng = random.Random(f"{rng_key}/forms")
    drawn: list[str] = []
    while len(drawn) < count:
        drawn += rng.sample(FORMS, len(FORMS))
    return tuple(drawn[:count])
