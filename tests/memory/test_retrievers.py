from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from longbeam.errors import SpecError
from longbeam.memory import RagSettings, SparseEncoderRetriever, find_system, settings_of

WORDS = ("kiln", "glaze", "lease")


class CountingEncoder:
    """The shape of a `SparseEncoder`: a weight for each word of a vocabulary. Two loaded at once have no weights."""

    loads, loading = 0, 0

    def __init__(self, _name: str) -> None:
        CountingEncoder.loads += 1
        CountingEncoder.loading += 1
        time.sleep(0.05)
        self.whole = CountingEncoder.loading == 1
        CountingEncoder.loading -= 1

    def encode_document(self, texts: Sequence[str], **_options: bool) -> NDArray[np.float32]:
        assert self.whole, "Cannot copy out of meta tensor"
        return np.array([[text.split().count(word) for word in WORDS] for text in texts], dtype=np.float32)

    def encode_query(self, texts: Sequence[str], **options: bool) -> NDArray[np.float32]:
        return self.encode_document(texts, **options)

    def similarity(self, first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float32]:
        product: NDArray[np.float32] = first @ second.T
        return product


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The part of sentence-transformers that is used."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SparseEncoder=CountingEncoder))


@pytest.mark.usefixtures("library")
async def test_conversations_that_begin_together_load_one_encoder_once() -> None:
    retrievers = [SparseEncoderRetriever("shared") for _ in range(4)]
    before = CountingEncoder.loads
    await asyncio.gather(*(retriever.index(["kiln"]) for retriever in retrievers))
    assert CountingEncoder.loads == before + 1


@pytest.mark.usefixtures("library")
async def test_a_sparse_encoder_scores_each_text_by_its_product_with_the_question() -> None:
    retriever = SparseEncoderRetriever("any")
    await retriever.index(["the kiln and the glaze", "a lease", "kiln kiln"])
    assert (await retriever.scores("kiln glaze")).tolist() == [2, 0, 2]


def test_an_unknown_retriever_and_a_missing_library_are_one_line() -> None:
    with pytest.raises(SpecError, match=r"rag.retriever = 'spladee': .* there are bm25, dense, hybrid, splade:NAME"):
        settings_of("rag", find_system("rag"), {"retriever": "spladee"})
    with pytest.raises(SpecError, match="needs sentence-transformers; `pip install longbeam"):
        settings_of("rag", find_system("rag"), {"retriever": "splade:naver/splade-v2-distil"})
    assert RagSettings(retriever="bm25").retriever == "bm25"
