"""Texts to unit vectors: the seam, a store that embeds no text twice, and the models behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""Shape (texts, dimensions); each row has length 1."""


class Embedder(Protocol):
    """An embedding model."""

    @property
    def name(self) -> str:
        """The model, as results name it."""

    async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> Vectors:
        """Return one unit vector per text; models with a prefix for queries add it to those."""
