"""What crosses the borders between the plans of a conversation: people, facts, instructions and preferences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from longbeam.keys import plan_index_of
from longbeam.schemas.conversation import ConversationHead
from longbeam.schemas.plans import BulletKind, Plan, Stance
from longbeam.schemas.statistics import PlanBorder

_WORD = re.compile(r"[^\W\d_]+")


def borders_of(head: ConversationHead) -> Iterator[PlanBorder]:
    """Yield a row for each plan but the first: what it takes up of the plans before it; none for one plan."""
    people = {p.first_name for p in head.relationships.people}
    met = _named(head.plans[0], people) if head.plans else set[str]()
    wishes = _wishes(head.plans[0]) if head.plans else {}
    for plan in islice(head.plans, 1, None):  # a slice would have all of them in memory
        named = _named(plan, people)
        own = f"p{plan.plan_index}."
        back = {(a.fact_id, a.stance) for a in plan.assertions if not a.fact_id.startswith(own)}
        looked_back = [plan_index_of(f) for f, _ in back]
        later = _wishes(plan)
        yield PlanBorder(
            conversation_id=head.conversation_id,
            plan_index=plan.plan_index,
            people_new=tuple(sorted(named - met)),
            people_back=tuple(sorted(named & met)),
            facts_changed=sum(stance is Stance.UPDATES for _, stance in back),
            facts_denied=sum(stance is Stance.DENIES for _, stance in back),
            plans_back=max((plan.plan_index - i for i in looked_back), default=0),
            instructions_in_force=sum(kind is BulletKind.INSTRUCTION for kind, _ in wishes.values()),
            preferences_in_force=sum(kind is BulletKind.PREFERENCE for kind, _ in wishes.values()),
            preferences_changed=sum(
                kind is BulletKind.PREFERENCE and key in wishes and wishes[key][1] != requirement
                for key, (kind, requirement) in later.items()
            ),
        )
        met |= named
        wishes |= later


def _named(plan: Plan, people: set[str]) -> set[str]:
    return {word for bullet in plan.bullets() for word in _WORD.findall(bullet.text) if word in people}


def _wishes(plan: Plan) -> dict[tuple[str, str], tuple[BulletKind, str]]:
    """Instructions and preferences by topic and condition, with what they ask for at the end of the plan."""
    kinds = (BulletKind.INSTRUCTION, BulletKind.PREFERENCE)
    return {(b.topic, b.condition): (b.kind, b.requirement) for b in plan.bullets() if b.kind in kinds}
