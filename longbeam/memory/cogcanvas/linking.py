"""Links between artifacts (references and causes) by seven rules, kept as data (arXiv 2601.00821).

A newer artifact links to older ones, so the first turn links nothing. A rule without a window looks only at the nearest
artifacts, which keeps the work linear in the length of the conversation.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from longbeam.memory.cogcanvas.artifacts import Artifact, Kind
from longbeam.memory.cogcanvas.settings import CogCanvasSettings
from longbeam.memory.retrieval import Vectors

Graph: TypeAlias = "nx.MultiDiGraph[int]"
"""Nodes are the numbers of artifacts; the key of an edge is its relation."""
Relation = Literal["references", "caused_by", "leads_to"]
INVERSE: dict[Relation, Relation] = {"caused_by": "leads_to"}
"""Relations whose inverse is an edge of its own."""

ANYTHING: frozenset[Kind] = frozenset()
_NEVER, _ALWAYS = 2.0, -2.0
"""Thresholds that no cosine reaches, and that every cosine reaches."""
_WITH_WORDS = 0.3
"""Cosine that suffices if words are shared."""
_ROWS = 256


@dataclass(frozen=True)
class Rule:
    """A rule that links a new artifact to older ones."""

    name: str
    relation: Relation
    new: frozenset[Kind]
    old: frozenset[Kind]
    """Kinds of the older artifact; empty: any kind."""
    window: int | None
    """Turns back; None: all turns, but only the nearest artifacts."""
    alone: Literal["theta_ref", "theta_causal"] | float
    """Cosine that suffices by itself, or the setting that holds it."""
    overlapping: float
    """Cosine that suffices if the two share a word."""
    most: int | None = None
    """Links of a new artifact by this rule, at most."""
    keeps: Literal["nearest", "newest"] = "nearest"
    """Older artifacts to keep if there are more than `most`."""


def _kinds(*kinds: Kind) -> frozenset[Kind]:
    return frozenset(kinds)


RULES: tuple[Rule, ...] = (
    Rule("R1", "references", ANYTHING, ANYTHING, None, "theta_ref", _WITH_WORDS),
    Rule("R2", "caused_by", _kinds("todo"), _kinds("decision"), 5, "theta_causal", _WITH_WORDS, most=1),
    Rule("R3", "caused_by", _kinds("insight"), _kinds("key_fact", "decision"), 3, "theta_causal", _WITH_WORDS),
    Rule("R4", "caused_by", _kinds("decision"), _kinds("key_fact", "reminder"), 5, _ALWAYS, _ALWAYS, 2, "newest"),
    Rule("R5", "references", _kinds("event"), _kinds("person_attribute"), None, "theta_ref", _ALWAYS),
    Rule("R6", "references", _kinds("relationship"), _kinds("person_attribute"), None, "theta_ref", _ALWAYS),
    Rule("R7", "caused_by", _kinds("decision"), _kinds("event"), 10, _NEVER, _ALWAYS),
)
"""The paper's rules; R4, its "temporal heuristic", needs no similarity."""
RELEASED_RULES: tuple[Rule, ...] = tuple(
    replace(rule, window=2, alone=_NEVER) if rule.name == "R4" else rule for rule in RULES
)
"""The released code's rules: its R4 needs a shared word within two turns."""

_WORD = re.compile(r"[a-z]{3,}")
_STOP = frozenset(
    (  # noqa: SIM905 - a word list reads better as words
        "about after all also and any are because been before but can could did does doing for from get got had has "
        "have her him his how into its just let like more most not now off one our out over really she should some "
        "such than that the their them then there these they this those too under very was were what when where "
        "which while who why will with would yes you your user assistant"
    ).split()
)


def link(graph: Graph, new: int, relation: Relation, old: int) -> None:
    """Add an edge, and its inverse if the relation has one; each once. KeyError names an unknown artifact."""
    for node in (new, old):
        if node not in graph:
            raise KeyError(f"artifact {node} is not on the canvas")
    graph.add_edge(new, old, key=relation)
    if relation in INVERSE:
        graph.add_edge(old, new, key=INVERSE[relation])


def build_graph(artifacts: Sequence[Artifact], vectors: Vectors, settings: CogCanvasSettings) -> Graph:
    """Return the canvas: a node for each artifact, by its number, linked by the rules.

    `artifacts` are in the order of their turns; `vectors` has a unit vector for each, in the same order.
    """
    graph: Graph = nx.MultiDiGraph()
    graph.add_nodes_from(artifact.number for artifact in artifacts)
    linker = _Linker(artifacts, vectors, settings)
    for new, rule, old in linker.links():
        link(graph, artifacts[new].number, rule.relation, artifacts[old].number)
    return graph


class _Linker:
    def __init__(self, artifacts: Sequence[Artifact], vectors: Vectors, settings: CogCanvasSettings) -> None:
        self._artifacts = artifacts
        self._vectors = vectors
        self._settings = settings
        self._rules = RELEASED_RULES if settings.rules == "released" else RULES
        # As in the released code: the citation counts for the newer artifact of a pair, not for the older one.
        self._words_as_newer = [keywords(a.text) for a in artifacts]
        self._words_as_older = [keywords(a.content) for a in artifacts]
        # Places of the older artifacts that each rule without a window looks among, oldest first.
        self._old = {
            rule.name: np.array([i for i, a in enumerate(artifacts) if not rule.old or a.kind in rule.old], dtype=int)
            for rule in self._rules
            if rule.window is None
        }
        self._turns = [a.turn for a in artifacts]
        self._thresholds = {"theta_ref": settings.theta_ref, "theta_causal": settings.theta_causal}

    def links(self) -> Iterator[tuple[int, Rule, int]]:
        """Yield (newer, rule, older) by place, newer ones in order."""
        for first in range(0, len(self._artifacts), _ROWS):
            rows = range(first, min(first + _ROWS, len(self._artifacts)))
            alike = self._vectors[first : rows.stop] @ self._vectors[: rows.stop].T
            for new in rows:
                before = bisect_left(self._turns, self._turns[new])
                if before:
                    yield from self._of_one(new, alike[new - first, :before])

    def _of_one(self, new: int, alike: NDArray[np.float32]) -> Iterator[tuple[int, Rule, int]]:
        words = self._words_as_newer[new]
        for rule in self._rules:
            if rule.new and self._artifacts[new].kind not in rule.new:
                continue
            enough = self._thresholds[rule.alone] if isinstance(rule.alone, str) else rule.alone
            fits = [
                old for old in self._candidates(new, rule, alike)
                if alike[old] >= enough
                or (alike[old] >= rule.overlapping and not words.isdisjoint(self._words_as_older[old]))
            ]  # fmt: skip
            if rule.most is not None and len(fits) > rule.most:
                key: Callable[[int], tuple[float, int]] = (
                    (lambda old: (0.0, -old)) if rule.keeps == "newest" else (lambda old: (-float(alike[old]), old))
                )
                fits = sorted(fits, key=key)[: rule.most]
            for old in sorted(fits):
                yield new, rule, old

    def _candidates(self, new: int, rule: Rule, alike: NDArray[np.float32]) -> Sequence[int]:
        if rule.window is not None:
            first = bisect_left(self._turns, self._turns[new] - rule.window)
            return [old for old in range(first, len(alike)) if self._artifacts[old].kind in rule.old]
        places = self._old[rule.name]
        places = places[: int(np.searchsorted(places, len(alike)))]
        most = self._settings.neighbours
        if most is not None and len(places) > most:
            values = alike[places]
            # Equal cosines in order of place, so that the choice depends on nothing but the artifacts.
            edge = np.partition(values, -most)[-most]
            above, equal = places[values > edge], places[values == edge]
            places = np.sort(np.concatenate([above, equal[: most - len(above)]]))
        return [int(p) for p in places]


def keywords(text: str) -> frozenset[str]:
    """Return the words of three or more letters that are no stop words."""
    return frozenset(_WORD.findall(text.lower())) - _STOP
