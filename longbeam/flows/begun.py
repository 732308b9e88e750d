"""A run whose stages Prefect shows; it begins while Prefect's server starts, and goes on when that server is gone.

Starting the server takes longer than a short benchmark. The work log decides what is done, so no stage waits for
Prefect.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from longbeam.models import Models
from longbeam.pipeline.run import ConversationRun, Progress, RunSummary, StageOf, run_inline, run_stage
from longbeam.store import Benchmark

T = TypeVar("T")


@dataclass(frozen=True)
class BegunStage:
    """A stage that has begun, as Prefect shows it."""

    conversation_id: str
    label: str
    """The stage, after its plan where there are several: `p3/dialogue`."""
    trouble: asyncio.Future[str] = field(default_factory=asyncio.Future)
    """Done when the stage has ended: the reason why it is incomplete, empty if it is complete."""


@dataclass
class BegunRun:
    """A run in progress, and its stages as they begin."""

    name: str
    summary: asyncio.Task[RunSummary]
    begun: asyncio.Queue[BegunStage | None]
    """Every stage that has begun; None after the last one."""


@asynccontextmanager
async def begun_run(benchmark: Benchmark, models: Models, progress: Progress) -> AsyncIterator[BegunRun]:
    """Begin a run; it is stopped at the end of the block if it has not ended."""
    begun: asyncio.Queue[BegunStage | None] = asyncio.Queue()

    async def step(run: ConversationRun, stage: StageOf, work: Callable[[], Awaitable[T]]) -> T | None:
        conversation, failures = run.conversation, run.conversation.units.failed
        is_of_plan = stage.plan_index is not None and not conversation.is_single
        label = f"p{stage.plan_index}/{stage.name}" if is_of_plan else stage.name
        shown, before = BegunStage(conversation.conversation_id, label), len(failures)
        begun.put_nowait(shown)
        trouble = "it was stopped by an error"
        try:
            result = await run_stage(run, stage, work)
            failed = f"{len(failures) - before} units failed; see `longbeam status`"
            trouble = "" if result is not None else run.stopped or failed
            return result
        finally:
            shown.trouble.set_result(trouble)

    running = asyncio.create_task(run_inline(benchmark, models, progress=progress, step=step))
    running.add_done_callback(lambda _: begun.put_nowait(None))
    try:
        yield BegunRun(benchmark.spec.name, running, begun)
    finally:
        running.cancel()
        await asyncio.wait([running])
