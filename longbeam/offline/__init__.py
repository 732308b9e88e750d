"""The offline writer: a test instrument that answers every prompt by rules, without a language model."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
