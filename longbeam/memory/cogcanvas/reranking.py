"""Rerankers: score each candidate together with the question.

`lexical` needs no model. A cross-encoder needs sentence-transformers (`pip install longbeam[rerank]`). Other packages
offer rerankers under the entry point `longbeam.rerankers`: a function without arguments that returns a `Reranker`.
"""

from __future__ import annotations

import asyncio
import importlib.util
import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from longbeam.errors import SpecError
from longbeam.plugins import load, offered
from longbeam.text.words import words_of

ENTRY_POINTS = "longbeam.rerankers"
NONE = "none"


class Reranker(Protocol):
    """Scores candidates for a question."""

    async def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one score a text; higher is better."""


def make_reranker(name: str) -> Reranker | None:
    """Return the reranker with this name, None for `none`; SpecError if it is unknown or its library is missing."""
    provider, _, model = name.partition(":")
    if name == NONE:
        return None
    if name == "lexical":
        return LexicalReranker()
    if provider == "st" and model:
        return CrossEncoderReranker(name)
    if name in (plug_ins := offered(ENTRY_POINTS)):
        made: Reranker = load(ENTRY_POINTS, name)()
        return made
    raise SpecError(f"reranker {name!r} is unknown; there are {', '.join(['none', 'lexical', 'st:NAME', *plug_ins])}")


class LexicalReranker:
    """Scores a text by the question's words in it, weighted, and by the question's pairs of neighbouring words."""

    async def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the scores, from 0 to 2; the fewer candidates have a word, the more it weighs."""
        asked = list(dict.fromkeys(words_of(question)))
        pairs = [*pairwise(words_of(question))]
        said = [words_of(text) for text in texts]
        frequency = Counter(word for words in said for word in set(words))
        weight = {word: math.log(1 + len(texts) / (1 + frequency[word])) for word in asked}
        total = math.fsum(weight.values()) or 1.0
        found = []
        for words in said:
            own, joined = set(words), set(pairwise(words))
            held = math.fsum(weight[word] for word in asked if word in own) / total
            found.append(held + sum(pair in joined for pair in pairs) / max(1, len(pairs)))
        return np.array(found, dtype=np.float32)


class CrossEncoderReranker:
    """A cross-encoder of sentence-transformers, loaded with the first question."""

    def __init__(self, name: str) -> None:
        """`name`: `st:BAAI/bge-reranker-v2-m3` is the paper's. Raises SpecError when the library is missing."""
        if importlib.util.find_spec("sentence_transformers") is None:
            raise SpecError(f"reranker {name!r} needs sentence-transformers; `pip install longbeam[rerank]`")
        self._name = name
        self._model: Any = None

    async def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the model's scores."""
        return await asyncio.to_thread(self._scores, question, list(texts))

    def _scores(self, question: str, texts: list[str]) -> NDArray[np.float32]:
        if self._model is None:
            from sentence_transformers import CrossEncoder  # type: ignore[import-not-found,unused-ignore]

            self._model = CrossEncoder(self._name.partition(":")[2])
        pairs = [(question, text) for text in texts]
        return np.asarray(self._model.predict(pairs, show_progress_bar=False), dtype=np.float32)
