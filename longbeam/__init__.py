"""Benchmarks of long conversational memory: generate, check, review, export, evaluate.

Names are imported when they are first used, so that `import longbeam` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from longbeam.errors import LongbeamError, ProviderError, SpecError, StoreError, UserError
    from longbeam.formats.jsonl import export_jsonl
    from longbeam.pipeline.spec_file import load_spec
    from longbeam.schemas.spec import BenchmarkSpec
    from longbeam.store.artifacts import SealedConversation
    from longbeam.store.layout import Benchmark, create_benchmark, open_benchmark
    from longbeam.validation.run import check_benchmark, check_conversation
    from longbeam.validation.statistics import benchmark_statistics
    from longbeam.wiring import generate

_MODULES = {
    "Benchmark": "longbeam.store.layout",
    "BenchmarkSpec": "longbeam.schemas.spec",
    "LongbeamError": "longbeam.errors",
    "ProviderError": "longbeam.errors",
    "SealedConversation": "longbeam.store.artifacts",
    "SpecError": "longbeam.errors",
    "StoreError": "longbeam.errors",
    "UserError": "longbeam.errors",
    "benchmark_statistics": "longbeam.validation.statistics",
    "check_benchmark": "longbeam.validation.run",
    "check_conversation": "longbeam.validation.run",
    "create_benchmark": "longbeam.store.layout",
    "export_jsonl": "longbeam.formats.jsonl",
    "generate": "longbeam.wiring",
    "load_spec": "longbeam.pipeline.spec_file",
    "open_benchmark": "longbeam.store.layout",
}

__all__ = [
    "Benchmark",
    "BenchmarkSpec",
    "LongbeamError",
    "ProviderError",
    "SealedConversation",
    "SpecError",
    "StoreError",
    "UserError",
    "__version__",
    "benchmark_statistics",
    "check_benchmark",
    "check_conversation",
    "create_benchmark",
    "export_jsonl",
    "generate",
    "load_spec",
    "open_benchmark",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'longbeam' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
