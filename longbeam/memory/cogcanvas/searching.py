"""Search for artifacts.

How many a question needs, neighbours in the graph, and rerankers that score a candidate with the question.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from longbeam.errors import SpecError
from longbeam.memory.cogcanvas.artifacts import Artifact
from longbeam.memory.cogcanvas.linking import Graph
from longbeam.memory.cogcanvas.settings import CogCanvasSettings
from longbeam.memory.index import scores_of
from longbeam.memory.retrieval import ranked
from longbeam.models import has_sentence_transformers, sentence_model
from longbeam.plugins import load, offered
from longbeam.text import words_of

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
        if not has_sentence_transformers():
            raise SpecError(f"reranker {name!r} needs sentence-transformers; `pip install longbeam[rerank]`")
        self._model = name.partition(":")[2]

    async def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the model's scores."""
        return await asyncio.to_thread(self._scores, question, list(texts))

    def _scores(self, question: str, texts: list[str]) -> NDArray[np.float32]:
        pairs = [(question, text) for text in texts]
        with sentence_model("CrossEncoder", self._model) as model:
            return np.asarray(model.predict(pairs, show_progress_bar=False), dtype=np.float32)


_MORE: tuple[tuple[int, re.Pattern[str]], ...] = (
    (15, re.compile(r"\b(?:because|after|before|why|reason|caused?|led to|result(?:ed)?|affect(?:s|ed)?|impact|depends?"
                    r"|as a consequence|would|both|in common|how come)\b", re.IGNORECASE)),
    (12, re.compile(r"\b(?:when|how long|how many (?:days|weeks|months|years)|what (?:day|date|month|year|time)"
                    r"|since|until|ago|last|first)\b", re.IGNORECASE)),
)  # fmt: skip
"""The paper's cues of questions that need more artifacts: cause and sequence, then time."""
_SIMPLE = 10

Found = tuple[int, float]
"""Place of an artifact and its score."""


def adaptive_k(question: str) -> int:
    """Return the number of artifacts for a question: 15 for cause and sequence, 12 for time, 10 otherwise."""
    return next((k for k, cue in _MORE if cue.search(question)), _SIMPLE)


def is_simple(question: str) -> bool:
    """Return whether a question has no cue of cause, sequence or time, and one name at most."""
    return adaptive_k(question) == _SIMPLE and len(set(_NAME.findall(question))) < 2


_NAME = re.compile(r"(?<!^)\b[A-Z][\w'’]+")


def fused(scores: Sequence[NDArray[np.float32]], most: int) -> NDArray[np.float32]:
    """Return one score an artifact from those of several queries: the highest, and 5 % more for each further query that
    ranks it among its `most` best, at most 15 %, as the released code has it.
    """
    hits = np.zeros(len(scores[0]), dtype=np.float32)
    for of_query in scores:
        hits[ranked(of_query, most)] += 1
    best: NDArray[np.float32] = np.max(np.stack(scores), axis=0)
    return best * (1 + np.clip(0.05 * (hits - 1), 0, 0.15)) if len(scores) > 1 else best


@dataclass(frozen=True)
class Canvas:
    """The stored artifacts, their links, and how they are searched."""

    artifacts: Sequence[Artifact]
    graph: Graph
    reranker: Reranker | None
    settings: CogCanvasSettings


async def search(question: str, scores: NDArray[np.float32], canvas: Canvas, *, k: int) -> list[Found]:
    """Return the artifacts found, best first: k, and without a reranker also the neighbours that the graph adds.

    `scores` has a score for each artifact; artifacts at or below 0 are not found.
    """
    graph, reranker, settings = canvas.graph, canvas.reranker, canvas.settings
    first = [(place, float(scores[place])) for place in ranked(scores, max(k, settings.coarse) if reranker else k)]
    hops = settings.hops if settings.has("graph") else 0
    if settings.expansion == "released":
        found = first + expand_released(first, graph, hops, settings.decay)
    else:
        added = expand(first, graph, hops, settings.decay)[: settings.most_expanded]
        found = sorted(first + added, key=lambda f: (-f[1], f[0]))
    if reranker is None or not found:
        return found
    scored = await reranker.scores(question, [canvas.artifacts[place].text for place, _ in found])
    again = scores_of(scored, len(found), f"rerankers: {type(reranker).__name__}")
    order = sorted(range(len(found)), key=lambda i: (-float(again[i]), i))  # ties keep their order
    return [(found[i][0], float(again[i])) for i in order[:k]]


def expand(first: Sequence[Found], graph: Graph, hops: int, decay: float) -> list[Found]:
    """Return the linked artifacts, best first; a score is that of the best path, which decays with each hop."""
    best: dict[int, float] = dict(first)
    edge: Mapping[int, float] = dict(first)
    for _ in range(hops):
        reached: dict[int, float] = {}
        for place, score in edge.items():
            for other in _beside(graph, place):
                if score * decay > best.get(other, 0.0):
                    best[other] = reached[other] = score * decay
        edge = reached
    roots = {place for place, _ in first}
    return sorted(((p, s) for p, s in best.items() if p not in roots), key=lambda f: (-f[1], f[0]))


def expand_released(first: Sequence[Found], graph: Graph, hops: int, decay: float) -> list[Found]:
    """Return the linked artifacts as the released code does: in the order reached, decay compounded (.8, .8 · .64)."""
    seen = {place for place, _ in first}
    edge, added = list(first), list[Found]()
    for hop in range(hops):
        reached: list[Found] = []
        for place, score in edge:
            for other in _beside(graph, place):
                if other not in seen:
                    seen.add(other)
                    reached.append((other, score * decay ** (hop + 1)))
        added += reached
        edge = reached
    return added


def _beside(graph: Graph, place: int) -> list[int]:
    """Return the neighbours in both directions, in order."""
    return sorted({*graph.successors(place), *graph.predecessors(place)})
