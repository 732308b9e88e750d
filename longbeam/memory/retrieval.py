"""Retrieval that memory systems share.

BM25 (the bm25s library, one tokenisation) and embeddings (no text is embedded twice).
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from longbeam.errors import SpecError
from longbeam.models.embedders import Embedder, vectors_of
from longbeam.store import FileFormat, open_for_writing, transaction
from longbeam.store.sqlite import translated_errors
from longbeam.text import words_of


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
# bm25s sets its own logger to DEBUG: every handler of the root logger, Dask's or a notebook's, would print each index.
logging.getLogger("bm25s").setLevel(logging.WARNING)


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


Vectors = NDArray[np.float32]
"""Shape (texts, dimensions); each row has length 1."""

VECTOR_STORE = FileFormat(
    "vector store",
    0x6C627663,  # "lbvc"
    (("CREATE TABLE vectors (sha256 BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID, STRICT",),),
)
"""`sha256`: digest of model, query flag and text. `vector`: little-endian float32."""
_AT_A_TIME = 512
"""Texts embedded before their vectors are stored: a kill loses at most so many."""
_STORED = np.dtype("<f4")


class StoredEmbedder:
    """An embedder that keeps its vectors on disk; one file may serve several models."""

    def __init__(self, inner: Embedder, path: Path) -> None:
        """Open or create the store at `path`; StoreError if the file is something else."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._inner = inner
        self._path = path
        self._size = 0
        self._db: sqlite3.Connection = open_for_writing(path, VECTOR_STORE)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._inner.name

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> Vectors:
        """Return one unit vector per text; only new texts are embedded."""
        keys = [self._key(text, is_query) for text in texts]
        found = self._stored(keys)
        for vector in found.values():
            self._require_size(vector.size)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        for start in range(0, len(new), _AT_A_TIME):
            batch = list(new.items())[start : start + _AT_A_TIME]
            made = await self._inner.embed([text for _, text in batch], is_query=is_query)
            vectors = vectors_of(made, len(batch), f"embedders: {self.name!r}")
            self._require_size(vectors.shape[1])
            self._keep([key for key, _ in batch], vectors)
            found.update({key: vector for (key, _), vector in zip(batch, vectors, strict=True)})
        return np.stack([found[key] for key in keys]) if keys else np.zeros((0, 0), dtype=np.float32)

    def _key(self, text: str, is_query: bool) -> bytes:
        return hashlib.sha256(f"{self.name}\0{is_query:d}\0{text}".encode()).digest()

    def _require_size(self, size: int) -> None:
        """Raise SpecError where the model's vectors are not as long as before; `vectors.sqlite` may have other ones."""
        self._size = self._size or size
        if size != self._size:
            raise SpecError(
                f"embedders: {self.name!r} gave vectors of {size} numbers, and others of {self._size}, which may be in"
                f" {self._path}; give another model another name, or remove that file"
            )

    def _stored(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        found = {}
        with translated_errors(self._path):
            for start in range(0, len(keys), _AT_A_TIME):
                some = keys[start : start + _AT_A_TIME]
                marks = ",".join("?" * len(some))
                for key, blob in self._db.execute(
                    f"SELECT sha256, vector FROM vectors WHERE sha256 IN ({marks})", some
                ):
                    found[key] = np.frombuffer(blob, dtype=_STORED).astype(np.float32)
        return found

    def _keep(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        rows = [(key, vector.astype(_STORED).tobytes()) for key, vector in zip(keys, vectors, strict=True)]
        with translated_errors(self._path), transaction(self._db):
            self._db.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
