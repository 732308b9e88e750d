"""The words by which one recognises the examples in our prompts.

All examples are from one story that no seed of ours tells, a marionette theatre, so that whatever of it turns up in a
conversation was copied. Asking again (`generators/asking.py`) keeps it out; the check `leaks` looks for what is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

EXAMPLE_TERMS = ("marionette", "lantern play", "winter play", "dimmer board", "limewood", "torvald")
"""Case-folded. Every example of a template holds one of them, but for those of the detectors and of choosing."""

_TERM = re.compile("|".join(rf"\b{re.escape(term)}" for term in EXAMPLE_TERMS), re.IGNORECASE)


def find_copied(text: str, known: Iterable[str]) -> str | None:
    """Return the first term of the examples that a text says, unless one of the `known` texts says it too.

    `known` is looked at only when a term is found.
    """
    for match in _TERM.finditer(text):
        term = match.group().casefold()
        if not any(term in text_.casefold() for text_ in known):
            return term
    return None
