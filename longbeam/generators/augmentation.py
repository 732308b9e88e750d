"""Augmentation: each stage gets updates, contradictions and standing instructions.

Code first gives each stage targets of its own, so that no two supersede the same fact and no later bullet still
says the old value; only the wording is then asked for, stage by stage in parallel.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import TypeVar

from longbeam.generators.ledger import Ledger
from longbeam.generators.plan_history import CHANGING, PlanHistory
from longbeam.generators.plans import Frame
from longbeam.models.asking import Asker
from longbeam.prompts.calls.plans import (
    AugmentInputs,
    AugmentReply,
    ContradictionDraft,
    ContradictionTarget,
    LedgerLine,
    Stage,
    UpdateDraft,
    UpdateTarget,
)
from longbeam.schemas.base import Record
from longbeam.schemas.plans import (
    CLOSING,
    Assertion,
    Bullet,
    BulletKind,
    Fact,
    Plan,
    Stance,
    SubPlan,
    Value,
    ValueKind,
)
from longbeam.text.matching import says

AUGMENT_PROMPTS = ("augment",)
VARIETIES = ("never_statement", "other_value", "not_yet")
PUT_OFF_AT_MOST = dt.timedelta(days=14)
SETTLED_DATES = 11
"""Dates that nothing changes or denies: temporal reasoning asks for the days between two of them."""
SUMMABLE_ATTRIBUTES = 5
"""Attributes, those of most things first, whose amounts are left alone: multi-session reasoning adds these up."""
D = TypeVar("D", UpdateDraft, ContradictionDraft)
_TYPED = frozenset(ValueKind) - {ValueKind.TEXT, ValueKind.EXPRESSION}


class Targets(Record):
    """What one stage's special bullets are about."""

    stage_index: int
    updates: tuple[UpdateTarget, ...]
    contradictions: tuple[ContradictionTarget, ...]


class Augmented(Record):
    """The special bullets of one stage, with the assertions they make; not yet placed among the others."""

    stage_index: int
    bullets: tuple[Bullet, ...]
    assertions: tuple[Assertion, ...]


def choose_targets(plan: Plan, per_kind: int, rng_key: str, history: PlanHistory) -> tuple[Targets, ...]:
    """Give every stage `per_kind` facts to change and statements to contradict, all different.

    Every second stage looks back into an earlier plan, from plan to plan further: what a story of years forgets lies
    years back.

    A fact to change is typed, was set once before the end of the stage, is changed or mentioned by no other
    bullet, and its value is said by no later bullet of the same topic. A statement to contradict is an event with
    a fixed fact, or with any fact that no other bullet touches. Facts of one topic serve only one purpose.
    A stage gets fewer where the plan has no more: the pool check says so.
    """
    backs = [_looked_back_to(history.plans, i) for i in range(len(plan.sub_plans))]
    ledger = history.around(plan, [p for p in backs if p is not None])
    changeable = {a.fact_id for _, a in _changeable(ledger, plan.bullets(), taken=set())}
    taken: set[str] = set()
    result = []
    for stage_index, back in enumerate(backs):
        rng = random.Random(f"{rng_key}/{stage_index}")
        own = {b.bullet_id for b in plan.sub_plans[stage_index].bullets}
        updates: list[Option] = []
        groups = _earlier_first(_update_options(ledger, plan, stage_index, taken, changeable), own)
        for options in [*_years_back_updates(ledger, back, taken), *groups]:
            updates += _choose(options, per_kind - len(updates), rng, taken, ledger, plan.facts)
        contradictions: list[Option] = []
        groups = _earlier_first(_denial_options(ledger, plan, stage_index, taken), own)
        for options in [*_years_back_denials(ledger, back, taken), *groups]:
            contradictions += _choose(options, per_kind - len(contradictions), rng, taken, ledger, plan.facts)
        result.append(
            Targets(
                stage_index=stage_index,
                updates=tuple(
                    UpdateTarget(target_id=f"u{i}", fact=_line(ledger, a), bullet=b) for i, (b, a) in enumerate(updates)
                ),
                contradictions=tuple(
                    ContradictionTarget(
                        target_id=f"c{i}",
                        variety=VARIETIES[(stage_index * per_kind + i) % len(VARIETIES)],
                        fact=_line(ledger, a),
                        bullet=b,
                    )
                    for i, (b, a) in enumerate(contradictions)
                ),
            )
        )
    return tuple(result)


Option = tuple[Bullet, Assertion]


def _looked_back_to(earlier: Sequence[Plan], stage_index: int) -> Plan | None:
    """The earlier plan that a stage's special bullets look back to; None for every second stage.

    The stages of a plan reach further and further back, the last of them to the beginning.
    """
    if not earlier or stage_index % 2:
        return None
    back = 1 + (stage_index // 2 + 1) * len(earlier) // 5 if len(earlier) > 1 else 1
    return earlier[-min(back, len(earlier))]


def _years_back_updates(ledger: Ledger, plan: Plan | None, taken: set[str]) -> list[list[Option]]:
    """Values that people still have years later: of persons first; days of long ago do not change any more."""
    if plan is None:
        return []
    every = [
        (b, a)
        for b, a in _changeable(ledger, plan.bullets(), taken)
        if ledger.fact[a.fact_id].kind is not ValueKind.DATE
    ]
    personal = [(b, a) for b, a in every if b.kind is BulletKind.RELATIONSHIP]
    return [personal, [(b, a) for b, a in every if b.kind is not BulletKind.RELATIONSHIP]]


def _years_back_denials(ledger: Ledger, plan: Plan | None, taken: set[str]) -> list[list[Option]]:
    """What happened once, years ago: it is easily misremembered."""
    if plan is None:
        return []
    lone = _lone_assertions(ledger, plan.bullets(), taken)
    return [[(b, a) for b, a in lone if ledger.fact[a.fact_id].is_fixed]]


def _earlier_first(groups: Sequence[list[Option]], own: set[str]) -> list[list[Option]]:
    """Each group's options of earlier stages, then those of the stage itself: evidence far apart is worth more."""
    earlier = [[(b, a) for b, a in group if b.bullet_id not in own] for group in groups]
    return earlier + [[(b, a) for b, a in group if b.bullet_id in own] for group in groups]


def _line(ledger: Ledger, assertion: Assertion) -> LedgerLine:
    bullet = ledger.bullets[ledger.position[assertion.bullet_id]]
    return next(f for f in ledger.briefs([bullet])[0].facts if f.fact_id == assertion.fact_id)


def _reachable(plan: Plan, stage_index: int) -> list[Bullet]:
    """Bullets that a special bullet of this stage may look back to.

    Those of earlier stages, and of the first part of its own, behind which it then stands.
    """
    own = plan.sub_plans[stage_index]
    return [b for s in plan.sub_plans[:stage_index] for b in s.bullets] + list(own.bullets[: first_place(own)])


def _ending_of(sub_plan: SubPlan) -> int:
    """Ordinal of the first of the bullets that end the story; their number where there is none."""
    end = len(sub_plan.bullets)
    while end and sub_plan.bullets[end - 1].variety == CLOSING:
        end -= 1
    return end


def first_place(sub_plan: SubPlan) -> int:
    """Where special bullets stand that look back to a bullet of their own sub-plan: behind three fifths of it."""
    return max(1, len(sub_plan.bullets) * 3 // 5)


def _lone_assertions(ledger: Ledger, bullets: Iterable[Bullet], taken: set[str]) -> list[Option]:
    options = []
    for bullet in bullets:
        if bullet.kind not in CHANGING:
            continue
        for assertion in ledger.by_bullet.get(bullet.bullet_id, ()):
            if assertion.fact_id in taken or assertion.value is None or assertion.stance is not Stance.SETS:
                continue
            if len(ledger.by_fact[assertion.fact_id]) == 1:
                options.append((bullet, assertion))
    return options


def _changeable(ledger: Ledger, bullets: Iterable[Bullet], taken: set[str]) -> list[Option]:
    """Typed facts that are not fixed and whose values no later bullet says."""
    return [
        (b, a)
        for b, a in _lone_assertions(ledger, bullets, taken)
        if not ledger.fact[a.fact_id].is_fixed
        and ledger.fact[a.fact_id].kind in _TYPED
        and a.value is not None
        and not _said_again(ledger, b, a.value)
    ]


def _update_options(
    ledger: Ledger, plan: Plan, stage_index: int, taken: set[str], changeable: set[str]
) -> tuple[list[Option], ...]:
    """What can still change in this stage; where that is not enough, values of what is over, but for dates."""
    lone = _lone_assertions(ledger, _reachable(plan, stage_index), taken)
    every = [(b, a) for b, a in lone if a.fact_id in changeable]
    going_on = [(b, a) for b, a in every if a.value and not _is_over(ledger, plan, stage_index, b, a.value)]
    # Best what is told of in later stages, too: within this one its end may come before the update.
    lasting = [(b, a) for b, a in going_on if _goes_on_behind(ledger, plan, stage_index, b)]
    return lasting, going_on, [(b, a) for b, a in every if a.value and a.value.date is None]


def _denial_options(ledger: Ledger, plan: Plan, stage_index: int, taken: set[str]) -> tuple[list[Option], ...]:
    """What happened once; and, where that is not enough, any event."""
    lone = _lone_assertions(ledger, _reachable(plan, stage_index), taken)
    fixed = [(b, a) for b, a in lone if ledger.fact[a.fact_id].is_fixed]
    return fixed, [(b, a) for b, a in lone if b.kind is BulletKind.EVENT]


def _is_over(ledger: Ledger, plan: Plan, stage_index: int, bullet: Bullet, value: Value) -> bool:
    """Whether it is too late in this stage to change a value: its day has passed, or its topic is told to the end."""
    stage = plan.sub_plans[stage_index]
    if value.date is not None:
        # A day put off must not overtake what is told of it later.
        put_off, end = value.date + PUT_OFF_AT_MOST, stage.bullets[-1].happens_on
        if value.date <= end or put_off > ledger.bullets[-1].happens_on:
            return True
        if any(end <= b.happens_on <= put_off for b in ledger.by_topic[bullet.topic]):
            return True
    told = [b for b in ledger.by_topic[bullet.topic] if b.variety != CLOSING]
    return stage_index > 0 and told[-1].happens_on < stage.anchor


def _goes_on_behind(ledger: Ledger, plan: Plan, stage_index: int, bullet: Bullet) -> bool:
    end = ledger.position[plan.sub_plans[stage_index].bullets[-1].bullet_id]
    return any(b.variety != CLOSING and ledger.position[b.bullet_id] > end for b in ledger.by_topic[bullet.topic])


def _said_again(ledger: Ledger, bullet: Bullet, value: Value) -> bool:
    place = ledger.position[bullet.bullet_id]
    return any(ledger.position[b.bullet_id] > place and says(b.text, value) for b in ledger.by_topic[bullet.topic])


def _spared(ledger: Ledger, taken: set[str], own: Sequence[Fact]) -> set[str]:
    """Facts that other abilities need: the last dates that nothing touches, and the last amounts one can add up."""
    lone = [f for f in own if f.fact_id not in taken and len(ledger.by_fact.get(f.fact_id, ())) == 1]
    dates = [f.fact_id for f in lone if f.kind is ValueKind.DATE]
    spared = set(dates) if len(dates) <= SETTLED_DATES else set()
    families: dict[str, list[str]] = {}
    for fact in lone:
        if fact.kind in {ValueKind.MONEY, ValueKind.NUMBER, ValueKind.DURATION}:
            families.setdefault(fact.attribute.casefold(), []).append(fact.fact_id)
    summable = sorted((ids for ids in families.values() if len(ids) >= 2), key=len, reverse=True)
    spared.update(i for ids in summable[:SUMMABLE_ATTRIBUTES] for i in ids)
    return spared


def _choose(
    options: list[Option], count: int, rng: random.Random, taken: set[str], ledger: Ledger, own: Sequence[Fact]
) -> list[Option]:
    """Draw up to `count` options of different bullets, spread over the story; their bullets' facts become taken.

    `own`: the facts of which some are spared for other abilities.
    """
    chosen: list[Option] = []
    for part in range(count):
        free = [(b, a) for b, a in options if a.fact_id not in taken]
        if not free:
            break
        # One from each stretch of the story, so that evidence does not crowd at its beginning.
        start, end = (
            len(free) * part // count,
            max(len(free) * (part + 1) // count, len(free) * part // count + 1),
        )
        spared = _spared(ledger, taken, own)
        # A denial of a bullet leaves all its facts in doubt: one without anything to spare is better still.
        harmless = [not spared & {o.fact_id for o in ledger.by_bullet[b.bullet_id]} for b, _ in free]
        sparing = [a.fact_id not in spared for _, a in free]
        pools = (
            compress(free[start:end], harmless[start:end]),
            compress(free, harmless),
            compress(free[start:end], sparing[start:end]),
            compress(free, sparing),
            free[start:end],
        )
        bullet, assertion = rng.choice(next(pool for pool in map(list, pools) if pool))
        chosen.append((bullet, assertion))
        taken.update(a.fact_id for a in ledger.by_bullet[bullet.bullet_id])
    return sorted(chosen, key=lambda option: ledger.position[option[0].bullet_id])


async def write_special_bullets(
    asker: Asker, frame: Frame, plan: Plan, stage: Stage, targets: Targets, *, instructions: int
) -> Augmented:
    """Return the special bullets of one stage; every target is met or the reply is asked again."""
    standing = frame.chapter.standing if frame.chapter else ()
    inputs = AugmentInputs(
        seed=frame.seed,
        profile=frame.profile,
        stage=stage,
        updates=targets.updates,
        contradictions=targets.contradictions,
        instructions=instructions,
        areas=areas_of(frame, stage, instructions),
        taken_conditions=tuple(dict.fromkeys(b.condition for b in (*standing, *plan.bullets()) if b.condition)),
    )
    reply = await asker.structured(
        "augment",
        inputs,
        check=lambda r: _check_reply(r, targets, instructions),
        mend=lambda r: _mended(r, targets, instructions),
    )
    return _assemble(reply, frame, plan, targets)


def areas_of(frame: Frame, stage: Stage, count: int) -> tuple[str, ...]:
    """Labels of the narratives that a stage's instructions grow out of: other ones in each stage, while they last."""
    labels = [n.label for n in frame.narratives]
    return tuple(labels[(stage.stage_index * count + i) % len(labels)] for i in range(count))


def _check_reply(reply: AugmentReply, targets: Targets, instructions: int) -> str | None:
    updates = {t.target_id: t for t in targets.updates}
    if sorted(d.target_id for d in reply.updates) != sorted(updates):
        return f"updates are for {sorted(d.target_id for d in reply.updates)}; exactly {sorted(updates)} are asked for"
    for draft in reply.updates:
        old = updates[draft.target_id].fact.value
        if old is not None and draft.value.means_same_as(old):
            return f"update {draft.target_id} keeps the old value {old.text!r}"
        if draft.value.kind is not updates[draft.target_id].fact.kind:
            kind = updates[draft.target_id].fact.kind
            return f"update {draft.target_id} is a {draft.value.kind.value}; the fact is a {kind.value}"
        if not says(draft.text, draft.value):
            return f"update {draft.target_id} asserts {draft.value.text!r} and its text does not say it"
    contradictions = {t.target_id: t for t in targets.contradictions}
    if sorted(d.target_id for d in reply.contradictions) != sorted(contradictions):
        return f"contradictions must be for exactly {sorted(contradictions)}"
    for denial in reply.contradictions:
        target = contradictions[denial.target_id]
        if (denial.variety or target.variety) not in VARIETIES:
            return f"contradiction {denial.target_id}: variety {denial.variety!r}; allowed are {', '.join(VARIETIES)}"
        if (denial.variety or target.variety) == "other_value":
            if denial.value is None or not says(denial.text, denial.value):
                return f"contradiction {denial.target_id} must state another value, typed and in its text"
            if target.fact and target.fact.value and denial.value.means_same_as(target.fact.value):
                return f"contradiction {denial.target_id} states the same value {denial.value.text!r}"
    if len(reply.instructions) != instructions:
        return f"{len(reply.instructions)} instructions; exactly {instructions} are asked for"
    if any(not d.condition or not d.requirement for d in reply.instructions):
        return "an instruction lacks its condition or its requirement"
    return None


def _mended(reply: AugmentReply, targets: Targets, instructions: int) -> AugmentReply:
    """Give each draft a target of its own, as far as there are any; what the texts do not say stays, to be found."""
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
    named = {d.target_id: d for d in reversed(drafts)}
    free = [i for i in target_ids if i not in named]
    made = []
    for draft in drafts:
        if draft.target_id in target_ids and named[draft.target_id] is draft:
            made.append(draft)
        elif free:
            made.append(draft.model_copy(update={"target_id": free.pop(0)}))
    return made


def _assemble(reply: AugmentReply, frame: Frame, plan: Plan, targets: Targets) -> Augmented:
    sub_plan = plan.sub_plans[targets.stage_index]
    update_of = {t.target_id: t for t in targets.updates}
    denial_of = {t.target_id: t for t in targets.contradictions}
    bullets: list[Bullet] = []
    assertions: list[Assertion] = []

    def add(kind: BulletKind, text: str, topic: str, narrative: str, **fields: str | None) -> str:
        bullet_id = f"{sub_plan.key}.b{len(sub_plan.bullets) + len(bullets)}"
        bullets.append(
            Bullet(
                bullet_id=bullet_id,
                kind=kind,
                narrative=narrative,
                topic=topic,
                text=text,
                happens_on=sub_plan.anchor,
                **fields,  # type: ignore[arg-type]
            )
        )
        return bullet_id

    for draft in reply.updates:
        target = update_of[draft.target_id]
        of = target.bullet
        bullet_id = add(BulletKind.UPDATE, draft.text, of.topic, of.narrative, target_bullet_id=of.bullet_id)
        assertions.append(
            Assertion(bullet_id=bullet_id, fact_id=target.fact.fact_id, stance=Stance.UPDATES, value=draft.value)
        )
    for denial in reply.contradictions:
        against = denial_of[denial.target_id]
        of = against.bullet
        variety = denial.variety or against.variety
        bullet_id = add(
            BulletKind.CONTRADICTION,
            denial.text,
            of.topic,
            of.narrative,
            target_bullet_id=of.bullet_id,
            variety=variety,
        )
        value = denial.value if variety == "other_value" else None
        if against.fact is not None:
            assertions.append(
                Assertion(bullet_id=bullet_id, fact_id=against.fact.fact_id, stance=Stance.DENIES, value=value)
            )
    for wish in reply.instructions:
        add(
            BulletKind.INSTRUCTION,
            wish.text,
            wish.topic,
            frame.narratives[0].label,
            condition=wish.condition,
            requirement=wish.requirement,
        )
    return Augmented(stage_index=targets.stage_index, bullets=tuple(bullets), assertions=tuple(assertions))


def augmented_plan(plan: Plan, augmented: Sequence[Augmented], rng_key: str) -> Plan:
    """Place the special bullets among the others and return the new plan.

    They are spread over the stage (over its last part where one looks back to a bullet of the same stage),
    never two in a row where there is room, and take the day of the bullet before them. None stands behind the
    bullets that end the story.
    """
    by_stage = {a.stage_index: a for a in augmented}
    sub_plans = tuple(_placed(s, by_stage.get(s.sub_plan_index), rng_key) for s in plan.sub_plans)
    order = {b.bullet_id: i for i, b in enumerate(b for s in sub_plans for b in s.bullets)}
    assertions = [*plan.assertions, *(a for x in augmented for a in x.assertions)]
    return plan.model_copy(
        update={
            "sub_plans": sub_plans,
            "assertions": tuple(sorted(assertions, key=lambda a: order[a.bullet_id])),
        }
    )


def _placed(sub_plan: SubPlan, augmented: Augmented | None, rng_key: str) -> SubPlan:
    if augmented is None or not augmented.bullets:
        return sub_plan
    end = _ending_of(sub_plan)
    base, ending = list(sub_plan.bullets[:end]), sub_plan.bullets[end:]
    own = {b.bullet_id for b in sub_plan.bullets}
    looks_back = any(b.target_bullet_id in own for b in augmented.bullets)
    first = first_place(sub_plan) if looks_back else 1
    special = list(augmented.bullets)
    random.Random(f"{rng_key}/{sub_plan.key}/place").shuffle(special)
    room = len(base) - first
    merged = base[:first]
    done = 0
    for i, bullet in enumerate(base[first:], 1):
        merged.append(bullet)
        while done < len(special) and (done + 1) * room <= i * len(special):
            merged.append(special[done].model_copy(update={"happens_on": bullet.happens_on}))
            done += 1
    return sub_plan.model_copy(update={"bullets": (*merged, *ending)})
