"""Memory systems under test: their face, the papers' systems, adapters of products, and what runs and bounds them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
