"""CogCanvas (arXiv 2601.00821 v2): artifacts with a verbatim citation, linked by rules, found by words and graph.

The ablation of the paper's third version varies what is stored: artifacts, verbatim chunks, or both. The setting
`representation` does the same.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
