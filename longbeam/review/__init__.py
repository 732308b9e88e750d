"""The review of a benchmark: events, the states that they fold to, and what exports take from them. No web, no HTML."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
