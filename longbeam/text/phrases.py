"""English phrases that code writes and looks for: lists of names, and places in a list."""

from __future__ import annotations

from collections.abc import Sequence

ORDINAL_WORDS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
"""English words of the places from 1 to 10, in their order."""


def listed(names: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`; raises IndexError for no name."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
