"""Special bullets of the stages of a plan: their targets, themselves, and the plan with them at their places."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from longbeam.prompts.calls import ContradictionTarget, Place, UpdateTarget, WishTarget
from longbeam.schemas import Assertion, Bullet, Plan, Record, compact

Target = UpdateTarget | ContradictionTarget | WishTarget
"""What a special bullet is about."""


class PassedOver(Record):
    """A fact or an aspect that was not chosen, and why."""

    use: str
    """`update`, `slip` or `wish`."""
    of: str
    """Id of the fact, or the aspect."""
    reason: str


class Targets(Record):
    """The targets of one stage's special bullets."""

    stage_index: int
    updates: tuple[UpdateTarget, ...] = ()
    contradictions: tuple[ContradictionTarget, ...] = ()
    wishes: tuple[WishTarget, ...] = ()
    refused: tuple[PassedOver, ...] = ()
    """What the plan passed over; with the first stage."""

    def by_id(self) -> dict[str, Target]:
        """Return the targets by id: updates, contradictions, wishes."""
        every: list[Target] = [*self.updates, *self.contradictions, *self.wishes]
        return {target.target_id: target for target in every}

    def places(self) -> dict[str, Place]:
        """Return the place of each target, by its id."""
        return {target_id: target.place for target_id, target in self.by_id().items()}


class Augmented(Record):
    """The special bullets of one stage, with the assertions they make."""

    stage_index: int
    bullets: tuple[Bullet, ...]
    """In the order of their places."""
    after: tuple[str, ...]
    """For each, the id of the plan's bullet that it follows."""
    assertions: tuple[Assertion, ...]
    refused: tuple[PassedOver, ...] = ()
    """What the plan passed over; with its first stage."""


def augmented_plan(plan: Plan, augmented: Sequence[Augmented]) -> Plan:
    """Return the plan with the special bullets at their places."""
    if not augmented:
        return plan
    following: dict[str, list[Bullet]] = {}
    for bullet, after in chain.from_iterable(zip(a.bullets, a.after, strict=True) for a in augmented):
        following.setdefault(after, []).append(bullet)
    sub_plans = tuple(
        s.model_copy(
            update={
                "bullets": tuple(
                    told for bullet in s.bullets for told in (bullet, *following.get(bullet.bullet_id, ()))
                )
            }
        )
        for s in plan.sub_plans
    )
    order = {b.bullet_id: i for i, b in enumerate(b for s in sub_plans for b in s.bullets)}
    assertions = [*plan.assertions, *(a for x in augmented for a in x.assertions)]
    return compact(  # because a plan is held until its dialogues are done, and its facts until all plans are
        plan.model_copy(
            update={
                "sub_plans": sub_plans,
                "assertions": tuple(sorted(assertions, key=lambda a: order[a.bullet_id])),
            }
        )
    )
