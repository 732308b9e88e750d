"""What gold can be built on: which facts of a conversation's ledger are settled, updated or contested.

Facts and assertions are those of the conversation's `Ledger`, which tells the state at a point of the story; here a
fact's whole life counts, and whether anything in the conversation leaves it in doubt.

A contradiction contests every fact it touches, and a flat denial of a bullet contests all facts that the
bullet sets: no other ability may build its gold on those. Values are compared as typed values, not as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from longbeam.generators.ledger import Ledger
from longbeam.schemas.plans import Assertion, Bullet, BulletKind, Fact, Plan, Stance, Value


@dataclass(frozen=True)
class Step:
    """A value that a fact takes, and the bullet that gives it."""

    bullet: Bullet
    value: Value


@dataclass(frozen=True)
class Histories:
    """What the plans of one conversation make each fact be over time."""

    plans: Sequence[Plan]

    @cached_property
    def ledger(self) -> Ledger:
        """Their facts and assertions, in the order of the story."""
        return Ledger.of(*self.plans)

    @cached_property
    def bullets(self) -> dict[str, Bullet]:
        """Bullets by id, in the order of the story."""
        return {b.bullet_id: b for b in self.ledger.bullets}

    @property
    def facts(self) -> dict[str, Fact]:
        """Facts by id, in the order of the ledger."""
        return self.ledger.fact

    @cached_property
    def _ordinals(self) -> dict[str, int]:
        return {fact_id: i for i, fact_id in enumerate(self.facts)}

    def _assertions_on(self, fact_id: str) -> tuple[Assertion, ...]:
        return self.ledger.by_fact.get(fact_id, ())

    def _assertions_of(self, bullet_id: str) -> list[Assertion]:
        """What a bullet asserts, in the order of the ledger's facts."""
        return sorted(self.ledger.by_bullet.get(bullet_id, ()), key=lambda a: self._ordinals[a.fact_id])

    def facts_of(self, bullet_id: str) -> tuple[Fact, ...]:
        """Facts that a bullet sets, updates, denies or mentions."""
        return tuple(self.facts[a.fact_id] for a in self._assertions_of(bullet_id))

    def values_of(self, bullet_id: str) -> dict[str, Value]:
        """Values that a bullet gives, by fact."""
        return {a.fact_id: a.value for a in self._assertions_of(bullet_id) if a.value is not None}

    def contradictions(self) -> Iterator[tuple[Bullet, Bullet]]:
        """Each contradicted bullet with the bullet that contradicts it, in the order of the story."""
        for bullet in self.bullets.values():
            if bullet.kind is BulletKind.CONTRADICTION and bullet.target_bullet_id in self.bullets:
                yield self.bullets[bullet.target_bullet_id], bullet

    @cached_property
    def contested_bullets(self) -> frozenset[str]:
        """Bullets that a contradiction denies or questions, and the contradictions themselves."""
        return frozenset(b.bullet_id for pair in self.contradictions() for b in pair)

    @cached_property
    def contested_facts(self) -> frozenset[str]:
        """Facts of which the conversation says two things that cannot both be true."""
        contested: set[str] = set()
        for target, contradiction in self.contradictions():
            touched = [f.fact_id for f in self.facts_of(contradiction.bullet_id)]
            contested.update(touched)
            # "I have never met a plumber" leaves the plumber's price in doubt; "it was $80" only the price.
            if contradiction.variety != "other_value" or not touched:
                contested.update(f.fact_id for f in self.facts_of(target.bullet_id))
        for fact_id, assertions in self.ledger.by_fact.items():
            if any(a.stance is Stance.DENIES or self._is_contradiction(a) for a in assertions):
                contested.add(fact_id)
        return frozenset(contested)

    def _is_contradiction(self, assertion: Assertion) -> bool:
        return self.bullets[assertion.bullet_id].kind is BulletKind.CONTRADICTION

    @cached_property
    def _ambiguous(self) -> frozenset[str]:
        # Two facts of one slot: a question could mean either.
        slots = Counter(_slot(f) for f in self.facts.values())
        return frozenset(f.fact_id for f in self.facts.values() if slots[_slot(f)] > 1)

    def history(self, fact_id: str) -> tuple[Step, ...]:
        """Values that a fact takes, oldest first, each once; empty if it is contested or its slot is ambiguous.

        A mere mention of another value than the current one also empties it: no answer could be proved.
        """
        return self._histories.get(fact_id, ())

    @cached_property
    def _histories(self) -> dict[str, tuple[Step, ...]]:
        return {fact_id: self._history(fact_id) for fact_id in self.facts}

    def _history(self, fact_id: str) -> tuple[Step, ...]:
        if fact_id in self.contested_facts or fact_id in self._ambiguous:
            return ()
        steps: list[Step] = []
        for assertion in self._assertions_on(fact_id):
            if assertion.value is None:
                continue
            if steps and steps[-1].value.means_same_as(assertion.value):
                continue
            if steps and assertion.stance is Stance.MENTIONS:
                return ()
            steps.append(Step(self.bullets[assertion.bullet_id], assertion.value))
        return tuple(steps)

    def first_step(self, fact_id: str) -> Step | None:
        """The first value that a fact is given, contested or not; None if it is given none."""
        given = self._assertions_on(fact_id)
        return next((Step(self.bullets[a.bullet_id], a.value) for a in given if a.value is not None), None)

    def is_told_again(self, fact_id: str, bullet_id: str) -> bool:
        """Whether another bullet, too, gives the fact the value that this one gives: then neither is needed."""
        own = [a.value for a in self._assertions_on(fact_id) if a.bullet_id == bullet_id and a.value is not None]
        others = [a.value for a in self._assertions_on(fact_id) if a.bullet_id != bullet_id and a.value is not None]
        return any(value.means_same_as(other) for value in own for other in others)

    @cached_property
    def settled(self) -> dict[str, Step]:
        """Facts that take one value for the whole conversation, by id, in the order in which they are said."""
        found = {f: steps[0] for f, steps in self._histories.items() if len(steps) == 1}
        order = self.ledger.position
        return dict(sorted(found.items(), key=lambda item: (order[item[1].bullet.bullet_id], item[0])))

    @cached_property
    def updated_once(self) -> dict[str, tuple[Step, Step]]:
        """Facts that change exactly once, with the original and the new value."""
        return {f: (steps[0], steps[1]) for f, steps in self._histories.items() if len(steps) == 2}

    @cached_property
    def current(self) -> dict[str, Step]:
        """The last value of each fact that is not contested."""
        return {f: steps[-1] for f, steps in self._histories.items() if steps}

    def past_values(self, fact_id: str) -> tuple[Value, ...]:
        """Values that a fact had and has no longer."""
        return tuple(step.value for step in self.history(fact_id)[:-1])

    def of_kind(self, kind: BulletKind) -> tuple[Bullet, ...]:
        """Bullets of a kind, in the order of the story."""
        return tuple(b for b in self.bullets.values() if b.kind is kind)

    def standing(self, kind: BulletKind) -> tuple[tuple[Bullet, Bullet | None], ...]:
        """Instructions or preferences in force at the end, each with the one it replaced, if any.

        A later one with the same topic and condition replaces the earlier, and so does one that targets it.
        """
        latest: dict[str, tuple[Bullet, Bullet | None]] = {}
        key_of: dict[str, str] = {}
        for bullet in self.of_kind(kind):
            key = key_of.get(bullet.target_bullet_id or "") or f"{bullet.topic}|{bullet.condition}".casefold()
            key_of[bullet.bullet_id] = key
            latest[key] = (bullet, latest[key][0] if key in latest else None)
        # A contested one still replaces what was before it: neither can be asked for.
        gone = {b.target_bullet_id for b in self.bullets.values() if b.kind is BulletKind.UPDATE}
        gone |= self.contested_bullets
        return tuple(pair for pair in latest.values() if pair[0].bullet_id not in gone)


def _slot(fact: Fact) -> tuple[str, str]:
    return fact.subject.casefold(), fact.attribute.casefold()
