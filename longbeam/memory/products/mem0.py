"""mem0's open-source `Memory` on an embedded Qdrant: with its extraction by a model, or without (`infer=false`).

mem0 keeps no time of its own for a message (`timestamp` is a feature of its platform), so the message keys travel in
the metadata, and a memory has the day of its first message. Its prompt for the model names today as the day on which
messages were sent; the adapter adds the right day as an instruction. Its BM25 needs fastembed's model and its entity
links spaCy's, which are downloaded at run time; both are left out, as mem0 does by itself where they are missing.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Sequence
from typing import Any

from longbeam.memory.base import Tools
from longbeam.memory.product import Memory, ProductSettings
from longbeam.memory.products.base import Bridge, OwnFolder, silence
from longbeam.memory.products.chat import Address
from longbeam.schemas import Exchange, PreparationUsage

_USER = "user"


class Mem0Settings(ProductSettings):
    """How mem0 adds messages."""

    infer: bool = False
    """Whether a model extracts facts from each exchange; else each message is a memory."""
    threshold: float = 0.0
    """Least similarity of a memory that is found; mem0's own default, .1, drops the last of twenty."""


class Mem0:
    """Adds each exchange to mem0."""

    def __init__(self, settings: Mem0Settings, tools: Tools, bridge: Bridge) -> None:
        silence()
        from mem0 import Memory as Store

        logging.getLogger("mem0").setLevel(logging.ERROR)
        self._settings, self._bridge = settings, bridge
        self._folder = OwnFolder(tools)
        # Without `infer` the endpoint is never asked, and nothing listens there.
        address = bridge.model.open_blocking() if settings.infer else Address("http://127.0.0.1:1/v1", "none")
        config: dict[str, Any] = {
            "vector_store": {
                "provider": "qdrant",
                "config": {
                    "collection_name": "memories",
                    "embedding_model_dims": len(bridge.vectors([_USER])[0]),
                    "path": str(self._folder.path / "qdrant"),
                    "on_disk": True,
                },
            },
            "embedder": {"provider": "lmstudio", "config": {"api_key": "none"}},  # replaced below
            "llm": {
                "provider": "lmstudio",  # any OpenAI-compatible endpoint; `openai` obeys OPENROUTER_API_KEY
                "config": {"lmstudio_base_url": address.base_url, "api_key": address.key, "model": "extractor"},
            },
            "history_db_path": str(self._folder.path / "history.db"),
        }
        self._store = Store.from_config(config)
        self._store.embedding_model = _embedding(bridge)

    def add(self, exchange: Exchange, timestamp: dt.datetime) -> None:
        """Add the exchange, with the keys of its messages; without a model one by one, so that each has its own."""
        said = [{"role": m.role.value, "content": m.content} for m in exchange.messages]
        if self._settings.infer:
            day = f"The new messages were sent on {timestamp.date()}, which is their Observation Date."
            self._add(said, exchange.message_keys, day)
        else:
            for one, key in zip(said, exchange.message_keys, strict=True):
                self._add([one], (key,))

    def search(self, query: str, k: int) -> Sequence[Memory]:
        """Return the memories found."""
        given = {"user_id": _USER}
        found = self._store.search(query, filters=given, top_k=k, threshold=self._settings.threshold)
        return [
            Memory(m["memory"], m.get("score"), m["id"], None, tuple((m.get("metadata") or {}).get("keys", ())))
            for m in found["results"]
        ]

    def delete(self) -> None:
        """Delete everything; mem0's `delete_all` would keep the last messages, which its prompt repeats."""
        self._store.reset()

    def usage(self) -> PreparationUsage:
        """Return the calls of the model; their tokens are in the journal."""
        return PreparationUsage(model_calls=self._bridge.model.calls, failed_calls=self._bridge.model.failed)

    def close(self) -> None:
        """Close the database and the endpoint."""
        self._store.vector_store.client.close()
        self._store.llm.client.close()
        self._bridge.model.close_blocking()
        self._folder.close()

    def _add(self, said: list[dict[str, str]], keys: Sequence[str], instruction: str | None = None) -> None:
        given = {"keys": list(keys)}
        self._store.add(said, user_id=_USER, metadata=given, infer=self._settings.infer, prompt=instruction)


def _embedding(bridge: Bridge) -> Any:  # Any: a class of mem0's, which is imported only where it is installed
    """Return mem0's embedding model over the evaluation's embedder."""
    from mem0.embeddings.base import EmbeddingBase

    class Embedding(EmbeddingBase):  # type: ignore[misc, unused-ignore]
        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            return bridge.vectors([text], is_query=memory_action == "search")[0]

        def embed_batch(self, texts: Sequence[str], memory_action: str = "add") -> list[list[float]]:
            return bridge.vectors(texts, is_query=memory_action == "search")

    return Embedding()
