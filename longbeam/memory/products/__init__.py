"""Adapters of memory products and vector stores: packages of the index behind `longbeam.memory.product.Product`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
