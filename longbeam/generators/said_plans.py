"""The plans as they were said: without the bullets that no message voices, and without what depends on them.

A model may fail to word a bullet, or a turn that voices it gets no reply. Nothing waits for it and no text changes:
when the dialogues are done, the bullet leaves the plan. In the order of the story, the next saying of its fact becomes
the first one, and a denial of what was never said denies nothing. So no probe rests on something that was not said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from longbeam.schemas import Assertion, Bullet, BulletKind, Incident, IncidentKind, Plan, Stance, Value

_REFERRING = frozenset({BulletKind.UPDATE, BulletKind.CONTRADICTION})


def said_plans(plans: Sequence[Plan], unsaid: Set[str]) -> Iterator[tuple[Plan, tuple[Incident, ...]]]:
    """Yield each plan as it was said, with an incident for each bullet that it lost.

    `unsaid` are the ids of the bullets that no message voices. The plans are read twice, one at a time.
    """
    touched, valued = _facts_of(plans, unsaid)
    story = _Story(unsaid, touched, valued)
    for plan in plans:
        yield story.follow(plan)


def _facts_of(plans: Iterable[Plan], unsaid: Set[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the facts that an unsaid bullet asserts, and those of them that another bullet gives a value."""
    touched, valued = set[str](), set[str]()
    for plan in plans:
        for assertion in plan.assertions:
            if assertion.bullet_id in unsaid:
                touched.add(assertion.fact_id)
            elif assertion.value is not None:
                valued.add(assertion.fact_id)
    return frozenset(touched), frozenset(touched & valued)


@dataclass
class _Story:
    """The facts that unsaid bullets assert, followed through the story."""

    unsaid: Set[str]
    touched: frozenset[str]
    valued: frozenset[str]
    """Touched facts that a said bullet gives a value."""
    current: dict[str, tuple[str, Value]] = field(default_factory=dict)
    """The bullet that told each touched fact last, and the value; only facts that have been told."""

    def follow(self, plan: Plan) -> tuple[Plan, tuple[Incident, ...]]:
        """Return the next plan as it was said, and what it lost."""
        made: dict[str, list[Assertion]] = {}
        for assertion in plan.assertions:
            made.setdefault(assertion.bullet_id, []).append(assertion)
        bullets: dict[str, Bullet] = {}
        assertions: list[Assertion] = []
        lost: list[Incident] = []
        for bullet in plan.bullets():
            own = made.get(bullet.bullet_id, [])
            if bullet.bullet_id in self.unsaid:
                lost.append(_lost(bullet, own))
                continue
            bullets[bullet.bullet_id] = self._referring(bullet, own)
            assertions += filter(None, map(self._said, own))
        said = plan.model_copy(
            update={
                "sub_plans": tuple(
                    s.model_copy(
                        update={"bullets": tuple(bullets[b.bullet_id] for b in s.bullets if b.bullet_id in bullets)}
                    )
                    for s in plan.sub_plans
                ),
                "facts": tuple(f for f in plan.facts if f.fact_id not in self.touched - self.valued),
                "assertions": tuple(assertions),
            }
        )
        return said, tuple(lost)

    def _referring(self, bullet: Bullet, own: Sequence[Assertion]) -> Bullet:
        """Return a bullet that refers to what was said: to the newest saying of its fact, or else to nothing."""
        if bullet.target_bullet_id is None or bullet.target_bullet_id not in self.unsaid:
            return bullet
        told = [self.current[a.fact_id][0] for a in own if a.fact_id in self.current]
        if told and bullet.kind in _REFERRING:
            return bullet.model_copy(update={"target_bullet_id": told[-1]})
        kind = BulletKind.EVENT if bullet.kind in _REFERRING else bullet.kind
        return bullet.model_copy(update={"kind": kind, "target_bullet_id": None, "variety": ""})

    def _said(self, assertion: Assertion) -> Assertion | None:
        """Return the assertion with the stance that it has among what was said; None if it asserts nothing any more."""
        fact_id, value, stance = assertion.fact_id, assertion.value, assertion.stance
        if fact_id not in self.touched:
            return assertion
        before = self.current.get(fact_id)
        if value is None:
            return assertion if before else None
        if before is None:
            stance = Stance.SETS
        elif stance is Stance.UPDATES and value.means_same_as(before[1]):
            stance = Stance.MENTIONS  # the change in between was not said
        if stance in (Stance.SETS, Stance.UPDATES):
            self.current[fact_id] = assertion.bullet_id, value
        return assertion.model_copy(update={"stance": stance})


def _lost(bullet: Bullet, own: Sequence[Assertion]) -> Incident:
    facts = f"; it asserts {', '.join(dict.fromkeys(a.fact_id for a in own))}" if own else ""
    return Incident(kind=IncidentKind.DROPPED, place=bullet.bullet_id, detail=f"no message says: {bullet.text}{facts}")
