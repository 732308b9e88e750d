"""Facts over time: which facts of a conversation's ledger are settled, updated or contested.

`Ledger` gives the state at one point of the story. Gold answers need the whole life of a fact, and whether anything in
the conversation leaves it in doubt. Plans are read one at a time, twice; the first pass collects what a plan says about
facts of other plans.

A contradiction contests every fact that it touches, and a flat denial of a bullet contests all facts that the bullet
sets: no other ability may build a gold answer on them. Values are compared as typed values, not as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from longbeam.schemas import AMOUNT_KINDS, Assertion, Bullet, BulletKind, Fact, Plan, Stance, Value, ValueKind

Made = tuple[Bullet, Assertion]
"""An assertion with the bullet that makes it."""
STANDING = (BulletKind.INSTRUCTION, BulletKind.PREFERENCE)
"""Kinds of wishes."""
_ENDS = re.compile(
    r"(?:^|[,;:.]\s)(?:so |and |but |only |just )?(?:until|till|as long as) (?!you|it\b)|\bonly until\b|"
    r"\bfor (?:now|the time being|the moment)\b",
    re.IGNORECASE,
)
"""Words by which a wish says when it ends: nobody can tell whether it still holds."""
_MEASURED = AMOUNT_KINDS | {ValueKind.RATIO}
_DETERMINER = re.compile(r"^(?:the|an?|my|our|your|his|her|their)\s+")
_ADDITION = re.compile(r"\s+(?:of|from|for|with|at|in|on|to|by|about)\s.*$")
"""What follows the noun of a name: `from the bank` of `the loan from the bank`."""


class HistoryStep(NamedTuple):
    """A value that a fact takes, and the bullet that gives it."""

    bullet: Bullet
    value: Value


class Life(NamedTuple):
    """The values of a fact over the whole conversation."""

    fact: Fact
    made: tuple[Made, ...]
    """All assertions about the fact, in the order of the story."""
    steps: tuple[HistoryStep, ...]
    """Values that the fact takes, oldest first, each once; empty if it is contested or its slot is ambiguous.

    Also empty if a bullet only mentions another value than the current one: then no answer could be proved.
    """

    @property
    def first(self) -> HistoryStep | None:
        """The first value that the fact is given, contested or not; None if it is given none."""
        return next((HistoryStep(bullet, a.value) for bullet, a in self.made if a.value is not None), None)

    def is_stated_again(self, bullet_id: str) -> bool:
        """Return whether another bullet gives the same value as this one: then neither of them is needed."""
        own = [a.value for b, a in self.made if b.bullet_id == bullet_id and a.value is not None]
        others = [a.value for b, a in self.made if b.bullet_id != bullet_id and a.value is not None]
        return any(value.means_same_as(other) for value in own for other in others)


class Conflict(NamedTuple):
    """A contradicted bullet with the bullet that contradicts it."""

    statement: Bullet
    denial: Bullet
    stated: tuple[Fact, ...]
    """Facts that the statement sets, updates, denies or mentions."""
    given: tuple[Value | None, ...]
    """Value that the statement gives to each of these, if any."""
    fact: Fact | None
    """The first fact to which both give a value, and not the same; None if there is none."""
    values: tuple[Value, ...]
    """Values of the statement and of the denial; empty where `fact` is None."""
    is_decided: bool = False
    """Whether no question is left open: another bullet says one of the two again, or what holds in the end; or another
    amount of the thing changed between the two, so that time explains both."""


@dataclass
class _Across:
    """Index of everything in one plan that concerns the facts of another."""

    wishes: list[Bullet] = field(default_factory=list)
    """Instructions and preferences, in the order of the story."""
    replaced: set[str] = field(default_factory=set)
    """Bullets that an update supersedes."""
    contested: set[str] = field(default_factory=set)
    """Bullets that a contradiction denies or questions, and the contradictions themselves."""
    denied: set[str] = field(default_factory=set)
    """Bullets that a contradiction denies as a whole."""
    later: dict[str, list[Made]] = field(default_factory=dict)
    """Assertions about a fact by other plans than its own, in the order of the story."""
    ambiguous: set[str] = field(default_factory=set)
    """Slots that several facts have: a question could mean any of these."""
    shared: frozenset[str] = frozenset()
    """Names that another thing goes by, too, case-folded."""

    @classmethod
    def of(cls, plans: Sequence[Plan]) -> _Across:
        across, slots = cls(shared=find_shared_names(plans)), set[str]()
        for plan in plans:
            made = _made(plan)
            own = {f.fact_id for f in plan.facts}
            for bullet, assertion in made:
                if assertion.fact_id not in own:
                    across.later.setdefault(assertion.fact_id, []).append((bullet, assertion))
            for slot in (fact.slot for fact in plan.facts):
                (across.ambiguous if slot in slots else slots).add(slot)
            asserting = {bullet.bullet_id for bullet, _ in made}
            for bullet in plan.bullets():
                across._note(bullet, bullet.bullet_id in asserting)
        return across

    def _note(self, bullet: Bullet, asserts: bool) -> None:
        target = {bullet.target_bullet_id} if bullet.target_bullet_id else set[str]()
        if bullet.kind in STANDING:
            self.wishes.append(bullet)
        elif bullet.kind is BulletKind.UPDATE:
            self.replaced |= target
        elif bullet.kind is BulletKind.CONTRADICTION:
            self.contested |= {bullet.bullet_id} | target
            # "I have never met a plumber" leaves the plumber's price in doubt; "it was $80" only the price.
            if bullet.variety != "other_value" or not asserts:
                self.denied |= target


@dataclass(frozen=True)
class Histories:
    """The facts of a conversation over time."""

    plans: Sequence[Plan]

    @cached_property
    def _across(self) -> _Across:
        return _Across.of(self.plans)

    @property
    def shared_names(self) -> frozenset[str]:
        """Names that two things share, case-folded."""
        return self._across.shared

    def bullets(self) -> Iterator[Bullet]:
        """Yield all bullets in the order of the story."""
        return (bullet for plan in self.plans for bullet in plan.bullets())

    def lives(self) -> Iterator[Life]:
        """Yield the life of each fact, in the order of the ledger."""
        for plan in self.plans:
            on_fact: dict[str, list[Made]] = {}
            for bullet, assertion in _made(plan):
                on_fact.setdefault(assertion.fact_id, []).append((bullet, assertion))
            for fact in plan.facts:
                yield self._life(fact, on_fact.get(fact.fact_id, []))

    def _life(self, fact: Fact, own: list[Made]) -> Life:
        made = (*own, *self._across.later.get(fact.fact_id, ()))
        is_named = fact.slot not in self._across.ambiguous and fact.subject.casefold() not in self._across.shared
        is_clear = is_named and not any(self._contests(*one) for one in made)
        return Life(fact, made, _steps(made) if is_clear else ())

    def _contests(self, bullet: Bullet, assertion: Assertion) -> bool:
        is_denied = bullet.bullet_id in self._across.denied
        return assertion.stance is Stance.DENIES or bullet.kind is BulletKind.CONTRADICTION or is_denied

    def _is_shared(self, bullet: Bullet) -> bool:
        return bullet.topic.casefold() in self._across.shared

    @property
    def contested_bullets(self) -> Set[str]:
        """Bullets that a contradiction denies or questions, and the contradictions themselves."""
        return self._across.contested

    def conflicts(self) -> Iterator[Conflict]:
        """Yield each contradiction with the bullet that it contradicts, in the order of the story.

        Those on a thing whose name another one has, too, are left out.
        """
        contested = {b.bullet_id: b for b in self.bullets() if b.bullet_id in self.contested_bullets}
        places = {bullet.bullet_id: i for i, bullet in enumerate(self.bullets())}
        touched: dict[str, list[tuple[Fact, Value | None]]] = {bullet_id: [] for bullet_id in contested}
        told: dict[str, tuple[Made, ...]] = {}
        changed: dict[str, list[tuple[str, int]]] = {}
        for life in self.lives():
            if life.fact.kind in _MEASURED:
                updates = ((life.fact.fact_id, places[b.bullet_id]) for b, a in life.made if a.stance is Stance.UPDATES)
                changed.setdefault(life.fact.subject.casefold(), []).extend(updates)
            for bullet, assertion in life.made:
                if bullet.bullet_id in contested:
                    touched[bullet.bullet_id].append((life.fact, assertion.value))
                    told[life.fact.fact_id] = life.made
        for denial in contested.values():
            statement = contested.get(denial.target_bullet_id or "")
            if denial.kind is BulletKind.CONTRADICTION and statement is not None and not self._is_shared(statement):
                stated, denied = touched[statement.bullet_id], touched[denial.bullet_id]
                fact, values = _at_odds(stated, denied)
                about = [fact.fact_id] if fact is not None else [f.fact_id for f, _ in stated]
                others = (one for fact_id in about for one in told[fact_id] if one[0] not in (statement, denial))
                sides = values or [value for _, value in stated if value is not None]
                is_decided = any(_decides(*one, sides) for one in others)
                if fact is not None and fact.kind in _MEASURED:
                    between = range(*sorted((places[statement.bullet_id], places[denial.bullet_id])))
                    beside = changed[fact.subject.casefold()]
                    is_decided |= any(i != fact.fact_id and place in between for i, place in beside)
                facts, given = tuple(f for f, _ in stated), tuple(value for _, value in stated)
                yield Conflict(statement, denial, facts, given, fact, values, is_decided)

    def standing(self, kind: BulletKind) -> tuple[tuple[Bullet, Bullet | None], ...]:
        """Return the instructions or preferences in force at the end, each with the one that it replaced, if any.

        A later one with the same topic and condition replaces the earlier, and so does one that targets it.
        """
        latest: dict[str, tuple[Bullet, Bullet | None]] = {}
        key_of: dict[str, str] = {}
        for bullet in (wish for wish in self._across.wishes if wish.kind is kind):
            key = key_of.get(bullet.target_bullet_id or "") or f"{bullet.topic}|{bullet.condition}".casefold()
            key_of[bullet.bullet_id] = key
            latest[key] = (bullet, latest[key][0] if key in latest else None)
        # A contested one still replaces what was before it: neither can be asked for.
        gone = self._across.replaced | self.contested_bullets
        return tuple(
            pair for pair in latest.values() if pair[0].bullet_id not in gone and not _ENDS.search(pair[0].text)
        )


def find_shared_names(plans: Sequence[Plan]) -> frozenset[str]:
    """Return the names of things, case-folded, that another thing goes by, too: no question can name the one.

    "The loan" may be the bank loan, or, in another narrative, the loan that is a fact of Kathleen.
    """
    narratives: dict[str, set[str]] = {}
    named: dict[str, set[str]] = {}
    attributes: dict[str, dict[str, set[str]]] = {}
    for plan in plans:
        facts = {f.fact_id: f for f in plan.facts}
        for bullet, assertion in _made(plan):
            if (fact := facts.get(assertion.fact_id)) is None:
                continue
            thing = fact.subject.casefold()
            narratives.setdefault(thing, set()).add(bullet.narrative)
            for name in _short_names(thing):
                named.setdefault(name, set()).add(thing)
            attributes.setdefault(_bare(fact.attribute.casefold()), {}).setdefault(thing, set()).add(bullet.narrative)
    return frozenset(
        thing
        for thing, own in narratives.items()
        if named[_bare(thing)] != {thing}
        or any(other != thing and told.isdisjoint(own) for other, told in attributes.get(_bare(thing), {}).items())
    )


def _bare(name: str) -> str:
    return _DETERMINER.sub("", name)


def _short_names(thing: str) -> Iterator[str]:
    """Yield the names by which a thing may be called: `the bank loan` is also `loan`."""
    yield _bare(thing)
    words = _ADDITION.sub("", _bare(thing)).split()
    yield from (" ".join(words[i:]) for i in range(len(words)))


def _made(plan: Plan) -> list[Made]:
    """Return the assertions of a plan in the order of its bullets."""
    bullets = {b.bullet_id: b for b in plan.bullets()}
    order = {bullet_id: i for i, bullet_id in enumerate(bullets)}
    return [(bullets[a.bullet_id], a) for a in sorted(plan.assertions, key=lambda a: order[a.bullet_id])]


def _steps(made: Iterable[Made]) -> tuple[HistoryStep, ...]:
    steps: list[HistoryStep] = []
    for bullet, assertion in made:
        if assertion.value is None or (steps and steps[-1].value.means_same_as(assertion.value)):
            continue
        if steps and assertion.stance is Stance.MENTIONS:
            return ()
        steps.append(HistoryStep(bullet, assertion.value))
    return tuple(steps)


def _decides(bullet: Bullet, assertion: Assertion, sides: Iterable[Value]) -> bool:
    """Return whether another bullet's assertion tells which side of a contradiction holds."""
    if bullet.kind is BulletKind.CONTRADICTION or assertion.value is None:
        return False
    return bullet.kind is BulletKind.UPDATE or any(assertion.value.means_same_as(side) for side in sides)


def _at_odds(
    stated: Iterable[tuple[Fact, Value | None]], denied: Iterable[tuple[Fact, Value | None]]
) -> tuple[Fact | None, tuple[Value, ...]]:
    values = {fact.fact_id: value for fact, value in stated if value is not None}
    for fact, other in denied:
        value = values.get(fact.fact_id)
        if value is not None and other is not None and not value.means_same_as(other):
            return fact, (value, other)
    return None, ()
