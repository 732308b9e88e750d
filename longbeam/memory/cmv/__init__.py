"""Contextual Memory Virtualisation (arXiv 2602.22402): a layer over the sessions of a coding agent, without a model.

`sessions` keeps and branches sessions, `study` trims them and measures what that costs; `session` and `transcript` hold
the file format, and `system` is the memory system that `longbeam evaluate` measures.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
