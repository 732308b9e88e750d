"""The stages that make a conversation: persona, relationships, narratives, plans, user turns and dialogue.

Each asks models for words and keeps the books itself: days, values, and what must be said.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
