"""The words by which one recognises the examples in our prompts.

All examples are from one story that no seed of ours tells, a marionette theatre, so that whatever of it turns up in a
conversation was copied. Asking again (`models/asking.py`) keeps it out; the check `leaks` looks for what is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

EXAMPLE_TERMS = ("marionette", "lantern play", "winter play", "dimmer board", "limewood", "yrsa")
"""Case-folded. Every example of a template holds one of them, but for those of the detectors and of choosing."""


def find_copied(text: str, known: Iterable[str]) -> str | None:
    """Return the first term of the examples that a text says, unless one of the `known` texts says it too.

    `known` is looked at only when a term is found.
    """
    folded = text.casefold()
    for term in EXAMPLE_TERMS:
        # Replies are long and terms are rare: a plain search first costs a twentieth of a pattern.
        if term in folded and re.search(rf"\b{term}s?\b", folded) and not any(term in k.casefold() for k in known):
            return term
    return None
