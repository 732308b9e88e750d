"""Expected cost of a run: its rehearsal, the estimate with a band, and the outlook while it goes on."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
