"""Side stories: what goes on beside the main story, drawn and worded by code, so that questions can count and join.

A plan gets a round of people that meets again and again, and a log of the user's own. Every entry is a bullet of its
own, which says its values, and nothing else in the conversation is about them. Their facts are kept apart
(`Fact.side_story`): questions on single facts, updates and contradictions leave them alone.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from longbeam.generators.augmented import Augmented, augmented_plan
from longbeam.generators.layout import Layout
from longbeam.keys import BulletId, FactId, SubPlanKey
from longbeam.schemas.people import Person
from longbeam.schemas.plans import CLOSING, Assertion, Bullet, BulletKind, Fact, Plan, Stance, Value
from longbeam.text.side_texts import (
    AMOUNT,
    EVENINGS,
    LATE,
    OWN_LOGS,
    PAID,
    PLACE,
    RELATION,
    Evenings,
    OwnLog,
)
from longbeam.text.times import format_date
from longbeam.text.values import name, number

QUESTIONS_PER_ENTRY = 6
"""Questions of a plan for each entry of a side story."""
ENTRIES = (5, 16)
"""Fewest and most entries of a side story in one plan."""
FULL = 10
"""Entries from which a plan has both side stories; shorter plans have the round of people only."""
ROUND = 4
"""People of a round: two come late and pay, one only comes late, one only pays."""
SPAN = (0.04, 0.86)
"""Part of the plan over which the entries are spread: none lies in the last tenth."""

GROWN = 18
"""Age from which somebody is of a round."""
SIDE_NARRATIVE = "On the Side"
_FIELDS = {LATE: "late", PAID: "paid", AMOUNT: "amount", PLACE: "place"}
"""Fields of the sentences, by role."""
T = TypeVar("T")
Entry = dict[str, Value]
"""Values of an entry by role."""


@dataclass(frozen=True)
class SideInputs:
    """Everything that the side stories of a plan are drawn from."""

    plan: Plan
    layout: Layout
    people: Sequence[Person]
    rng_key: str
    """Key of the conversation's random draws."""


def with_side_stories(inputs: SideInputs) -> Plan:
    """Return a plan with its side stories; without any where it has too few people or days."""
    plan, layout = inputs.plan, inputs.layout
    questions = layout.sub_plans * layout.batches * layout.questions
    count = min(max(questions // QUESTIONS_PER_ENTRY, ENTRIES[0]), ENTRIES[1])
    pen = Pen(plan)
    rng = random.Random(f"{inputs.rng_key}/side/{plan.plan_index}")
    evenings, log = _own(EVENINGS, inputs), _own(OWN_LOGS, inputs)
    if evenings is not None:
        _tell_evenings(pen, evenings, count, _round(inputs.people, rng), rng)
    if log is not None and count >= FULL:
        _tell_log(pen, log, count, rng)
    return pen.plan_told()


def _own(texts: Sequence[T], inputs: SideInputs) -> T | None:
    """Return the texts of a plan, other ones than those of the conversation's other plans; None beyond their number."""
    order = list(texts)
    random.Random(f"{inputs.rng_key}/side").shuffle(order)
    return order[inputs.plan.plan_index] if inputs.plan.plan_index < len(order) else None


def _round(people: Sequence[Person], rng: random.Random) -> list[Person]:
    grown = [p for p in people if p.age >= GROWN]
    return rng.sample(grown, ROUND) if len(grown) >= ROUND else []


# --- entries ------------------------------------------------------------------------------------------------------


def _tell_evenings(pen: Pen, texts: Evenings, count: int, people: Sequence[Person], rng: random.Random) -> None:
    places = pen.places(count + 1, rng)
    if not people or len(places) <= ENTRIES[0]:
        return
    names = [p.first_name for p in people]
    called = [f"{RELATION[p.relation, p.gender]} {p.first_name}" for p in people]
    opening = f"{', '.join(called[:-1])}, {called[-1]} and I now meet regularly for {texts.name}."
    pen.tell(places[0], texts.name, _sentence(opening), {})
    only_late, only_paid, *both = names
    late, paid = _dealt([only_late, *both], len(places) - 1, rng), _dealt([only_paid, *both], len(places) - 1, rng)
    for i, place in enumerate(places[1:]):
        # Nobody comes late and pays on the same evening.
        payer = paid[i] if paid[i] != late[i] else next(p for p in (*both, only_paid) if p != late[i])
        entry = {LATE: name(late[i]), PAID: name(payer)}
        pen.tell(place, texts.name, _worded(texts.tell, i, entry), entry)


def _tell_log(pen: Pen, texts: OwnLog, count: int, rng: random.Random) -> None:
    places = pen.places(count, rng)
    low, high = texts.amounts
    where = _dealt(texts.places, len(places), rng)
    for i, place in enumerate(places):
        entry = {AMOUNT: number(rng.randint(low, high), texts.unit), PLACE: name(where[i])}
        pen.tell(place, texts.name, _worded(texts.tell, i, entry), entry)


def _dealt(items: Sequence[str], count: int, rng: random.Random) -> list[str]:
    """Return `count` draws: each item at least once where there is room, and not all equally often."""
    drawn = [*items, *rng.choices(items, weights=range(len(items), 0, -1), k=max(count - len(items), 0))][:count]
    rng.shuffle(drawn)
    return drawn


def _worded(tell: Sequence[str], turn: int, entry: Entry) -> str:
    return _sentence(f"{tell[turn % len(tell)].format(**{_FIELDS[role]: v.text for role, v in entry.items()})}.")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


# --- the plan -----------------------------------------------------------------------------------------------------


class Pen:
    """Adds bullets of side stories to a plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._added: list[tuple[Bullet, str]] = []
        self._facts: list[Fact] = []
        self._assertions: list[Assertion] = []
        self._used: set[str] = set()
        self._next_fact = max((FactId.parse(f.fact_id).ordinal for f in plan.facts), default=-1) + 1

    def places(self, count: int, rng: random.Random) -> list[Bullet]:
        """Return bullets that side stories may follow, on different days, spread over the plan; each is given once."""
        by_day = {b.happens_on: b for b in self._plan.bullets() if b.variety != CLOSING}
        free = [b for b in by_day.values() if b.bullet_id not in self._used]
        first, last = (int(share * len(free)) for share in SPAN)
        free = free[first:last]
        count = min(count, len(free))
        chosen = [free[(2 * i + 1) * len(free) // (2 * count)] for i in range(count)]
        self._used |= {b.bullet_id for b in chosen}
        return chosen

    def tell(self, after: Bullet, story: str, text: str, entry: Entry, *, variety: str = "") -> Bullet:
        """Add a bullet that tells an entry behind another bullet, on its day, and return it."""
        bullet = Bullet(
            bullet_id=self._new_id(after),
            kind=BulletKind.SIDE,
            narrative=SIDE_NARRATIVE,
            topic=story,
            text=text,
            happens_on=after.happens_on,
            variety=variety,
        )
        self._added.append((bullet, after.bullet_id))
        for role, value in entry.items():
            fact = Fact(
                fact_id=str(FactId(self._plan.plan_index, self._next_fact)),
                subject=story,
                attribute=f"{role} on {format_date(bullet.happens_on)}",
                kind=value.kind,
                is_fixed=True,
                side_story=story,
            )
            self._next_fact += 1
            self._facts.append(fact)
            self._assertions.append(
                Assertion(bullet_id=bullet.bullet_id, fact_id=fact.fact_id, stance=Stance.SETS, value=value)
            )
        return bullet

    def _new_id(self, after: Bullet) -> str:
        place = BulletId.parse(after.bullet_id)
        key = SubPlanKey(place.plan_index, place.sub_plan_index)
        own = len(self._plan.sub_plans[place.sub_plan_index].bullets)
        before = sum(BulletId.parse(b.bullet_id)[:2] == place[:2] for b, _ in self._added)
        return str(key.bullet(own + before))

    def plan_told(self) -> Plan:
        """Return the plan with the added bullets and their facts."""
        plan = self._plan.model_copy(update={"facts": (*self._plan.facts, *self._facts)})
        if not self._added:
            return plan
        bullets, after = zip(*self._added, strict=True)
        return augmented_plan(
            plan, [Augmented(stage_index=0, bullets=bullets, after=after, assertions=tuple(self._assertions))]
        )
