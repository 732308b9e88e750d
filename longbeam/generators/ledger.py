"""The facts of plans: the value of a fact at a point of the story, and the values that are known from a day on.

`generators/probes/histories.py` follows a fact over the whole story, for gold answers. `validation` has an
index of its own, so that a check does not rely on the code that it checks.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeVar

from longbeam.prompts.calls import BulletBrief, LedgerLine
from longbeam.schemas import Assertion, Bullet, BulletKind, Fact, Plan, Stance, SubPlan, Value, digest_of
from longbeam.text import Key, loose_keys, own_words, spell_out, value_keys, values_with_keys


class KnownValues:
    """Values, and texts that state values, each known from a day on."""

    def __init__(self) -> None:
        self._since: dict[Key, dt.date] = {}
        self._values: list[tuple[dt.date, Value]] = []
        self._unread: list[tuple[str, dt.date, dt.date, Set[Key]]] = []

    def add(self, value: Value, said_on: dt.date, since: dt.date) -> None:
        """Add a value that was said on a day."""
        self._add(value, value_keys(value, said_on), since)

    def add_key(self, key: Key, since: dt.date) -> None:
        """Add the key of a value that nothing is computed from."""
        self._since[key] = min(since, self._since.get(key, since))

    def add_text(self, text: str, said_on: dt.date, since: dt.date, without: Set[Key] = frozenset()) -> None:
        """Add the values of a text that was said on a day, but those with such keys; the text is read later."""
        self._unread.append((text, said_on, since, without))

    def read(self) -> None:
        """Read the texts: only when a value is not known otherwise, because most messages state none."""
        for text, said_on, since, without in self._unread:
            for value, keys in values_of(spell_out(text, said_on), said_on):
                if without.isdisjoint(keys):
                    self._add(value, keys, since)
        self._unread.clear()

    def has(self, keys: Iterable[Key], day: dt.date) -> bool:
        """Return whether one of the keys is known on a day, without the texts that are not read yet."""
        return any(self._since.get(key, dt.date.max) <= day for key in keys)

    def until(self, day: dt.date) -> Iterator[Value]:
        """Yield the values that are known on a day."""
        return (value for since, value in self._values if since <= day)

    def _add(self, value: Value, keys: Iterable[Key], since: dt.date) -> None:
        self._values.append((since, value))
        for key in (*keys, *loose_keys(value)):
            self.add_key(key, since)


@lru_cache(maxsize=1024)
def values_of(text: str, day: dt.date) -> tuple[tuple[Value, frozenset[Key]], ...]:
    """Return all values of a text with their keys; `day` gives the year to dates without one."""
    return tuple(values_with_keys(text, day))


T = TypeVar("T")


@dataclass(frozen=True)
class Ledger:
    """The facts of some sub-plans in the order of the story."""

    sub_plans: tuple[SubPlan, ...]
    facts: tuple[Fact, ...]
    assertions: tuple[Assertion, ...]

    @classmethod
    def of(cls, plan: Plan) -> Ledger:
        """Return the ledger of a whole plan."""
        return cls(plan.sub_plans, plan.facts, plan.assertions)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the sub-plans, facts and assertions."""
        return digest_of(self.sub_plans, self.facts, self.assertions)

    @cached_property
    def bullets(self) -> tuple[Bullet, ...]:
        """All bullets in the order of the story."""
        return tuple(b for s in self.sub_plans for b in s.bullets)

    @cached_property
    def bullet(self) -> dict[str, Bullet]:
        """Bullets by id."""
        return {b.bullet_id: b for b in self.bullets}

    @cached_property
    def position(self) -> dict[str, int]:
        """Ordinal of each bullet in the story."""
        return {b.bullet_id: i for i, b in enumerate(self.bullets)}

    @cached_property
    def by_topic(self) -> dict[str, tuple[Bullet, ...]]:
        """Bullets of each topic, in the order of the story."""
        grouped: dict[str, list[Bullet]] = {}
        for bullet in self.bullets:
            grouped.setdefault(bullet.topic, []).append(bullet)
        return {k: tuple(v) for k, v in grouped.items()}

    @cached_property
    def fact(self) -> dict[str, Fact]:
        """Facts by id."""
        return {f.fact_id: f for f in self.facts}

    @cached_property
    def by_subject(self) -> dict[str, tuple[str, ...]]:
        """Ids of the facts about each subject."""
        grouped: dict[str, list[str]] = {}
        for fact in self.facts:
            grouped.setdefault(fact.subject, []).append(fact.fact_id)
        return {k: tuple(v) for k, v in grouped.items()}

    @cached_property
    def by_bullet(self) -> dict[str, tuple[Assertion, ...]]:
        """Assertions of each bullet."""
        grouped: dict[str, list[Assertion]] = {}
        for assertion in self.assertions:
            grouped.setdefault(assertion.bullet_id, []).append(assertion)
        return {k: tuple(v) for k, v in grouped.items()}

    @cached_property
    def by_fact(self) -> dict[str, tuple[Assertion, ...]]:
        """Assertions on each fact, in the order of the story."""
        grouped: dict[str, list[Assertion]] = {}
        for assertion in sorted(self.assertions, key=lambda a: self.position[a.bullet_id]):
            grouped.setdefault(assertion.fact_id, []).append(assertion)
        return {k: tuple(v) for k, v in grouped.items()}

    @cached_property
    def values(self) -> KnownValues:
        """Values of the assertions and of the bullets' texts, each known from the day of its bullet.

        What a pasted document claims is no value of the story.
        """
        known = KnownValues()
        for bullet in self.bullets:
            text = own_words(bullet.text) if bullet.kind is BulletKind.PASTED else bullet.text
            known.add_text(text, bullet.happens_on, bullet.happens_on)
            for assertion in self.by_bullet.get(bullet.bullet_id, ()):
                if assertion.value is not None:
                    known.add(assertion.value, bullet.happens_on, bullet.happens_on)
        return known

    def lines(self, before: str | None = None) -> tuple[LedgerLine, ...]:
        """Return the state of every fact asserted before a bullet (by default, of all), in order of first mention."""
        end = len(self.bullets) if before is None else self.position[before]
        return tuple(self._line(i, value) for i, value in self._state(end).items() if not self.fact[i].side_story)

    def _state(self, end: int) -> dict[str, Value | None]:
        state: dict[str, Value | None] = {}
        for bullet in self.bullets[:end]:
            for assertion in self.by_bullet.get(bullet.bullet_id, ()):
                state[assertion.fact_id] = after(state.get(assertion.fact_id), assertion)
        return state

    def changed_lines(self, before: str) -> tuple[LedgerLine, ...]:
        """Return the state of the facts that were updated before a bullet."""
        end = self.position[before]
        updated = {
            a.fact_id for a in self.assertions if a.stance is Stance.UPDATES and self.position[a.bullet_id] < end
        }
        return tuple(self._line(fact_id, value) for fact_id, value in self._state(end).items() if fact_id in updated)

    def lines_updated_by(self, bullets: Iterable[Bullet]) -> tuple[LedgerLine, ...]:
        """Return the facts that some bullets change, with their values after the last of them."""
        told = {
            a.fact_id: a for b in bullets for a in self.by_bullet.get(b.bullet_id, ()) if a.stance is Stance.UPDATES
        }
        return tuple(self._line(fact_id, assertion.value) for fact_id, assertion in told.items())

    def briefs(self, bullets: Iterable[Bullet]) -> tuple[BulletBrief, ...]:
        """Return each bullet with the facts that it sets, updates or denies, and their values before it."""
        return tuple(self._brief(b) for b in bullets)

    def _brief(self, bullet: Bullet) -> BulletBrief:
        assertions = self.by_bullet.get(bullet.bullet_id, ())
        return BulletBrief(
            bullet=bullet,
            facts=tuple(self._line(a.fact_id, a.value) for a in assertions),
            old_values=tuple(self.value_before(a.fact_id, bullet.bullet_id) for a in assertions),
        )

    def current_brief(self, bullet: Bullet, now: str) -> BulletBrief:
        """Return a bullet with the values of its facts just after bullet `now`, for later questions."""
        lines, is_outdated = [], False
        for assertion in self.by_bullet.get(bullet.bullet_id, ()):
            value: Value | None = None
            for other in self.by_fact[assertion.fact_id]:
                if self.position[other.bullet_id] <= self.position[now]:
                    value = after(value, other)
            lines.append(self._line(assertion.fact_id, value))
            told = assertion.value
            is_outdated |= told is not None and value is not None and not value.means_same_as(told)
        none = (None,) * len(lines)
        return BulletBrief(bullet=bullet, facts=tuple(lines), old_values=none, is_outdated=is_outdated)

    def known_about(self, subject: str, now: str) -> tuple[LedgerLine, ...]:
        """Return the facts about a subject with their values just after bullet `now`, in order of first mention."""
        state: dict[str, Value | None] = {}
        for fact_id in (i for i in self.by_subject.get(subject, ()) if not self.fact[i].side_story):
            for assertion in self.by_fact.get(fact_id, ()):
                if self.position[assertion.bullet_id] <= self.position[now]:
                    state[fact_id] = after(state.get(fact_id), assertion)
        return tuple(self._line(fact_id, value) for fact_id, value in state.items() if value is not None)

    def value_before(self, fact_id: str, bullet_id: str) -> Value | None:
        """Return the fact's value just before a bullet."""
        value: Value | None = None
        for assertion in self.by_fact.get(fact_id, ()):
            if self.position[assertion.bullet_id] >= self.position[bullet_id]:
                break
            value = after(value, assertion)
        return value

    def _line(self, fact_id: str, value: Value | None) -> LedgerLine:
        return line_of(self.fact[fact_id], value)


def line_of(fact: Fact, value: Value | None) -> LedgerLine:
    """Return the state of a fact that has this value."""
    return LedgerLine(
        fact_id=fact.fact_id,
        subject=fact.subject,
        attribute=fact.attribute,
        kind=fact.kind,
        is_fixed=fact.is_fixed,
        value=value,
    )


def after(value: Value | None, assertion: Assertion) -> Value | None:
    """Return a fact's value after an assertion on it."""
    # A denial is a contradiction for the reader to resolve, not a change of the world: the value stays.
    if assertion.stance is Stance.DENIES or assertion.value is None:
        return value
    return assertion.value


def standing_bullets(bullets: Iterable[Bullet]) -> tuple[Bullet, ...]:
    """Return the instructions and preferences in force; an evolved preference replaces the former one."""
    standing: dict[tuple[str, str], Bullet] = {}
    for bullet in bullets:
        if bullet.kind is BulletKind.INSTRUCTION:
            standing[("", bullet.bullet_id)] = bullet
        elif bullet.kind is BulletKind.PREFERENCE:
            standing[(bullet.topic, bullet.condition)] = bullet
    return tuple(standing.values())


def replaced_wishes(bullets: Sequence[Bullet]) -> tuple[Bullet, ...]:
    """Return the preferences that a later one of the bullets replaces."""
    standing = {b.bullet_id for b in standing_bullets(bullets)}
    return tuple(b for b in bullets if b.kind is BulletKind.PREFERENCE and b.bullet_id not in standing)


def split_evenly(items: Sequence[T], parts: int) -> list[tuple[T, ...]]:
    """Split into `parts` contiguous groups whose sizes differ by at most one; later groups may be empty."""
    size, extra = divmod(len(items), parts)
    groups, start = [], 0
    for i in range(parts):
        end = start + size + (i < extra)
        groups.append(tuple(items[start:end]))
        start = end
    return groups
