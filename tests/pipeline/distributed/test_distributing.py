"""The command's side, with workers that are functions: everything is given out, limits hold, deaths are survived."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from longbeam.errors import LongbeamError, UserError
from longbeam.models import CostMeter
from longbeam.pipeline.distributed import (
    Job,
    JobEnd,
    JobResult,
    RunControls,
    WorkerDied,
    WorkerSetup,
    distribute,
    share_of,
    stop_path,
)
from longbeam.pipeline.run import RunSummary, SilentProgress
from longbeam.schemas import BenchmarkSpec, Position, Usage
from longbeam.store import Benchmark, create_benchmark
from tests.pipeline.conftest import CountingModel

PRICED = {
    "name": "priced",
    "length": "16K",
    "conversations": 4,
    "models": {"default": "openai:m"},
    "endpoints": {"openai:m": {"base_url": "http://127.0.0.1:1/v1", "price": {"input": 1.0, "output": 1.0}}},
}


@pytest.fixture
def benchmark(out: Path) -> Benchmark:
    return create_benchmark(BenchmarkSpec.model_validate({**PRICED, "limits": {"concurrency": 10}}), out)


def ended(job: Job, **changes: Any) -> JobResult:
    told = {"conversation_id": job.conversation_id, "worker": "w", "end": JobEnd.MADE, "is_finished": True}
    return JobResult.model_validate({**told, **changes})


def spent(usd: float) -> dict[str, Any]:
    """A result's fields, of one call that cost so much, or of none."""
    row = Usage(stage="plan", role="planner", prompt_id="p", model="openai:m", calls=1, prompt_tokens=round(usd * 1e6))
    return {"usage": (row,) if row.prompt_tokens else ()}


async def told_to_stop(benchmark: Benchmark, job: Job) -> None:
    while not stop_path(benchmark.root, job.run_id).exists():  # noqa: ASYNC110 -- a file tells nobody
        await asyncio.sleep(0.01)


async def run(benchmark: Benchmark, submit: Any, places: int = 2, notices: list[str] | None = None) -> RunSummary:
    meter = CostMeter(CountingModel(), benchmark.spec)
    notice = (notices if notices is not None else []).append
    setup = WorkerSetup("longbeam.wiring:services", "/s")
    controls = RunControls(meter, SilentProgress(), notice, setup)
    return await distribute(benchmark, submit, controls, places=places)


async def test_every_conversation_is_given_out_as_many_at_a_time_as_there_are_places(benchmark: Benchmark) -> None:
    out, most = [0], [0]

    async def submit(job: Job) -> JobResult:
        assert (job.scratch, job.spec.limits.concurrency) == ("/s", 5)
        out[0] += 1
        most[0] = max(most[0], out[0])
        await asyncio.sleep(0.01)
        out[0] -= 1
        return ended(job, position=Position(calls=3), replayed=1)

    summary = await run(benchmark, submit)
    assert most == [2]
    assert (summary.conversations, summary.finished, summary.calls, summary.replayed) == (4, 4, 12, 4)


async def test_a_worker_that_dies_is_replaced_and_told_of(benchmark: Benchmark) -> None:
    notices: list[str] = []
    deaths = iter([True, False, True])

    async def submit(job: Job) -> JobResult:
        await asyncio.sleep(0)
        if next(deaths, False):
            raise WorkerDied("killed")
        return ended(job)

    assert (await run(benchmark, submit, notices=notices)).finished == 4
    assert len(notices) == 2
    assert "a worker died (killed)" in notices[0]


async def test_a_conversation_that_kills_every_worker_ends_the_run_in_one_line(benchmark: Benchmark) -> None:
    async def submit(job: Job) -> JobResult:
        await asyncio.sleep(0)
        if job.conversation_id == "c001":
            raise WorkerDied("killed")
        return ended(job)

    with pytest.raises(LongbeamError, match=r"c001: 3 workers died while making it, the last: killed.*resume"):
        await run(benchmark, submit)


async def test_what_a_worker_refuses_stops_the_others(benchmark: Benchmark) -> None:
    begun = asyncio.Event()

    async def submit(job: Job) -> JobResult:
        if job.conversation_id == "c000":
            await begun.wait()
            return ended(job, end=JobEnd.REFUSED, is_finished=False, error="OPENAI_API_KEY is not set")
        begun.set()
        await told_to_stop(benchmark, job)
        return ended(job, end=JobEnd.STOPPED, is_finished=False)

    with pytest.raises(UserError, match="w: OPENAI_API_KEY is not set"):
        await run(benchmark, submit)
    assert list((benchmark.root / "leases").glob("*.stop")) == []


async def test_workers_are_told_to_stop_with_the_command_and_waited_for(benchmark: Benchmark) -> None:
    begun, stopped = asyncio.Event(), []

    async def submit(job: Job) -> JobResult:
        begun.set()
        await told_to_stop(benchmark, job)
        stopped.append(job.conversation_id)
        return ended(job, end=JobEnd.STOPPED, is_finished=False)

    task = asyncio.create_task(run(benchmark, submit))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(stopped) == ["c000", "c001"]


async def test_the_cap_holds_over_all_workers_and_is_used(out: Path) -> None:
    limits = {"concurrency": 10, "max_cost_usd": 4.0}
    benchmark = create_benchmark(BenchmarkSpec.model_validate({**PRICED, "limits": limits}), out)
    wanted = {"c000": 1.5, "c001": 0.5, "c002": 0.5, "c003": 0.5}
    paid = dict.fromkeys(wanted, 0.0)

    async def submit(job: Job) -> JobResult:
        await asyncio.sleep(0)
        assert job.spec.limits.max_cost_usd is not None
        share = job.spec.limits.max_cost_usd
        spends = min(share, wanted[job.conversation_id] - paid[job.conversation_id])
        paid[job.conversation_id] += spends
        is_done = paid[job.conversation_id] >= wanted[job.conversation_id] - 1e-6
        rest = {} if is_done else {"is_finished": False, "is_capped": True, "stopped": "capped"}
        return ended(job, **spent(spends), **rest)

    summary = await run(benchmark, submit)
    assert summary.finished == 4  # c000 went beyond its share of 1.0 on what the others left
    wanted["c000"] = 9.0
    paid.update(dict.fromkeys(wanted, 0.0))
    summary = await run(benchmark, submit)
    assert (summary.finished, summary.stopped) == (3, "capped")
    assert sum(paid.values()) <= 4.0 + 1e-6


async def test_what_a_dead_worker_may_have_spent_counts_toward_the_cap(out: Path) -> None:
    limits = {"concurrency": 10, "max_cost_usd": 4.0}
    benchmark = create_benchmark(BenchmarkSpec.model_validate({**PRICED, "limits": limits}), out)
    shares: dict[str, list[float]] = {}

    async def submit(job: Job) -> JobResult:
        await asyncio.sleep(0)
        shares.setdefault(job.conversation_id, []).append(job.spec.limits.max_cost_usd or 0.0)
        if job.conversation_id == "c000" and len(shares["c000"]) == 1:
            raise WorkerDied("killed")
        return ended(job, **spent(shares[job.conversation_id][-1]))

    assert (await run(benchmark, submit)).finished == 4
    assert sum(share for given in shares.values() for share in given) <= 4.0 + 1e-6


def test_shares_of_limits_stay_within_them() -> None:
    endpoint = {"base_url": "http://127.0.0.1:1/v1", "limits": {"concurrency": 2, "requests_per_minute": 100}}
    spec = BenchmarkSpec.model_validate({**PRICED, "endpoints": {"openai:m": endpoint}, "limits": {"concurrency": 16}})
    share = share_of(spec, 3, None)
    own = share.endpoints["openai:m"].limits
    assert (share.limits.concurrency, own.concurrency, own.requests_per_minute) == (5, 1, 33)
    assert own.tokens_per_minute is None
