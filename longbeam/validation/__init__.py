"""Checks over conversations, probes and benchmarks. Each returns what it found and edits nothing."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
