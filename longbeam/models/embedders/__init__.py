"""Embedders: texts to vectors, by endpoint, by a small local model, or by hashing."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
