"""Benchmarks of long conversational memory: generate, check, review, export, evaluate.

`generate`, `load`, `validate`, `evaluate`, `import_benchmark` and `export` are coroutines, which `run` runs.
Names are imported when they are first used, so that `import longbeam` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from longbeam.errors import LongbeamError, ProviderError, SpecError, StoreError, UserError
    from longbeam.formats import export_jsonl
    from longbeam.library import (
        Evaluation,
        LoadedBenchmark,
        LoadedConversation,
        Table,
        evaluate,
        export,
        generate,
        import_benchmark,
        load,
        run,
        validate,
    )
    from longbeam.pipeline import load_spec
    from longbeam.schemas import BenchmarkSpec
    from longbeam.store import Benchmark, create_benchmark, open_benchmark
    from longbeam.validation import benchmark_statistics, check_benchmark, check_conversation

_MODULES = {
    "Benchmark": "longbeam.store.layout",
    "BenchmarkSpec": "longbeam.schemas.spec",
    "Evaluation": "longbeam.library.operations",
    "LoadedBenchmark": "longbeam.library.benchmark",
    "LoadedConversation": "longbeam.library.benchmark",
    "LongbeamError": "longbeam.errors",
    "ProviderError": "longbeam.errors",
    "SpecError": "longbeam.errors",
    "StoreError": "longbeam.errors",
    "Table": "longbeam.library.tables",
    "UserError": "longbeam.errors",
    "benchmark_statistics": "longbeam.validation.statistics",
    "check_benchmark": "longbeam.validation.run",
    "check_conversation": "longbeam.validation.run",
    "create_benchmark": "longbeam.store.layout",
    "evaluate": "longbeam.library.operations",
    "export": "longbeam.library.operations",
    "export_jsonl": "longbeam.formats.jsonl",
    "generate": "longbeam.library.operations",
    "import_benchmark": "longbeam.library.operations",
    "load": "longbeam.library.operations",
    "load_spec": "longbeam.pipeline.spec_file",
    "open_benchmark": "longbeam.store.layout",
    "run": "longbeam.library.running",
    "validate": "longbeam.library.operations",
}

__all__ = [
    "Benchmark",
    "BenchmarkSpec",
    "Evaluation",
    "LoadedBenchmark",
    "LoadedConversation",
    "LongbeamError",
    "ProviderError",
    "SpecError",
    "StoreError",
    "Table",
    "UserError",
    "__version__",
    "benchmark_statistics",
    "check_benchmark",
    "check_conversation",
    "create_benchmark",
    "evaluate",
    "export",
    "export_jsonl",
    "generate",
    "import_benchmark",
    "load",
    "load_spec",
    "open_benchmark",
    "run",
    "validate",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'longbeam' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
