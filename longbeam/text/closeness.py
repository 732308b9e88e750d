"""Closeness of words: whether a text has them near enough to each other to say something of all of them.

A long reply speaks of many things. That it has every word of a question somewhere does not make it an answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

REACH = 400
"""Most characters between the starts of words of one statement: a paragraph, or a line with its heading."""


def stand_together(text: str, words: Iterable[str]) -> bool:
    """Return whether a text has all words within `REACH` characters, also inside longer words; case counts."""
    return within_reach([[m.start() for m in re.finditer(re.escape(word), text)] for word in set(words)])


def within_reach(places: Sequence[Sequence[int]]) -> bool:
    """Return whether one place of each sequence can be chosen so that all lie within `REACH`; true for no sequences."""
    marked = sorted((place, i) for i, found in enumerate(places) for place in found)
    inside = Counter[int]()
    first = 0
    for place, i in marked:
        inside[i] += 1
        while place - marked[first][0] > REACH:
            inside[marked[first][1]] -= 1
            first += 1
        if all(inside[j] for j in range(len(places))):
            return True
    return not places
