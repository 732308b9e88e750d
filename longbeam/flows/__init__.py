"""Prefect flows around the stages of the pipeline, and their server, artifacts and deployments."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
