"""Memory systems by name: our own, those of installed packages, a Python object, or a server."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

from pydantic import ValidationError

from longbeam.errors import SpecError
from longbeam.memory import baselines, floors, planted
from longbeam.memory.base import MemorySystem, Tools
from longbeam.memory.cmv.system import Cmv, CmvSettings
from longbeam.memory.code_version import code_version
from longbeam.memory.cogcanvas.settings import CogCanvasSettings
from longbeam.memory.cogcanvas.system import CogCanvas
from longbeam.memory.http import HttpProduct, HttpSettings
from longbeam.memory.index import Retriever
from longbeam.memory.light.settings import LightSettings
from longbeam.memory.light.system import Light
from longbeam.memory.paging.system import Paging, PagingSettings
from longbeam.memory.papers.amem import AMem, AMemSettings
from longbeam.memory.papers.graphrag import GraphRag, GraphRagSettings
from longbeam.memory.papers.hipporag import HippoRag, HippoRagSettings
from longbeam.memory.papers.memgpt import MemGpt, MemGptSettings
from longbeam.memory.papers.memoryos import MemoryOs, MemoryOsSettings
from longbeam.memory.papers.raptor import Raptor, RaptorSettings
from longbeam.memory.papers.readagent import ReadAgent, ReadAgentSettings
from longbeam.memory.product import AnsweringProduct, Product, ProductMemory, ProductSettings, memory_of
from longbeam.memory.products.catalogue import ADAPTERS, make_adapted
from longbeam.memory.vendor_process import isolated
from longbeam.memory.vendors import name_of
from longbeam.plugins import failure_of, load, offered
from longbeam.schemas import MessageRole, Record

ENTRY_POINTS = "longbeam.memory"
"""Group under which a package offers `Registered` objects: `name = "package.module:REGISTERED"`."""


@dataclass(frozen=True)
class Registered:
    """A system that can be named on the command line."""

    settings: type[Record]
    make: Callable[[Any, Tools], MemorySystem]
    """Makes the system from its settings and tools."""
    purpose: str
    """One line for `longbeam evaluate --help`."""
    reads_everything: bool = False
    """Whether its budget is the reader's window instead of the retrieval budget."""
    is_product: bool = False
    """Whether it is a class with `add` and `search`, whose own calls nobody counts."""
    prompts: tuple[str, ...] | None = None
    """Prompts that the system may ask beside `answer`; None: any prompt that a reader or an extractor answers."""

    packages: tuple[str, ...] = ()
    """Packages of the index that it adapts."""
    embeds: Literal["", "as retriever", "always", "needs it"] = ""
    """Whether it uses the evaluation's embedder: never, where its `retriever` says so, or always; some need one."""
    learns: bool = False
    """Whether it learns on the other conversations of a benchmark (`Tools.templates`)."""
    with_embedder: Retriever = "dense"
    """Its retriever where the settings name none and there is an embedder."""
    modes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Settings of each way in which it works; the name of a row says which one ran."""
    model_modes: tuple[str, ...] = ()
    """Modes in which it asks the extractor, which must be a language model."""
    modes_without_vectors: tuple[str, ...] = ()
    """Modes in which it uses no embedder."""

    @property
    def product_class(self) -> object:
        """The class with `add` and `search`; None for a system of another kind."""
        parts = self.make.args if isinstance(self.make, partial) else ()
        return parts[0] if self.is_product and parts and inspect.isclass(parts[0]) else None

    def mode_of(self, settings: Record) -> str:
        """Return the mode of these settings; empty for a system that has one only."""
        given = settings.model_dump()
        return next((name for name, of in self.modes.items() if all(given[k] == v for k, v in of.items())), "")

    def retriever_of(self, settings: Record, embedder: str) -> str:
        """Return the retriever with these settings and this embedding model; empty for a system without one."""
        if "retriever" not in type(settings).model_fields:
            return ""
        named: str | None = settings.model_dump()["retriever"]
        return named or (self.with_embedder if embedder else "bm25")

    def embedder_of(self, settings: Record, embedder: str) -> str:
        """Return the embedding model that it uses of the evaluation's; empty for none."""
        if not self.embeds or self.mode_of(settings) in self.modes_without_vectors:
            return ""
        is_lexical = self.embeds == "as retriever" and self.retriever_of(settings, embedder) not in (
            "dense",
            "hybrid",
        )
        return "" if is_lexical else embedder

    def lacks(self, settings: Record, *, embedder: str, has_model: bool) -> str:
        """Return what the system needs and the evaluation does not name; empty if everything is there."""
        mode = self.mode_of(settings)
        if mode in self.model_modes and not has_model:
            return "asks a language model; name one with --extractor, such as gguf:PATH"
        if embedder:
            return ""
        if self.embeds == "needs it" and mode not in self.modes_without_vectors:
            return "needs vectors; name an embedding model with --embedder, such as hashed"
        if self.retriever_of(settings, embedder) in ("dense", "hybrid") and not self.is_product:
            return "searches by vectors; name an embedding model with --embedder, or set retriever=bm25"
        return ""

    @property
    def version(self) -> str:
        """Version of a system of another package, by which stored answers count; empty for a system of longbeam."""
        return ", ".join(f"{name} {version(name)}" for name in self.packages) or code_version(self.make)


def _floor(floor: floors.Floor, purpose: str) -> Registered:
    return Registered(floors.FloorSettings, partial(floors.FloorMemory, floor), purpose, prompts=())


def _kept(keep: planted.Keep | None, purpose: str) -> Registered:
    make = partial(planted.PlantedFloor, keep)
    return Registered(floors.FloorSettings, make, purpose, prompts=(), learns=keep is None)


def _one_side(role: MessageRole, purpose: str) -> Registered:
    make = partial(floors.OneSide, role)
    return Registered(baselines.LongContextSettings, make, purpose, reads_everything=True, prompts=())


SYSTEMS: Mapping[str, Registered] = {
    "long_context": Registered(
        baselines.LongContextSettings,
        baselines.LongContext,
        "the tail of the conversation that fits the reader's window",
        reads_everything=True,
        prompts=(),
    ),
    "paging": Registered(
        PagingSettings,
        Paging,
        "resident pages, bookmarks of the others, and a tool that brings pages back",
        prompts=("bookmark_pages", "recall_step"),
    ),
    "rag": Registered(
        baselines.RagSettings,
        baselines.Rag,
        "exchanges found by BM25, vectors or both",
        prompts=(),
        embeds="as retriever",
    ),
    "cmv": Registered(
        CmvSettings,
        Cmv,
        "the tail of the trimmed session that fits the reader's window",
        reads_everything=True,
        prompts=(),
    ),
    "cogcanvas": Registered(
        CogCanvasSettings,
        CogCanvas,
        "CogCanvas: artifacts with citations, found by words, vectors and a graph",
        prompts=("extract_artifacts", "glean_artifacts", "answer_by_reasoning", "search_step"),
        embeds="always",
        with_embedder="hybrid",
    ),
    "light": Registered(
        LightSettings,
        Light,
        "LIGHT: episodic index, last exchanges, filtered scratchpad",
        prompts=("extract_keys", "take_notes", "compress_notes", "select_notes", "notes_relevant"),
        embeds="always",
    ),
    "summary": Registered(
        baselines.SummarySettings,
        baselines.SummaryMemory,
        "a running summary and the last exchanges",
        prompts=("update_summary",),
    ),
    "truncation": Registered(
        baselines.TruncationSettings,
        baselines.LongContext,
        "the beginning and the end, the middle cut out",
        prompts=(),
    ),
    "amem": Registered(
        AMemSettings,
        AMem,
        "A-Mem, from its paper: linked notes",
        prompts=("extract_keys", "select_notes"),
        embeds="always",
    ),
    "graphrag": Registered(
        GraphRagSettings,
        GraphRag,
        "GraphRAG's local search, small, from its paper: entities, communities, reports",
        prompts=("extract_keys", "update_summary"),
        embeds="always",
    ),
    "hipporag": Registered(
        HippoRagSettings,
        HippoRag,
        "HippoRAG 2, from its paper: PageRank over phrases and messages",
        prompts=("extract_keys", "select_notes"),
        embeds="always",
    ),
    "memgpt": Registered(
        MemGptSettings,
        MemGpt,
        "Letta's memory, from the MemGPT paper: core memory, queue, archive",
        prompts=("update_summary",),
        embeds="always",
    ),
    "memoryos": Registered(
        MemoryOsSettings,
        MemoryOs,
        "MemoryOS, from its paper: short-, mid- and long-term memory",
        prompts=("extract_keys", "take_notes"),
        embeds="always",
    ),
    "raptor": Registered(
        RaptorSettings,
        Raptor,
        "RAPTOR, from its paper: a tree of summaries",
        prompts=("update_summary",),
        embeds="always",
    ),
    "readagent": Registered(
        ReadAgentSettings,
        ReadAgent,
        "ReadAgent, from its paper: gists, and pages that are looked up",
        prompts=("update_summary", "select_notes"),
    ),
    "search_tool": Registered(
        baselines.SearchToolSettings,
        baselines.SearchTool,
        "the reader searches, several times if it wants",
        prompts=("search_step",),
        embeds="as retriever",
    ),
}

FLOORS: Mapping[str, Registered] = {
    "random_units": _floor(floors.random_units, "exchanges drawn at random"),
    "last_turns": _floor(floors.last_turns, "the newest exchanges"),
    "word_overlap": _floor(floors.word_overlap, "exchanges that share words"),
    "bm25": _floor(floors.bm25, "exchanges by BM25 at the same budget"),
    "planted": _kept(planted.states_or_advises, "what the user states and the assistant advises, rare words first"),
    "templates": _kept(None, "sentences that look like those that probes of other conversations quote"),
    "user_only": _one_side(MessageRole.USER, "the user's messages without the assistant's"),
    "assistant_only": _one_side(MessageRole.ASSISTANT, "the assistant's messages without the user's"),
}
"""Floors, which every table has beside the blank answer, the echoed question and the whole evidence."""

PRODUCTS: Mapping[str, Registered] = {
    name: Registered(
        adapter.settings,
        partial(make_adapted, name),
        adapter.purpose,
        is_product=True,
        prompts=(),
        packages=adapter.packages,
        embeds="needs it",
        modes=adapter.modes,
        model_modes=adapter.model_modes,
        modes_without_vectors=adapter.modes_without_vectors,
    )
    for name, adapter in ADAPTERS.items()
}
"""Products of others, each of which needs `longbeam[NAME]`."""


def product(
    make: Callable[[Any, Tools], Product], purpose: str, settings: type[ProductSettings] = ProductSettings
) -> Registered:
    """Return the system of a product: a class with `add` and `search`, made from settings and tools."""
    embeds: Literal["", "always"] = "" if issubclass(settings, HttpSettings) else "always"
    return Registered(settings, partial(_made, make), purpose, is_product=True, prompts=(), embeds=embeds)


def _made(make: Callable[[Any, Tools], Product], settings: ProductSettings, tools: Tools) -> MemorySystem:
    """Return the system of a product, in a process of its own if its settings say so; longbeam's own stay here."""
    name = name_of(make) if settings.is_isolated else ""
    if not name:
        return memory_of(make, settings, tools)
    return (AnsweringProduct if hasattr(make, "answer") else ProductMemory)(isolated(name), settings, tools)


def find_system(name: str) -> Registered:
    """Return the system with this name; `package.module:object` imports one, `http://...` is a server.

    Raises SpecError for an unknown name.
    """
    known = {**SYSTEMS, **FLOORS, **PRODUCTS}
    if name in known:
        _refuse_uninstalled(name, known[name])
        return known[name]
    if name in (plug_ins := offered(ENTRY_POINTS, known)):
        return registered(load(ENTRY_POINTS, name), name)
    if name.startswith(("http://", "https://")):
        return product(partial(HttpProduct, name), "a memory server", HttpSettings)
    module, colon, attribute = name.partition(":")
    if colon:
        try:
            return registered(getattr(importlib.import_module(module), attribute), name)
        except KeyboardInterrupt:
            raise
        except BaseException as exc:  # a module may do anything when it is imported, and end with SystemExit
            raise SpecError(f"system {name!r}: {failure_of(exc)}; write package.module:object") from exc
    names = ", ".join(sorted({*known, *plug_ins}))
    raise SpecError(
        f"system {name!r} is unknown; there are {names}, package.module:object for one of your own, "
        "and http://HOST:PORT for a memory server"
    )


def _refuse_uninstalled(name: str, found: Registered) -> None:
    """Raise SpecError if a package that the system adapts is not installed."""
    for package in found.packages:
        try:
            version(package)
        except PackageNotFoundError:
            raise SpecError(
                f"system {name!r} needs {package}: pip install 'longbeam[{name}]' (docs/products.md)"
            ) from None


def registered(found: object, name: str) -> Registered:
    """Return what was found under a name as a system: a `Registered`, or a class with `add` and `search`."""
    if isinstance(found, Registered):
        return found
    if isinstance(found, type) and hasattr(found, "add") and hasattr(found, "search"):
        said = inspect.getdoc(found) or ""
        return product(found, said.partition("\n")[0] or found.__name__)
    raise SpecError(
        f"system {name!r}: {found!r} is neither a class with `add` and `search` nor a "
        "longbeam.memory.registry.Registered"
    )


def settings_of(name: str, registered: Registered, values: Mapping[str, object]) -> Record:
    """Return a system's settings from texts such as `{"k": "10"}`; SpecError names the one that does not fit."""
    try:
        return registered.settings.model_validate(values)
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        where = ".".join(str(part) for part in error["loc"])
        allowed = ", ".join(registered.settings.model_fields) or "none"
        raise SpecError(f"{name}.{where} = {error['input']!r}: {error['msg']}; settings are {allowed}") from exc
    except Exception as exc:  # a validator of another package's settings
        raise SpecError(f"system {name!r}: its settings cannot be made: {failure_of(exc)}") from exc
