"""Cooperative paging with keyword bookmarks (arXiv 2604.12376, v1).

The conversation is cut into pages. Pages that do not fit the context are evicted and leave a bookmark; a tool brings
pages back. The second version of the paper withdraws it over authorship; its authors published no code.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
