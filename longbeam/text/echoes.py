"""Echoes: questions that repeat the words of a denial, so that a search for them finds it."""

from __future__ import annotations

import re

from longbeam.text.sentences import sentences
from longbeam.text.words import content_words

ECHO = 0.8
"""Share of a denial's words that a question must have to repeat it."""
MIN_WORDS = 4
"""Denials with fewer words of their own cannot be asked about without them."""
_NEVER = re.compile(r"\bnever\b|n['’]t\b|\bnot\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;:]\s")


def echoed_denial(question: str, text: str) -> str:
    """Return the clause of a text that denies something and that a question repeats; empty if there is none."""
    asked = content_words(question)
    for clause in (c for a, b in sentences(text) for c in _CLAUSE.split(text[a:b]) if _NEVER.search(c)):
        words = content_words(clause) - {"never", "ever"}
        if len(words) >= MIN_WORDS and len(words & asked) >= ECHO * len(words):
            return clause
    return ""
