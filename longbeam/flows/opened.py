"""Benchmarks and conversations that are open in this process, and the references by which tasks name them.

Tasks of Prefect hand references to one another: a folder, a conversation, a plan. Records stay in the work log, and the
open work log stays here. A flow that runs in another process opens the same conversation from its folder.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longbeam.models import CostMeter, Models
from longbeam.pipeline.distributed import share_of
from longbeam.pipeline.run import (
    ConversationRun,
    Progress,
    RunContext,
    RunSummary,
    Schedule,
    SilentProgress,
    conversation_places,
    limited_models,
    open_meter,
    open_run,
    run_conversations,
    seeds_of,
    summarise,
)
from longbeam.schemas import Record
from longbeam.store import Benchmark, open_benchmark
from longbeam.wiring import services


class Reference(Record):
    """The place of what a stage made."""

    benchmark: str
    """Folder of the benchmark."""
    conversation_id: str
    plan_index: int | None = None
    """None: the stage is the whole conversation's."""
    made: str = ""
    """Name of the stage; empty before the first one."""

    @property
    def place(self) -> str:
        """`c000`, or `c000/p3` for a plan."""
        return self.conversation_id if self.plan_index is None else f"{self.conversation_id}/p{self.plan_index}"

    def of_plan(self, plan_index: int) -> Reference:
        """Return the reference of a plan."""
        return self.model_copy(update={"plan_index": plan_index, "made": ""})

    def by(self, stage: str) -> Reference:
        """Return the reference of what a stage made here."""
        return self.model_copy(update={"made": stage})


@dataclass(frozen=True)
class ClusterOptions:
    """Options of the command line about a Dask cluster."""

    workers: int | None = None
    """Number of workers of a local cluster; None: one for each core, and no more than there are conversations."""
    address: str = ""
    """Address of a running cluster; empty: a local cluster is started for the run."""
    host: str = ""
    """Address under which workers reach a Prefect server of this command; empty: the one that faces the cluster."""
    scratch: str = ""
    """Folder on each worker's own disk."""

    def local_workers(self, conversations: int) -> int:
        """Return the number of workers of a local cluster."""
        return self.workers or max(1, min(os.cpu_count() or 1, conversations))


@dataclass
class Begun:
    """A run that the command of this process has begun, or that a flow reads from its folder."""

    benchmark: Benchmark
    meter: CostMeter
    """The models, and what they have used."""
    models: Models
    progress: Progress = field(default_factory=SilentProgress)
    invocation_log: str = ""
    cluster: ClusterOptions | None = None
    on_terminate: Any = signal.SIG_DFL  # Any: what `signal.getsignal` returns
    """Handler of SIGTERM that was there before Prefect's."""


@dataclass(frozen=True)
class OpenedPart:
    """Part of the limits of a spec for one of several processes."""

    places: int = 1
    """Number of processes that share the limits."""
    max_cost_usd: float | None = None
    """USD that this one may spend; None: the cap of the spec."""


@dataclass
class OpenBenchmark:
    """A benchmark that a flow of this process works on."""

    given: Begun
    context: RunContext
    places: asyncio.Semaphore
    """Places of conversations that are open at the same time."""
    runs: list[ConversationRun] = field(default_factory=list)
    """Conversations that were opened, in the order of their opening."""

    elsewhere: RunSummary | None = None
    """What other processes did."""

    @property
    def benchmark(self) -> Benchmark:
        """The benchmark."""
        return self.given.benchmark

    def summary(self) -> RunSummary:
        """Return what was done."""
        return self.elsewhere or summarise(self.benchmark, self.runs)

    @property
    def is_over(self) -> bool:
        """Whether all conversations that are made here have ended, or the run was stopped."""
        summary = self.summary()
        return bool(summary.stopped) or summary.finished == summary.conversations

    async def finish_without_prefect(self) -> RunSummary:
        """Run all stages of all conversations in this process; what is done costs nothing."""
        return summarise(self.benchmark, await run_conversations(self.context, self.places))


@dataclass
class OpenedConversation:
    """A conversation that a flow of this process makes."""

    benchmark: Benchmark
    run: ConversationRun
    stages_done: int = 0
    shown: object = None
    """Prefect's id of its progress."""

    @property
    def plans(self) -> int:
        """Number of its plans."""
        return len(self.run.conversation.plan_targets)

    @property
    def share_done(self) -> float:
        """Share of its stages that are done."""
        return self.stages_done / (7 + 3 * self.plans)  # seven stages of the conversation, three of each plan


begun: dict[str, Begun] = {}
"""What commands of this process have begun, by the benchmark's folder."""
_benchmarks: dict[str, OpenBenchmark] = {}
conversations: dict[tuple[str, str], OpenedConversation] = {}
"""Open conversations by folder and id."""


@asynccontextmanager
async def opened_benchmark(root: str, part: OpenedPart | None = None) -> AsyncIterator[OpenBenchmark]:
    """Give the benchmark of a folder: the one that is open in this process, or else opened for this block.

    `part` of the limits: for a process that makes one conversation while others are made elsewhere.
    """
    if (found := _benchmarks.get(root)) is not None:
        yield found
        return
    given = begun.get(root) or _read(Path(root), part)
    async with limited_models(given.models, given.benchmark.spec) as shared:
        schedule = Schedule(given.benchmark.spec.limits.concurrency)
        context = RunContext(given.benchmark, shared, schedule, given.progress)
        _benchmarks[root] = OpenBenchmark(given, context, conversation_places(given.benchmark))
        try:
            yield _benchmarks[root]
        finally:
            del _benchmarks[root]


def _read(root: Path, part: OpenedPart | None) -> Begun:
    benchmark = open_benchmark(root.parent, root.name)
    if part is None:
        meter = open_meter(benchmark, services())
    else:  # other processes write the work logs of the other conversations: what they used is not counted here
        benchmark = Benchmark(share_of(benchmark.spec, part.places, part.max_cost_usd), benchmark.root)
        meter = CostMeter(services().make_model(benchmark.spec, home=benchmark.root), benchmark.spec)
    return Begun(benchmark, meter, services().models(meter))


@asynccontextmanager
async def opened_conversation(
    root: str, conversation_id: str, part: OpenedPart | None = None
) -> AsyncIterator[OpenedConversation]:
    """Give a conversation with its work log open for writing; a worker's is open already."""
    key = root, conversation_id
    if key in conversations:
        yield conversations[key]
        return
    async with opened_benchmark(root, part) as opened:
        ids = opened.benchmark.conversation_ids
        seed = seeds_of(opened.benchmark)[ids.index(conversation_id)]
        async with open_run(opened.context, conversation_id, seed) as run:
            opened.runs.append(run)
            conversations[key] = OpenedConversation(opened.benchmark, run)
            try:
                yield conversations[key]
            finally:
                del conversations[key]
