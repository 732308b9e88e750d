"""The adapters by name: the class, its settings, and the packages that it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from longbeam.memory.base import Tools
from longbeam.memory.product import Product, ProductMemory, ProductSettings, memory_of
from longbeam.memory.products.base import Bridge
from longbeam.memory.products.graphiti import Graphiti, GraphitiSettings
from longbeam.memory.products.langmem import LangMem
from longbeam.memory.products.mem0 import Mem0, Mem0Settings
from longbeam.memory.products.supermemory import Supermemory, SupermemorySettings
from longbeam.memory.products.vector_stores import Chroma, Lance, LanceSettings


@dataclass(frozen=True)
class Adapter:
    """A product of others."""

    make: Callable[[Any, Tools, Bridge], Product]
    purpose: str
    packages: tuple[str, ...]
    """Packages of the index; `longbeam[NAME]` installs them. Their versions are part of the system's version."""
    settings: type[ProductSettings] = ProductSettings
    modes: Mapping[str, Mapping[str, object]] = field(default_factory=lambda: {"store": {}})
    """Settings of each way in which it works, by the name that a row of a table shows."""
    model_modes: tuple[str, ...] = ()
    """Modes in which a language model prepares it."""
    modes_without_vectors: tuple[str, ...] = ()
    """Modes in which it needs no embedding model."""


ADAPTERS: Mapping[str, Adapter] = {
    "chroma": Adapter(Chroma, "Chroma: one record a message", ("chromadb",)),
    "graphiti": Adapter(
        Graphiti,
        "Graphiti on Kuzu: episodes, or facts that a model extracts",
        ("graphiti-core", "kuzu"),
        GraphitiSettings,
        {"episodes": {"extract": False}, "extract": {"extract": True}},
        ("extract",),
        ("episodes",),
    ),
    "lancedb": Adapter(
        Lance,
        "LanceDB: one record a message, vectors or hybrid",
        ("lancedb",),
        LanceSettings,
        {mode: {"retriever": mode} for mode in ("dense", "hybrid")},
    ),
    "langmem": Adapter(LangMem, "LangMem's memory tools: one memory a message", ("langmem",)),
    "mem0": Adapter(
        Mem0,
        "mem0: messages, or facts that a model extracts",
        ("mem0ai",),
        Mem0Settings,
        {"store": {"infer": False}, "infer": {"infer": True}},
        ("infer",),
    ),
    "supermemory": Adapter(
        Supermemory,
        "Supermemory over HTTP",
        ("supermemory",),
        SupermemorySettings,
        {mode: {"search_mode": mode} for mode in ("hybrid", "memories", "chunks")},
        modes_without_vectors=("hybrid", "memories", "chunks"),
    ),
}


def make_adapted(name: str, settings: ProductSettings, tools: Tools) -> ProductMemory:
    """Return an adapter as a memory system; called on the event loop, to which its bridge leads."""
    return memory_of(partial(_made, name, Bridge(name, tools)), settings, tools)


def _made(name: str, bridge: Bridge, settings: ProductSettings, tools: Tools) -> Product:
    return ADAPTERS[name].make(settings, tools, bridge)
