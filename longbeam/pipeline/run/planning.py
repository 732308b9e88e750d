"""The scaffold of a conversation: persona, the seeds of its plans, and plan after plan with its special bullets."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Sequence
from dataclasses import replace

from longbeam.generators.augmentation import (
    AUGMENT_PROMPTS,
    Augmented,
    StageToAugment,
    augmented_plan,
    write_special_bullets,
)
from longbeam.generators.layout import layout_for
from longbeam.generators.ledger import Ledger
from longbeam.generators.persona import (
    NARRATIVE_PROMPTS,
    PERSONALITY_PROMPTS,
    write_narratives,
    write_personality,
)
from longbeam.generators.plan_history import PlanHistory
from longbeam.generators.plan_seeds import (
    PLAN_SEEDS_PROMPTS,
    PLAN_SUMMARY_PROMPTS,
    chapter_of,
    seed_of,
    spans_of,
    subjects_of,
    write_plan_seeds,
    write_plan_summary,
)
from longbeam.generators.plans import (
    OUTLINE_PROMPTS,
    SUB_PLAN_PROMPTS,
    Drafted,
    Frame,
    PlanContext,
    plan_of,
    stages_of,
    write_outline,
    write_sub_plan,
)
from longbeam.generators.profiles import MBTI_TRAITS, draw_profile
from longbeam.generators.relationships import (
    CORE,
    LARGEST_SIZE,
    aged,
    birthdays,
    circles_of,
    draw_relationships,
    people_of_plan,
)
from longbeam.generators.seeds import draw_timeline, ideas_for, sub_plans_of
from longbeam.generators.special_targets import Targets, choose_targets
from longbeam.keys import SubPlanKey
from longbeam.models.asking import Asker
from longbeam.pipeline.run.conversation import Conversation, PersonaResult, PlanningState, PlanResult
from longbeam.pipeline.run.unit_spec import UnitSpec
from longbeam.pipeline.run.units import all_of, both
from longbeam.prompts.calls.plans import PlanSeedsInputs, Stage
from longbeam.schemas.base import Record
from longbeam.schemas.people import Profile
from longbeam.schemas.plans import Narrative, Plan, PlanSeed
from longbeam.schemas.seeds import Seed


class PlanSummary(Record):
    """Summary of a conversation's plans, up to one of them."""

    text: str


PERSONALITY = UnitSpec("persona", Profile, PERSONALITY_PROMPTS)
NARRATIVES = UnitSpec("persona", Narrative, NARRATIVE_PROMPTS)
PLAN_SEEDS = UnitSpec("plan", PlanSeed, PLAN_SEEDS_PROMPTS)
PLAN_NARRATIVES = UnitSpec("plan", Narrative, NARRATIVE_PROMPTS)
OUTLINE = UnitSpec("plan", Stage, OUTLINE_PROMPTS)
SUB_PLAN = UnitSpec("plan", Drafted, SUB_PLAN_PROMPTS)
SPECIAL_BULLETS = UnitSpec("plan", Augmented, AUGMENT_PROMPTS)
PLAN_SUMMARY = UnitSpec("plan", PlanSummary, PLAN_SUMMARY_PROMPTS)


async def persona_stage(c: Conversation) -> PersonaResult:
    """Draw timeline, profile and relationships by code; have a model write personality and narratives."""
    spec, seed = c.units.spec, c.seed
    timeline = seed.timeline or draw_timeline(spec.seed, c.index, seed, sub_plans_of(spec.length, seed.category))
    dated = seed.model_copy(update={"timeline": timeline})
    drawn = draw_profile(spec.seed, c.index)
    (profile,), narratives = await both(
        c.units.run(PERSONALITY, "personality", drawn, work=_write_personality),
        c.units.run(NARRATIVES, "narratives", dated, work=write_narratives),
    )
    size = min(len(c.plan_targets), LARGEST_SIZE)
    return PersonaResult(
        seed=dated,
        profile=profile,
        relationships=draw_relationships(spec.seed, c.index, drawn, size),
        circles=circles_of(spec.seed, c.index, drawn, size),
        narratives=narratives,
    )


async def _write_personality(asker: Asker, drawn: Profile) -> Sequence[Profile]:
    return (await write_personality(asker, drawn, MBTI_TRAITS),)


def planning_of(persona: PersonaResult) -> PlanningState:
    """Return the state before the first plan."""
    everybody = itertools.chain(persona.relationships.people, *persona.circles)
    return PlanningState(persona, PlanHistory(subjects_of(everybody)))


async def plan_stage(c: Conversation, planning: PlanningState, plan_index: int) -> PlanResult:
    """Make one plan: its frame, an outline, sub-plan after sub-plan, then the special bullets of all of them at once.

    The summary up to the plan before is written meanwhile: the plan after this one and the dialogues read it.
    """
    if not c.is_single and not planning.plan_seeds:
        planning.plan_seeds = await _plan_seeds(c, planning.persona)
    if not plan_index:
        return await _plan(c, planning, plan_index)
    made, summary = await both(_plan(c, planning, plan_index), _summarise(c, planning, plan_index - 1))
    return replace(made, earlier_plans=summary)


async def _plan(c: Conversation, planning: PlanningState, plan_index: int) -> PlanResult:
    target, history = c.plan_targets[plan_index], planning.history.before(plan_index)
    frame = await _frame(c, planning, history)
    timeline = frame.seed.timeline
    assert timeline is not None
    layout = layout_for(target, frame.seed.category)
    # The history grows by this plan below: its own sessions come after those before it.
    first_session = history.sub_plans
    undated = stages_of(timeline, layout.sub_plans)
    stages = await c.units.run(OUTLINE, f"p{plan_index}.outline", frame, undated, work=write_outline)
    context = PlanContext(plan_index, frame, layout, stages, history)
    drafted: list[Drafted] = []
    for stage in stages:
        key = str(SubPlanKey(plan_index, stage.stage_index))
        drafted += await c.units.run(SUB_PLAN, key, context, tuple(drafted), work=_write_sub_plan)
    base = plan_of(drafted, plan_index)
    rng_key = c.rng_key if plan_index == 0 else f"{c.rng_key}/p{plan_index}"
    targets = choose_targets(base, layout.special_per_kind, rng_key, history)
    augmented = await all_of([_special_bullets(c, context, base, t) for t in targets])
    plan = augmented_plan(base, augmented, rng_key)
    if plan_index == len(planning.history.plans):
        planning.history.add(plan)
    return PlanResult(
        plan_index=plan_index,
        target=target,
        frame=frame,
        layout=layout,
        stages=stages,
        plan=plan,
        ledger=planning.history.relevant(plan),
        first_session=first_session,
        earlier_plans="",
    )


async def _frame(c: Conversation, planning: PlanningState, history: PlanHistory) -> Frame:
    """Return the frame of one plan: everybody as old as they are when it begins."""
    persona = planning.persona
    profile, relationships = persona.profile, persona.relationships
    if c.is_single:
        return Frame(seed=persona.seed, profile=profile, relationships=relationships, narratives=persona.narratives)
    plan_index = len(history.plans)
    plan_seed = planning.plan_seeds[plan_index]
    first, now = _start(persona.seed), plan_seed.timeline.start
    people, introduced = people_of_plan(relationships, persona.circles, plan_index, c.rng_key)
    people = tuple(aged(p, first, now, c.rng_key) for p in people)
    seed = seed_of(plan_seed, persona.seed, c.strategy)
    chapter = chapter_of(
        planning.storyline(c.strategy),
        history,
        summary=planning.summaries.get(plan_index - 2, ""),
        introduced=introduced,
        people=people,
    )
    return Frame(
        seed=seed,
        profile=profile.model_copy(update={"age": min(profile.age + birthdays(first, now, c.rng_key), 99)}),
        relationships=relationships.model_copy(update={"people": people}),
        narratives=await c.units.run(PLAN_NARRATIVES, f"p{plan_index}.narratives", seed, work=write_narratives),
        chapter=chapter,
    )


def _start(seed: Seed) -> dt.date:
    assert seed.timeline is not None
    return seed.timeline.start


async def _plan_seeds(c: Conversation, persona: PersonaResult) -> tuple[PlanSeed, ...]:
    seed = persona.seed
    assert seed.timeline is not None
    inputs = PlanSeedsInputs(
        seed=seed,
        profile=persona.profile,
        people=tuple(p for p in persona.relationships.people if p.relation in CORE),
        strategy=c.strategy,
        spans=spans_of(seed.timeline, c.plan_targets),
        ideas=ideas_for(c.units.spec.seed, c.index, seed, len(c.plan_targets)),
    )
    return await c.units.run(PLAN_SEEDS, "seeds", inputs, work=write_plan_seeds)


async def _summarise(c: Conversation, planning: PlanningState, plan_index: int) -> str:
    """Fold a finished plan into the summary of those before it, and return the new one."""
    plan, plan_seed = planning.history.plans[plan_index], planning.plan_seeds[plan_index]
    before, ledger = planning.summaries.get(plan_index - 1, ""), planning.history.relevant(plan)
    key = f"p{plan_index}.summary"
    (summary,) = await c.units.run(PLAN_SUMMARY, key, before, plan_seed, plan, ledger, work=_write_summary)
    planning.summaries[plan_index] = summary.text
    return summary.text


async def _write_summary(
    asker: Asker, before: str, plan_seed: PlanSeed, plan: Plan, ledger: Ledger
) -> Sequence[PlanSummary]:
    return (PlanSummary(text=await write_plan_summary(asker, before, plan_seed, plan, ledger)),)


async def _write_sub_plan(asker: Asker, context: PlanContext, earlier: tuple[Drafted, ...]) -> Sequence[Drafted]:
    return (await write_sub_plan(asker, context, earlier),)


async def _special_bullets(c: Conversation, context: PlanContext, base: Plan, targets: Targets) -> Augmented:
    stage, per_kind = context.stages[targets.stage_index], context.layout.special_per_kind
    key = f"{SubPlanKey(context.plan_index, targets.stage_index)}.special"
    inputs = context.frame, base, stage, targets, per_kind
    records = await c.units.run(SPECIAL_BULLETS, key, *inputs, work=_write_special)
    return records[0]


async def _write_special(
    asker: Asker, frame: Frame, base: Plan, stage: Stage, targets: Targets, per_kind: int
) -> Sequence[Augmented]:
    return (await write_special_bullets(asker, StageToAugment(frame, base, stage, targets, instructions=per_kind)),)
