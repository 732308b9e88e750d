"""Durable storage: work logs and reviews in SQLite, sealed conversations and benchmarks in DuckDB."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
