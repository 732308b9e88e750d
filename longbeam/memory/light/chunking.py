"""Semantic chunks: text cut where neighbouring sentences differ most.

The rule is that of LangChain's SemanticChunker with percentile breakpoints: each sentence is embedded with `buffer`
sentences on either side; a chunk ends where the cosine distance to the next exceeds the percentile of all distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from longbeam.memory.embedding import Embedder, Vectors


async def semantic_chunks(
    lines: Sequence[str], embedder: Embedder, *, percentile: float, buffer: int
) -> tuple[str, ...]:
    """Return the lines joined to chunks, in order; each line is in exactly one chunk.

    Lines stand for the sentences of the rule, because each note of the scratchpad is one line.
    """
    if len(lines) < 2:
        return tuple(lines)
    windows = ["\n".join(lines[max(0, i - buffer) : i + buffer + 1]) for i in range(len(lines))]
    starts = [0, *(end + 1 for end in breakpoints(await embedder.embed(windows), percentile)), len(lines)]
    return tuple("\n".join(lines[a:b]) for a, b in pairwise(starts))


def breakpoints(vectors: Vectors, percentile: float) -> list[int]:
    """Return the places after which a chunk ends; `vectors` are unit vectors, one a sentence, in order."""
    if len(vectors) < 2:
        return []
    distances = 1.0 - np.einsum("ij,ij->i", vectors[:-1].astype(np.float64), vectors[1:].astype(np.float64))
    threshold = float(np.percentile(distances, percentile))
    return [int(i) for i in np.flatnonzero(distances > threshold)]
