"""From the name of an embedding model to what embeds: hashed words, sentence-transformers, or an endpoint.

The key of an endpoint is read from the environment.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import os
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from longbeam.errors import ProviderError, SpecError
from longbeam.models.embedders.minilm import MiniLmEmbedder
from longbeam.models.factory import key_of
from longbeam.models.openai_client import OPENAI_URL
from longbeam.models.provider_errors import Redactor
from longbeam.models.sentence_models import has_sentence_transformers, sentence_model
from longbeam.models.tuning import CALLING
from longbeam.plugins import load, offered, require_returned
from longbeam.schemas import BenchmarkSpec, Endpoint
from longbeam.text import words_of

DIMENSIONS = 512
ENTRY_POINTS = "longbeam.embedders"
"""Group under which a package offers a provider: `name = "package.module:make"`; docs/plugins.md."""
BUILT_IN = ("minilm", "hashed", "st", "openai")
_LEAST_LENGTH = 1e-12


def vectors_of(found: object, size: int, where: str) -> NDArray[np.float32]:
    """Return the vectors that a package or an endpoint gave, at length 1; SpecError, which begins with `where`."""
    try:
        vectors = np.asarray(found, dtype=np.float32)
    except (ValueError, TypeError, OverflowError):
        vectors = np.empty((), dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != size or not np.isfinite(vectors).all():
        wanted = "return one vector per text, of finite numbers and all of as many"
        raise SpecError(f"{where} gave {type(found).__name__} as vectors of {size} texts; {wanted}")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    is_off = (abs(lengths - 1) > CALLING.vector_length_off) & (lengths > _LEAST_LENGTH)
    return np.asarray(vectors / np.where(is_off, lengths, 1), dtype=np.float32)


class HashedEmbedder:
    """One signed bucket per stem (feature hashing, Weinberger et al. 2009), weighted 1 + log(count)."""

    name = "hashed"

    def __init__(self) -> None:
        self._buckets: dict[str, tuple[int, float]] = {}

    async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> NDArray[np.float32]:
        """Return one unit vector per text; of a text without words, the zero vector."""
        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word, count in Counter(words_of(text)).items():
                place, sign = self._bucket(word)
                row[place] += sign * (1 + math.log(count))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, _LEAST_LENGTH), dtype=np.float32)

    def _bucket(self, word: str) -> tuple[int, float]:
        if word not in self._buckets:
            digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
            number = int.from_bytes(digest, "big")
            self._buckets[word] = ((number >> 1) % DIMENSIONS, 1.0 if number & 1 else -1.0)
        return self._buckets[word]


_BATCH = 128
_IN_FLIGHT = 8
_RETRIES, _TIMEOUT_S = 6, 600.0
_MOST_BYTES = 64 * 1024**2
"""Size limit of an answer: 128 vectors of 4,096 numbers take 12 MB as JSON."""


class SentenceTransformersEmbedder:
    """A model by the name under which sentence-transformers finds it; loaded with the first text."""

    def __init__(self, name: str) -> None:
        """`name`: `st:BAAI/bge-small-en-v1.5`. Raises SpecError when the library is missing."""
        if not has_sentence_transformers():
            raise SpecError(f"embedder {name!r} needs sentence-transformers; `pip install sentence-transformers`")
        self.name = name

    async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> NDArray[np.float32]:
        """Return one unit vector per text; the model's own prefix for queries, if it has one, goes before queries."""
        return await asyncio.to_thread(self._embed, list(texts), is_query)

    def _embed(self, texts: list[str], is_query: bool) -> NDArray[np.float32]:
        with sentence_model("SentenceTransformer", self.name.partition(":")[2]) as model:
            prompt = "query" if is_query and "query" in model.prompts else None
            found = model.encode(texts, normalize_embeddings=True, show_progress_bar=False, prompt_name=prompt)
        return np.asarray(found, dtype=np.float32)


class OpenAIEmbedder:
    """Asks `POST /embeddings`; a request that was refused for its pace is sent again by the openai package."""

    def __init__(self, name: str, endpoint: Endpoint, *, key: str) -> None:
        self.name = name
        self._model = endpoint.model or name.partition(":")[2]
        self._base_url = endpoint.base_url or OPENAI_URL
        self._key = key

    async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> NDArray[np.float32]:
        """Return one unit vector per text; raise ProviderError when the endpoint gives none."""
        from longbeam.models.transport import EndpointClient, most_header

        batches = [list(texts[i : i + _BATCH]) for i in range(0, len(texts), _BATCH)]
        free = asyncio.Semaphore(_IN_FLIGHT)
        where = f"{self.name} at {self._base_url}"
        client = EndpointClient(self._base_url, self._key, where=where, redacted=Redactor(self._key))
        sdk = client.sdk.with_options(max_retries=_RETRIES, timeout=_TIMEOUT_S)

        async def one(batch: list[str]) -> NDArray[np.float32]:
            # An empty text is refused by most endpoints.
            given = [text if text.strip() else "." for text in batch]
            async with free:
                with client.errors():
                    reply = await sdk.embeddings.create(
                        model=self._model, input=given, encoding_format="float", extra_headers=most_header(_MOST_BYTES)
                    )
            try:
                ordered = sorted(reply.data, key=lambda d: d.index)
                return vectors_of([d.embedding for d in ordered], len(batch), where)
            except (SpecError, TypeError, AttributeError) as exc:
                raise ProviderError(f"{where}: {exc}", kind="not_an_api", is_retryable=False) from exc

        try:
            found = await asyncio.gather(*(one(batch) for batch in batches))
        except ProviderError as exc:
            text = f"{exc}; is it an embedding model, and is base_url right?"
            raise ProviderError(text, kind="embedding", is_retryable=exc.is_retryable) from exc
        finally:
            await client.aclose()
        return np.concatenate(found) if found else np.zeros((0, 0), dtype=np.float32)


class Embedder(Protocol):
    """An embedding model."""

    @property
    def name(self) -> str:
        """Name of the model in results."""

    async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> NDArray[np.float32]:
        """Return one unit vector per text; models with a prefix for queries add it to those."""


def make_embedder(name: str, spec: BenchmarkSpec) -> Embedder:
    """Return the embedder with this name; SpecError if there is none, or what it needs is missing.

    `minilm` is all-MiniLM-L6-v2 from a package, `st:NAME` any model of sentence-transformers, `openai:NAME` any
    OpenAI-compatible endpoint, with the settings under `[endpoints]` of the spec; `hashed` needs no model. Packages
    offer others.
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
    plug_ins = offered(ENTRY_POINTS, BUILT_IN)
    if model and provider in plug_ins:
        made: Embedder = load(ENTRY_POINTS, provider)(name, spec.endpoint_for(name))
        where = f"embedders: {provider!r} ({plug_ins[provider].value})"
        wanted = f"an object with embed, and {name!r} as its name"
        require_returned(made, lambda m: m.name == name and callable(m.embed), where, wanted)
        return made
    known = ", ".join(["minilm", "hashed", "st:NAME (sentence-transformers)", *(f"{other}:NAME" for other in plug_ins)])
    raise SpecError(f"embedder {name!r}: no such model; write {known} or openai:NAME")
