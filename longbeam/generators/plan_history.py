"""The plans made so far, indexed for the plans after them.

A plan refers back to a few of the plans before it. Plans and facts lie in temporary files. The bullets that other
plans touch stay in memory as compressed JSON, so memory hardly grows with the number of plans.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from longbeam.generators.ledger import Ledger, after, line_of, standing_bullets
from longbeam.keys import FactId, plan_index_of
from longbeam.prompts.calls import LedgerLine
from longbeam.schemas import TELLING_KINDS, Bullet, Fact, Plan, Value, digest_of
from longbeam.store import SpilledMapping, SpilledSequence

PLANS_IN_MEMORY = 2
"""A plan takes 0.65 MB in memory and 3 ms to read from the file; with two, each new plan reads five."""


def _spilled_plans() -> SpilledSequence[Plan]:
    return SpilledSequence(block=1, held=0, kept=PLANS_IN_MEMORY)


@dataclass
class PlanHistory:
    """Plans in the order of the story; `plans[i]` has the index i."""

    plans: SpilledSequence[Plan] = field(default_factory=_spilled_plans)
    facts: SpilledMapping[Fact] = field(default_factory=SpilledMapping)
    """Facts by id, in the order of the story."""
    slots: SpilledMapping[Fact] = field(default_factory=SpilledMapping)
    """Newest fact of each slot."""
    digest: str = ""
    """SHA-256 (hex) of the plans."""
    standing: tuple[Bullet, ...] = ()
    """Instructions and preferences in force at the end."""
    sub_plans: int = 0
    """Number of sub-plans of all plans together."""
    _referred_to: set[str] = field(default_factory=set)
    """Ids of facts and bullets that a plan after their own touches, changes or contradicts."""
    _excerpts: list[bytes] = field(default_factory=list)
    """Excerpt of each plan: the bullets that later plans refer to, that refer back, or whose topic an earlier plan had.

    As compressed JSON an excerpt takes 4 KB instead of 75, for 0.3 ms whenever it is read.
    """
    _topics: set[str] = field(default_factory=set)
    """Topics of bullets of the kinds TELLING_KINDS."""
    _current: dict[str, Value | None] = field(default_factory=dict)
    """Values of all facts at the end, in the order of their first mention."""

    def add(self, plan: Plan) -> None:
        """Append the next plan."""
        self.plans.append(plan)
        self.sub_plans += len(plan.sub_plans)
        self.facts.put((fact.fact_id, fact) for fact in plan.facts)
        self.slots.put((fact.slot, fact) for fact in plan.facts)
        self.digest = digest_of(self.digest, plan)
        self.standing = standing_bullets((*self.standing, *plan.bullets()))
        self._add_excerpt(plan)
        self._topics.update(b.topic for b in plan.bullets() if b.kind in TELLING_KINDS)
        by_bullet = Ledger.of(plan).by_bullet
        for assertion in (a for b in plan.bullets() for a in by_bullet.get(b.bullet_id, ())):
            self._current[assertion.fact_id] = after(self._current.get(assertion.fact_id), assertion)

    def without_indexes(self) -> PlanHistory:
        """Return a history of the same plans that holds no index, for when all dialogues are done."""
        return PlanHistory(plans=self.plans)

    def before(self, plan_index: int) -> PlanHistory:
        """Return the history as it was before that plan."""
        if len(self.plans) <= plan_index:
            return self
        earlier = PlanHistory()
        for plan in islice(self.plans, plan_index):
            earlier.add(plan)
        return earlier

    def lines_of(self, subjects: Collection[str]) -> list[LedgerLine]:
        """Return the facts of some subjects, case-folded, with their values at the end, in order of first mention."""
        lines = ((self.facts[fact_id], value) for fact_id, value in self._current.items())
        return [line_of(fact, value) for fact, value in lines if fact.subject.casefold() in subjects]

    def value_of(self, fact_id: str) -> Value | None:
        """Return the value of a fact at the end; None for one that is unknown or denied."""
        return self._current.get(fact_id)

    def newest_lines(self) -> list[LedgerLine]:
        """Return the facts of the last plan with their values at its end; empty if there is no plan."""
        if not self.plans:
            return []
        last = self.plans[-1]
        return [line for line in self._ledger([last]).lines() if plan_index_of(line.fact_id) == last.plan_index]

    def known(self, fact_ids: Iterable[str]) -> tuple[Fact, ...]:
        """Return those of the facts that the history has, in the order of the story."""
        return tuple(self.facts[i] for i in sorted((i for i in fact_ids if i in self.facts), key=FactId.parse))

    def relevant(self, plan: Plan) -> Ledger:
        """Return the ledger of one of the plans, with the earlier facts and bullets that it refers to.

        The ledger that a plan's dialogues hold does not grow with the number of plans before it.
        """
        if plan.plan_index >= len(self._excerpts):
            raise RuntimeError(f"plan {plan.plan_index} is not in the history, or its indexes were dropped")
        facts, targets = {a.fact_id for a in plan.assertions}, _targets(plan)
        earlier = (narrowed(_unpacked(e), facts, targets) for e in self._excerpts[: plan.plan_index])
        return self._ledger([*earlier, plan])

    def around(self, plan: Plan, looked_back_to: Sequence[Plan]) -> Ledger:
        """Return the ledger of the next plan and of some earlier plans.

        It includes what other plans assert of their facts, and say of the topics of their events and people, because
        these may be changed or denied.
        """
        parts = {p.plan_index: p for p in (*looked_back_to, plan)}
        facts = {a.fact_id for p in parts.values() for a in p.assertions}
        topics = {b.topic for p in looked_back_to for b in p.bullets() if b.kind in TELLING_KINDS}
        for i, other in enumerate(map(_unpacked, self._excerpts)):
            if i not in parts:
                parts[i] = narrowed(other, facts, {b.bullet_id for b in other.bullets() if b.topic in topics})
        return self._ledger([parts[i] for i in sorted(parts)])

    def _add_excerpt(self, plan: Plan) -> None:
        """Append the newest plan's excerpt, and extend those of the plans that it is the first to refer to."""
        back = {a.fact_id for a in plan.assertions if plan_index_of(a.fact_id) != plan.plan_index}
        targets = {i for i in _targets(plan) if plan_index_of(i) != plan.plan_index}
        new = (back | targets) - self._referred_to
        self._referred_to |= new
        for i in sorted(set(map(plan_index_of, new))):
            kept = {b.bullet_id for b in _unpacked(self._excerpts[i]).bullets()}
            self._excerpts[i] = _packed(narrowed(self.plans[i], self._referred_to, self._referred_to | kept))
        again = {b.bullet_id for b in plan.bullets() if b.topic in self._topics}
        self._excerpts.append(_packed(narrowed(plan, self._referred_to, again)))

    def _ledger(self, plans: Sequence[Plan]) -> Ledger:
        """Return the ledger of plans, or of parts of them, with the facts of plans before them that they touch."""
        last = plans[-1]
        back = {a.fact_id for p in plans for a in p.assertions}.difference(f.fact_id for f in last.facts)
        return Ledger(
            tuple(s for p in plans for s in p.sub_plans if s.bullets),
            (*self.known(back), *last.facts),
            tuple(a for p in plans for a in p.assertions),
        )


def _packed(plan: Plan) -> bytes:
    return zlib.compress(plan.canonical_json(), level=1)


def _unpacked(packed: bytes) -> Plan:
    return Plan.model_validate_json(zlib.decompress(packed))


def _targets(plan: Plan) -> set[str]:
    return {b.target_bullet_id for b in plan.bullets() if b.target_bullet_id}


def narrowed(plan: Plan, fact_ids: set[str], bullet_ids: set[str]) -> Plan:
    """Return a plan's bullets that touch one of the facts or have one of the ids, and what these bullets assert."""
    kept = {a.bullet_id for a in plan.assertions if a.fact_id in fact_ids} | bullet_ids
    sub_plans = (
        s.model_copy(update={"bullets": tuple(b for b in s.bullets if b.bullet_id in kept)}) for s in plan.sub_plans
    )
    return Plan(
        plan_index=plan.plan_index,
        sub_plans=tuple(s for s in sub_plans if s.bullets),
        facts=(),
        assertions=tuple(a for a in plan.assertions if a.bullet_id in kept),
    )
