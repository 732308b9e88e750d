"""An index over texts that several memory systems search: BM25, vectors, or both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from longbeam.errors import SpecError
from longbeam.memory.bm25 import Bm25Index
from longbeam.memory.embedding import Embedder, Vectors

Retriever = Literal["bm25", "dense", "hybrid"]


def refuse_without_embedder(setting: str, retriever: Retriever | None, embedder: Embedder | None) -> None:
    """Raise SpecError when vectors are asked for and there is nothing to make them."""
    if retriever in ("dense", "hybrid") and embedder is None:
        raise SpecError(
            f"{setting} = {retriever!r} needs an embedding model; name one with `--embedder`, or set {setting}=bm25"
        )


class TextIndex:
    """A fixed list of texts and their scores for a query. A few thousand vectors need no approximate search."""

    def __init__(self, texts: Sequence[str], lexical: Bm25Index | None, vectors: Vectors | None) -> None:
        """Use `build`."""
        self._size = len(texts)
        self._lexical = lexical
        self._vectors = vectors

    @classmethod
    async def build(cls, texts: Sequence[str], retriever: Retriever, embedder: Embedder | None) -> TextIndex:
        """Index the texts; `embedder` is needed for all but bm25."""
        lexical = Bm25Index(texts) if retriever != "dense" else None
        vectors = None
        if retriever != "bm25" and texts:
            assert embedder is not None
            vectors = await embedder.embed(texts)
        return cls(texts, lexical, vectors)

    async def scores(self, query: str, embedder: Embedder | None, *, weight_dense: float = 0.7) -> NDArray[np.float32]:
        """Return one score per text: BM25, the cosine, or weight * cosine + (1 - weight) * BM25 / its highest."""
        lexical = self._lexical.scores(query) if self._lexical else None
        if self._vectors is None:
            return lexical if lexical is not None else np.zeros(self._size, dtype=np.float32)
        assert embedder is not None
        cosine: NDArray[np.float32] = self._vectors @ (await embedder.embed([query], is_query=True))[0]
        if lexical is None:
            return cosine
        highest = float(lexical.max()) or 1.0
        mixed: NDArray[np.float32] = weight_dense * cosine + (1 - weight_dense) * lexical / highest
        return mixed

    @property
    def embedded_texts(self) -> int:
        """Texts that have a vector."""
        return 0 if self._vectors is None else len(self._vectors)

    @property
    def index_bytes(self) -> int:
        """Bytes of the index's arrays."""
        return (self._lexical.index_bytes if self._lexical else 0) + (
            self._vectors.nbytes if self._vectors is not None else 0
        )
