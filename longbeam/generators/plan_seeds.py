"""Conversations of many plans: the subject of each plan, and what its prompts contain of the plans before it.

The prompts contain the plan's own bounds, those of all others, the previous plan in full and a summary of the earlier
ones, so they do not grow with the conversation. Code draws days, ages and people; a model writes subjects and bounds.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from longbeam.generators.ledger import Ledger
from longbeam.generators.plan_history import PlanHistory
from longbeam.generators.tuning import PLANNING
from longbeam.models import Acceptance, Asker
from longbeam.prompts.calls import Chapter, LedgerLine, PlanSeedsInputs, PlanSeedsReply, PlanSummaryInputs
from longbeam.schemas import Domain, Person, Plan, PlanSeed, Seed, Strategy, Timeline

PLAN_SEEDS_PROMPTS = ("plan_seeds",)
PLAN_SUMMARY_PROMPTS = ("plan_summary",)
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
    """Return one seed per span; topics differ, and no plan may mention what belongs to another."""
    spans = inputs.spans

    def check(reply: PlanSeedsReply) -> Iterator[str]:
        if len(reply.plans) != len(spans):
            yield f"{len(reply.plans)} plans; exactly {len(spans)} are asked for"
        topics = Counter(p.topic.casefold().strip() for p in reply.plans)
        for topic in (t for t, n in topics.items() if n > 1):
            yield f"topic {topic!r} is used twice"
        owned = Counter(thing.casefold().strip() for p in reply.plans for thing in p.can_mention)
        for thing in (t for t, n in owned.items() if n > 1):
            yield f"{thing!r} stands in can_mention more than once; it belongs to one plan"
        for i, plan in enumerate(reply.plans, 1):
            own = {thing.casefold().strip() for thing in plan.can_mention}
            if both := [t for t in plan.cannot_mention if t.casefold().strip() in own]:
                yield f"plan {i} both can and cannot mention {', '.join(map(repr, both))}"

    reply: PlanSeedsReply = await asker.structured("plan_seeds", inputs, accept=Acceptance(check=check))
    own = None if isinstance(inputs.seed.domain, Domain) else inputs.seed.domain  # all plans stay in it
    return tuple(
        PlanSeed(
            plan_index=i,
            domain=own or draft.domain,
            touches=None if own else draft.touches,
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
    """Return the seed that a plan's stages are written from."""
    return Seed(
        domain=plan_seed.domain,
        about=main.about if plan_seed.domain == main.domain else "",
        title=plan_seed.topic,
        theme=plan_seed.theme,
        subtopics=plan_seed.subtopics,
        timeline=plan_seed.timeline,
        mode=strategy.value,
        touches=plan_seed.touches,
        source=main.source,
    )


@dataclass(frozen=True, slots=True)
class Storyline:
    """Parts that all plans of a conversation share."""

    main: Seed
    strategy: Strategy
    plan_seeds: tuple[PlanSeed, ...]


def chapter_of(
    storyline: Storyline, history: PlanHistory, summary: str, introduced: Sequence[Person], people: Sequence[Person]
) -> Chapter:
    """Return what the next plan is given of the others; `summary` covers all plans of the history but the last."""
    return Chapter(
        strategy=storyline.strategy,
        main=storyline.main,
        plan_seeds=storyline.plan_seeds,
        plan_index=len(history.plans),
        summary=summary,
        previous=tuple(b.text for b in history.plans[-1].bullets()) if history.plans else (),
        introduced=tuple(p.first_name for p in introduced),
        facts=carried_facts(history, people),
        standing=history.standing,
    )


def carried_facts(history: PlanHistory, people: Iterable[Person]) -> tuple[LedgerLine, ...]:
    """Return facts that the next plan may refer to: of the user and the plan's people, then the previous plan's own."""
    subjects = subjects_of(people)
    others = [line for line in history.newest_lines() if line.subject.casefold() not in subjects]
    return tuple([*history.lines_of(subjects), *others][: PLANNING.carried_facts])


def subjects_of(people: Iterable[Person]) -> frozenset[str]:
    """Return the case-folded subjects of facts about the user and these people."""
    return SELF.union(p.first_name.casefold() for p in people)


async def write_plan_summary(asker: Asker, summary: str, plan_seed: PlanSeed, plan: Plan, ledger: Ledger) -> str:
    """Return the summary of all plans up to this one; `ledger` has the plan and the earlier facts it refers to."""
    own = {a.fact_id for a in plan.assertions}
    inputs = PlanSummaryInputs(
        summary=summary,
        plan_seed=plan_seed,
        bullets=tuple(b.text for b in plan.bullets()),
        state=tuple(line for line in ledger.lines() if line.fact_id in own),
        max_tokens=PLANNING.earlier_plans_tokens,
    )
    return await asker.prose("plan_summary", inputs)
