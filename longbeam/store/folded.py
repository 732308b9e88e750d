"""The case-folded texts of a conversation in one file, searched for words as fast as the machine reads."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from longbeam.store.spill import SpilledBytes

AT_ONCE = 512
"""Texts that are read and searched together."""
KEPT_PARTS = 64
"""Words of which it is remembered which texts hold them."""
RARE = 1 / 8
"""Share of the texts up to which that is worth it."""


class FoldedTexts:
    """Finds the texts that hold some words; of the texts themselves, those of one reading are in memory.

    They are read when something is first asked for.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._source = texts
        self._places: OrderedDict[bytes, Sequence[int]] = OrderedDict()
        """Ordinals of all texts that hold a word which was asked for: what they do not hold needs no reading."""

    @cached_property
    def _texts(self) -> SpilledBytes:
        texts = SpilledBytes()
        for text in self._source:
            texts.append(text.casefold().encode("utf-8", "surrogatepass"))
        return texts

    def holding(self, words: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield ordinal and case-folded text of those that hold all words, anywhere; words are not empty."""
        needles = sorted((w.encode("utf-8", "surrogatepass") for w in words), key=len, reverse=True)
        for ordinal, text in self._holding(needles[0], self._known(needles)):
            if all(needle in text for needle in needles):
                yield ordinal, text.decode("utf-8", "surrogatepass")

    def _known(self, needles: Sequence[bytes]) -> Sequence[int] | None:
        """The fewest texts outside of which one of the words cannot be; None if there is nothing to know it from."""
        known = [part for part in self._places if any(part in needle for needle in needles)]
        if not known:
            return None
        part = min(known, key=lambda part: len(self._places[part]))
        self._places.move_to_end(part)
        return self._places[part]

    def _holding(self, word: bytes, known: Sequence[int] | None) -> Iterator[tuple[int, bytes]]:
        """Yield the texts that may hold a word: those known, or those that do."""
        if known is not None:
            yield from ((ordinal, self._texts.between(ordinal, ordinal + 1)) for ordinal in known)
            return
        found = array("I")
        for first in range(0, len(self._texts), AT_ONCE):
            for ordinal, text in self._searched(first, min(first + AT_ONCE, len(self._texts)), word):
                found.append(ordinal)
                yield ordinal, text
        if len(found) <= RARE * len(self._texts):
            self._places[word] = found
            if len(self._places) > KEPT_PARTS:
                self._places.popitem(last=False)

    def _searched(self, first: int, end: int, word: bytes) -> Iterator[tuple[int, bytes]]:
        data, begin = self._texts.between(first, end), self._texts.start(first)
        # One search over all of them: most words stand in few texts, and text by text would cost a call for each.
        at = data.find(word)
        ordinal = first
        while at >= 0 and ordinal < end:
            while self._texts.start(ordinal + 1) - begin <= at:
                ordinal += 1
            a, b = self._texts.start(ordinal) - begin, self._texts.start(ordinal + 1) - begin
            if at + len(word) <= b:  # it does not lie across two texts
                yield ordinal, data[a:b]
            ordinal += 1
            at = data.find(word, b)
