"""Checks that ask a model what no rule can decide. One module each; their findings are like those of other checks.

A severity belongs to the kind of finding, as there. Every message names the judge. A lexical judge can
show that a check works; it cannot stand in for a language model.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
