"""The case-folded texts of a conversation in one file, searched for words as fast as the machine reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from longbeam.store.spool import Pieces

AT_ONCE = 512
"""Texts that are read and searched together."""


class FoldedTexts:
    """Finds the texts that hold some words; of the texts themselves, those of one reading are in memory."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = Pieces()
        for text in texts:
            self._texts.append(text.casefold().encode("utf-8", "surrogatepass"))

    def holding(self, words: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield ordinal and case-folded text of those that hold all words, anywhere; words are not empty."""
        needles = sorted((w.encode("utf-8", "surrogatepass") for w in words), key=len, reverse=True)
        for first in range(0, len(self._texts), AT_ONCE):
            end = min(first + AT_ONCE, len(self._texts))
            for ordinal, text in self._holding(first, end, needles):
                yield ordinal, text.decode("utf-8", "surrogatepass")

    def _holding(self, first: int, end: int, needles: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
        data, begin = self._texts.between(first, end), self._texts.start(first)
        # One search over all of them: most words stand in few texts, and text by text would cost a call for each.
        at = data.find(needles[0])
        ordinal = first
        while at >= 0 and ordinal < end:
            while self._texts.start(ordinal + 1) - begin <= at:
                ordinal += 1
            a, b = self._texts.start(ordinal) - begin, self._texts.start(ordinal + 1) - begin
            text = data[a:b]
            if all(needle in text for needle in needles):  # the first may lie across two texts
                yield ordinal, text
            ordinal += 1
            at = data.find(needles[0], b)
