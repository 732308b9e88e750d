"""Which of an ability's checked probes are used, and in which order the others replace them.

Greedy, in rounds over the abilities: each takes, of the probes that no check doubts, the one that shares fewest facts
with what the conversation's other selected probes ask, then one worded unlike those of its ability, then the level it
has least of, then the deciles with fewest probes, then the model's own order. Abilities that cite little choose first,
because wide ones overlap with something in any case.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from longbeam.generators.probes.candidates import crowd_of, deciles_of, is_narrow
from longbeam.schemas.probes import Probe

ALIKE = 0.7
"""Jaccard similarity of two questions' words from which they read the same but for a name."""
_WORD = re.compile(r"\w+")


@dataclass
class _Load:
    """What the probes taken so far use up."""

    positions: Mapping[str, int]
    total_messages: int
    prefers_wide: bool = False
    doubted: Collection[str] = frozenset()
    subjects: Counter[str] = field(default_factory=Counter)
    levels: Counter[tuple[str, str]] = field(default_factory=Counter)
    deciles: Counter[int] = field(default_factory=Counter)
    questions: dict[str, list[frozenset[str]]] = field(default_factory=dict)

    def places(self, probe: Probe) -> list[int]:
        """Positions of a probe's evidence that are known."""
        return [self.positions[e.message_key] for e in probe.evidence if e.message_key in self.positions]

    def cost(self, probe: Probe) -> tuple[bool, int, int, bool, int, float, int, str]:
        """How much a probe repeats; the smallest is taken."""
        return (
            probe.probe_id in self.doubted,
            sum(self.subjects[s] for s in _subjects(probe)),
            sum(_similarity(_words(probe), q) >= ALIKE for q in self.questions.get(probe.ability, ())),
            self.prefers_wide and is_narrow(self.places(probe), self.total_messages),
            self.levels[probe.ability, probe.difficulty],
            crowd_of(self.places(probe), self.deciles, self.total_messages),
            probe.rank,
            probe.probe_id,
        )

    def take(self, probe: Probe) -> None:
        """Count a probe in."""
        self.subjects.update(_subjects(probe))
        self.questions.setdefault(probe.ability, []).append(_words(probe))
        self.levels[probe.ability, probe.difficulty] += 1
        self.deciles.update(deciles_of(self.places(probe), self.total_messages))


def select_probes(
    probes: Iterable[Probe],
    *,
    per_ability: int,
    positions: Mapping[str, int],
    total_messages: int,
    prefers_wide: bool = False,
    doubted: Collection[str] = frozenset(),
) -> list[Probe]:
    """Return all probes, by ability and rank, with `rank` set anew and the first `per_ability` of each selected.

    `positions` gives the ordinal of each cited message; `prefers_wide` puts evidence that spans a fifth of the
    conversation before evidence that lies together; those `doubted`, of which a
    check says that somebody should look, come last. The order of the input does not matter.
    """
    pools: dict[str, list[Probe]] = {}
    for probe in sorted(probes, key=lambda p: (p.ability, p.rank, p.probe_id)):
        pools.setdefault(probe.ability, []).append(probe)
    load = _Load(positions, total_messages, prefers_wide, doubted)
    order = {ability: list[Probe]() for ability in pools}
    turns = sorted(pools, key=lambda ability: (_width(pools[ability]), ability))
    for _ in range(per_ability):
        for ability in turns:
            _take_best(pools[ability], order[ability], load)
    selected = {p.probe_id for ranked in order.values() for p in ranked}
    for ability in turns:
        # Replacements count each other too: after several rejections the set is still spread.
        while pools[ability]:
            _take_best(pools[ability], order[ability], load)
    return [
        p.model_copy(update={"rank": rank, "is_selected": p.probe_id in selected})
        for ability in sorted(order)
        for rank, p in enumerate(order[ability])
    ]


def _take_best(pool: list[Probe], ranked: list[Probe], load: _Load) -> None:
    if pool:
        best = min(pool, key=load.cost)
        pool.remove(best)
        ranked.append(best)
        load.take(best)


def _subjects(probe: Probe) -> tuple[str, ...]:
    return (*probe.fact_ids, *probe.bullet_ids)


def _words(probe: Probe) -> frozenset[str]:
    return frozenset(_WORD.findall(probe.question.casefold()))


def _similarity(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / max(len(first | second), 1)


def _width(pool: list[Probe]) -> float:
    return sum(len(_subjects(p)) for p in pool) / len(pool)
