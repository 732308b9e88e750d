"""Benchmarks of long conversational memory: generate, check, review, export, evaluate.

`generate`, `load`, `validate`, `evaluate`, `import_benchmark` and `export` are coroutines, which `run` runs.
Names are imported when they are first used, so that `import longbeam` costs nothing.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)
__all__ = ["__version__", *_names]
