"""Interface of embedding models, and a store that embeds no text twice."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from longbeam.store.sqlite import Format, open_for_writing, transaction, translated_errors

Vectors = NDArray[np.float32]
"""Shape (texts, dimensions); each row has length 1."""

VECTOR_STORE = Format(
    "vector store",
    0x6C627663,  # "lbvc"
    (("CREATE TABLE vectors (sha256 BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID, STRICT",),),
)
"""`sha256`: digest of model, query flag and text. `vector`: little-endian float32."""
_AT_A_TIME = 512
"""Texts embedded before their vectors are stored: a kill loses at most so many."""
_STORED = np.dtype("<f4")


class Embedder(Protocol):
    """An embedding model."""

    @property
    def name(self) -> str:
        """Name of the model in results."""

    async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> Vectors:
        """Return one unit vector per text; models with a prefix for queries add it to those."""


class StoredEmbedder:
    """An embedder that keeps its vectors on disk; one file may serve several models."""

    def __init__(self, inner: Embedder, path: Path) -> None:
        """Open or create the store at `path`; StoreError if the file is something else."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._inner = inner
        self._path = path
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
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        for start in range(0, len(new), _AT_A_TIME):
            batch = list(new.items())[start : start + _AT_A_TIME]
            vectors = await self._inner.embed([text for _, text in batch], is_query=is_query)
            self._keep([key for key, _ in batch], vectors)
            found.update({key: vector for (key, _), vector in zip(batch, vectors, strict=True)})
        return np.stack([found[key] for key in keys]) if keys else np.zeros((0, 0), dtype=np.float32)

    def _key(self, text: str, is_query: bool) -> bytes:
        return hashlib.sha256(f"{self.name}\0{is_query:d}\0{text}".encode()).digest()

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
