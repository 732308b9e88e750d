"""Drives one conversation through its stages, and a benchmark through its conversations.

The order of the stages is in `ConversationRun`: a stage awaits what it needs. `run_inline` asks for the seal alone;
the flows of `flows/` ask for one stage after the other.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from longbeam.errors import RunStopped, UserError
from longbeam.generators import plan_lengths, read_seeds_file, seeds_as_json, seeds_for, write_seeds
from longbeam.generators.probes import check_generators
from longbeam.keys import UnitKey
from longbeam.models import (
    Asker,
    Journal,
    JournalledModel,
    LimitedModel,
    Models,
    close_model,
    is_batched,
    load_tokenizer,
)
from longbeam.pipeline.run.conversation import (
    Conversation,
    PlannedTurns,
    PlanningState,
    PlanResult,
    TalkedConversation,
    TalkedPlan,
)
from longbeam.pipeline.run.gaps import close_gaps, open_gaps
from longbeam.pipeline.run.mending import with_mended_turns
from longbeam.pipeline.run.planning import (
    dated_seed,
    narratives_stage,
    persona_of,
    plan_stage,
    planning_of,
    profile_stage,
    relationships_of,
)
from longbeam.pipeline.run.probing import ProbePool
from longbeam.pipeline.run.scheduling import Schedule
from longbeam.pipeline.run.stages import ProbedConversation, Sealed, checks_stage, probes_stage, seal_stage
from longbeam.pipeline.run.talking import dialogue_stage, user_turns_stage
from longbeam.pipeline.run.units import Blocked, Progress, SilentProgress, Units, all_of, both
from longbeam.pipeline.tuning import RUNNING
from longbeam.prompts import PromptRegistry, registry_for
from longbeam.schemas import BenchmarkSpec, Narrative, Profile, RelationshipGraph, Role, Seed
from longbeam.store import Benchmark, Unit, WorkLog, take_back, write_with_copy

__all__ = ["ConversationRun", "RunContext", "RunSummary", "run_conversation", "run_inline"]

T = TypeVar("T")
PLAN_STAGES = ("plan", "user_turns", "dialogue")
STAGE_NAMES = ("seeds", "profile", "relationships", "narratives", *PLAN_STAGES, "probes", "checks", "seal")
"""Stages that can be run by name; those of `PLAN_STAGES` are run plan by plan."""


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
    remade: Mapping[str, int] = field(default_factory=dict)
    """Units of each stage that were done before, with other inputs, prompts or rules, and were made anew."""


@dataclass
class ConversationRun:
    """One conversation being worked on, whose stages can be awaited one by one.

    A stage first awaits the stages that it needs, and runs once. Its units come from the work log where they are done,
    so a stage that is awaited in a new process costs no call for what came before it.
    """

    conversation: Conversation
    journalled: JournalledModel
    blocked: bool = False
    """Whether something that its seal needs could not be made."""
    stopped: str = ""
    """Why the run was stopped; empty if it was not."""
    _begun: dict[tuple[str, int], asyncio.Task[Any]] = field(default_factory=dict)
    """Stages that run or have run, by name and plan."""
    _planning: PlanningState | None = None

    async def stage(self, name: str, plan_index: int = 0) -> object:
        """Run a stage by its name; raises Blocked and RunStopped."""
        if name not in STAGE_NAMES:
            raise ValueError(f"no stage is called {name!r}")
        work = getattr(self, name)
        return await (work(plan_index) if name in PLAN_STAGES else work())

    def reopen(self) -> None:
        """Forget the stages that failed, so that they are tried again."""
        failed = [key for key, task in self._begun.items() if task.done() and task.exception() is not None]
        for key in failed:
            del self._begun[key]
        self.blocked, self.stopped = False, ""

    async def through(self, work: Awaitable[T]) -> T | None:
        """Return the result of some stage, or None if it is incomplete, which is recorded."""
        try:
            return await work
        except Blocked:
            self.blocked = True
        except RunStopped as exc:
            self.blocked, self.stopped = True, str(exc)
        return None

    async def seeds(self) -> Seed:
        """Return the conversation's seed with its timeline."""
        return dated_seed(self.conversation)

    async def profile(self) -> Profile:
        """Return the user's profile."""
        return await self._once("profile", 0, partial(profile_stage, self.conversation))

    async def relationships(self) -> RelationshipGraph:
        """Return the user's people on the first day."""
        return relationships_of(self.conversation)[0]

    async def narratives(self) -> tuple[Narrative, ...]:
        """Return the threads of the story."""
        return await self._once("narratives", 0, partial(narratives_stage, self.conversation))

    async def plan(self, plan_index: int) -> PlanResult:
        """Return a plan, which knows those before it; no plan is begun while many dialogues wait for a place."""
        return await self._once("plan", plan_index, partial(self._plan, plan_index))

    async def _plan(self, plan_index: int) -> PlanResult:
        c, planning = self.conversation, await self._persona()
        if plan_index > len(planning.history.plans):
            await self.plan(plan_index - 1)
        await c.schedule.wait_for_dialogues()
        return await plan_stage(c, planning, plan_index)

    async def _persona(self) -> PlanningState:
        profile, narratives = await both(self.profile(), self.narratives())
        if self._planning is None:
            self._planning = planning_of(persona_of(self.conversation, profile, narratives))
        return self._planning

    async def user_turns(self, plan_index: int) -> PlannedTurns:
        """Return a plan with its user turns."""
        return await self._once("user_turns", plan_index, partial(self._user_turns, plan_index))

    async def _user_turns(self, plan_index: int) -> PlannedTurns:
        return await user_turns_stage(self.conversation, await self.plan(plan_index))

    async def dialogue(self, plan_index: int) -> TalkedPlan:
        """Have a plan talked; all of its sub-plans are in dialogue at the same time."""
        return await self._once("dialogue", plan_index, partial(self._dialogue, plan_index))

    async def _dialogue(self, plan_index: int) -> TalkedPlan:
        talked = await dialogue_stage(self.conversation, await self.user_turns(plan_index))
        for name in ("plan", "user_turns"):  # what they made is large, and nobody needs it any more
            self._begun.pop((name, plan_index), None)
        return talked

    async def talked(self) -> TalkedConversation:
        """Return the conversation after all dialogues; plans are talked while later ones are made.

        The caller alone holds what was planned, which is freed with it.
        """
        count = len(self.conversation.plan_targets)
        plans = await all_of([self.dialogue(i) for i in range(count)])
        planning = await self._persona()
        if len(planning.history.plans) < count:  # the stages are run again
            await self.plan(count - 1)
        self._planning = None
        return TalkedConversation(self.conversation, planning, tuple(plans))

    async def probes(self) -> ProbedConversation:
        """Have the probes worded; raises Blocked where too much of the text is missing."""
        return await self._once("probes", 0, self._probes)

    async def _probes(self) -> ProbedConversation:
        talked, units = await self.talked(), self.conversation.units
        close_gaps(units.log, units.gaps)
        if units.gaps.share > units.spec.checks.gap_share:
            raise Blocked("probes: too much of the text is missing")
        return await probes_stage(with_mended_turns(talked).without_indexes())

    async def checks(self) -> tuple[TalkedConversation, ProbePool]:
        """Return the conversation and its checked probes."""
        return await self._once("checks", 0, self._checks)

    async def _checks(self) -> tuple[TalkedConversation, ProbePool]:
        checked = await checks_stage(await self.probes())
        self._begun.pop(("probes", 0), None)
        return checked

    async def seal(self) -> Sealed:
        """Write the sealed file, after every stage before."""
        return await self._once("seal", 0, self._seal)

    async def _seal(self) -> Sealed:
        return await seal_stage(*await self.checks())

    async def _once(self, name: str, plan_index: int, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        task: asyncio.Task[T] | None = self._begun.get((name, plan_index))
        if task is None:
            task = self._begun[name, plan_index] = asyncio.create_task(work())
        # Shielded: several stages may wait for this one. `end` cancels it.
        return await asyncio.shield(task)

    async def end(self) -> None:
        """Stop the stages that still run; none may write once the work log is closed."""
        for task in self._begun.values():
            task.cancel()
        await asyncio.gather(*self._begun.values(), return_exceptions=True)


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
    benchmark, index = context.benchmark, int(conversation_id[1:])
    spec = benchmark.spec.of_conversation(index)
    # A package that brings an ability may be missing here: better now than after all other stages.
    check_generators(spec.abilities)
    prompts = context.prompts or registry_for(spec)
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
            index=index,
            seed=seed,
            units=units,
            tokenizer=load_tokenizer(spec.tokenizer),
            sealed_path=benchmark.sealed_path(conversation_id),
            schedule=context.schedule,
            plan_targets=tuple(plan_lengths(spec.length)),
        )
        with context.schedule.committing(log.commit):
            run = ConversationRun(conversation, journalled)
            try:
                yield run
            finally:
                await run.end()
        log.require_file()


async def run_conversation(run: ConversationRun) -> None:
    """Run a conversation through its stages; a stage is left out if a stage that it needs is incomplete."""
    await run.through(run.seal())


async def talk_conversation(run: ConversationRun) -> TalkedConversation | None:
    """Run all stages up to the dialogues; None if one of them is incomplete."""
    return await run.through(run.talked())


async def run_inline(
    benchmark: Benchmark,
    models: Models,
    *,
    progress: Progress | None = None,
    prompts: PromptRegistry | None = None,
) -> RunSummary:
    """Run every conversation of a benchmark through all stages, in this process."""
    async with limited_models(models, benchmark.spec) as shared:
        await write_missing_seeds(benchmark, shared)
        context = RunContext(benchmark, shared, Schedule(benchmark.spec.limits.concurrency), progress, prompts)
        return summarise(benchmark, await run_conversations(context, conversation_places(benchmark)))


async def run_conversations(context: RunContext, places: asyncio.Semaphore) -> list[ConversationRun]:
    """Run every conversation of a benchmark through all stages; `places` are for open ones."""

    async def one(conversation_id: str, seed: Seed) -> ConversationRun:
        async with places, open_run(context, conversation_id, seed) as run:
            await run_conversation(run)
            return run

    return await all_of([one(*of) for of in conversations_of(context.benchmark)])


def conversation_places(benchmark: Benchmark) -> asyncio.Semaphore:
    """How many conversations of a run are open at a time: enough to use all calls that may be in flight."""
    wanted = -(-benchmark.spec.limits.concurrency // RUNNING.chains_at_least)
    batched = RUNNING.batched_conversations if benchmark.spec.batch.stages else 0
    return asyncio.Semaphore(max(RUNNING.conversations_at_once, wanted, batched))


@asynccontextmanager
async def limited_models(models: Models, spec: BenchmarkSpec) -> AsyncIterator[Models]:
    """Give the models that all conversations of a run share, within the limits of the spec; close them at the end."""
    try:
        yield replace(models, chat=LimitedModel(models.chat, spec))
    finally:
        await close_model(models.chat)


async def write_missing_seeds(benchmark: Benchmark, models: Models) -> None:
    """Have the planner write the seeds that a domain of the spec's own lacks; UserError if it gives too few.

    They are kept in `seeds.json` and stay as they are when more are asked for.
    """
    spec = benchmark.spec
    if spec.domain is None or spec.seeds_file is not None:
        return
    copy = benchmark.kept_seeds()
    known = read_seeds_file(copy)[0] if copy else []
    if (missing := spec.conversations - len(known)) <= 0:
        return
    with WorkLog.open(benchmark.seeding_path) as log:
        journalled = replace(models, chat=JournalledModel(models.chat, log.journal))
        asker = Asker(journalled, registry_for(spec), spec, UnitKey("seeds", "seeds", str(len(known))))
        written = await write_seeds(asker, spec.domain, missing, known)
    if len(written.seeds) < missing:
        reason = written.problem or "it has no more that do not resemble each other"
        raise UserError(
            f"domain {spec.domain.name!r}: {spec.model_for(Role.PLANNER)} wrote {len(written.seeds)} of {missing} "
            f"seeds: {reason}. Write them yourself, as a seeds_file"
        )
    write_with_copy(benchmark.seeds_path, seeds_as_json([*known, *written.seeds]).encode())


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
        remade=sum((r.conversation.units.remade for r in runs), Counter()),
    )
