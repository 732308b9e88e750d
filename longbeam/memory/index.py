"""Index over texts, by BM25, vectors, both, or a retriever of another kind, which several memory systems share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator

from longbeam.errors import SpecError
from longbeam.memory.base import Tools
from longbeam.memory.retrieval import Bm25Index, Vectors
from longbeam.models import has_sentence_transformers, sentence_model
from longbeam.models.embedders import Embedder
from longbeam.plugins import load, offered
from longbeam.schemas import PreparationUsage

ENTRY_POINTS = "longbeam.retrievers"
BUILT_IN = ("bm25", "dense", "hybrid")


def _known(name: str) -> str:
    provider, _, model = name.partition(":")
    if provider == "splade" and model and not has_sentence_transformers():
        raise ValueError(f"{name} needs sentence-transformers; `pip install longbeam[rerank]`")
    plug_ins = offered(ENTRY_POINTS, BUILT_IN)
    if name not in (*BUILT_IN, *plug_ins) and not (provider == "splade" and model):
        raise ValueError(f"no such retriever; there are {', '.join([*BUILT_IN, 'splade:NAME', *plug_ins])}")
    return name


Retriever = Annotated[str, AfterValidator(_known)]
"""`bm25`, `dense`, `hybrid`, `splade:NAME` (a sparse encoder) or the name of an entry point."""


class TextRetriever(Protocol):
    """Scores texts for a query by its own representation of both; one object serves one index."""

    async def index(self, texts: Sequence[str]) -> None:
        """Prepare the texts, of which there is at least one; called once."""

    async def scores(self, query: str) -> NDArray[np.float32]:
        """Return one score per text; texts at or below 0 are not found."""


class SparseEncoderRetriever:
    """A sparse encoder of sentence-transformers, such as SPLADE (Formal et al., 2021): learned weights of words."""

    def __init__(self, model: str) -> None:
        """`model`: such as `naver/splade-v2-distil`, or a folder with its files; loaded with the first text."""
        self._model = model
        self._texts: Any = None

    async def index(self, texts: Sequence[str]) -> None:
        """Encode the texts."""
        self._texts = await asyncio.to_thread(self._encoded, list(texts))

    async def scores(self, query: str) -> NDArray[np.float32]:
        """Return the dot products with the query."""
        return await asyncio.to_thread(self._scores, query)

    def _encoded(self, texts: list[str]) -> Any:
        with sentence_model("SparseEncoder", self._model) as encoder:
            return encoder.encode_document(texts, show_progress_bar=False, save_to_cpu=True)

    def _scores(self, query: str) -> NDArray[np.float32]:
        with sentence_model("SparseEncoder", self._model) as encoder:
            asked = encoder.encode_query([query], show_progress_bar=False, save_to_cpu=True)
            found: NDArray[np.float32] = np.asarray(encoder.similarity(asked, self._texts), dtype=np.float32)
        return found.reshape(-1)


def _made(name: str) -> TextRetriever | None:
    """Return the retriever with this name; None for those that `TextIndex` is itself."""
    if name in BUILT_IN:
        return None
    provider, _, model = name.partition(":")
    made: TextRetriever = SparseEncoderRetriever(model) if provider == "splade" else load(ENTRY_POINTS, name)()
    return made


def choose_retriever(
    setting: str, named: Retriever | None, embedder: Embedder | None, *, with_embedder: Retriever = "dense"
) -> Retriever:
    """Return the retriever that the settings name; where they name none, `with_embedder`, or bm25 without an embedder.

    `setting`: the setting's name in errors, such as `rag.retriever`. Raises SpecError if the retriever needs vectors
    and there is no embedding model.
    """
    if embedder is not None or named not in (None, "dense", "hybrid"):
        return named or with_embedder
    if named is not None:
        raise SpecError(
            f"{setting} = {named!r} needs an embedding model; name one with `--embedder`, or set {setting}=bm25"
        )
    return "bm25"


def scores_of(found: object, size: int, where: str) -> NDArray[np.float32]:
    """Return a package's scores; SpecError, which begins with `where`, for anything but one number per text."""
    try:
        scores = np.asarray(found, dtype=np.float32)
    except (ValueError, TypeError):
        scores = np.empty((), dtype=np.float32)
    if scores.shape != (size,) or not np.isfinite(scores).all():
        raise SpecError(f"{where} gave {type(found).__name__} as scores of {size} texts; return one number per text")
    return scores


class TextIndex:
    """Scores a fixed list of texts for a query. The search is exact: a few thousand vectors need no approximation."""

    def __init__(self, size: int, lexical: Bm25Index | None, weight_dense: float) -> None:
        """Use `build`."""
        self._size = size
        self._lexical = lexical
        self._weight_dense = weight_dense
        self._embedder: Embedder | None = None
        self._vectors: Vectors | None = None
        self._other: TextRetriever | None = None
        self._embedded_tokens = 0

    @classmethod
    async def build(
        cls, texts: Sequence[str], retriever: Retriever, tools: Tools, *, weight_dense: float = 0.7
    ) -> TextIndex:
        """Index the texts; `dense` and `hybrid` need an embedder among the tools."""
        index = cls(len(texts), Bm25Index.of(texts) if retriever in ("bm25", "hybrid") else None, weight_dense)
        if texts and (other := _made(retriever)) is not None:
            await other.index(texts)
            index._other = other
        elif retriever != "bm25" and texts:
            assert tools.embedder is not None
            index._embedder = tools.embedder
            index._vectors = await tools.embedder.embed(texts)
            index._embedded_tokens = sum(tools.count_tokens(text) for text in texts)
        return index

    async def scores(self, query: str) -> NDArray[np.float32]:
        """Return one score per text: BM25, the cosine, or weight * cosine + (1 - weight) * BM25 / its highest."""
        if self._other is not None:
            return scores_of(await self._other.scores(query), self._size, f"retrievers: {type(self._other).__name__}")
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
