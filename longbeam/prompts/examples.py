"""Words that identify the examples of our prompts.

All examples come from one story that none of our seeds tells, a marionette theatre, so their words in a conversation
were copied. A retry (`models/asking.py`) keeps copies out; the check `leaks` finds those that remain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

EXAMPLE_TERMS = ("marionette", "lantern play", "winter play", "dimmer board", "limewood", "yrsa")
"""Case-folded terms. Every example in a template has one, except in the prompts of detectors and of choosing."""


def find_copied(text: str, known: Iterable[str]) -> str | None:
    """Return the first term of the examples in a text, unless one of the `known` texts has it, too.

    `known` is read only if a term is found.
    """
    folded = text.casefold()
    for term in EXAMPLE_TERMS:
        # Replies are long and terms are rare: a plain search in front costs a twentieth of the pattern's time.
        if term in folded and re.search(rf"\b{term}s?\b", folded) and not any(term in k.casefold() for k in known):
            return term
    return None
