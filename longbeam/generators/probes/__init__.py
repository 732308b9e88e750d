"""Probes by ability: candidates that code can prove from the ledger of facts, and the selection among them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
