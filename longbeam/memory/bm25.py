"""BM25 over passages, with the bm25s library and one tokenisation for all lexical systems and floors."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from longbeam.text.words import words_of


@contextmanager
def _hidden(module: str) -> Iterator[None]:
    """Let imports find no such module."""
    modules: dict[str, Any] = sys.modules  # with None there, an import finds nothing
    before = modules.pop(module, None)
    modules[module] = None
    try:
        yield
    finally:
        del modules[module]
        if before is not None:
            modules[module] = before


# bm25s tries out JAX where it finds it, and JAX then takes three quarters of the GPU's memory. Nothing here uses it.
with _hidden("jax"):
    import bm25s


class Bm25Index:
    """BM25 (Lucene's variant, k1 1.5, b 0.75) over a fixed list of texts."""

    _kept: ClassVar[WeakValueDictionary[bytes, Bm25Index]] = WeakValueDictionary()

    @classmethod
    def of(cls, texts: Sequence[str]) -> Bm25Index:
        """Return the index over these texts; systems that search the same exchanges at the same time share it."""
        digest = hashlib.sha256()
        for text in texts:
            digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
        key = digest.digest()
        index = cls._kept.get(key)
        if index is None:
            index = cls._kept[key] = cls(texts)
        return index

    def __init__(self, texts: Iterable[str], *, vocabulary: Collection[str] | None = None) -> None:
        """Index texts; with a `vocabulary`, for queries of these words only, in a fraction of the memory."""
        known = None if vocabulary is None else {word: word for word in vocabulary}
        # A word outside of the vocabulary counts towards the length of its text and nothing else.
        tokens = [
            (words_of(text) if known is None else [known.get(word, "") for word in words_of(text)]) or [""]
            for text in texts
        ]
        self._size = len(tokens)
        self._index = bm25s.BM25(k1=1.5, b=0.75, csc_backend="numpy")
        if tokens:
            self._index.index(tokens, show_progress=False)

    def scores(self, query: str) -> NDArray[np.float32]:
        """Return one score per text; 0 for texts that share no word with the query."""
        words = [w for w in dict.fromkeys(words_of(query)) if w in self._index.vocab_dict] if self._size else []
        if not words:
            return np.zeros(self._size, dtype=np.float32)
        return np.asarray(self._index.get_scores(words), dtype=np.float32)

    @property
    def index_bytes(self) -> int:
        """Bytes of the index's arrays."""
        return (
            sum(int(part.nbytes) for part in self._index.scores.values() if hasattr(part, "nbytes"))
            if self._size
            else 0
        )


def ranked(scores: NDArray[np.float32], k: int) -> list[int]:
    """Return the places of the k highest scores above 0, best first; equal scores in order of place."""
    if not scores.size:
        return []
    best = np.lexsort((np.arange(scores.size), -scores))[:k]
    return [int(i) for i in best if scores[i] > 0]
