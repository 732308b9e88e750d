"""The review web app: a JSON API and its pages over sealed conversations and an append-only log of review events."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
