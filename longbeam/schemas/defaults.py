"""Names that the command line needs before it may load pydantic, which takes a third of the time of `--help`."""

from __future__ import annotations

DEFAULT_MODEL = "offline"
"""Model of a spec that names none; also the name under which its replies are stored. It answers by rule."""
SIMILARITY_JUDGE = "similarity"
"""Judge that compares words, values and the vectors of MiniLM; no language model."""
