"""The order of an ability's checked probes: which ones are used, and which one replaces a rejected probe.

The choice is greedy, in rounds over the abilities. Each ability takes the probe that, by these rules in this order
(docs/probes.md has the same list),

1. has passed the gate;
2. no check doubts;
3. needs a message of the assistant's while the ability lacks its share of such probes, and needs none afterwards;
4. is of a further kind of question while the ability lacks its share of such probes, and of none afterwards;
   of the further kinds, the one taken least so far;
5. in a conversation of many plans, rests on several of them;
6. where hard probes are asked for, trivial memories answer least;
7. is of the variety whose turn it is: varieties of an ability take turns over the conversations of a benchmark;
8. shares the least part of its facts and bullets with the conversation's other selected probes;
9. has a wording unlike those of its ability's selected probes;
10. needs what it cites while fewer than half of the selected probes do: nobody says the answer again;
11. has the level that the ability's selected probes have least often;
12. has most competitors in the ledger, of which 3 count;
13. shares fewest words with its evidence, in steps of 0.2;
14. lies in the deciles with the fewest probes;
15. the model ranked first.

Abilities that cite little choose first, because wide ones overlap with something in any case.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from longbeam.abilities import is_kind
from longbeam.generators.probes.candidates import crowd_of, deciles_of, is_narrow, needs_reply
from longbeam.generators.tuning import PROBING
from longbeam.schemas import Difficulty, Probe

_WORD = re.compile(r"\w+")


class Interference(NamedTuple):
    """Measures of how hard the evidence of a probe is to tell from the rest, known before anything is measured."""

    competitors: int
    overlap: float
    """Share of the question's content words that stand in the evidence."""

    @property
    def ease(self) -> tuple[int, int]:
        """How easily the evidence is told from what is not asked for: less is better."""
        return -min(self.competitors, PROBING.enough_competitors), int(self.overlap / PROBING.overlap_step)


@dataclass(frozen=True)
class Places:
    """Places of cited messages in a conversation."""

    positions: Mapping[str, int]
    """Ordinal of each cited message."""
    total_messages: int
    prefers_wide: bool = False
    """Whether evidence of several plans comes before evidence of one."""
    answered: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Best score of a trivial memory, and the sum of all, by probe_id; empty where they do not count."""
    interference: Mapping[str, Interference] = field(default_factory=dict)
    """What stands in the way of each probe's answer, by probe_id; empty where it does not count."""
    restated: Mapping[str, int] = field(default_factory=dict)
    """Uncited messages that say the answer again, by probe_id."""
    assistant_share: float = 0.0
    """Share of the selected probes that should need a message of the assistant's."""
    kinds_share: float = 0.0
    """Share of each ability's selected probes that should be of a further kind of question, where it has any."""
    ordinal: int = 0
    """Number of the conversation in its benchmark."""


@dataclass
class _Load:
    """Facts, wordings, levels and deciles that the probes taken so far use."""

    given: Places
    doubted: Collection[str]
    """Ids of probes that somebody should look at."""
    passed: Collection[str]
    """Ids of probes that passed the gate: another one in their place would have to go through it."""
    subjects: Counter[str] = field(default_factory=Counter)
    levels: Counter[tuple[str, str]] = field(default_factory=Counter)
    deciles: Counter[int] = field(default_factory=Counter)
    questions: dict[str, list[frozenset[str]]] = field(default_factory=dict)
    due: Counter[str] = field(default_factory=Counter)
    """Probes of each ability that still have to need a message of the assistant's."""
    kinds_due: Counter[str] = field(default_factory=Counter)
    """Probes of each ability that still have to be of a further kind."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Probes of each kind."""
    varieties: dict[str, list[str]] = field(default_factory=dict)
    """Varieties in each ability's pool, in the order of the alphabet."""
    needed: int = 0
    """Probes whose answer nobody says again."""

    def places(self, probe: Probe) -> list[int]:
        """Return the positions of a probe's evidence, as far as they are known."""
        known = self.given.positions
        return [known[e.message_key] for e in probe.evidence if e.message_key in known]

    def cost(self, probe: Probe) -> tuple[Any, ...]:  # Any: numbers, truth values and names, compared in their order
        """Return how much a probe repeats; the probe with the smallest cost is taken."""
        total, variety = self.given.total_messages, probe.details.variety
        return (
            probe.probe_id not in self.passed,
            probe.probe_id in self.doubted,
            needs_reply(probe.bullet_ids) is not (self.due[probe.ability] > 0),
            is_kind(variety) is not (self.kinds_due[probe.ability] > 0),
            self.kinds[variety],
            self.given.prefers_wide and is_narrow(probe.bullet_ids),
            self.given.answered.get(probe.probe_id, (0.0, 0.0)),
            variety != self._due_variety(probe.ability),
            sum(self.subjects[s] for s in _subjects(probe)) / max(len(_subjects(probe)), 1),
            sum(
                _similarity(_words(probe), q) >= PROBING.alike_questions for q in self.questions.get(probe.ability, ())
            ),
            self._is_needless(probe),
            self.levels[probe.ability, probe.difficulty],
            interference.ease if (interference := self.given.interference.get(probe.probe_id)) else (0, 0),
            crowd_of(self.places(probe), self.deciles, total),
            probe.rank,
            probe.probe_id,
        )

    def _due_variety(self, ability: str) -> str:
        """Return the variety of an ability whose turn it is; conversation and ability say where the turns begin."""
        of = self.varieties[ability]
        return of[(self.given.ordinal + sum(self.levels[ability, d] for d in Difficulty)) % len(of)]

    def _is_needless(self, probe: Probe) -> bool:
        """Return whether the answer is said again, while too few of the taken probes need what they cite."""
        return 2 * self.needed < sum(self.levels.values()) + 1 and self.given.restated.get(probe.probe_id, 0) > 0

    def take(self, probe: Probe) -> None:
        """Count a probe as taken."""
        self.needed += not self.given.restated.get(probe.probe_id, 0)
        self.subjects.update(_subjects(probe))
        self.questions.setdefault(probe.ability, []).append(_words(probe))
        self.levels[probe.ability, probe.difficulty] += 1
        self.due[probe.ability] -= needs_reply(probe.bullet_ids)
        if is_kind(probe.details.variety):
            self.kinds_due[probe.ability] -= 1
            self.kinds[probe.details.variety] += 1
        self.deciles.update(deciles_of(self.places(probe), self.given.total_messages))


def select_probes(
    probes: Iterable[Probe],
    per_ability: int,
    places: Places,
    doubted: Collection[str] = frozenset(),
    passed: Collection[str] = frozenset(),
) -> list[Probe]:
    """Return all probes by ability and rank; `rank` is set anew, and the first `per_ability` of each are selected.

    Probes whose ids are `doubted`, because a check says that somebody should look at them, come last, and those that
    `passed` the gate first. The order of the input does not matter.
    """
    pools: dict[str, list[Probe]] = {}
    for probe in sorted(probes, key=lambda p: (p.ability, p.rank, p.probe_id)):
        pools.setdefault(probe.ability, []).append(probe)
    load = _Load(places, doubted, passed)
    load.due.update(_shares_of_replies(pools, per_ability, load))
    load.kinds_due.update({ability: round(places.kinds_share * per_ability) for ability in pools})
    load.varieties.update({ability: sorted({p.details.variety for p in pool}) for ability, pool in pools.items()})
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


def _shares_of_replies(pools: Mapping[str, Sequence[Probe]], per_ability: int, load: _Load) -> Counter[str]:
    """Return how many probes of each ability should need a message of the assistant's, as even as their pools allow."""
    due = Counter[str]()
    wanted = math.ceil(load.given.assistant_share * per_ability * len(pools) - 1e-9)
    usable = {
        ability: sum(p.probe_id not in load.doubted and needs_reply(p.bullet_ids) for p in pool)
        for ability, pool in pools.items()
    }
    # An ability is more than what the assistant said, so half of its probes ask for that: of the abilities with most of
    # such probes first. Where the share would be missed, they give more in turn from conversation to conversation.
    half = math.ceil(per_ability / 2)
    for given in range(per_ability):
        turns = sorted(pools)
        begin = load.given.ordinal % max(len(turns), 1)
        turns = turns[begin:] + turns[:begin]
        for ability in sorted(turns, key=lambda name: -usable[name]) if given < half else turns:
            if due.total() < wanted and due[ability] < usable[ability]:
                due[ability] += 1
    return due


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


def _width(pool: Sequence[Probe]) -> float:
    return sum(len(_subjects(p)) for p in pool) / len(pool)
