from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from longbeam.errors import SpecError
from longbeam.memory import RagSettings, SparseEncoderRetriever, find_system, settings_of

WORDS = ("kiln", "glaze", "lease")


class CountingEncoder:
    """The shape of a `SparseEncoder`: a weight for each word of a vocabulary."""

    def encode_document(self, texts: Sequence[str], **_options: bool) -> NDArray[np.float32]:
        return np.array([[text.split().count(word) for word in WORDS] for text in texts], dtype=np.float32)

    def encode_query(self, texts: Sequence[str], **options: bool) -> NDArray[np.float32]:
        return self.encode_document(texts, **options)

    def similarity(self, first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float32]:
        product: NDArray[np.float32] = first @ second.T
        return product


async def test_a_sparse_encoder_scores_each_text_by_its_product_with_the_question() -> None:
    retriever = SparseEncoderRetriever("any", CountingEncoder())
    await retriever.index(["the kiln and the glaze", "a lease", "kiln kiln"])
    assert (await retriever.scores("kiln glaze")).tolist() == [2, 0, 2]


def test_an_unknown_retriever_and_a_missing_library_are_one_line() -> None:
    with pytest.raises(SpecError, match=r"rag.retriever = 'spladee': .* there are bm25, dense, hybrid, splade:NAME"):
        settings_of("rag", find_system("rag"), {"retriever": "spladee"})
    with pytest.raises(SpecError, match="needs sentence-transformers; `pip install longbeam"):
        settings_of("rag", find_system("rag"), {"retriever": "splade:naver/splade-v2-distil"})
    assert RagSettings(retriever="bm25").retriever == "bm25"
