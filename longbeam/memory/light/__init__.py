"""LIGHT (BEAM, arXiv 2510.27246, section 3): episodic index, working memory and filtered scratchpad."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
