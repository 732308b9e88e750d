"""Contextual Memory Virtualisation (arXiv 2602.22402): a layer over the sessions of a coding agent, without a model.

`session` reads the file format, `store` keeps and branches sessions, `trim` shortens one, `analyze` and `survival`
measure what that saves and costs, and `system` is the memory system that `longbeam evaluate` measures.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
