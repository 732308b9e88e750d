"""Counts texts that repeat or almost repeat an earlier one, in memory that does not grow with their length.

A text is remembered by the smallest hashes of its three-word shingles (a bottom-k sketch). Two sketches
estimate the Jaccard similarity of the shingle sets; candidates are found by their very smallest hashes, so
that no text is compared with all others. Source: Broder (1997), "On the resemblance and containment of documents".
"""

from __future__ import annotations

import hashlib
import heapq
import re
import zlib
from collections import defaultdict
from dataclasses import dataclass, field

SHINGLE_WORDS = 3
SKETCH_SIZE = 32
INDEXED = 4
"""Smallest hashes by which candidates are found: two texts of similarity 0.8 share one of four nearly always."""
NEAR = 0.8
"""Similarity from which a text is a near duplicate."""
FEWEST_WORDS = 8
"""A shorter text resembles others by chance; only its exact repetition counts."""

_WORD = re.compile(r"\w+")


@dataclass
class RepetitionCounter:
    """Takes texts one by one and counts repetitions of earlier ones."""

    exact: int = 0
    near: int = 0
    _seen: set[bytes] = field(default_factory=set)
    _sketches: list[frozenset[int]] = field(default_factory=list)
    _index: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, text: str) -> None:
        """Count `text` if it repeats an earlier one; at most as one of exact and near."""
        folded = " ".join(text.casefold().split())
        key = hashlib.blake2b(folded.encode(), digest_size=16).digest()
        if key in self._seen:
            self.exact += 1
            return
        self._seen.add(key)
        words = _WORD.findall(folded)
        if len(words) < FEWEST_WORDS:
            return
        hashes = {
            zlib.crc32(" ".join(words[i : i + SHINGLE_WORDS]).encode()) for i in range(len(words) - SHINGLE_WORDS + 1)
        }
        smallest = heapq.nsmallest(SKETCH_SIZE, hashes)
        if self._resembles_earlier(smallest):
            self.near += 1
        for value in smallest[:INDEXED]:
            self._index[value].append(len(self._sketches))
        self._sketches.append(frozenset(smallest))

    def _resembles_earlier(self, smallest: list[int]) -> bool:
        sketch = frozenset(smallest)
        candidates = sorted({i for value in smallest[:INDEXED] for i in self._index.get(value, ())})
        return any(similarity(sketch, self._sketches[i]) >= NEAR for i in candidates)


def similarity(first: frozenset[int], second: frozenset[int]) -> float:
    """Return the estimated Jaccard similarity of two bottom-k sketches; exact while both sets fit in one."""
    union = heapq.nsmallest(SKETCH_SIZE, first | second)
    return sum(value in first and value in second for value in union) / len(union)
