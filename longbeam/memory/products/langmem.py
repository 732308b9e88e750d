"""LangMem's memory tools without a model: every message is stored with `manage_memory`, `search_memory` finds them.

The store is LangGraph's `InMemoryStore` with vectors. An agent that decides what to store needs a model that calls
tools, and is not part of this adapter.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from longbeam.memory.base import Tools
from longbeam.memory.product import ProductSettings
from longbeam.memory.products.base import Bridge, Hit, MessageStore
from longbeam.schemas import Message, PreparationUsage

_SPACE = ("memories",)


class LangMem(MessageStore):
    """Stores each message through LangMem's tools."""

    def __init__(self, settings: ProductSettings, tools: Tools, bridge: Bridge) -> None:
        super().__init__(tools, bridge)
        self._keys: dict[str, str] = {}
        self._dimensions = len(bridge.vectors([_SPACE[0]])[0])
        self.empty()

    def empty(self) -> None:
        """Make an empty store, and tools for it."""
        from langgraph.store.memory import InMemoryStore
        from langmem import create_manage_memory_tool, create_search_memory_tool

        index: Any = {"dims": self._dimensions, "embed": self._bridge.vectors, "fields": ["content"]}
        self._store = InMemoryStore(index=index)
        self._manage = create_manage_memory_tool(_SPACE, store=self._store, actions_permitted=("create",))
        self._find = create_search_memory_tool(_SPACE, store=self._store)
        self._keys.clear()

    def save(self, messages: Sequence[Message], vectors: list[list[float]]) -> None:
        """Create memories; the tool replies with the id of each."""
        for message in messages:
            told = self._manage.invoke({"content": message.content, "action": "create"})
            self._keys[str(told).rpartition(" ")[2]] = message.message_key

    def find(self, query: str, vector: list[float], k: int) -> Sequence[Hit]:
        """Return the memories found."""
        found = json.loads(self._find.invoke({"query": query, "limit": k}))
        return [Hit(self._keys[item["key"]], item.get("score")) for item in found]

    def usage(self) -> PreparationUsage:
        """Return the number of embedded messages, and the bytes of their texts and vectors: the store is in memory."""
        texts = sum(len(m.content.encode()) for m in self._said.values())
        return super().usage().model_copy(update={"index_bytes": texts + 8 * self._dimensions * len(self._said)})
