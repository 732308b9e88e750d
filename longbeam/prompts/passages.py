"""Passages that a reply copies from its own prompt, and the words that identify the examples of our prompts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

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


COPIED_WORDS = 8
"""Words in a row that no reply shares with its prompt by chance: none of 223 recorded replies does."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def passages_of(texts: Iterable[str]) -> frozenset[str]:
    """Return every run of COPIED_WORDS words in the texts, in one spelling."""
    return frozenset(run for text in texts for run in words_in_a_row(text))


def find_passage(text: str, passages: frozenset[str], vocabulary: frozenset[str], known: Iterable[str]) -> str | None:
    """Return the first of the passages that a text holds and no `known` text does; None if there is none.

    `vocabulary`: the words of the passages. `known` is read only if a passage is found.
    """
    spelled: list[str] | None = None
    words, in_a_row = _WORD.findall(text.casefold()), 0
    for end, word in enumerate(words, 1):
        in_a_row = in_a_row + 1 if word in vocabulary else 0
        if in_a_row >= COPIED_WORDS and (run := " ".join(words[end - COPIED_WORDS : end])) in passages:
            spelled = [_spelled(k) for k in known] if spelled is None else spelled
            if not any(run in k for k in spelled):
                return run
    return None


def vocabulary_of(passages: Iterable[str]) -> frozenset[str]:
    """Return the words of passages."""
    return frozenset(word for passage in passages for word in passage.split())


def words_in_a_row(text: str) -> Iterator[str]:
    """Yield every run of COPIED_WORDS words of a text, in one spelling."""
    words = _WORD.findall(text.casefold())
    return (" ".join(words[i : i + COPIED_WORDS]) for i in range(len(words) - COPIED_WORDS + 1))


def _spelled(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
