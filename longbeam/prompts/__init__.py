"""Prompts: Jinja templates, their typed inputs and replies, and the registry that renders them with a version."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
