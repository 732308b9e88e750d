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
from longbeam.models.asking import Asker
from longbeam.pipeline.run.conversation import Conversation, PlanWork
from longbeam.pipeline.run.units import all_of, both
from longbeam.prompts.calls.plans import PlanSeedsInputs, Stage
from longbeam.schemas.base import Record
from longbeam.schemas.people import Profile
from longbeam.schemas.plans import Narrative, Plan, PlanSeed
from longbeam.schemas.seeds import Seed, Timeline
from longbeam.schemas.spec import Role


class Summary(Record):
    """Summary of a conversation's plans, up to one of them."""

    text: str


async def persona_stage(c: Conversation) -> None:
    """Timeline, profile, relationships by code; personality and narratives by a model."""
    spec, seed = c.units.spec, c.seed
    timeline = seed.timeline or draw_timeline(spec.seed, c.index, seed, sub_plans_of(spec.length, seed.category))
    c.seed = seed.model_copy(update={"timeline": timeline})
    drawn = draw_profile(spec.seed, c.index)

    async def personality(asker: Asker) -> Sequence[Profile]:
        return (await write_personality(asker, drawn, MBTI_TRAITS),)

    profiles, c.narratives = await both(
        c.units.run(
            "persona",
            "personality",
            record=Profile,
            needs=[drawn],
            prompts=PERSONALITY_PROMPTS,
            roles=[Role.WRITER],
            work=personality,
        ),
        _narratives(c, "persona", "narratives", c.seed),
    )
    c.profile = profiles[0]
    size = min(len(c.plans), LARGEST_SIZE)
    c.relationships = draw_relationships(spec.seed, c.index, drawn, size)
    c.circles = circles_of(spec.seed, c.index, drawn, size)
    everybody = itertools.chain(c.relationships.people, *c.circles)
    c.history = PlanHistory(subjects_of(everybody))


async def _narratives(c: Conversation, stage: str, key: str, seed: Seed) -> tuple[Narrative, ...]:
    async def work(asker: Asker) -> Sequence[Narrative]:
        return await write_narratives(asker, seed)

    return await c.units.run(
        stage, key, record=Narrative, needs=[seed], prompts=NARRATIVE_PROMPTS, roles=[Role.WRITER], work=work
    )


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

    async def outline(asker: Asker) -> Sequence[Stage]:
        return await write_outline(asker, frame, undated)

    work.stages = await c.units.run(
        "plan",
        f"p{p}.outline",
        record=Stage,
        needs=[frame, undated],
        prompts=OUTLINE_PROMPTS,
        roles=[Role.PLANNER],
        work=outline,
    )
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
        narratives=await _narratives(c, "plan", f"p{plan_index}.narratives", seed),
        chapter=chapter,
    )


def _start(seed: Seed) -> dt.date:
    assert seed.timeline is not None
    return seed.timeline.start


async def _plan_seeds(c: Conversation) -> tuple[PlanSeed, ...]:
    spec = c.units.spec
    assert c.seed.timeline is not None
    seed, profile, strategy = c.seed, c.the_profile, c.strategy
    people = tuple(p for p in c.the_relationships.people if p.relation in CORE)
    spans: tuple[Timeline, ...] = spans_of(c.seed.timeline, [w.target for w in c.plans])
    ideas = ideas_for(spec.seed, c.index, seed, len(c.plans))

    inputs = PlanSeedsInputs(seed=seed, profile=profile, people=people, strategy=strategy, spans=spans, ideas=ideas)

    async def work(asker: Asker) -> Sequence[PlanSeed]:
        return await write_plan_seeds(asker, inputs)

    return await c.units.run(
        "plan",
        "seeds",
        record=PlanSeed,
        needs=[seed, profile, people, strategy, spans, ideas],
        prompts=PLAN_SEEDS_PROMPTS,
        roles=[Role.PLANNER],
        work=work,
    )


async def _summarise(c: Conversation, plan_index: int) -> None:
    """Fold a finished plan into the summary of those before it."""
    plan, plan_seed = c.history.plans[plan_index], c.plan_seeds[plan_index]
    before = c.summaries.get(plan_index - 1, "")

    async def work(asker: Asker) -> Sequence[Summary]:
        return (Summary(text=await write_plan_summary(asker, before, plan_seed, plan, c.history)),)

    records = await c.units.run(
        "plan",
        f"p{plan_index}.summary",
        record=Summary,
        needs=[before, plan_seed, plan],
        prompts=PLAN_SUMMARY_PROMPTS,
        roles=[Role.PLANNER],
        work=work,
    )
    c.summaries[plan_index] = records[0].text


async def _sub_plan(
    c: Conversation, work: PlanWork, stage: Stage, earlier: tuple[Drafted, ...], history: PlanHistory
) -> Drafted:
    frame, layout, stages = work.the_frame, work.the_layout, work.stages
    context = PlanContext(work.plan_index, frame, layout, stages, history)

    async def draft(asker: Asker) -> Sequence[Drafted]:
        return (await write_sub_plan(asker, context, earlier),)

    records = await c.units.run(
        "plan",
        f"p{work.plan_index}.s{stage.stage_index}",
        record=Drafted,
        needs=[frame, stages, earlier, layout, history.fact_digest],
        prompts=SUB_PLAN_PROMPTS,
        roles=[Role.PLANNER],
        work=draft,
    )
    return records[0]


async def _special_bullets(c: Conversation, work: PlanWork, base: Plan, targets: Targets) -> Augmented:
    frame, stage, per_kind = work.the_frame, work.stages[targets.stage_index], work.the_layout.special_per_kind
    task = StageToAugment(frame, base, stage, targets, instructions=per_kind)

    async def write(asker: Asker) -> Sequence[Augmented]:
        return (await write_special_bullets(asker, task),)

    records = await c.units.run(
        "plan",
        f"p{work.plan_index}.s{targets.stage_index}.special",
        record=Augmented,
        needs=[frame, base, stage, targets, per_kind],
        prompts=AUGMENT_PROMPTS,
        roles=[Role.PLANNER],
        work=write,
    )
    return records[0]
