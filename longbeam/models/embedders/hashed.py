"""Vectors without a model: stems hashed into buckets, so that dense retrieval runs wherever longbeam does.

It knows no synonyms and compares words only; results name it `hashed`, and nobody should take it for an embedding
model. Its use is to run and test everything that needs vectors.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from longbeam.text import words_of

DIMENSIONS = 512
_LEAST_LENGTH = 1e-12


class HashedEmbedder:
    """One signed bucket per stem (feature hashing, Weinberger et al. 2009), weighted 1 + log(count)."""

    name = "hashed"

    def __init__(self) -> None:
        self._buckets: dict[str, tuple[int, float]] = {}

    async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> NDArray[np.float32]:
        """Return one unit vector per text; of a text without words, the zero vector."""
        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word, count in Counter(words_of(text)).items():
                place, sign = self._bucket(word)
                row[place] += sign * (1 + math.log(count))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, _LEAST_LENGTH), dtype=np.float32)

    def _bucket(self, word: str) -> tuple[int, float]:
        if word not in self._buckets:
            digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
            number = int.from_bytes(digest, "big")
            self._buckets[word] = ((number >> 1) % DIMENSIONS, 1.0 if number & 1 else -1.0)
        return self._buckets[word]
