"""Controlled benchmarks: rules make whole conversations, with planted facts whose gold is right by construction.

A suite is a module with a settings record and a function from (settings, draw) to a conversation, and a line in
`registry.SUITES`. Its conversations are sealed, checked, exported and evaluated like any others.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
