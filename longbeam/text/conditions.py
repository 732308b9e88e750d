"""Conditions of standing wishes: whether one question can meet two of them."""

from __future__ import annotations

from functools import lru_cache

from longbeam.text.words import content_words

_FRAME = content_words(
    "ask asks asking want need tell give know help something anything thing things question please go work"
)
"""Words that say only that the user asks."""
MOST_SHARED = 0.5
"""Share of the words of two conditions together that both have, from which on they overlap."""


@lru_cache(maxsize=4096)
def _subject(condition: str) -> frozenset[str]:
    return content_words(condition) - _FRAME


def overlapping(condition: str, other: str) -> bool:
    """Return whether a question that meets one condition is likely to meet the other, too.

    `when I ask about fish` overlaps with `when I ask what fish costs`: an answer to the second would be judged by two
    wishes, and neither could be told from the other.
    """
    one, two = _subject(condition), _subject(other)
    if not one or not two:
        return condition.casefold().strip() == other.casefold().strip()
    return one <= two or two <= one or len(one & two) >= MOST_SHARED * len(one | two)
