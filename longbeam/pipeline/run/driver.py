"""Drives one conversation through its stages, and a benchmark through its conversations.

This module knows nothing of Prefect: `flows/` hands `run_conversation` a step that makes a task of each stage; the
default step, `run_stage`, runs the stage in this process.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

from longbeam.errors import RunStopped
from longbeam.generators import plan_lengths, seeds_for
from longbeam.generators.probes import check_generators
from longbeam.models import Journal, JournalledModel, LimitedModel, Models, close_model, is_batched, load_tokenizer
from longbeam.pipeline.repair.mending import with_mended_turns
from longbeam.pipeline.run.conversation import Conversation, PlanResult, TalkedConversation, TalkedPlan
from longbeam.pipeline.run.gaps import close_gaps, open_gaps
from longbeam.pipeline.run.planning import persona_stage, plan_stage, planning_of
from longbeam.pipeline.run.scheduling import Schedule
from longbeam.pipeline.run.stages import STAGES, probes_stage, seal_stage
from longbeam.pipeline.run.talking import dialogue_stage, user_turns_stage
from longbeam.pipeline.run.units import Blocked, Progress, SilentProgress, Units, all_of
from longbeam.prompts import PromptRegistry, default_registry
from longbeam.schemas import BenchmarkSpec, Seed
from longbeam.store import Benchmark, Unit, WorkLog, take_back

__all__ = [
    "STAGES",
    "ConversationRun",
    "RunContext",
    "RunSummary",
    "StageOf",
    "run_conversation",
    "run_inline",
    "run_stage",
]

T = TypeVar("T")
CONVERSATIONS_AT_ONCE = 4
"""At least; more are begun where that many could not use the calls that may be in flight."""
BATCHED_CONVERSATIONS = 64
"""Conversations that are open at a time where calls wait for batches: one batch holds the calls of all of them."""
CHAINS_AT_LEAST = 4
"""Dialogues of one conversation that surely run at the same time; the shortest lengths have fewer sub-plans."""


@dataclass(frozen=True)
class RunSummary:
    """Summary of a run."""

    conversations: int
    finished: int
    failures: tuple[tuple[str, Unit], ...]
    """(conversation_id, unit) of every unit that failed in this run."""
    calls: int
    """Model calls made."""
    replayed: int
    """Replies taken from the journal."""
    stopped: str = ""
    """Reason why the run ended early; empty if it did not."""


@dataclass
class ConversationRun:
    """One conversation being worked on."""

    conversation: Conversation
    journalled: JournalledModel
    blocked: bool = False
    """Whether something that its seal needs could not be made."""
    stopped: str = ""
    """Why the run was stopped; empty if it was not."""


@dataclass(frozen=True)
class RunContext:
    """Objects that all conversations of a run share."""

    benchmark: Benchmark
    models: Models
    schedule: Schedule
    """Order in which the calls go out."""
    progress: Progress | None = None
    prompts: PromptRegistry | None = None
    """None: longbeam's own prompts."""
    journal_of: Callable[[WorkLog], Journal] | None = None
    """Makes the journal that replies are recorded in; None: the work log's own."""


@asynccontextmanager
async def open_run(context: RunContext, conversation_id: str, seed: Seed) -> AsyncIterator[ConversationRun]:
    """Open a conversation's work log for writing, for as long as the block lasts."""
    benchmark, spec = context.benchmark, context.benchmark.spec
    # A package that brings an ability may be missing here: better now than after all other stages.
    check_generators(spec.abilities)
    prompts = context.prompts or default_registry()
    prompts.compile()
    with WorkLog.open(benchmark.work_path(conversation_id)) as log:
        log.require_sound()  # all of it: what is sealed comes from rows that nothing else checks, too
        if context.journal_of is None:
            take_back(benchmark.lease_folder(conversation_id), log)
        log.commit_in_groups(asyncio.get_running_loop().call_soon, spec.limits.concurrency)
        journal = log.journal if context.journal_of is None else context.journal_of(log)
        ordered = context.schedule.ordered(context.models.chat, partial(is_batched, spec))
        journalled = JournalledModel(ordered, journal, on_stop=context.schedule.stop)
        models, gaps = replace(context.models, chat=journalled), open_gaps(log, spec.checks.gap_share)
        units = Units(conversation_id, spec, log, models, prompts, gaps=gaps)
        units.reporting_to(context.progress or SilentProgress(), journalled)
        conversation = Conversation(
            conversation_id=conversation_id,
            index=int(conversation_id[1:]),
            seed=seed,
            units=units,
            tokenizer=load_tokenizer(spec.tokenizer),
            sealed_path=benchmark.sealed_path(conversation_id),
            schedule=context.schedule,
            plan_targets=tuple(plan_lengths(spec.length)),
        )
        with context.schedule.committing(log.commit):
            yield ConversationRun(conversation, journalled)
        log.require_file()


@dataclass(frozen=True)
class StageOf:
    """A stage of a conversation, or of one of its plans."""

    name: str
    plan_index: int | None = None
    """None: the stage is the whole conversation's."""


class Step(Protocol):
    """Runs a stage's work and returns its result; None if the stage is incomplete, which is recorded."""

    async def __call__(self, run: ConversationRun, stage: StageOf, work: Callable[[], Awaitable[T]]) -> T | None: ...


async def run_stage(run: ConversationRun, stage: StageOf, work: Callable[[], Awaitable[T]]) -> T | None:
    """Run a stage in this process; units that fail are recorded."""
    try:
        return await work()
    except Blocked:
        run.blocked = True
    except RunStopped as exc:
        run.blocked, run.stopped = True, str(exc)
    return None


async def run_conversation(run: ConversationRun, step: Step = run_stage) -> None:
    """Run a conversation through its stages; a stage is left out if a stage that it needs is incomplete."""
    if (talked := await talk_conversation(run, step)) is None:
        return
    units = run.conversation.units
    close_gaps(units.log, units.gaps)
    if units.gaps.share > units.spec.checks.gap_share:
        run.blocked = True
        return
    talked = with_mended_turns(talked).without_indexes()
    probed = await step(run, StageOf("probes"), partial(probes_stage, talked))
    if probed is not None:
        await step(run, StageOf("seal"), partial(seal_stage, *probed))


async def talk_conversation(run: ConversationRun, step: Step = run_stage) -> TalkedConversation | None:
    """Run all stages up to the dialogues; None if one of them is incomplete.

    Plans are made one after the other, because each knows the one before. While the next plan is made, the finished
    plans are talked, all of them at once. No plan is begun while many dialogues wait for a place.
    """
    c = run.conversation
    persona = await step(run, StageOf("persona"), partial(persona_stage, c))
    if persona is None:
        return None
    planning = planning_of(persona)
    talks: list[asyncio.Task[TalkedPlan | None]] = []
    try:
        for i in range(len(c.plan_targets)):
            await c.schedule.wait_for_dialogues()
            made = await step(run, StageOf("plan", i), partial(plan_stage, c, planning, i))
            if made is None:
                break
            talks.append(asyncio.create_task(_talk(run, step, made)))
        plans = await all_of(talks)
    finally:
        for talk in talks:
            talk.cancel()
        await asyncio.gather(*talks, return_exceptions=True)  # none may write once the work log is closed
    if run.blocked:
        return None
    return TalkedConversation(c, planning, tuple(plan for plan in plans if plan is not None))


async def _talk(run: ConversationRun, step: Step, made: PlanResult) -> TalkedPlan | None:
    c, i = run.conversation, made.plan_index
    planned = await step(run, StageOf("user_turns", i), partial(user_turns_stage, c, made))
    if planned is None:
        return None
    return await step(run, StageOf("dialogue", i), partial(dialogue_stage, c, planned))


async def run_inline(
    benchmark: Benchmark,
    models: Models,
    *,
    progress: Progress | None = None,
    prompts: PromptRegistry | None = None,
    step: Step = run_stage,
) -> RunSummary:
    """Run every conversation of a benchmark through all stages, in this process; `step` runs each stage."""
    schedule, gate = Schedule(benchmark.spec.limits.concurrency), conversation_gate(benchmark)

    async def one(context: RunContext, conversation_id: str, seed: Seed) -> ConversationRun:
        async with gate, open_run(context, conversation_id, seed) as run:
            await run_conversation(run, step)
            return run

    conversations = conversations_of(benchmark)
    async with limited_models(models, benchmark.spec) as shared:
        context = RunContext(benchmark, shared, schedule, progress, prompts)
        runs = await all_of([one(context, conversation_id, seed) for conversation_id, seed in conversations])
    return summarise(benchmark, runs)


def conversation_gate(benchmark: Benchmark) -> asyncio.Semaphore:
    """How many conversations of a run are open at a time: enough to use all calls that may be in flight."""
    wanted = -(-benchmark.spec.limits.concurrency // CHAINS_AT_LEAST)
    batched = BATCHED_CONVERSATIONS if benchmark.spec.batch.stages else 0
    return asyncio.Semaphore(max(CONVERSATIONS_AT_ONCE, wanted, batched))


@asynccontextmanager
async def limited_models(models: Models, spec: BenchmarkSpec) -> AsyncIterator[Models]:
    """Give the models that all conversations of a run share, within the limits of the spec; close them at the end."""
    try:
        yield replace(models, chat=LimitedModel(models.chat, spec))
    finally:
        await close_model(models.chat)


def seeds_of(benchmark: Benchmark) -> tuple[Seed, ...]:
    """One seed per conversation, the same whatever the number of conversations."""
    copy = benchmark.kept_seeds()
    seeds, _ = seeds_for(benchmark.spec, benchmark.spec.conversations, copy=copy)
    return tuple(seeds)


def conversations_of(benchmark: Benchmark) -> list[tuple[str, Seed]]:
    """Return the conversations that a run makes or continues, each with its seed."""
    every = zip(benchmark.conversation_ids, seeds_of(benchmark), strict=True)
    return [(conversation_id, seed) for conversation_id, seed in every if conversation_id not in benchmark.kept]


def summarise(benchmark: Benchmark, runs: Sequence[ConversationRun]) -> RunSummary:
    """Add up what the runs of a benchmark's conversations did."""
    return RunSummary(
        conversations=len(benchmark.conversation_ids),
        finished=len(benchmark.kept) + sum(not r.blocked and r.conversation.sealed_path.exists() for r in runs),
        failures=tuple((r.conversation.conversation_id, u) for r in runs for u in r.conversation.units.failed),
        calls=sum(r.journalled.asks for r in runs),
        replayed=sum(r.journalled.hits for r in runs),
        stopped=next((r.stopped for r in runs if r.stopped), ""),
    )
