"""Scoring of answers by rubrics and judges, the gate that probes pass, and the statistics of results.

It reads sealed conversations and probes, and knows no store and no pipeline.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
