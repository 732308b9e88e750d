"""From the name of an embedding model to what embeds; the key of an endpoint is read from the environment."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from longbeam.errors import SpecError
from longbeam.models.embedders.hashed import HashedEmbedder
from longbeam.models.embedders.minilm import MiniLmEmbedder
from longbeam.models.embedders.remote import OpenAIEmbedder, SentenceTransformersEmbedder
from longbeam.models.factory import key_of
from longbeam.schemas import BenchmarkSpec


class EmbeddingModel(Protocol):
    """The interface of all embedders."""

    @property
    def name(self) -> str:
        """As results name it."""

    async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> NDArray[np.float32]:
        """Return one unit vector per text."""


def make_embedder(name: str, spec: BenchmarkSpec) -> EmbeddingModel:
    """Return the embedder with this name; SpecError if there is none, or what it needs is missing.

    `minilm` is all-MiniLM-L6-v2 from a package, `st:NAME` any model of sentence-transformers, `openai:NAME` any
    OpenAI-compatible endpoint, with the settings under `[endpoints]` of the spec; `hashed` needs no model.
    """
    provider, _, model = name.partition(":")
    match provider:
        case "hashed" if not model:
            return HashedEmbedder()
        case "minilm" if not model:
            return MiniLmEmbedder()
        case "st" if model:
            return SentenceTransformersEmbedder(name)
        case "openai" if model:
            return OpenAIEmbedder(name, spec.endpoint_for(name), key=key_of(spec, name, os.environ))
    raise SpecError(
        f"embedder {name!r}: no such model; write minilm, hashed, st:NAME (sentence-transformers) or openai:NAME"
    )
