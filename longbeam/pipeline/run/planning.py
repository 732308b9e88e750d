"""The scaffold of a conversation: persona, the seeds of its plans, and plan after plan with its special bullets."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from longbeam.generators import (
    ADVICE_PROMPTS,
    AUGMENT_PROMPTS,
    CORE,
    EVENTS_PROMPTS,
    MBTI_TRAITS,
    NARRATIVE_PROMPTS,
    OUTLINE_PROMPTS,
    PERSONALITY_PROMPTS,
    PLAN_SEEDS_PROMPTS,
    PLAN_SUMMARY_PROMPTS,
    PLANNING,
    SUB_PLAN_PROMPTS,
    AdditionInputs,
    Advised,
    Augmented,
    Choices,
    Drafted,
    Frame,
    Layout,
    Ledger,
    PlanContext,
    PlanHistory,
    StageToAdvise,
    StageToAugment,
    advised_plan,
    aged,
    augmented_plan,
    birthdays,
    chapter_of,
    choose_targets,
    circles_of,
    draw_relationships,
    draw_timeline,
    drawn_layout,
    ends_of,
    ideas_for,
    layout_for,
    ledger_of,
    narratives_for,
    outlined,
    people_of_plan,
    seed_of,
    spans_of,
    stages_of,
    sub_plans_of,
    user_of,
    with_additions,
    write_advice,
    write_events,
    write_narratives,
    write_outline,
    write_personality,
    write_plan_seeds,
    write_plan_summary,
    write_special_bullets,
    write_sub_plan,
)
from longbeam.generators.sub_plans import plan_of
from longbeam.keys import SubPlanKey
from longbeam.models import Asker, is_spoken_by_rule
from longbeam.pipeline.run.conversation import Conversation, PersonaResult, PlanningState, PlanResult
from longbeam.pipeline.run.gaps import Gap
from longbeam.pipeline.run.unit_spec import UnitSpec
from longbeam.pipeline.run.units import both
from longbeam.pipeline.tuning import RUNNING
from longbeam.prompts.calls import PlanSeedsInputs, Stage, StageDraft, StageStory, StoryGraph
from longbeam.schemas import (
    BenchmarkSpec,
    Category,
    Narrative,
    Person,
    Plan,
    PlanSeed,
    Profile,
    Record,
    RelationshipGraph,
    Seed,
    SubPlan,
)
from longbeam.store import UnitStatus
from longbeam.text import language_of


class PlanSummary(Record):
    """Summary of a conversation's plans, up to one of them."""

    text: str


PERSONALITY = UnitSpec("persona", Profile, PERSONALITY_PROMPTS, tries=RUNNING.plan_tries)
NARRATIVES = UnitSpec("persona", Narrative, NARRATIVE_PROMPTS, tries=RUNNING.plan_tries)
PLAN_SEEDS = UnitSpec("plan", PlanSeed, PLAN_SEEDS_PROMPTS, tries=RUNNING.plan_tries)
PLAN_NARRATIVES = UnitSpec("plan", Narrative, NARRATIVE_PROMPTS, tries=RUNNING.plan_tries)
OUTLINE = UnitSpec("plan", Stage, OUTLINE_PROMPTS, tries=RUNNING.plan_tries)
EVENTS = UnitSpec("plan", StageStory, EVENTS_PROMPTS, tries=RUNNING.plan_tries)
SUB_PLAN = UnitSpec("plan", Drafted, SUB_PLAN_PROMPTS, tries=RUNNING.plan_tries, version=3)
SPECIAL_BULLETS = UnitSpec("plan", Augmented, AUGMENT_PROMPTS, tries=RUNNING.plan_tries, version=4)
ADVICE = UnitSpec("plan", Advised, ADVICE_PROMPTS, tries=RUNNING.plan_tries, version=3)
PLAN_SUMMARY = UnitSpec("plan", PlanSummary, PLAN_SUMMARY_PROMPTS, tries=RUNNING.plan_tries)


def dated_seed(c: Conversation) -> Seed:
    """Return the conversation's seed with its timeline, which code draws where the seed has none."""
    spec, seed = c.units.spec, c.seed
    timeline = seed.timeline or draw_timeline(spec.seed, c.index, seed, sub_plans_of(spec.length, seed.category))
    return seed.model_copy(update={"timeline": timeline})


def drawn_profile(c: Conversation) -> Profile:
    """Return the user as drawn: the stored one where there is one, since another version of Faker draws other names."""
    unit = c.units.log.units.find(PERSONALITY.stage, "personality")
    if unit is not None and unit.status is UnitStatus.DONE:
        for stored in c.units.log.units.records(PERSONALITY.stage, Profile, unit_keys=["personality"]):
            return stored.model_copy(update={"personality": ""})
    return user_of(c.units.spec.seed, c.index, c.units.spec.people)


async def profile_stage(c: Conversation) -> Profile:
    """Draw the user's profile; have a model write the personality."""
    drawn = drawn_profile(c)
    unwritten = Gap((drawn,))
    return (await c.units.run_or(PERSONALITY, "personality", drawn, work=_write_personality, otherwise=unwritten))[0]


_PROBED_BY = {
    "update": ("knowledge_update", 1),
    "contradiction": ("contradiction_resolution", 1),
    "instruction": ("instruction_following", 0),
    "preference": ("preference_following", 0),
}
"""Ability that each kind of special bullet is for, and the candidates that it may lose to checks."""


def relationships_of(c: Conversation) -> tuple[RelationshipGraph, tuple[tuple[Person, ...], ...]]:
    """Draw the user's people on the first day, and those that come in plan by plan."""
    seed, size = c.units.spec.seed, min(len(c.plan_targets), PLANNING.largest_size)
    drawn = drawn_profile(c)
    around = c.units.spec.people.around
    return draw_relationships(seed, c.index, drawn, size, around), circles_of(seed, c.index, drawn, size, around)


async def narratives_stage(c: Conversation) -> tuple[Narrative, ...]:
    """Have a model write the threads of the story; a conversation of many plans has those of its plans as well."""
    spec, seed = c.units.spec, dated_seed(c)
    layout = _layout(c, 0, seed.category)
    return await c.units.run_or(
        NARRATIVES,
        "narratives",
        seed,
        narratives_for(spec.length, layout),
        drawn_profile(c),
        relationships_of(c)[0].people,
        work=write_narratives,
        otherwise=Gap(_narratives_of(seed)),
    )


def _key(c: Conversation, plan_index: int) -> str:
    return c.rng_key if plan_index == 0 else f"{c.rng_key}/p{plan_index}"


def _layout(c: Conversation, plan_index: int, category: Category) -> Layout:
    """Return the layout of a plan, drawn around that of its length; each kind suffices for the probes asked for."""
    spec = c.units.spec
    layout = layout_for(c.plan_targets[plan_index], category, asked=spec.probes_per_ability)
    least = {
        kind: spec.probes_per_ability + spare
        for kind, (ability, spare) in _PROBED_BY.items()
        if ability in spec.abilities
    }
    return drawn_layout(layout, spec.plan, least, _key(c, plan_index))


def persona_of(c: Conversation, profile: Profile, narratives: tuple[Narrative, ...]) -> PersonaResult:
    """Return what the first four stages have made."""
    relationships, circles = relationships_of(c)
    return PersonaResult(dated_seed(c), profile, relationships, circles, narratives)


def _narratives_of(seed: Seed) -> tuple[Narrative, ...]:
    """Return narratives made of the seed, for a story whose narratives could not be written."""
    labels = dict.fromkeys((*seed.subtopics, seed.title))
    return tuple(Narrative(label=label, description=seed.theme, sub_labels=(label,)) for label in labels)


async def _write_personality(asker: Asker, drawn: Profile) -> Sequence[Profile]:
    return (await write_personality(asker, drawn, MBTI_TRAITS),)


def planning_of(persona: PersonaResult) -> PlanningState:
    """Return the state before the first plan."""
    return PlanningState(persona, PlanHistory())


async def plan_stage(c: Conversation, planning: PlanningState, plan_index: int) -> PlanResult:
    """Make one plan: its frame, an outline, the events of its stages, their words, then the special bullets.

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
    spec = c.units.spec
    layout = _layout(c, plan_index, frame.seed.category)
    rng_key = _key(c, plan_index)
    # The history grows by this plan below: its own sessions come after those before it.
    first_session = history.sub_plans
    unwritten = stages_of(timeline, layout)
    outline = Gap(_titled(frame, unwritten))
    key = f"p{plan_index}.outline"
    stages = await c.units.run_or(OUTLINE, key, frame, unwritten, work=write_outline, otherwise=outline)
    context = PlanContext(plan_index, frame, layout, stages, history, spec.plan.group)
    graph = await _story(c, context, _parts_of_sub_plan(layout, spec))
    planning.open_matters[plan_index] = graph.open_matters()
    drafted: list[Drafted] = []
    for stage in stages:
        if not graph.stages[stage.stage_index].events:
            drafted.append(_without_bullets(plan_index, stage))  # its events could not be told, which is the gap
            continue
        key = str(SubPlanKey(plan_index, stage.stage_index))
        left_out = Gap((_without_bullets(plan_index, stage),), parts=_parts_of_sub_plan(layout, spec))
        drafted += await c.units.run_or(
            SUB_PLAN,
            key,
            context,
            graph,
            tuple(drafted),
            work=_write_sub_plan,
            otherwise=left_out,
            parts=context.sizes[stage.stage_index].events,
        )
    base = plan_of(drafted, plan_index)
    events = {e.event_id: e for e in graph.events()}
    event_of = {
        bullet.bullet_id: events[event_id]
        for d in drafted
        for bullet, event_id in zip(d.sub_plan.bullets, d.events, strict=True)
        if event_id in events
    }
    bullet_of = {event.event_id: bullet_id for bullet_id, event in event_of.items()}
    choices = Choices(
        plan=base,
        layout=layout,
        history=history,
        event_of=event_of,
        ends=ends_of(graph, drafted, ledger_of(drafted, history)),
        quotas=context.quotas,
        rng_key=rng_key,
    )
    augmented: list[Augmented] = []
    for targets in choose_targets(choices):
        task = StageToAugment(frame, base, stages[targets.stage_index], targets, spec.length, tuple(augmented))
        augmented += await _special_bullets(c, plan_index, task)
    special = augmented_plan(base, augmented)
    advised: list[Advised] = []
    # What a language model brings in is read out of its replies.
    for stage in stages if spec.probes.assistant_share and is_spoken_by_rule(spec) else ():
        if not special.sub_plans[stage.stage_index].bullets:
            continue  # the stage could not be written
        lines = StageToAdvise(frame, special, stage, tuple(advised), rng_key)
        advised += await _advice(c, plan_index, lines)
    plan = advised_plan(special, advised)
    if spec.probes.kinds_share and language_of(spec.language).writes:  # code words the questions in English
        has_room = context.sizes[-1].is_roomy
        told = AdditionInputs(plan, graph.stages, bullet_of, c.rng_key, has_room, frame.profile.name)
        plan = with_additions(told)
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
        follows={i: tuple(bullet_of[a.event] for a in e.after if a.event in bullet_of) for i, e in event_of.items()},
    )


async def _story(c: Conversation, context: PlanContext, parts: int) -> StoryGraph:
    """Return the events of a plan: stage after stage, each knows those before; `parts`: those of a stage's text."""
    told: list[StageStory] = []
    for stage in context.stages:
        key = f"{SubPlanKey(context.plan_index, stage.stage_index)}.events"
        none = Gap((StageStory(stage_index=stage.stage_index, events=()),), parts=parts)
        told += await c.units.run_or(EVENTS, key, context, tuple(told), work=_write_events, otherwise=none)
    sizes = context.sizes
    counts, endings = tuple(s.events for s in sizes), sizes[-1].closing
    return StoryGraph(stages=tuple(told), counts=counts, endings=endings, side=context.side)


def _titled(frame: Frame, stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """Return the stages with titles from the narratives, for a plan whose outline could not be written."""
    named = [frame.narratives[s.stage_index % len(frame.narratives)] for s in stages]
    return outlined(frame, stages, [StageDraft(title=n.label, summary=n.description) for n in named])


def _without_bullets(plan_index: int, stage: Stage) -> Drafted:
    """Return a sub-plan that could not be written: nothing is said in its stage."""
    sub_plan = SubPlan(plan_index=plan_index, sub_plan_index=stage.stage_index, anchor=stage.first_day, bullets=())
    return Drafted(sub_plan=sub_plan, facts=(), assertions=())


def _parts_of_sub_plan(layout: Layout, spec: BenchmarkSpec) -> int:
    """Return the parts of a sub-plan's text: special bullets, advice if any, batches, their turns, and the dialogue."""
    return 2 + (bool(spec.probes.assistant_share) and is_spoken_by_rule(spec)) + layout.batches * (1 + layout.questions)


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
    ).model_copy(update={"open_matters": planning.open_matters.get(plan_index - 1, ())})
    return Frame(
        seed=seed,
        profile=profile.model_copy(update={"age": min(profile.age + birthdays(first, now, c.rng_key), 99)}),
        relationships=relationships.model_copy(update={"people": people}),
        narratives=await c.units.run_or(
            PLAN_NARRATIVES,
            f"p{plan_index}.narratives",
            seed,
            PLANNING.narratives,
            profile,
            people,
            work=write_narratives,
            otherwise=Gap(_narratives_of(seed)),
        ),
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
    return await c.units.run_or(
        PLAN_SEEDS, "seeds", inputs, work=write_plan_seeds, otherwise=Gap(_plan_seeds_of(inputs))
    )


def _plan_seeds_of(inputs: PlanSeedsInputs) -> tuple[PlanSeed, ...]:
    """Return seeds of plans that each take a subtopic of the story, for a story whose plans could not be named."""
    seed = inputs.seed
    known = seed.subtopics or (seed.title,)
    topics = [known[i % len(known)] for i in range(len(inputs.spans))]
    return tuple(
        PlanSeed(
            plan_index=i,
            domain=seed.domain,
            topic=f"{seed.title}: {topic}",
            theme=seed.theme,
            subtopics=(topic,),
            timeline=span,
        )
        for i, (span, topic) in enumerate(zip(inputs.spans, topics, strict=True))
    )


async def _summarise(c: Conversation, planning: PlanningState, plan_index: int) -> str:
    """Fold a finished plan into the summary of those before it, and return the new one."""
    plan, plan_seed = planning.history.plans[plan_index], planning.plan_seeds[plan_index]
    before, ledger = planning.summaries.get(plan_index - 1, ""), planning.history.relevant(plan)
    key = f"p{plan_index}.summary"
    unwritten = Gap((PlanSummary(text=before),))
    (summary,) = await c.units.run_or(
        PLAN_SUMMARY, key, before, plan_seed, plan, ledger, work=_write_summary, otherwise=unwritten
    )
    planning.summaries[plan_index] = summary.text
    return summary.text


async def _write_summary(
    asker: Asker, before: str, plan_seed: PlanSeed, plan: Plan, ledger: Ledger
) -> Sequence[PlanSummary]:
    return (PlanSummary(text=await write_plan_summary(asker, before, plan_seed, plan, ledger)),)


async def _write_events(asker: Asker, context: PlanContext, earlier: tuple[StageStory, ...]) -> Sequence[StageStory]:
    return (await write_events(asker, context, earlier),)


async def _write_sub_plan(
    asker: Asker, context: PlanContext, graph: StoryGraph, earlier: tuple[Drafted, ...]
) -> Sequence[Drafted]:
    return (await write_sub_plan(asker, context, graph, earlier),)


async def _special_bullets(c: Conversation, plan_index: int, task: StageToAugment) -> Sequence[Augmented]:
    key = f"{SubPlanKey(plan_index, task.targets.stage_index)}.special"
    none = Gap((Augmented(stage_index=task.targets.stage_index, bullets=(), after=(), assertions=()),))
    return await c.units.run_or(SPECIAL_BULLETS, key, task, work=_write_special, otherwise=none)


async def _advice(c: Conversation, plan_index: int, task: StageToAdvise) -> Sequence[Advised]:
    key, none = f"{SubPlanKey(plan_index, task.stage.stage_index)}.advice", Advised(stage_index=task.stage.stage_index)
    return await c.units.run_or(ADVICE, key, task, work=_write_advice, otherwise=Gap((none,)))


async def _write_advice(asker: Asker, task: StageToAdvise) -> Sequence[Advised]:
    return (await write_advice(asker, task),)


async def _write_special(asker: Asker, task: StageToAugment) -> Sequence[Augmented]:
    return (await write_special_bullets(asker, task),)
