"""RAPTOR from its paper (Sarthi et al., ICLR 2024, arXiv 2401.18059): a tree of summaries over chunks.

Chunks of 100 tokens are clustered by their vectors, each cluster is summarized, and the summaries are clustered again.
A question reads the nearest nodes of all layers (the paper's collapsed tree) until the budget is full. The paper
reduces vectors by UMAP and clusters softly by Gaussian mixtures; here k-means makes clusters of the paper's mean size.
Summaries are made by the prompt `update_summary`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from longbeam.memory.base import in_order
from longbeam.memory.papers.base import PaperMemory, TextPiece
from longbeam.memory.retrieval import Vectors
from longbeam.memory.tuning import MEMORIZING
from longbeam.schemas import Exchange, Question, Record, digest_of
from longbeam.text import sentences


class RaptorSettings(Record):
    """Size of the tree."""

    chunk_tokens: int = Field(default=100, ge=1)
    """Most tokens of a chunk of several sentences, as in the paper."""
    children: int = Field(default=7, ge=2)
    """Mean nodes that a summary covers; 6.7 in the paper."""
    summary_tokens: int = Field(default=130, ge=10)
    """Most tokens of a summary; 131 on average in the paper."""
    layers: int = Field(default=4, ge=0)
    """Most layers of summaries."""


class Raptor(PaperMemory[RaptorSettings]):
    """Reads the nearest chunks and summaries."""

    async def finish(self) -> None:
        """Build the tree."""
        self._embedded = self._embedded_tokens = self._bytes = 0
        layer = [chunk for e in self._exchanges for chunk in self._chunks(e)]
        vectors = await self._vectors([node.text for node in layer])
        self._nodes, self._matrix = list(layer), vectors
        for depth in range(self._settings.layers):
            if len(layer) <= self._settings.children:
                break
            seed = int(digest_of(self._tools.rng_key, str(depth))[:8], 16)
            clusters = k_means(vectors, -(-len(layer) // self._settings.children), seed)
            texts = [[layer[i].shown for i in cluster] for cluster in clusters]
            written = await in_order(partial(self._summarize, t, self._settings.summary_tokens) for t in texts)
            layer = [TextPiece(text) for text in written]
            vectors = await self._vectors(written)
            self._nodes += layer
            self._matrix = np.concatenate([self._matrix, vectors])

    async def _found(self, question: Question) -> Sequence[tuple[TextPiece, float]]:
        return await self._nearest(self._nodes, self._matrix, question.text, None)

    def _chunks(self, exchange: Exchange) -> list[TextPiece]:
        """Return an exchange in chunks that end with a sentence."""
        count, most = self._tools.count_tokens, self._settings.chunk_tokens
        made = []
        for m in exchange.messages:
            starts = [0, *(start for start, _ in sentences(m.content)[1:]), len(m.content)]
            begin = 0
            for end, after in zip(starts[1:], [*starts[2:], None], strict=True):
                if after is None or count(m.content[begin:after]) > most:
                    text = m.content[begin:end].strip()
                    made.append(TextPiece(f"{m.speaker}: {text}", (m.message_key,), m.sent_at))
                    begin = end
        return made


def k_means(vectors: Vectors, k: int, seed: int) -> list[NDArray[np.intp]]:
    """Return the places of the vectors in each of at most k clusters, by cosine; the same for the same seed."""
    centres = vectors[np.random.default_rng(seed).choice(len(vectors), size=k, replace=False)]
    nearest = np.zeros(len(vectors), dtype=np.intp)
    for _ in range(MEMORIZING.cluster_rounds):
        nearest = np.argmax(vectors @ centres.T, axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, vectors)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 0, sums / np.maximum(lengths, 1e-12), centres)
    found = [np.flatnonzero(nearest == n) for n in range(k)]
    return [cluster for cluster in found if cluster.size]
