"""Models of sentence-transformers: embedding models, cross-encoders and sparse encoders."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_ONE_AT_A_TIME = threading.Lock()
"""Two that are loaded at once leave each other without weights, and their tokenizers serve one thread."""


def has_sentence_transformers() -> bool:
    """Return whether the library is installed."""
    return importlib.util.find_spec("sentence_transformers") is not None


@contextmanager
def sentence_model(kind: str, name: str) -> Iterator[Any]:
    """Lend a model to one thread at a time; it is loaded once in a process.

    `kind`: `SentenceTransformer`, `CrossEncoder` or `SparseEncoder`.
    """
    with _ONE_AT_A_TIME:
        yield _loaded(kind, name)


@cache
def _loaded(kind: str, name: str) -> Any:
    return getattr(importlib.import_module("sentence_transformers"), kind)(name)
