"""The offline writer behind an OpenAI-compatible address, with faults on demand."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
