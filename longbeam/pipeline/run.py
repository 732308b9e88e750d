"""The way of one conversation through the stages, and of a benchmark through its conversations.

Knows nothing of Prefect: `flows/` wraps `run_stage` in tasks, `run_inline` calls it directly.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from longbeam.errors import RunStopped
from longbeam.generators.layout import Layout, layout_for
from longbeam.generators.seeds import seeds_for
from longbeam.models.base import ChatModel, close_model
from longbeam.models.journal import JournalledModel
from longbeam.models.limits import LimitedModel
from longbeam.models.tokens import load_tokenizer
from longbeam.pipeline.benchmark import Benchmark
from longbeam.pipeline.metering import open_meter
from longbeam.pipeline.stages import STAGE_WORK, Conversation
from longbeam.pipeline.units import Blocked, Progress, SilentProgress, Units, all_of
from longbeam.prompts.declarations import default_registry
from longbeam.prompts.registry import PromptRegistry
from longbeam.schemas.seeds import Seed
from longbeam.store.worklog import Unit, WorkLog

STAGES: tuple[str, ...] = tuple(STAGE_WORK)
CONVERSATIONS_AT_ONCE = 4
"""More would not help: model calls share one limit, and each open conversation costs memory."""


@dataclass(frozen=True)
class StageOutcome:
    """What became of one stage of one conversation."""

    is_complete: bool
    failures: tuple[Unit, ...] = ()


@dataclass(frozen=True)
class RunSummary:
    """What a run did."""

    conversations: int
    finished: int
    failures: tuple[tuple[str, Unit], ...]
    """(conversation_id, unit) of every unit that failed in this run."""
    calls: int
    """Model calls made."""
    replayed: int
    """Replies taken from the journal."""
    stopped: str = ""
    """Why the run ended before everything was tried; empty if it did not."""


@dataclass
class ConversationRun:
    """One conversation being worked on."""

    conversation: Conversation
    journalled: JournalledModel
    blocked: bool = False
    stopped: str = ""
    """Why the run was stopped; empty if it was not."""


@dataclass
class _Shown:
    """Tells the progress of a run how far a conversation is, whenever a unit ends."""

    progress: Progress
    conversation_id: str
    journalled: JournalledModel

    def unit_ended(self, stage: str, done: int, total: int, tokens: int) -> None:
        self.progress.update(
            self.conversation_id, stage, units_done=done, units_total=total, tokens=tokens, calls=self.journalled.asks
        )


@asynccontextmanager
async def open_run(
    benchmark: Benchmark,
    conversation_id: str,
    seed: Seed,
    model: ChatModel,
    *,
    progress: Progress | None = None,
    prompts: PromptRegistry | None = None,
) -> AsyncIterator[ConversationRun]:
    """Open a conversation's work log for writing, for as long as the block lasts."""
    spec = benchmark.spec
    with WorkLog.open(benchmark.work_path(conversation_id)) as log:
        journalled = JournalledModel(model, log)
        shown = _Shown(progress or SilentProgress(), conversation_id, journalled)
        units = Units(conversation_id, spec, log, journalled, prompts or default_registry(), on_unit=shown.unit_ended)
        conversation = Conversation(
            conversation_id=conversation_id,
            index=int(conversation_id[1:]),
            seed=seed,
            layout=_layout(benchmark, seed),
            units=units,
            tokenizer=load_tokenizer(spec.tokenizer),
            sealed_path=benchmark.sealed_path(conversation_id),
        )
        yield ConversationRun(conversation, journalled)


def _layout(benchmark: Benchmark, seed: Seed) -> Layout:
    return layout_for(benchmark.spec.length, seed.category)


async def run_stage(run: ConversationRun, stage: str) -> StageOutcome:
    """Run one stage; units that fail are recorded, and the stages that need them are left out."""
    if run.blocked:
        return StageOutcome(False)
    units = run.conversation.units
    before = len(units.failed)
    try:
        await STAGE_WORK[stage](run.conversation)
    except Blocked:
        run.blocked = True
    except RunStopped as exc:
        run.blocked, run.stopped = True, str(exc)
    failures = tuple(units.failed[before:])
    return StageOutcome(not run.blocked, failures)


async def run_inline(
    benchmark: Benchmark,
    *,
    progress: Progress | None = None,
    model: ChatModel | None = None,
    prompts: PromptRegistry | None = None,
) -> RunSummary:
    """Run every conversation of a benchmark through all stages, in this process, without Prefect."""
    gate = asyncio.Semaphore(CONVERSATIONS_AT_ONCE)

    async def one(conversation_id: str, seed: Seed, shared: ChatModel) -> ConversationRun:
        async with gate, open_run(benchmark, conversation_id, seed, shared, progress=progress, prompts=prompts) as run:
            for stage in STAGES:
                await run_stage(run, stage)
            return run

    conversations = list(zip(benchmark.conversation_ids, seeds_of(benchmark), strict=True))
    async with limited_model(benchmark, model) as shared:
        runs = await all_of([one(conversation_id, seed, shared) for conversation_id, seed in conversations])
    return summarise(benchmark, runs)


@asynccontextmanager
async def limited_model(benchmark: Benchmark, model: ChatModel | None = None) -> AsyncIterator[ChatModel]:
    """Give the model stack that all conversations of a run share: limits around the clients."""
    clients = model or open_meter(benchmark)
    try:
        yield LimitedModel(clients, benchmark.spec)
    finally:
        await close_model(clients)


def seeds_of(benchmark: Benchmark) -> tuple[Seed, ...]:
    """One seed per conversation, the same whatever the number of conversations."""
    copy = benchmark.seeds_path if benchmark.spec.seeds_file is not None else None
    seeds, _ = seeds_for(benchmark.spec, benchmark.spec.conversations, copy=copy)
    return tuple(seeds)


def summarise(benchmark: Benchmark, runs: Sequence[ConversationRun]) -> RunSummary:
    """Add up what the runs of a benchmark's conversations did."""
    return RunSummary(
        conversations=len(runs),
        finished=sum(not r.blocked for r in runs),
        failures=tuple((r.conversation.conversation_id, u) for r in runs for u in r.conversation.units.failed),
        calls=sum(r.journalled.asks for r in runs),
        replayed=sum(r.journalled.hits for r in runs),
        stopped=next((r.stopped for r in runs if r.stopped), ""),
    )
