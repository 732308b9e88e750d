"""Supermemory over HTTP, by its own client: the hosted product, or any server with its routes.

The key is read by the client from SUPERMEMORY_API_KEY. A document for each exchange goes into a namespace of its own;
`finish` waits until the service has read all of them. The adapter was run against a loopback server with these routes,
and not against the hosted product.
"""

from __future__ import annotations

import datetime as dt
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal

from pydantic import Field

from longbeam.errors import MemorySystemError
from longbeam.memory.base import Tools
from longbeam.memory.exchanges import said
from longbeam.memory.product import Memory, ProductSettings
from longbeam.memory.products.base import Bridge
from longbeam.schemas import Exchange

_POLL_S = 1.0
_OTHER = re.compile(r"[^a-zA-Z0-9_-]+")


class SupermemorySettings(ProductSettings):
    """The service to ask, and what it searches."""

    base_url: str = ""
    """Address of another server; empty for the hosted product."""
    search_mode: Literal["hybrid", "memories", "chunks"] = "hybrid"
    task_type: Literal["memory", "superrag"] = "memory"
    """`superrag` indexes documents without making memories."""
    timeout_s: float = Field(default=600, gt=0)
    """Longest wait of `finish` for the service."""


class Supermemory:
    """Adds each exchange as a document."""

    def __init__(self, settings: SupermemorySettings, tools: Tools, bridge: Bridge) -> None:
        import httpx
        import supermemory

        self._connections = httpx.Client(
            timeout=60, follow_redirects=True
        )  # as the client's own, which nobody can close
        self._settings = settings
        self._space = _OTHER.sub("-", f"longbeam-{tools.rng_key}")
        self._client: Any = supermemory.Supermemory(base_url=settings.base_url or None, httpx_client=self._connections)
        self._not_found: type[Exception] = supermemory.NotFoundError
        self._keys: dict[str, tuple[str, ...]] = {}
        self._pending: list[str] = []

    def add(self, exchange: Exchange, timestamp: dt.datetime) -> None:
        """Send the exchange."""
        document = f"e{exchange.position}"
        self._client.add(
            self._space,
            id=document,
            content=said(exchange),
            date=timestamp.replace(tzinfo=dt.UTC).isoformat(),
            metadata={"exchange": document},
            task_type=self._settings.task_type,
        )
        self._keys[document] = exchange.message_keys
        self._pending.append(document)

    def finish(self) -> None:
        """Wait until the service has read all documents, and made their memories."""
        ends = time.monotonic() + self._settings.timeout_s
        while self._pending:
            system = self._client.documents.get(self._space, self._pending[0]).system
            if system.status == "failed":
                raise MemorySystemError(f"supermemory: document {self._pending[0]} failed")
            if system.status == "done" and system.dreaming_status == "done":
                self._pending.pop(0)
            elif time.monotonic() > ends:
                raise TimeoutError(f"{len(self._pending)} documents are unread after {self._settings.timeout_s:g} s")
            else:
                time.sleep(_POLL_S)

    def search(self, query: str, k: int) -> Sequence[Memory]:
        """Return memories and passages."""
        found = self._client.search(self._space, query=query, limit=k, search_mode=self._settings.search_mode)
        return [
            Memory(
                hit.memory or hit.chunk or "",
                hit.similarity,
                hit.id,
                None,
                self._keys.get((hit.metadata or {}).get("exchange", ""), ()),
            )
            for hit in found.results
        ]

    def delete(self) -> None:
        """Delete the namespace."""
        with suppress(self._not_found):  # a namespace is made with its first document
            self._client.namespaces.delete(self._space)
        self._keys.clear()
        self._pending.clear()

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()
