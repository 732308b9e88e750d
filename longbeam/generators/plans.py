"""The plan of a story: stages with dates, an outline, then the bullets of stage after stage with their facts.

A plan is drafted recursively: one call writes an outline of the stages, then one call per stage writes its bullets,
given the outline, the bullets before it and the ledger so far. Code assigns ids and the dates of stages.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from longbeam.generators.layout import Layout
from longbeam.generators.ledger import Ledger
from longbeam.generators.plan_history import PlanHistory
from longbeam.keys import FactId, SubPlanKey
from longbeam.models.asking import Asker
from longbeam.prompts.calls.plans import (
    BulletDraft,
    Chapter,
    FactDraft,
    OutlineInputs,
    OutlineReply,
    Stage,
    SubPlanInputs,
    SubPlanReply,
)
from longbeam.schemas.base import Record, digest_of
from longbeam.schemas.people import Profile, RelationshipGraph
from longbeam.schemas.plans import (
    SPECIAL_KINDS,
    Assertion,
    Bullet,
    BulletKind,
    Fact,
    Narrative,
    Plan,
    Stance,
    SubPlan,
    ValueKind,
    slot_key,
)
from longbeam.schemas.seeds import Seed, Timeline
from longbeam.text.matching import says

OUTLINE_PROMPTS = ("outline",)
SUB_PLAN_PROMPTS = ("sub_plan",)


class Frame(Record):
    """The setting of a story: seed, user, people and narratives."""

    seed: Seed
    profile: Profile
    relationships: RelationshipGraph
    narratives: tuple[Narrative, ...]
    chapter: Chapter | None = None
    """Part of the prompts about other plans; None in a conversation of one plan."""


class Drafted(Record):
    """One sub-plan with the facts it adds and the assertions it makes."""

    sub_plan: SubPlan
    facts: tuple[Fact, ...]
    assertions: tuple[Assertion, ...]


def stages_of(timeline: Timeline, count: int) -> tuple[Stage, ...]:
    """Divide a timeline into stages of equal length, to the day; each begins the day after the one before."""
    days = timeline.days + 1
    if days < count:
        raise ValueError(f"{days} days cannot hold {count} stages")
    starts = [timeline.start + dt.timedelta(days=days * i // count) for i in range(count)]
    ends = [s - dt.timedelta(days=1) for s in starts[1:]] + [timeline.end]
    return tuple(
        Stage(stage_index=i, first_day=s, last_day=e) for i, (s, e) in enumerate(zip(starts, ends, strict=True))
    )


async def write_outline(asker: Asker, frame: Frame, stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """Return the stages with title and summary."""

    def check(reply: OutlineReply) -> str | None:
        if len(reply.stages) != len(stages):
            return f"{len(reply.stages)} stages; exactly {len(stages)} are asked for"
        return None

    inputs = OutlineInputs(
        seed=frame.seed,
        profile=frame.profile,
        people=frame.relationships.people,
        narratives=frame.narratives,
        stages=stages,
        chapter=frame.chapter,
    )

    def mend(reply: OutlineReply) -> OutlineReply:
        if len(reply.stages) < len(stages):
            raise ValueError(check(reply))
        return OutlineReply(stages=reply.stages[: len(stages)])

    reply = await asker.structured("outline", inputs, check=check, mend=mend)
    return tuple(
        s.model_copy(update={"title": d.title, "summary": d.summary}) for s, d in zip(stages, reply.stages, strict=True)
    )


def bullet_counts(layout: Layout, stage_index: int, plan_index: int = 0) -> dict[str, int]:
    """Return the number of bullets of each kind that one stage has before augmentation.

    The introduction is in the first stage of the first plan only. BEAM asks for one preference and two or three
    relationship bullets; this module asks for as many preferences as the probe pool needs.
    """
    preferences = layout.preferences_per_sub_plan
    relationships = max(1, min(3, layout.bullets_per_sub_plan // 7))
    introduction = int(stage_index == 0 and plan_index == 0)
    events = layout.bullets_per_sub_plan - preferences - relationships - introduction
    return {
        "introduction": introduction,
        "event": max(events, 2),
        "relationship": relationships,
        "preference": preferences,
    }


@dataclass(frozen=True, slots=True)
class PlanContext:
    """Inputs that all sub-plans of a plan are drafted from."""

    plan_index: int
    frame: Frame
    layout: Layout
    stages: tuple[Stage, ...]
    history: PlanHistory
    """The plans before this one."""

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of all of it; the history of a conversation grows, so nothing is cached."""
        return digest_of(self.plan_index, self.frame, self.layout, self.stages, self.history.digest)


async def write_sub_plan(asker: Asker, context: PlanContext, earlier: Sequence[Drafted]) -> Drafted:
    """Return the sub-plan after those in `earlier`."""
    frame, stages = context.frame, context.stages
    stage = stages[len(earlier)]
    ledger = ledger_of(earlier, context.history)
    counts = bullet_counts(context.layout, stage.stage_index, context.plan_index)
    carried = frame.chapter.facts if frame.chapter else ()
    known = {line.fact_id: line for line in (*carried, *ledger.lines())}
    inputs = SubPlanInputs(
        seed=frame.seed,
        profile=frame.profile,
        people=frame.relationships.people,
        narratives=frame.narratives,
        stages=stages,
        stage_index=stage.stage_index,
        counts=counts,
        ledger=tuple(known.values()),
        earlier_bullets=ledger.bullets,
        chapter=frame.chapter,
    )

    labels = {n.label for n in frame.narratives}
    reply = await asker.structured(
        "sub_plan",
        inputs,
        check=lambda r: _check_drafts(r.bullets, stage, counts, labels, known.keys()),
        mend=lambda r: SubPlanReply(bullets=_mended(r.bullets, stage, counts, labels, known.keys())),
    )
    return _Assembler(context.plan_index, stage, ledger, context.history).assemble(reply.bullets)


def _check_drafts(
    drafts: Sequence[BulletDraft], stage: Stage, counts: dict[str, int], labels: set[str], known: Collection[str]
) -> str | None:
    got = {kind: sum(d.kind == kind for d in drafts) for kind in counts}
    for kind, asked in counts.items():
        if got[kind] != asked:
            return f"{got[kind]} bullets of kind {kind!r}; exactly {asked} are asked for"
    day = stage.first_day
    for i, draft in enumerate(drafts, 1):
        if draft.kind in SPECIAL_KINDS:
            return f"bullet {i} has kind {draft.kind.value!r}; only {', '.join(counts)} are asked for here"
        if draft.narrative not in labels:
            return f"bullet {i} names narrative {draft.narrative!r}, which is none of those given"
        if not day <= draft.happens_on <= stage.last_day:
            return f"bullet {i} happens on {draft.happens_on}; between {day} and {stage.last_day} was possible"
        day = draft.happens_on
        if draft.kind is BulletKind.PREFERENCE and not (draft.condition and draft.requirement):
            return f"bullet {i} is a preference without condition or requirement"
        for fact in draft.facts:
            if fact.value.kind is ValueKind.DATE and fact.value.date is None:
                return f"bullet {i} asserts the date {fact.value.text!r} without saying which day it is"
            if not says(draft.text, fact.value):
                return f"bullet {i} asserts {fact.value.text!r} and its text does not say it"
            if fact.fact_id and fact.fact_id not in known:
                return f"bullet {i} names fact {fact.fact_id!r}, which is not in the ledger"
    return None


def _mended(
    drafts: Sequence[BulletDraft], stage: Stage, counts: dict[str, int], labels: set[str], known: Collection[str]
) -> list[BulletDraft]:
    """Give the drafts the kinds that are asked for, days of the stage in order, and no facts that are not there.

    A text that does not state its value stays: validation finds it.
    """
    left = Counter(counts)
    kinds: list[BulletKind | None] = []
    for draft in drafts:
        kinds.append(draft.kind if left[draft.kind] > 0 else None)
        left[draft.kind] -= 1
    lacking = [BulletKind(kind) for kind in counts for _ in range(left[kind])]
    made = []
    for draft, kind in zip(drafts, kinds, strict=True):
        if draft.narrative not in labels:
            raise ValueError(f"a bullet names narrative {draft.narrative!r}, which is none of those given")
        kind = kind or (lacking.pop(0) if lacking else None)
        if kind is None or not draft.text.strip():
            continue
        facts = [f if f.fact_id in known else f.model_copy(update={"fact_id": ""}) for f in draft.facts]
        day = min(max(draft.happens_on, stage.first_day), stage.last_day)
        made.append(draft.model_copy(update={"kind": kind, "happens_on": day, "facts": facts}))
    if not made:
        raise ValueError("there are no bullets")
    return sorted(made, key=lambda draft: draft.happens_on)


@dataclass(frozen=True)
class _Assembler:
    """Turns drafts into records with ids."""

    plan_index: int
    stage: Stage
    ledger: Ledger
    history: PlanHistory
    """The plans before this one: a fact that is asserted again keeps its id."""

    def assemble(self, drafts: Sequence[BulletDraft]) -> Drafted:
        key = SubPlanKey(self.plan_index, self.stage.stage_index)
        own = [f for f in self.ledger.facts if f.fact_id not in self.history.facts]
        slots = {f.slot: f for f in own}
        known = {f.fact_id for f in own}
        facts: list[Fact] = []
        assertions: list[Assertion] = []
        bullets: list[Bullet] = []
        for draft in drafts:
            bullet_id = str(key.bullet(len(bullets)))
            bullets.append(
                Bullet(
                    bullet_id=bullet_id,
                    kind=draft.kind,
                    narrative=draft.narrative,
                    topic=draft.topic,
                    text=draft.text,
                    happens_on=draft.happens_on,
                    condition=draft.condition,
                    requirement=draft.requirement,
                    variety=draft.variety,
                )
            )
            for fact_draft in draft.facts:
                slot = slot_key(fact_draft.subject, fact_draft.attribute)
                fact = self._fact(fact_draft.fact_id) or slots.get(slot) or self.history.slots.get(slot)
                if fact is None or (fact.fact_id in self.history.facts and _is_another(fact, fact_draft)):
                    fact = self._new_fact(fact_draft, len(own) + len(facts))
                    facts.append(fact)
                    slots[slot] = fact
                stance = fact_draft.stance
                if stance is Stance.SETS and (fact.fact_id in known or fact.fact_id in self.history.facts):
                    stance = Stance.UPDATES
                known.add(fact.fact_id)
                assertions.append(
                    Assertion(bullet_id=bullet_id, fact_id=fact.fact_id, stance=stance, value=fact_draft.value)
                )
        sub_plan = SubPlan(
            plan_index=self.plan_index,
            sub_plan_index=self.stage.stage_index,
            anchor=self.stage.first_day,
            bullets=tuple(bullets),
        )
        return Drafted(sub_plan=sub_plan, facts=tuple(facts), assertions=tuple(assertions))

    def _fact(self, fact_id: str) -> Fact | None:
        return self.ledger.fact.get(fact_id) or self.history.facts.get(fact_id)

    def _new_fact(self, draft: FactDraft, ordinal: int) -> Fact:
        return Fact(
            fact_id=str(FactId(self.plan_index, ordinal)),
            subject=draft.subject,
            attribute=draft.attribute,
            kind=draft.value.kind,
            is_fixed=draft.is_fixed,
        )


def _is_another(fact: Fact, draft: FactDraft) -> bool:
    """Return whether a later plan's draft cannot be about an earlier plan's fact, although their names are equal."""
    return fact.kind is not draft.value.kind or (fact.is_fixed and draft.stance is not Stance.MENTIONS)


def ledger_of(drafted: Iterable[Drafted], history: PlanHistory) -> Ledger:
    """Return the ledger of the sub-plans drafted so far, with the facts of earlier plans that they touch."""
    parts = tuple(drafted)
    assertions = tuple(a for d in parts for a in d.assertions)
    back = history.known({a.fact_id for a in assertions})
    return Ledger(tuple(d.sub_plan for d in parts), (*back, *(f for d in parts for f in d.facts)), assertions)


def plan_of(drafted: Iterable[Drafted], plan_index: int = 0) -> Plan:
    """Return the plan made of its drafted sub-plans."""
    parts = tuple(drafted)
    return Plan(
        plan_index=plan_index,
        sub_plans=tuple(d.sub_plan for d in parts),
        facts=tuple(f for d in parts for f in d.facts),
        assertions=tuple(a for d in parts for a in d.assertions),
    )
