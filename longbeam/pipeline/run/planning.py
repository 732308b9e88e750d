"""The scaffold of a conversation: persona, the seeds of its plans, and plan after plan with its special bullets."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Sequence

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
    Storyline,
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
from longbeam.pipeline.run.conversation import Conversation, PlanWork
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


async def persona_stage(c: Conversation) -> None:
    """Timeline, profile, relationships by code; personality and narratives by a model."""
    spec, seed = c.units.spec, c.seed
    timeline = seed.timeline or draw_timeline(spec.seed, c.index, seed, sub_plans_of(spec.length, seed.category))
    c.seed = seed.model_copy(update={"timeline": timeline})
    drawn = draw_profile(spec.seed, c.index)

    profiles, c.narratives = await both(
        c.units.run(PERSONALITY, "personality", drawn, work=_write_personality),
        c.units.run(NARRATIVES, "narratives", c.seed, work=write_narratives),
    )
    c.profile = profiles[0]
    size = min(len(c.plans), LARGEST_SIZE)
    c.relationships = draw_relationships(spec.seed, c.index, drawn, size)
    c.circles = circles_of(spec.seed, c.index, drawn, size)
    everybody = itertools.chain(c.relationships.people, *c.circles)
    c.history = PlanHistory(subjects_of(everybody))


async def _write_personality(asker: Asker, drawn: Profile) -> Sequence[Profile]:
    return (await write_personality(asker, drawn, MBTI_TRAITS),)


async def plan_stage(c: Conversation, plan_index: int) -> None:
    """One plan: its frame, an outline, sub-plan after sub-plan, then the special bullets of all of them at once.

    The summary up to the plan before is written meanwhile: it is for the plan after this one, and for the dialogues.
    """
    if not c.is_single and not c.plan_seeds:
        c.plan_seeds = await _plan_seeds(c)
    work = c.plans[plan_index]
    await all_of([_plan(c, work), *([_summarise(c, plan_index - 1)] if plan_index else [])])
    work.earlier_plans = c.summaries.get(plan_index - 1, "")


async def _plan(c: Conversation, work: PlanWork) -> None:
    p, history = work.plan_index, c.history.before(work.plan_index)
    frame = work.frame = await _frame(c, history)
    work.narratives = frame.narratives
    timeline = frame.seed.timeline
    assert timeline is not None
    layout = work.layout = layout_for(work.target, frame.seed.category)
    work.first_session = history.sub_plans
    undated = stages_of(timeline, layout.sub_plans)
    work.stages = await c.units.run(OUTLINE, f"p{p}.outline", frame, undated, work=write_outline)
    drafted: list[Drafted] = []
    for stage in work.stages:
        drafted.append(await _sub_plan(c, work, stage, tuple(drafted), history))
    base = plan_of(drafted, p)
    rng_key = c.rng_key if p == 0 else f"{c.rng_key}/p{p}"
    targets = choose_targets(base, layout.special_per_kind, rng_key, history)
    augmented = await all_of([_special_bullets(c, work, base, t) for t in targets])
    work.plan = augmented_plan(base, augmented, rng_key)
    if p == len(c.history.plans):
        c.history.add(work.plan)


async def _frame(c: Conversation, history: PlanHistory) -> Frame:
    """The frame of one plan: everybody as old as they are when it begins."""
    if c.is_single:
        return Frame(seed=c.seed, profile=c.the_profile, relationships=c.the_relationships, narratives=c.narratives)
    plan_index = len(history.plans)
    plan_seed = c.plan_seeds[plan_index]
    first, now = _start(c.seed), plan_seed.timeline.start
    people, introduced = people_of_plan(c.the_relationships, c.circles, plan_index, c.rng_key)
    people = tuple(aged(p, first, now, c.rng_key) for p in people)
    profile = c.the_profile
    seed = seed_of(plan_seed, c.seed, c.strategy)
    chapter = chapter_of(
        Storyline(c.seed, c.strategy, c.plan_seeds),
        history,
        summary=c.summaries.get(plan_index - 2, ""),
        introduced=introduced,
        people=people,
    )
    return Frame(
        seed=seed,
        profile=profile.model_copy(update={"age": min(profile.age + birthdays(first, now, c.rng_key), 99)}),
        relationships=c.the_relationships.model_copy(update={"people": people}),
        narratives=await c.units.run(PLAN_NARRATIVES, f"p{plan_index}.narratives", seed, work=write_narratives),
        chapter=chapter,
    )


def _start(seed: Seed) -> dt.date:
    assert seed.timeline is not None
    return seed.timeline.start


async def _plan_seeds(c: Conversation) -> tuple[PlanSeed, ...]:
    spec = c.units.spec
    assert c.seed.timeline is not None
    inputs = PlanSeedsInputs(
        seed=c.seed,
        profile=c.the_profile,
        people=tuple(p for p in c.the_relationships.people if p.relation in CORE),
        strategy=c.strategy,
        spans=spans_of(c.seed.timeline, [w.target for w in c.plans]),
        ideas=ideas_for(spec.seed, c.index, c.seed, len(c.plans)),
    )
    return await c.units.run(PLAN_SEEDS, "seeds", inputs, work=write_plan_seeds)


async def _summarise(c: Conversation, plan_index: int) -> None:
    """Fold a finished plan into the summary of those before it."""
    plan, plan_seed = c.history.plans[plan_index], c.plan_seeds[plan_index]
    before = c.summaries.get(plan_index - 1, "")
    ledger = c.history.relevant(plan)
    records = await c.units.run(
        PLAN_SUMMARY, f"p{plan_index}.summary", before, plan_seed, plan, ledger, work=_write_summary
    )
    c.summaries[plan_index] = records[0].text


async def _write_summary(
    asker: Asker, before: str, plan_seed: PlanSeed, plan: Plan, ledger: Ledger
) -> Sequence[PlanSummary]:
    return (PlanSummary(text=await write_plan_summary(asker, before, plan_seed, plan, ledger)),)


async def _sub_plan(
    c: Conversation, work: PlanWork, stage: Stage, earlier: tuple[Drafted, ...], history: PlanHistory
) -> Drafted:
    frame, layout, stages = work.the_frame, work.the_layout, work.stages
    key = str(SubPlanKey(work.plan_index, stage.stage_index))
    context = PlanContext(work.plan_index, frame, layout, stages, history)
    records = await c.units.run(SUB_PLAN, key, context, earlier, work=_write_sub_plan)
    return records[0]


async def _write_sub_plan(asker: Asker, context: PlanContext, earlier: tuple[Drafted, ...]) -> Sequence[Drafted]:
    return (await write_sub_plan(asker, context, earlier),)


async def _special_bullets(c: Conversation, work: PlanWork, base: Plan, targets: Targets) -> Augmented:
    frame, stage, per_kind = work.the_frame, work.stages[targets.stage_index], work.the_layout.special_per_kind
    key = f"{SubPlanKey(work.plan_index, targets.stage_index)}.special"
    records = await c.units.run(SPECIAL_BULLETS, key, frame, base, stage, targets, per_kind, work=_write_special)
    return records[0]


async def _write_special(
    asker: Asker, frame: Frame, base: Plan, stage: Stage, targets: Targets, per_kind: int
) -> Sequence[Augmented]:
    return (await write_special_bullets(asker, StageToAugment(frame, base, stage, targets, instructions=per_kind)),)
