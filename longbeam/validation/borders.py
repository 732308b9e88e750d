"""Continuity across the borders between plans: people, facts, instructions and preferences that later plans take up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from longbeam.keys import plan_index_of
from longbeam.schemas import BulletKind, ConversationHead, Plan, PlanBorder, Stance

_WORD = re.compile(r"[^\W\d_]+")
_Requests = dict[tuple[str, str], tuple[BulletKind, str]]
"""Kind and requirement of each instruction and preference, by topic and condition."""


def borders_of(head: ConversationHead) -> Iterator[PlanBorder]:
    """Yield a row for each plan but the first, on what it takes up of earlier plans; none for one plan."""
    people = {p.first_name for p in head.relationships.people}
    known = _named(head.plans[0], people) if head.plans else set[str]()
    requests = _requests(head.plans[0]) if head.plans else {}
    for plan in islice(head.plans, 1, None):  # a slice would load all plans into memory
        named = _named(plan, people)
        yield _border(head.conversation_id, plan, (known, named), requests)
        known |= named
        requests |= _requests(plan)


def _border(conversation_id: str, plan: Plan, people: tuple[set[str], set[str]], requests: _Requests) -> PlanBorder:
    """Return the row of a plan; `people` are those named before and those named in the plan."""
    known, named = people
    facts_of = {a.fact_id: plan_index_of(a.fact_id) for a in plan.assertions}
    back = {(a.fact_id, a.stance) for a in plan.assertions if facts_of[a.fact_id] != plan.plan_index}
    kinds = [kind for kind, _ in requests.values()]
    return PlanBorder(
        conversation_id=conversation_id,
        plan_index=plan.plan_index,
        people_new=tuple(sorted(named - known)),
        people_back=tuple(sorted(named & known)),
        facts_changed=sum(stance is Stance.UPDATES for _, stance in back),
        facts_denied=sum(stance is Stance.DENIES for _, stance in back),
        plans_back=max((plan.plan_index - facts_of[fact_id] for fact_id, _ in back), default=0),
        instructions_in_force=kinds.count(BulletKind.INSTRUCTION),
        preferences_in_force=kinds.count(BulletKind.PREFERENCE),
        preferences_changed=_preferences_changed(requests, _requests(plan)),
    )


def _preferences_changed(before: _Requests, own: _Requests) -> int:
    return sum(
        kind is BulletKind.PREFERENCE and key in before and before[key][1] != requirement
        for key, (kind, requirement) in own.items()
    )


def _named(plan: Plan, people: set[str]) -> set[str]:
    """Return the people that bullets of a plan name."""
    return {word for bullet in plan.bullets() for word in _WORD.findall(bullet.text) if word in people}


def _requests(plan: Plan) -> _Requests:
    """Return the instructions and preferences of a plan, with their requirements at its end."""
    kinds = (BulletKind.INSTRUCTION, BulletKind.PREFERENCE)
    return {(b.topic, b.condition): (b.kind, b.requirement) for b in plan.bullets() if b.kind in kinds}
