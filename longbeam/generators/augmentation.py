"""Augmentation: each stage of a plan gets updates, contradictions and standing instructions.

`special_targets` chooses what the special bullets are about. A model then words them, stage by stage in parallel, and
code places them among the other bullets.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

from longbeam.generators.plans import Frame
from longbeam.generators.special_targets import VARIETIES, Targets, first_place
from longbeam.keys import SubPlanKey
from longbeam.models.asking import Asker
from longbeam.prompts.calls.plans import (
    AugmentInputs,
    AugmentReply,
    ContradictionDraft,
    ContradictionTarget,
    InstructionDraft,
    Stage,
    UpdateDraft,
    UpdateTarget,
)
from longbeam.schemas.base import Record, compact
from longbeam.schemas.plans import CLOSING, Assertion, Bullet, BulletKind, Plan, Stance, SubPlan, Value
from longbeam.text.matching import says

AUGMENT_PROMPTS = ("augment",)
D = TypeVar("D", UpdateDraft, ContradictionDraft)


class Augmented(Record):
    """The special bullets of one stage, with the assertions they make; not yet placed among the others."""

    stage_index: int
    bullets: tuple[Bullet, ...]
    assertions: tuple[Assertion, ...]


@dataclass(frozen=True, slots=True)
class StageToAugment:
    """Inputs of the special bullets of one stage."""

    frame: Frame
    plan: Plan
    stage: Stage
    targets: Targets
    instructions: int
    """Number of instructions to write."""


async def write_special_bullets(asker: Asker, task: StageToAugment) -> Augmented:
    """Return the special bullets of one stage; a reply that misses a target is asked for again."""
    frame, stage, targets, instructions = task.frame, task.stage, task.targets, task.instructions
    standing = frame.chapter.standing if frame.chapter else ()
    inputs = AugmentInputs(
        seed=frame.seed,
        profile=frame.profile,
        stage=stage,
        updates=targets.updates,
        contradictions=targets.contradictions,
        instructions=instructions,
        areas=areas_of(frame, stage, instructions),
        taken_conditions=tuple(dict.fromkeys(b.condition for b in (*standing, *task.plan.bullets()) if b.condition)),
    )
    reply = await asker.structured(
        "augment",
        inputs,
        check=lambda r: _first_problem(r, targets, instructions),
        mend=lambda r: _mended(r, targets, instructions),
    )
    return _assemble(reply, task)


def areas_of(frame: Frame, stage: Stage, number: int) -> tuple[str, ...]:
    """Return the labels of the narratives that a stage's instructions belong to, other ones in each stage."""
    labels = [n.label for n in frame.narratives]
    return tuple(labels[(stage.stage_index * number + i) % len(labels)] for i in range(number))


# --- what a reply must have -------------------------------------------------------------------------------------


def _first_problem(reply: AugmentReply, targets: Targets, instructions: int) -> str | None:
    """Return the first problem of a reply, which a model is shown; None if there is none."""
    return next(_problems(reply, targets, instructions), None)


def _problems(reply: AugmentReply, targets: Targets, instructions: int) -> Iterator[str]:
    # Lazy: a draft is only looked at once every draft is known to have a target.
    updates = {t.target_id: t for t in targets.updates}
    if (named := sorted(d.target_id for d in reply.updates)) != sorted(updates):
        yield f"updates are for {named}; exactly {sorted(updates)} are asked for"
    for draft in reply.updates:
        yield from _update_problems(draft, updates[draft.target_id])
    contradictions = {t.target_id: t for t in targets.contradictions}
    if sorted(d.target_id for d in reply.contradictions) != sorted(contradictions):
        yield f"contradictions must be for exactly {sorted(contradictions)}"
    for denial in reply.contradictions:
        yield from _contradiction_problems(denial, contradictions[denial.target_id])
    yield from _instruction_problems(reply.instructions, instructions)


def _update_problems(draft: UpdateDraft, target: UpdateTarget) -> Iterator[str]:
    old, kind = target.fact.value, target.fact.kind
    if old is not None and draft.value.means_same_as(old):
        yield f"update {draft.target_id} keeps the old value {old.text!r}"
    if draft.value.kind is not kind:
        yield f"update {draft.target_id} is a {draft.value.kind.value}; the fact is a {kind.value}"
    if not says(draft.text, draft.value):
        yield f"update {draft.target_id} asserts {draft.value.text!r} and its text does not say it"


def _contradiction_problems(draft: ContradictionDraft, target: ContradictionTarget) -> Iterator[str]:
    variety = draft.variety or target.variety
    if variety not in VARIETIES:
        yield f"contradiction {draft.target_id}: variety {draft.variety!r}; allowed are {', '.join(VARIETIES)}"
    if variety == "other_value":
        if draft.value is None or not says(draft.text, draft.value):
            yield f"contradiction {draft.target_id} must state another value, typed and in its text"
        elif target.fact and target.fact.value and draft.value.means_same_as(target.fact.value):
            yield f"contradiction {draft.target_id} states the same value {draft.value.text!r}"


def _instruction_problems(drafts: Sequence[InstructionDraft], asked: int) -> Iterator[str]:
    if len(drafts) != asked:
        yield f"{len(drafts)} instructions; exactly {asked} are asked for"
    if any(not d.condition or not d.requirement for d in drafts):
        yield "an instruction lacks its condition or its requirement"


def _mended(reply: AugmentReply, targets: Targets, instructions: int) -> AugmentReply:
    """Give each draft a target of its own, as far as there are any.

    A text that does not state its value stays: validation finds it.
    """
    varieties = {t.target_id: t.variety for t in targets.contradictions}
    contradictions = []
    for draft in _with_own_targets(reply.contradictions, list(varieties)):
        variety = draft.variety if draft.variety in VARIETIES else varieties[draft.target_id]
        if variety == "other_value" and draft.value is None:
            variety = "never_statement"
        contradictions.append(draft.model_copy(update={"variety": variety}))
    return AugmentReply(
        updates=_with_own_targets(reply.updates, [t.target_id for t in targets.updates]),
        contradictions=contradictions,
        instructions=reply.instructions[:instructions],
    )


def _with_own_targets(drafts: Sequence[D], target_ids: Sequence[str]) -> list[D]:
    # Reversed, so that the first of several drafts keeps the target that they all name.
    named = {d.target_id: d for d in reversed(drafts)}
    free = [i for i in target_ids if i not in named]
    made = []
    for draft in drafts:
        if draft.target_id in target_ids and named[draft.target_id] is draft:
            made.append(draft)
        elif free:
            made.append(draft.model_copy(update={"target_id": free.pop(0)}))
    return made


# --- records of the reply ---------------------------------------------------------------------------------------


def _assemble(reply: AugmentReply, task: StageToAugment) -> Augmented:
    """Return the drafts as bullets, numbered after those of their sub-plan, with the assertions they make."""
    targets = task.targets
    sub_plan = task.plan.sub_plans[targets.stage_index]
    key = SubPlanKey(sub_plan.plan_index, sub_plan.sub_plan_index)
    ids = (str(key.bullet(ordinal)) for ordinal in count(len(sub_plan.bullets)))
    update_of = {t.target_id: t for t in targets.updates}
    denial_of = {t.target_id: t for t in targets.contradictions}
    bullets: list[Bullet] = []
    assertions: list[Assertion] = []
    for draft in reply.updates:
        target = update_of[draft.target_id]
        bullet = _referring_to(
            target.bullet, kind=BulletKind.UPDATE, bullet_id=next(ids), text=draft.text, day=sub_plan.anchor
        )
        bullets.append(bullet)
        assertions.append(_assertion(bullet, target.fact.fact_id, Stance.UPDATES, draft.value))
    for denial in reply.contradictions:
        against = denial_of[denial.target_id]
        variety = denial.variety or against.variety
        bullet = _referring_to(
            against.bullet,
            kind=BulletKind.CONTRADICTION,
            bullet_id=next(ids),
            text=denial.text,
            day=sub_plan.anchor,
        )
        bullets.append(bullet.model_copy(update={"variety": variety}))
        if against.fact is not None:
            value = denial.value if variety == "other_value" else None
            assertions.append(_assertion(bullet, against.fact.fact_id, Stance.DENIES, value))
    for instruction in reply.instructions:
        bullets.append(
            Bullet(
                bullet_id=next(ids),
                kind=BulletKind.INSTRUCTION,
                narrative=task.frame.narratives[0].label,
                topic=instruction.topic,
                text=instruction.text,
                happens_on=sub_plan.anchor,
                condition=instruction.condition,
                requirement=instruction.requirement,
            )
        )
    return Augmented(stage_index=targets.stage_index, bullets=tuple(bullets), assertions=tuple(assertions))


def _referring_to(target: Bullet, *, kind: BulletKind, bullet_id: str, text: str, day: dt.date) -> Bullet:
    """Return a special bullet that refers to another one; placing it changes its day."""
    return Bullet(
        bullet_id=bullet_id,
        kind=kind,
        narrative=target.narrative,
        topic=target.topic,
        text=text,
        happens_on=day,
        target_bullet_id=target.bullet_id,
    )


def _assertion(bullet: Bullet, fact_id: str, stance: Stance, value: Value | None) -> Assertion:
    return Assertion(bullet_id=bullet.bullet_id, fact_id=fact_id, stance=stance, value=value)


# --- placing ----------------------------------------------------------------------------------------------------


def augmented_plan(plan: Plan, augmented: Sequence[Augmented], rng_key: str) -> Plan:
    """Place the special bullets among the others and return the new plan.

    They are spread over the stage (over its last part where one refers to a bullet of the same stage),
    never two in a row where there is room, and take the day of the bullet before them. None comes after the
    bullets that end the story.
    """
    by_stage = {a.stage_index: a for a in augmented}
    sub_plans = tuple(_placed(s, by_stage.get(s.sub_plan_index), rng_key) for s in plan.sub_plans)
    order = {b.bullet_id: i for i, b in enumerate(b for s in sub_plans for b in s.bullets)}
    assertions = [*plan.assertions, *(a for x in augmented for a in x.assertions)]
    in_order = tuple(sorted(assertions, key=lambda a: order[a.bullet_id]))
    # Compact, because a plan is held until its dialogues are done, and its facts until all plans are.
    return compact(plan.model_copy(update={"sub_plans": sub_plans, "assertions": in_order}))


def _placed(sub_plan: SubPlan, augmented: Augmented | None, rng_key: str) -> SubPlan:
    if augmented is None or not augmented.bullets:
        return sub_plan
    end = _start_of_ending(sub_plan)
    base, ending = list(sub_plan.bullets[:end]), sub_plan.bullets[end:]
    own = {b.bullet_id for b in sub_plan.bullets}
    refers_to_own = any(b.target_bullet_id in own for b in augmented.bullets)
    first = first_place(sub_plan) if refers_to_own else 1
    special = list(augmented.bullets)
    random.Random(f"{rng_key}/{sub_plan.key}/place").shuffle(special)
    room = len(base) - first
    merged = base[:first]
    done = 0
    for i, bullet in enumerate(base[first:], 1):
        merged.append(bullet)
        # After i of `room` bullets, the same share of the special ones is placed.
        while done < len(special) and (done + 1) * room <= i * len(special):
            merged.append(special[done].model_copy(update={"happens_on": bullet.happens_on}))
            done += 1
    return sub_plan.model_copy(update={"bullets": (*merged, *ending)})


def _start_of_ending(sub_plan: SubPlan) -> int:
    """Return the ordinal of the first of the bullets that end the story; their number where there is none."""
    end = len(sub_plan.bullets)
    while end and sub_plan.bullets[end - 1].variety == CLOSING:
        end -= 1
    return end
