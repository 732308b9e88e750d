"""One conversation in the hands of a worker: the same result, and nothing paid twice, however it ends."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from longbeam.errors import StoreError
from longbeam.models import ModelCall
from longbeam.offline import OfflineWriter
from longbeam.pipeline import benchmark_status, render_status
from longbeam.pipeline.distributed import JobEnd, JobResult, share_of, stop_path, work, work_on, worker
from longbeam.pipeline.run import journalled_usage, run_inline
from longbeam.schemas import BenchmarkSpec, ModelReply
from longbeam.store import BEAT_S, SharedLease, create_benchmark, has_replies, living_holder
from longbeam.wiring import services
from tests.pipeline.conftest import CountingModel
from tests.pipeline.distributed.remote import Falling, expire, job_of, made
from tests.wired import offline


async def _begun(job: object, model: Falling) -> asyncio.Task[JobResult]:
    """A worker that has paid for what its model answers, and waits for more."""
    task = asyncio.create_task(work(job, services(), model))  # type: ignore[arg-type]
    await asyncio.wait_for(model.is_mute.wait(), 60)
    return task


async def test_a_worker_that_is_killed_leaves_every_reply_to_the_next(spec: BenchmarkSpec, out: Path) -> None:
    inline = create_benchmark(spec, out / "inline")
    await run_inline(inline, offline())
    benchmark, scratch = create_benchmark(spec, out), out / "scratch"
    job = job_of(benchmark, scratch, invocation_log=str(out / "paid"))
    command = [sys.executable, "-m", "tests.pipeline.distributed.remote", job.model_dump_json(), "150"]
    with subprocess.Popen(  # noqa: ASYNC220 -- nothing else goes on in this loop
        command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]
    ) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"mute\n"
        status = render_status(benchmark_status(benchmark), ("plan",))
        assert f"process {worker.pid}" in status
        worker.send_signal(signal.SIGKILL)

    again = CountingModel()
    result = await work(job, services(), again)

    assert (result.end, result.is_finished, result.failures) == (JobEnd.MADE, True, ())
    paid = (out / "paid").read_text().split()
    assert len(paid) == 150
    assert set(paid).isdisjoint(again.keys)
    assert made(benchmark) == made(inline)
    assert list(scratch.iterdir()) == []  # what the killed one left, too
    assert [p.name for p in (benchmark.lease_folder("c000")).iterdir()] == ["000002.lease"]
    assert living_holder(benchmark.lease_folder("c000")) is None
    nothing = CountingModel()
    assert (await work(job, services(), nothing)).is_finished
    assert nothing.calls == {}


async def test_a_worker_that_is_told_to_stop_puts_in_place_what_it_has(spec: BenchmarkSpec, out: Path) -> None:
    limits = spec.limits.model_copy(update={"timeout_s": 1})  # as long as the replies that never come are awaited
    benchmark = create_benchmark(spec.model_copy(update={"limits": limits}), out)
    model = Falling(80)
    task = await _begun(job_of(benchmark, out / "scratch"), model)
    stop_path(benchmark.root, "r1").touch()

    result = await asyncio.wait_for(task, 20)
    assert (result.end, result.is_finished) == (JobEnd.STOPPED, False)
    assert sum(row.calls for row in result.usage) == 80
    assert sum(row.calls for row in journalled_usage(benchmark)) == 80
    assert list(benchmark.lease_folder("c000").glob("*.replies")) == []


async def test_a_worker_that_is_told_to_stop_awaits_the_replies_on_their_way(spec: BenchmarkSpec, out: Path) -> None:
    class Late(CountingModel):
        """Answers 80 calls, and the others when the worker was told to stop."""

        is_mute = asyncio.Event()
        late = 0

        async def complete(self, call: ModelCall) -> ModelReply:
            is_late = len(self.keys) >= 80  # the call's own place: others are counted while this one is answered
            reply = await super().complete(call)
            if is_late:
                self.late += 1
                self.is_mute.set()
                await asyncio.sleep(BEAT_S + 1)
            return reply

    benchmark, model = create_benchmark(spec, out), Late()
    task = asyncio.create_task(work(job_of(benchmark, out / "scratch"), services(), model))
    await model.is_mute.wait()
    stop_path(benchmark.root, "r1").touch()

    assert (await task).end is JobEnd.STOPPED
    assert model.late
    assert sum(row.calls for row in journalled_usage(benchmark)) == len(model.keys) == 80 + model.late


async def test_a_run_without_workers_goes_on_where_a_lost_machine_was(spec: BenchmarkSpec, out: Path) -> None:
    benchmark = create_benchmark(spec, out)
    task = await _begun(job_of(benchmark, out / "scratch"), Falling(80))
    with pytest.raises(StoreError, match="c000 is being made by"):
        await run_inline(benchmark, offline())

    expire(benchmark.lease_folder("c000"))
    assert sum(row.calls for row in journalled_usage(benchmark)) == 80
    # The machine was not lost, only slow: it finds out, and puts nothing in place.
    assert (await asyncio.wait_for(task, 20)).end is JobEnd.LOST
    assert sum(row.calls for row in journalled_usage(benchmark)) == 80


async def test_a_conversation_that_another_holds_is_waited_for(spec: BenchmarkSpec, out: Path) -> None:
    benchmark, model = create_benchmark(spec, out), CountingModel()
    held = SharedLease.take(benchmark.lease_folder("c000"), "host b, process 9")
    waiting = asyncio.create_task(work(job_of(benchmark, out / "scratch"), services(), model))
    await asyncio.sleep(0.2)
    assert model.keys == []
    held.release()
    assert (await asyncio.wait_for(waiting, 60)).end is JobEnd.MADE


async def test_a_worker_that_waits_is_stopped(spec: BenchmarkSpec, out: Path) -> None:
    benchmark = create_benchmark(spec, out)
    SharedLease.take(benchmark.lease_folder("c000"), "host b, process 9")
    stop_path(benchmark.root, "r1").touch()
    assert (await work(job_of(benchmark, out / "scratch"), services(), CountingModel())).end is JobEnd.STOPPED


def test_shares_of_limits_stay_within_them() -> None:
    limits = {"concurrency": 5, "requests_per_minute": 100, "tokens_per_minute": None}
    spec = BenchmarkSpec.model_validate(
        {
            "name": "shared",
            "limits": {"concurrency": 7, "max_cost_usd": 10},
            "endpoints": {"openai:m": {"base_url": "http://127.0.0.1:1/v1", "limits": limits}},
        }
    )
    share = share_of(spec, 3, 2.5)
    assert (share.limits.concurrency, share.limits.max_cost_usd) == (2, 2.5)
    own = share.endpoints["openai:m"].limits
    assert (own.concurrency, own.requests_per_minute, own.tokens_per_minute) == (1, 33, None)
    assert (share_of(spec, 50).limits.concurrency, share_of(spec, 50).limits.max_cost_usd) == (1, 10)


async def test_what_a_user_can_mend_is_told_in_one_line(spec: BenchmarkSpec, out: Path) -> None:
    benchmark = create_benchmark(spec, out)
    job = job_of(benchmark, out / "scratch", version="0.0.1")
    result = await work_on(job.model_dump_json())
    assert result.end is JobEnd.REFUSED
    assert "the command 0.0.1" in result.error

    elsewhere = job_of(benchmark, out / "scratch", root=str(out / "not mounted here"))
    result = await work(elsewhere, services(), CountingModel())
    assert result.end is JobEnd.REFUSED
    assert "the benchmark must lie in a folder that all machines see" in result.error

    (out / "file").touch()
    result = await work(job_of(benchmark, out / "file" / "scratch"), services(), CountingModel())
    assert result.end is JobEnd.REFUSED
    assert "--scratch" in result.error


class Blocking(OfflineWriter):
    """Has something stand in the work log's place for a while, as if the shared folder refused to be written."""

    def __init__(self, target: Path) -> None:
        super().__init__()
        self._target = target
        self._asked = 0

    async def complete(self, call: ModelCall) -> ModelReply:
        self._asked += 1
        if self._asked == 30:
            while not self._target.is_dir():  # a copy may come in between
                self._target.unlink(missing_ok=True)
                with suppress(FileExistsError):
                    self._target.mkdir()
            await asyncio.sleep(0.6)
            self._target.rmdir()
        return await super().complete(call)


async def test_a_copy_that_fails_is_tried_again_and_stops_nothing(
    spec: BenchmarkSpec, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "COPY_EVERY_S", 0.1)
    monkeypatch.setattr(worker, "COPY_SHARE", 1.0)
    benchmark = create_benchmark(spec, out)
    result = await work(job_of(benchmark, out / "scratch"), services(), Blocking(benchmark.work_path("c000")))
    assert (result.error, result.end, result.is_finished) == ("", JobEnd.MADE, True)
    assert sum(row.calls for row in journalled_usage(benchmark)) == sum(row.calls for row in result.usage)
    assert list(benchmark.lease_folder("c000").glob("*.replies")) == []


async def test_a_shared_folder_that_refuses_the_last_copy_is_told_in_one_line(spec: BenchmarkSpec, out: Path) -> None:
    limits = spec.limits.model_copy(update={"timeout_s": 1})  # as long as the replies that never come are awaited
    benchmark = create_benchmark(spec.model_copy(update={"limits": limits}), out)
    task = await _begun(job_of(benchmark, out / "scratch"), Falling(80))
    benchmark.work_path("c000").mkdir()
    stop_path(benchmark.root, "r1").touch()
    result = await asyncio.wait_for(task, 20)
    assert result.end is JobEnd.REFUSED
    assert result.error == f"{benchmark.work_path('c000')}: cannot write the file: Is a directory"
    assert has_replies(benchmark.lease_folder("c000"))


async def test_a_bug_keeps_its_traceback_and_gives_the_lease_back(spec: BenchmarkSpec, out: Path) -> None:
    benchmark = create_benchmark(spec, out)
    result = await work(job_of(benchmark, out / "scratch"), services(), CountingModel(error=ZeroDivisionError("a bug")))
    assert result.end is JobEnd.BUG
    assert "in complete" in result.error
    assert living_holder(benchmark.lease_folder("c000")) is None
