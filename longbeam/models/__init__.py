"""Language models behind one face: asking for a usable reply, the journal of paid replies, limits, transport."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
