"""The case-folded texts of a conversation in one temporary file, searched for words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from longbeam.store.spill import SpilledBytes

BLOCK = 512
"""Texts that are read and searched together."""


class FoldedTexts:
    """Finds the texts that contain some words; only the block that is being searched is in memory.

    The texts are read when the first search begins.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._source = texts

    @cached_property
    def _texts(self) -> SpilledBytes:
        texts = SpilledBytes()
        for text in self._source:
            texts.append(text.casefold().encode("utf-8", "surrogatepass"))
        return texts

    def holding(self, words: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield ordinal and case-folded text of those that contain all words, anywhere; words are not empty."""
        needles = sorted((w.encode("utf-8", "surrogatepass") for w in words), key=len, reverse=True)
        for first in range(0, len(self._texts), BLOCK):
            end = min(first + BLOCK, len(self._texts))
            data, begin = self._texts.between(first, end), self._texts.start(first)
            # Most words are in few texts, so one search over the block spares most blocks the searches text by text.
            if any(needle not in data for needle in needles):
                continue
            for ordinal in range(first, end):
                a, b = self._texts.start(ordinal) - begin, self._texts.start(ordinal + 1) - begin
                if all(data.find(needle, a, b) >= 0 for needle in needles):
                    yield ordinal, data[a:b].decode("utf-8", "surrogatepass")
