"""Expected cost of a run: the rehearsal, the forecast that corrects it by the run so far, and their texts."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
