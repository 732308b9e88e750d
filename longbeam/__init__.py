"""Benchmarks of long conversational memory: generate, check, review, export, evaluate.

Names are imported when they are first used, so that `import longbeam` costs nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"
