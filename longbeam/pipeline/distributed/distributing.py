"""The command's side of a run on many machines: gives each conversation to a worker until all are made.

Knows no Dask: it receives a function that takes a job to some worker and brings back its result. What a run
may use is divided beforehand, so that its limits hold whatever the workers do: calls in flight and rates over the
places of the cluster, money over the conversations that are still to be made.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from longbeam import __version__
from longbeam.errors import LongbeamError, UserError
from longbeam.models import CostMeter
from longbeam.pipeline.distributed.jobs import Job, JobEnd, JobResult, WorkerSetup
from longbeam.pipeline.distributed.worker import REPLIES_S, stop_path
from longbeam.pipeline.run.driver import RunSummary, conversations_of
from longbeam.pipeline.run.units import Progress, all_of
from longbeam.schemas import BenchmarkSpec, Position, Seed
from longbeam.store import Benchmark, position_of_holder

DEATHS = 3
"""Workers that may die over one conversation: it may be too large for them."""
LOOK_EVERY_S = 1.0
HELD_WAIT_S = 2.0
"""Before asking again for a conversation whose last worker may have died."""
STOP_S = 30.0
"""How long workers may take to await replies and put in place what they have when the command is stopped."""


class WorkerDied(Exception):
    """A worker or the connection to it was lost; the message holds the cluster's reason."""


Submit = Callable[[Job], Awaitable[JobResult]]
"""Takes a job to a worker; raises WorkerDied."""


@dataclass(frozen=True)
class RunControls:
    """Objects of the command that starts a run on many machines."""

    meter: CostMeter
    """Counts the usage that workers report."""
    progress: Progress
    notice: Callable[[str], None]
    """Receives one line for each worker that died, and for a conversation that another run holds."""
    setup: WorkerSetup


async def distribute(benchmark: Benchmark, submit: Submit, controls: RunControls, *, places: int) -> RunSummary:
    """Make all conversations of a benchmark, as many at a time as there are `places`, and return what was done.

    Raises LongbeamError when a worker refuses a job, and when three workers died over one conversation. When this
    coroutine is cancelled, the workers are stopped.
    """
    places = min(places, benchmark.spec.conversations)
    run = _Distribution(benchmark, submit, places, controls)
    return await run.run()


@dataclass
class _Distribution:
    benchmark: Benchmark
    submit: Submit
    places: int
    controls: RunControls
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    results: dict[str, list[JobResult]] = field(default_factory=dict)
    """Results by conversation, one per worker that had it."""
    stopped: str = ""
    _out: dict[str, asyncio.Future[JobResult]] = field(default_factory=dict)
    """Conversations that a worker is making now."""
    _reserved: dict[str, float] = field(default_factory=dict)
    """USD that each of these conversations may spend."""
    _lost_usd: float = 0.0
    """USD that workers which died may have spent."""
    _over: set[str] = field(default_factory=set)
    """Conversations that are not tried again in this run."""
    _idle: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while no worker has a job."""

    async def run(self) -> RunSummary:
        conversations = conversations_of(self.benchmark)
        self.results = {conversation_id: [] for conversation_id, _ in conversations}
        gate = asyncio.Semaphore(self.places)
        looking = asyncio.create_task(self._look())
        try:
            await all_of([self._make(conversation_id, seed, gate) for conversation_id, seed in conversations])
        finally:
            await self._stop_workers()
            looking.cancel()
        return self._summary()

    async def _make(self, conversation_id: str, seed: Seed, gate: asyncio.Semaphore) -> None:
        deaths, is_waiting = 0, False
        while True:
            async with gate:
                if self.stopped:
                    return
                try:
                    result = await self._give_out(self._job(conversation_id, seed))
                except WorkerDied as exc:
                    deaths += 1
                    self._lost_usd += self._reserved.pop(conversation_id, 0.0)
                    self.controls.notice(f"{conversation_id}: a worker died ({exc}); another goes on")
                    if deaths == DEATHS:
                        raise self._stop_for(_too_many_deaths(conversation_id, exc)) from exc
                    continue
            match result.end:
                case JobEnd.HELD:
                    if not is_waiting:
                        self.controls.notice(f"waiting: {result.error}")
                    is_waiting = True
                    await asyncio.sleep(HELD_WAIT_S)
                case JobEnd.LOST:
                    continue
                case JobEnd.REFUSED:
                    raise self._stop_for(UserError(f"{result.worker}: {result.error}"))
                case JobEnd.BUG:
                    raise self._stop_for(RuntimeError(f"on {result.worker}:\n{result.error}"))
                case JobEnd.MADE | JobEnd.STOPPED:
                    if self._is_over(result):
                        self._over.add(conversation_id)
                        return
                    await self._idle.wait()  # what the others leave of their money may be enough to go on

    async def _give_out(self, job: Job) -> JobResult:
        conversation_id = job.conversation_id
        sent = self._out[conversation_id] = asyncio.ensure_future(self.submit(job))
        self._idle.clear()
        try:
            result = await asyncio.shield(sent)  # stopped by a word to the worker, never by leaving it alone
        finally:
            if sent.done():
                del self._out[conversation_id]
            if not self._out:
                self._idle.set()
        reserved = self._reserved.pop(conversation_id, 0.0)
        if result.end is JobEnd.LOST:
            self._lost_usd += reserved
        self.controls.meter.add(result.usage)
        self.results[conversation_id].append(result)
        self._show(conversation_id, result.position)
        return result

    def _is_over(self, result: JobResult) -> bool:
        """Whether the conversation is not to be tried again in this run."""
        if result.stopped and not result.is_capped:  # what stopped it would stop the others, too
            self.stopped = self.stopped or result.stopped
            self._tell_workers()
        return bool(self.stopped) or not (result.is_capped and result.usage)

    def _stop_for(self, error: Exception) -> Exception:
        self.stopped = self.stopped or str(error)
        self._tell_workers()
        return error

    def _tell_workers(self) -> None:
        path = stop_path(self.benchmark.root, self.run_id)
        path.parent.mkdir(exist_ok=True)
        path.touch()

    async def _stop_workers(self) -> None:
        """Stop the workers that have a job, and wait until they have put their results in place."""
        if self._out:
            self._tell_workers()
            self.controls.progress.waiting(f"stopping; workers await replies for up to {REPLIES_S:.0f} s")
            await asyncio.wait(self._out.values(), timeout=STOP_S)
        for sent in self._out.values():
            sent.cancel()
            with suppress(asyncio.CancelledError, WorkerDied):
                await sent
        stop_path(self.benchmark.root, self.run_id).unlink(missing_ok=True)

    # --- jobs and positions -----------------------------------------------------------------------------------------

    def _job(self, conversation_id: str, seed: Seed) -> Job:
        return Job(
            version=__version__,
            root=str(self.benchmark.root.resolve()),
            run_id=self.run_id,
            conversation_id=conversation_id,
            seed=seed,
            spec=share_of(self.benchmark.spec, self.places, self._money_for(conversation_id)),
            services=self.controls.setup.services,
            scratch=self.controls.setup.scratch,
            invocation_log=self.controls.setup.invocation_log,
        )

    def _money_for(self, conversation_id: str) -> float | None:
        """Return the USD that a conversation may spend: an equal share of the money that is neither spent nor reserved.

        The shares are those of the conversations that wait: no worker has them, and they are not over.
        """
        cap = self.benchmark.spec.limits.max_cost_usd
        if cap is None:
            return None
        waiting = len(self.results.keys() - self._over - self._out.keys() | {conversation_id})
        left = cap - self.controls.meter.spent_usd - sum(self._reserved.values()) - self._lost_usd
        share = max(left / waiting, 1e-9)  # a cap of nothing is no cap that a spec can have
        self._reserved[conversation_id] = share
        return share

    async def _look(self) -> None:
        """Show the positions that workers write to their leases."""
        shown: dict[str, Position] = {}
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            for conversation_id in list(self._out):
                position = position_of_holder(self.benchmark.lease_folder(conversation_id))
                if position is not None and position.stage and position != shown.get(conversation_id):
                    shown[conversation_id] = position
                    self._show(conversation_id, position)

    def _show(self, conversation_id: str, position: Position) -> None:
        before = sum(r.position.calls for r in self.results[conversation_id][:-1])
        self.controls.progress.update(conversation_id, position.model_copy(update={"calls": before + position.calls}))

    def _summary(self) -> RunSummary:
        every = [result for results in self.results.values() for result in results]
        # A conversation that moved from a dead worker to another has several results; the last one says how it ended.
        last = {i: results[-1] for i, results in self.results.items() if results}
        capped = next((r.stopped for r in last.values() if r.is_capped), "")
        return RunSummary(
            conversations=len(self.benchmark.conversation_ids),
            finished=len(self.benchmark.kept) + sum(result.is_finished for result in last.values()),
            failures=tuple((i, unit) for i, result in last.items() for unit in result.failures),
            calls=sum(result.position.calls for result in every),
            replayed=sum(result.replayed for result in every),
            stopped=self.stopped or capped,
        )


def share_of(spec: BenchmarkSpec, places: int, max_cost_usd: float | None) -> BenchmarkSpec:
    """Return the spec with the limits of one of so many workers: together they stay within the run's.

    At least one call in flight, and one call and token a minute, are left to each.
    """
    endpoints = {}
    for name, endpoint in spec.endpoints.items():
        own = endpoint.limits
        shares = {
            field: max(1, value // places)
            for field in ("concurrency", "requests_per_minute", "tokens_per_minute")
            if (value := getattr(own, field)) is not None
        }
        endpoints[name] = endpoint.model_copy(update={"limits": own.model_copy(update=shares)})
    limits = spec.limits.model_copy(
        update={"concurrency": max(1, spec.limits.concurrency // places), "max_cost_usd": max_cost_usd}
    )
    return spec.model_copy(update={"limits": limits, "endpoints": endpoints})


def _too_many_deaths(conversation_id: str, last: WorkerDied) -> LongbeamError:
    return LongbeamError(
        f"{conversation_id}: {DEATHS} workers died while making it, the last: {last}; give workers more memory or "
        "disk, or look at their logs. Nothing is lost: go on with `longbeam resume`"
    )
