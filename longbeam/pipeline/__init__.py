"""Composition of everything else: a benchmark is generated, resumed, repaired, validated, evaluated and purged here."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
