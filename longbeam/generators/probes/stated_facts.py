"""The facts that the user states, found once for all abilities: each value with the words that give it.

In a conversation of many plans, this index is all that stays in memory of facts, bullets and messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from longbeam.generators.probes.evidence import FactQuote, find_value, has_one_reading
from longbeam.generators.probes.histories import Histories, HistoryStep, Life
from longbeam.generators.probes.voices import Voices
from longbeam.schemas import MessageRole, Value


@dataclass(frozen=True)
class StatedFacts:
    """Facts with the messages that state them."""

    current: tuple[FactQuote, ...]
    """Uncontested facts, each with the message that states its last value, in the order of the conversation."""
    changed: tuple[tuple[FactQuote, ...], ...]
    """Facts that change, each with the messages that state its values, oldest first, in the order of the ledger."""
    first: tuple[FactQuote, ...]
    """Facts with the message that states their first value, contested or not, in the order of the ledger."""
    unsaid: frozenset[str]
    """Attributes of facts whose first value no message states."""
    with_attribute: Mapping[str, int]
    """Number of facts by attribute, case-folded."""
    side_stories: Mapping[str, tuple[FactQuote | None, ...]]
    """Facts of each log and each confidence, in the order of the ledger; None for one that no message states."""
    of_assistant: tuple[FactQuote, ...] = ()
    """Facts of one value that the assistant brought into an imported chat, in the order of the ledger."""

    @property
    def updated_once(self) -> tuple[tuple[FactQuote, FactQuote], ...]:
        """Facts that change exactly once: original and new value, in the order of the ledger."""
        return tuple((values[0], values[1]) for values in self.changed if len(values) == 2)

    @property
    def settled(self) -> tuple[FactQuote, ...]:
        """Facts that have one value in the whole conversation, in its order."""
        return tuple(said for said in self.current if not said.past)


def find_stated_facts(histories: Histories, voices: Voices) -> StatedFacts:
    """Return the facts of a conversation that messages state, with these messages."""
    current: list[FactQuote] = []
    changed: list[tuple[FactQuote, ...]] = []
    firsts: list[FactQuote] = []
    of_assistant: list[FactQuote] = []
    unsaid: set[str] = set()
    with_attribute = Counter[str]()
    values: dict[Value, Value] = {}

    def find(life: Life, step: HistoryStep, role: MessageRole = MessageRole.USER) -> FactQuote | None:
        # Two in three values equal an earlier one; sharing the record saves its memory.
        return find_value(voices, life, step._replace(value=values.setdefault(step.value, step.value)), role)

    side_stories: dict[str, list[FactQuote | None]] = {}
    for life in histories.lives():
        if life.fact.side_story:
            told = find(life, life.steps[0]) if life.steps else None
            side_stories.setdefault(life.fact.side_story, []).append(told)
            continue
        with_attribute[life.fact.attribute.casefold()] += 1
        first = find(life, life.first) if life.first is not None else None
        last = first if len(life.steps) < 2 else find(life, life.steps[-1])
        if first is None and len(life.steps) == 1 and (given := find(life, life.steps[0], MessageRole.ASSISTANT)):
            of_assistant.append(given)
        elif first is None:
            unsaid.add(life.fact.attribute)
        else:
            firsts.append(first)
        if life.steps and last is not None and has_one_reading(last):
            current.append(last)
        if len(life.steps) > 1 and first is not None and last is not None:
            between = [find(life, step) for step in life.steps[1:-1]]
            if None not in between:
                changed.append((first, *filter(None, between), last))
    current.sort(key=lambda said: (said.position, said.fact_id))
    return StatedFacts(
        tuple(current),
        tuple(changed),
        tuple(firsts),
        frozenset(unsaid),
        with_attribute,
        {story: tuple(told) for story, told in side_stories.items()},
        tuple(of_assistant),
    )
