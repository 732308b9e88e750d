"""What the user tells of facts, found once for all abilities: each value with the words that give it.

Of a conversation of many plans nothing else is kept of facts, bullets and messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from longbeam.generators.probes.evidence import FactSaid, find_value
from longbeam.generators.probes.histories import Histories, Life, Step
from longbeam.generators.probes.voices import Voices
from longbeam.schemas.plans import Value


@dataclass(frozen=True)
class FactsTold:
    """Facts where they are said."""

    current: tuple[FactSaid, ...]
    """Facts that nothing contests, each where its last value is said, in the order of the conversation."""
    updated_once: tuple[tuple[FactSaid, FactSaid], ...]
    """Facts that change exactly once: the original and the new value, in the order of the ledger."""
    first: tuple[FactSaid, ...]
    """Facts where they are given their first value, contested or not, in the order of the ledger."""
    unsaid: frozenset[str]
    """Attributes of facts whose first value no message says."""
    with_attribute: Mapping[str, int]
    """Number of facts that have an attribute, case-folded."""

    @property
    def settled(self) -> tuple[FactSaid, ...]:
        """Facts that take one value for ever, in the order of the conversation."""
        return tuple(said for said in self.current if not said.past)


def facts_told(histories: Histories, voices: Voices) -> FactsTold:
    """Return all facts of a conversation where they are said; one that no message says is left out."""
    current: list[FactSaid] = []
    updated_once: list[tuple[FactSaid, FactSaid]] = []
    firsts: list[FactSaid] = []
    unsaid: set[str] = set()
    with_attribute = Counter[str]()
    values: dict[Value, Value] = {}

    def find(life: Life, step: Step) -> FactSaid | None:
        # Of equal values, two in three, one is kept.
        return find_value(voices, life, step._replace(value=values.setdefault(step.value, step.value)))

    for life in histories.lives():
        with_attribute[life.fact.attribute.casefold()] += 1
        first = find(life, life.first) if life.first is not None else None
        last = first if len(life.steps) < 2 else find(life, life.steps[-1])
        if first is None:
            unsaid.add(life.fact.attribute)
        else:
            firsts.append(first)
        if life.steps and last is not None:
            current.append(last)
        if len(life.steps) == 2 and first is not None and last is not None:
            updated_once.append((first, last))
    current.sort(key=lambda said: (said.position, said.fact_id))
    return FactsTold(tuple(current), tuple(updated_once), tuple(firsts), frozenset(unsaid), with_attribute)
