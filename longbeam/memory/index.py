"""Index over texts, by BM25, vectors, or both, which several memory systems share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from longbeam.errors import SpecError
from longbeam.memory.base import Tools
from longbeam.memory.retrieval import Bm25Index, Embedder, Vectors
from longbeam.schemas import PreparationUsage

Retriever = Literal["bm25", "dense", "hybrid"]


def choose_retriever(
    setting: str, named: Retriever | None, embedder: Embedder | None, *, with_embedder: Retriever = "dense"
) -> Retriever:
    """Return the retriever that the settings name; where they name none, `with_embedder`, or bm25 without an embedder.

    `setting`: the setting's name in errors, such as `rag.retriever`. Raises SpecError if the retriever needs vectors
    and there is no embedding model.
    """
    if embedder is not None:
        return named or with_embedder
    if named in ("dense", "hybrid"):
        raise SpecError(
            f"{setting} = {named!r} needs an embedding model; name one with `--embedder`, or set {setting}=bm25"
        )
    return "bm25"


class TextIndex:
    """Scores a fixed list of texts for a query. The search is exact: a few thousand vectors need no approximation."""

    def __init__(self, size: int, lexical: Bm25Index | None, weight_dense: float) -> None:
        """Use `build`."""
        self._size = size
        self._lexical = lexical
        self._weight_dense = weight_dense
        self._embedder: Embedder | None = None
        self._vectors: Vectors | None = None
        self._embedded_tokens = 0

    @classmethod
    async def build(
        cls, texts: Sequence[str], retriever: Retriever, tools: Tools, *, weight_dense: float = 0.7
    ) -> TextIndex:
        """Index the texts; all but bm25 need an embedder among the tools."""
        index = cls(len(texts), Bm25Index.of(texts) if retriever != "dense" else None, weight_dense)
        if retriever != "bm25" and texts:
            assert tools.embedder is not None
            index._embedder = tools.embedder
            index._vectors = await tools.embedder.embed(texts)
            index._embedded_tokens = sum(tools.count_tokens(text) for text in texts)
        return index

    async def scores(self, query: str) -> NDArray[np.float32]:
        """Return one score per text: BM25, the cosine, or weight * cosine + (1 - weight) * BM25 / its highest."""
        lexical = self._lexical.scores(query) if self._lexical else None
        if self._vectors is None:
            return lexical if lexical is not None else np.zeros(self._size, dtype=np.float32)
        assert self._embedder is not None
        cosine: NDArray[np.float32] = self._vectors @ (await self._embedder.embed([query], is_query=True))[0]
        if lexical is None:
            return cosine
        highest = float(lexical.max()) or 1.0
        mixed: NDArray[np.float32] = self._weight_dense * cosine + (1 - self._weight_dense) * lexical / highest
        return mixed

    def usage(self) -> PreparationUsage:
        """Return the number of embedded texts, their tokens before any cutting, and the bytes of the index."""
        lexical = self._lexical.index_bytes if self._lexical else 0
        if self._vectors is None:
            return PreparationUsage(index_bytes=lexical)
        return PreparationUsage(
            embedded_texts=len(self._vectors),
            embedded_tokens=self._embedded_tokens,
            index_bytes=lexical + self._vectors.nbytes,
        )
