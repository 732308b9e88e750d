"""HippoRAG 2 from its paper (Gutiérrez et al., 2025, arXiv 2502.14802): PageRank over a graph of phrases and passages.

Facts are extracted from each exchange. Their phrases are joined with each other, with the messages of the exchange, and
with phrases of like meaning. A question's nearest facts, filtered by a model, and all passages by their similarity are
the seeds of a personalized PageRank, which ranks the passages. Without a fact, passages are ranked by similarity.

The paper extracts triples; here a fact is a pair of key and value (prompt `extract_keys`), and its phrases are the
words of the key and the typed values of the value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from longbeam.memory.base import in_order
from longbeam.memory.papers.base import PaperMemory, TextPiece, best, messages_of
from longbeam.memory.retrieval import Vectors
from longbeam.memory.tuning import MEMORIZING
from longbeam.prompts.calls import KeyValue
from longbeam.schemas import Question, Record
from longbeam.text import content_words, values_in

Edges = Counter[tuple[int, int]]


class HippoRagSettings(Record):
    """The paper's settings."""

    facts: int = Field(default=5, ge=1)
    """Nearest facts of a question."""
    recognition: bool = True
    """Whether a model filters these facts: the paper's recognition memory, one call a question."""
    damping: float = Field(default=0.5, gt=0, lt=1)
    passage_weight: float = Field(default=0.05, ge=0)
    """Weight of the passages among the seeds."""
    synonym: float = Field(default=0.8, gt=0, le=1)
    """Least cosine of two phrases that are joined."""
    k: int | None = Field(default=None, ge=1)
    """Messages read; None: as many as the budget holds. The paper reads five passages."""


class HippoRag(PaperMemory[HippoRagSettings]):
    """Reads the messages that PageRank ranks highest."""

    async def finish(self) -> None:
        """Extract facts, and build the graph."""
        self._embedded = self._embedded_tokens = self._bytes = 0
        self._passages = list(messages_of(self._exchanges))
        self._passage_vectors = await self._vectors([p.text.partition(": ")[2] for p in self._passages])
        entries = await in_order(partial(self._entries, e) for e in self._exchanges)
        self._facts = [f"{entry.key}: {entry.value}" for of_one in entries for entry in of_one]
        self._fact_vectors = await self._vectors(self._facts)
        self._phrases_of = [phrases_of(entry) for of_one in entries for entry in of_one]
        names = sorted({phrase for phrases in self._phrases_of for phrase in phrases})
        self._place = {name: len(self._passages) + n for n, name in enumerate(names)}
        edges: Edges = Counter()
        for phrases in self._phrases_of:
            edges.update(combinations(sorted(self._place[p] for p in phrases), 2))
        self._uses: Counter[str] = Counter()
        at = fact = 0
        for exchange, of_one in zip(self._exchanges, entries, strict=True):
            told = {phrase for phrases in self._phrases_of[fact : fact + len(of_one)] for phrase in phrases}
            for n, message in enumerate(exchange.messages, at):
                spoken = message.content.casefold()
                named = [phrase for phrase in told if phrase in spoken]
                edges.update((n, self._place[phrase]) for phrase in named)
                self._uses.update(named)
            at, fact = at + len(exchange.messages), fact + len(of_one)
        self._add_synonyms(edges, await self._vectors(names))
        self._edges = edges

    def _add_synonyms(self, edges: Edges, vectors: Vectors) -> None:
        first = len(self._passages)
        if not len(vectors):
            return
        left, right = np.nonzero(np.triu(vectors @ vectors.T >= self._settings.synonym, k=1))
        edges.update((first + int(a), first + int(b)) for a, b in zip(left, right, strict=True))

    async def _found(self, question: Question) -> Sequence[tuple[TextPiece, float]]:
        if not self._passages:
            return []
        query = await self._query_vector(question.text)
        similar = self._passage_vectors @ query
        facts = self._fact_vectors @ query if self._facts else np.zeros(0, dtype=np.float32)
        near = best(facts, self._settings.facts)
        if self._settings.recognition and near:
            near = [near[n] for n in await self._selected(question.text, [self._facts[i] for i in near])]
        scores = self._ranks(near, facts, similar) if near else similar
        return [(self._passages[i], float(scores[i])) for i in best(scores, self._settings.k or len(scores))]

    def _ranks(self, near: Iterable[int], facts: Vectors, similar: Vectors) -> NDArray[np.float64]:
        seeds = np.zeros(len(self._passages) + len(self._place))
        for fact in near:
            for phrase in self._phrases_of[fact]:
                # Phrases that everything mentions say least, as in the paper.
                seeds[self._place[phrase]] += facts[fact] / max(self._uses[phrase], 1)
        spread = float(np.ptp(similar)) or 1.0
        seeds[: len(similar)] = self._settings.passage_weight * (similar - similar.min()) / spread
        return page_rank(self._edges, seeds, self._settings.damping)[: len(similar)]


def phrases_of(entry: KeyValue) -> tuple[str, ...]:
    """Return the words of the key that name something, and the typed values of the value, in lower case."""
    words = [word for word in re.findall(r"[^\W_]+", entry.key.casefold()) if content_words(word)]
    return tuple(dict.fromkeys([*words, *(value.text.casefold() for value in values_in(entry.value))]))


def page_rank(edges: Edges, seeds: NDArray[np.float64], damping: float) -> NDArray[np.float64]:
    """Return the personalized PageRank of each node of an undirected graph with counted edges."""
    if not seeds.any() or not edges:
        return seeds
    start = seeds / seeds.sum()
    ends = np.array([*edges], dtype=np.intp).reshape(-1, 2)
    source, target = np.concatenate([ends, ends[:, ::-1]]).T
    weight = np.tile(np.array([*edges.values()], dtype=float), 2)
    out = np.bincount(source, weight, minlength=len(seeds))
    share = weight / out[source]
    rank: NDArray[np.float64] = start
    for _ in range(MEMORIZING.rank_rounds):
        passed = np.bincount(target, rank[source] * share, minlength=len(seeds))
        rank = (1 - damping) * start + damping * (passed + rank[out == 0].sum() * start)
    return rank
