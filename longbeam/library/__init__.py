"""The Python library: coroutines for what the commands do, and the objects that they return."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
