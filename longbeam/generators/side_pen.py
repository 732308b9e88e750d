"""The pen that writes bullets beside a plan's story: their places, ids and facts."""

from __future__ import annotations

from longbeam.generators.augmented import Augmented, augmented_plan
from longbeam.keys import BulletId, FactId, SubPlanKey
from longbeam.schemas import CLOSING, Assertion, Bullet, BulletKind, Fact, Person, Plan, Relation, Stance, Value
from longbeam.text import attribute_of, name, relation_words, says

SPAN = (0.04, 0.86)
"""Part of the plan over which bullets are spread: none lies in the last tenth."""
SIDE_NARRATIVE = "On the Side"
Entry = dict[str, Value]
"""Values of an entry by role."""


class Pen:
    """Adds bullets of side stories to a plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._added: list[tuple[Bullet, str]] = []
        self._facts: list[Fact] = []
        self._assertions: list[Assertion] = []
        self._used: set[str] = set()
        self._next_fact = max((FactId.parse(f.fact_id).ordinal for f in plan.facts), default=-1) + 1

    def called(self, person: Person) -> str:
        """Return how the user calls somebody; an acquaintance whom the story names has the role that it gives them."""
        is_cast = any(says(b.text, name(person.first_name)) for b in self._plan.bullets())
        if is_cast and person.relation is Relation.ACQUAINTANCE:
            return person.first_name
        return f"{relation_words(person)} {person.first_name}"

    def places(self, count: int, span: tuple[float, float] = SPAN) -> list[Bullet]:
        """Return bullets that side stories may follow, on different days, spread over the plan; each is given once."""
        by_day = {b.happens_on: b for b in self._plan.bullets() if b.variety != CLOSING}
        free = [b for b in by_day.values() if b.bullet_id not in self._used]
        first, last = (int(share * len(free)) for share in span)
        free = free[first:last]
        count = min(count, len(free))
        chosen = [free[(2 * i + 1) * len(free) // (2 * count)] for i in range(count)]
        self._used |= {b.bullet_id for b in chosen}
        return chosen

    def add(self, after: Bullet, kind: BulletKind, topic: str, text: str, **fields: str) -> Bullet:
        """Add a bullet behind another one, on its day, and return it."""
        bullet = Bullet(
            bullet_id=self._new_id(after),
            kind=kind,
            narrative=SIDE_NARRATIVE,
            topic=topic,
            text=text,
            happens_on=after.happens_on,
            **fields,
        )
        self._added.append((bullet, after.bullet_id))
        return bullet

    def tell(self, after: Bullet, story: str, text: str, entry: Entry) -> None:
        """Add a bullet that tells an entry of a side story, with its facts."""
        bullet = self.add(after, BulletKind.SIDE, story, text)
        for role, value in entry.items():
            fact = Fact(
                fact_id=str(FactId(self._plan.plan_index, self._next_fact)),
                subject=story,
                attribute=attribute_of(role, bullet.happens_on),
                kind=value.kind,
                is_fixed=True,
                side_story=story,
            )
            self._next_fact += 1
            self._facts.append(fact)
            self._assertions.append(
                Assertion(bullet_id=bullet.bullet_id, fact_id=fact.fact_id, stance=Stance.SETS, value=value)
            )

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
