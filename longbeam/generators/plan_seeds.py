"""Conversations of many plans: what each plan is about, and what it knows of the plans before it.

A plan is told its own bounds, those of all others, the previous plan in full and a summary of the earlier ones; so a
prompt never grows with the conversation. Days, ages and people are code's; subjects and bounds are a model's.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence

from longbeam.generators.ledger import Ledger
from longbeam.generators.plan_history import PlanHistory
from longbeam.models.asking import Asker
from longbeam.prompts.calls.plans import Chapter, LedgerLine, PlanSeedsInputs, PlanSeedsReply, PlanSummaryInputs
from longbeam.schemas.people import Person
from longbeam.schemas.plans import Plan, PlanSeed
from longbeam.schemas.seeds import Seed, Timeline
from longbeam.schemas.spec import Strategy

PLAN_SEEDS_PROMPTS = ("plan_seeds",)
PLAN_SUMMARY_PROMPTS = ("plan_summary",)
SUMMARY_TOKENS = 1_200
"""Of the summary of all plans before one: what BEAM gives each of them is 300."""
CARRIED_FACTS = 120
"""Facts of earlier plans that a plan is shown, those of people and of the user first."""
SELF = frozenset({"me", "i", "the user"})
"""Subjects of facts about the user."""


def spans_of(timeline: Timeline, weights: Sequence[int]) -> tuple[Timeline, ...]:
    """Divide a timeline into one span per plan, in proportion to the weights; each begins the day after the last."""
    days, total = timeline.days + 1, sum(weights)
    ends = [days * sum(weights[: i + 1]) // total for i in range(len(weights))]
    starts = [0, *ends[:-1]]
    return tuple(
        Timeline(start=timeline.start + dt.timedelta(days=a), end=timeline.start + dt.timedelta(days=b - 1))
        for a, b in zip(starts, ends, strict=True)
    )


async def write_plan_seeds(asker: Asker, inputs: PlanSeedsInputs) -> tuple[PlanSeed, ...]:
    """Return one seed per span; topics differ, and no plan may tell of what is another's."""
    spans = inputs.spans

    def check(reply: PlanSeedsReply) -> str | None:
        if len(reply.plans) != len(spans):
            return f"{len(reply.plans)} plans; exactly {len(spans)} are asked for"
        topics = Counter(p.topic.casefold().strip() for p in reply.plans)
        if twice := [t for t, n in topics.items() if n > 1]:
            return f"topic {twice[0]!r} is used twice"
        owned = Counter(thing.casefold().strip() for p in reply.plans for thing in p.can_mention)
        if twice := [t for t, n in owned.items() if n > 1]:
            return f"{twice[0]!r} stands in can_mention more than once; it belongs to one plan"
        for i, plan in enumerate(reply.plans, 1):
            own = {thing.casefold().strip() for thing in plan.can_mention}
            if both := [t for t in plan.cannot_mention if t.casefold().strip() in own]:
                return f"plan {i} both can and cannot mention {both[0]!r}"
        return None

    reply: PlanSeedsReply = await asker.structured("plan_seeds", inputs, check=check)
    return tuple(
        PlanSeed(
            plan_index=i,
            domain=draft.domain,
            touches=draft.touches,
            topic=draft.topic,
            theme=draft.theme,
            subtopics=tuple(draft.subtopics),
            timeline=span,
            phase=draft.phase,
            tense=draft.tense,
            can_mention=tuple(draft.can_mention),
            cannot_mention=tuple(draft.cannot_mention),
        )
        for i, (span, draft) in enumerate(zip(spans, reply.plans, strict=True))
    )


def seed_of(plan_seed: PlanSeed, main: Seed, strategy: Strategy) -> Seed:
    """Return the seed that a plan's own stages are told from."""
    return Seed(
        domain=plan_seed.domain,
        title=plan_seed.topic,
        theme=plan_seed.theme,
        subtopics=plan_seed.subtopics,
        timeline=plan_seed.timeline,
        mode=strategy.value,
        touches=plan_seed.touches,
        source=main.source,
    )


def chapter_of(
    *,
    strategy: Strategy,
    main: Seed,
    plan_seeds: tuple[PlanSeed, ...],
    history: PlanHistory,
    summary: str,
    introduced: Sequence[Person],
    people: Sequence[Person],
) -> Chapter:
    """Return what the plan after those told is told; `summary` is that of the plans before the last of them."""
    return Chapter(
        strategy=strategy,
        main=main,
        plan_seeds=plan_seeds,
        plan_index=len(history.plans),
        summary=summary,
        previous=tuple(b.text for b in history.plans[-1].bullets()) if history.plans else (),
        introduced=tuple(p.first_name for p in introduced),
        facts=carried_facts(history, people),
        standing=history.standing,
    )


def carried_facts(history: PlanHistory, people: Iterable[Person]) -> tuple[LedgerLine, ...]:
    """Facts of earlier plans that may come back: of the user and the plan's people, then the previous plan's own."""
    subjects = subjects_of(people)
    others = [line for line in history.newest_lines() if line.subject.casefold() not in subjects]
    return tuple([*history.lines_of(subjects), *others][:CARRIED_FACTS])


def subjects_of(people: Iterable[Person]) -> frozenset[str]:
    """What facts about the user and these people name as their subject, folded."""
    return SELF.union(p.first_name.casefold() for p in people)


async def write_plan_summary(asker: Asker, summary: str, plan_seed: PlanSeed, plan: Plan, ledger: Ledger) -> str:
    """Return the summary of all plans up to this one; `ledger` holds the plan and what it comes back to."""
    own = {a.fact_id for a in plan.assertions}
    inputs = PlanSummaryInputs(
        summary=summary,
        plan_seed=plan_seed,
        bullets=tuple(b.text for b in plan.bullets()),
        state=tuple(line for line in ledger.lines() if line.fact_id in own),
        max_tokens=SUMMARY_TOKENS,
    )
    return await asker.prose("plan_summary", inputs)
