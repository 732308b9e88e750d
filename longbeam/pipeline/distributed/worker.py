"""A worker: makes one conversation in scratch on its own disk, and puts what it made in the benchmark's folder.

The folder may be on a network file system. There the worker appends replies, renames finished files and gives signs of
life; everything else happens in scratch.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longbeam import __version__
from longbeam.errors import LongbeamError, StoreError, UserError
from longbeam.models import ChatModel, CostMeter, Models
from longbeam.pipeline.distributed.jobs import Job, JobEnd, JobResult
from longbeam.pipeline.run.driver import ConversationRun, RunContext, limited_models, open_run, run_conversation
from longbeam.pipeline.run.scheduling import Schedule
from longbeam.pipeline.services import Services, load_services
from longbeam.schemas import Position, Usage
from longbeam.stopping import drop_replies
from longbeam.store import (
    BEAT_S,
    HELD,
    SPEC,
    Benchmark,
    CopiedJournal,
    HeldElsewhere,
    Lease,
    LeaseLost,
    ReplyFiles,
    SharedLease,
    WorkLog,
    describe_os_error,
    is_alive,
    merge_replies,
    record_digest,
    remove_replies,
    sha256_of,
    sync_file,
    worker_name,
)

COPY_EVERY_S = 60.0
"""How often a copy of the work log is put in place, so that `status` sees it and the reply files stay short ..."""
COPY_SHARE = 0.05
"""... unless copying would take more of the time than this."""
PATIENCE_S = 10.0
"""How long to wait for a command that looks at a work log."""
REPLIES_S = 20.0
"""How long a worker that is told to stop awaits replies on their way; the command waits for it a little longer."""
HELD_WAIT_S = 2.0
"""Before another look at a conversation that another worker holds."""
SCRATCH = "longbeam-worker-"
Make = Callable[[ConversationRun, Benchmark], Coroutine[Any, Any, None]]
"""Runs the stages of an open conversation; the benchmark is the one in scratch."""


def stop_path(root: Path, run_id: str) -> Path:
    """The file by which a command tells its workers to stop."""
    return root / "leases" / f"{run_id}.stop"


async def work_on(text: str, make: Make | None = None) -> JobResult:
    """Do what a `Job` in JSON asks for; one of another longbeam is refused before it is read."""
    head = json.loads(text)
    if head["version"] == __version__:
        job = Job.model_validate_json(text)
        return await work(job, load_services(job.services), make=make)
    error = f"this worker has longbeam {__version__}, the command {head['version']}: install one of them everywhere"
    return JobResult(conversation_id=head["conversation_id"], worker=worker_name(), end=JobEnd.REFUSED, error=error)


async def work(job: Job, services: Services, model: ChatModel | None = None, make: Make | None = None) -> JobResult:
    """Make a conversation, or continue one, and return the result; raises only when it is cancelled.

    A conversation that another worker holds is waited for. `model` answers every call in place of the spec's models.
    `make` runs the stages; None: in this process, without Prefect.
    """
    try:
        while True:
            try:
                return await _work(job, services, model, make or _without_prefect)
            except HeldElsewhere:
                if stop_path(Path(job.root), job.run_id).exists():
                    return _ended(job, JobEnd.STOPPED, "")
                await asyncio.sleep(HELD_WAIT_S)
    except LeaseLost as exc:
        return _ended(job, JobEnd.LOST, str(exc))
    except LongbeamError as exc:
        return _ended(job, JobEnd.REFUSED, str(exc))
    except Exception:  # noqa: BLE001 -- the top of a worker: the command shows it
        return _ended(job, JobEnd.BUG, traceback.format_exc())


async def _without_prefect(run: ConversationRun, _: Benchmark) -> None:
    await run_conversation(run)


def _ended(job: Job, end: JobEnd, error: str) -> JobResult:
    return JobResult(conversation_id=job.conversation_id, worker=worker_name(), end=end, error=error)


async def _work(job: Job, services: Services, model: ChatModel | None, make: Make) -> JobResult:
    log_file = Path(job.invocation_log) if job.invocation_log else None
    benchmark = Benchmark(job.spec, Path(job.root))
    if not (benchmark.root / SPEC).exists():
        raise UserError(
            f"{worker_name()} does not see {benchmark.root}: the benchmark must lie in a folder that all machines see "
            "under one path; name it with --out"
        )
    lease = SharedLease.take(benchmark.lease_folder(job.conversation_id))
    try:
        with _scratch_folder(job.scratch) as scratch:
            hold = _Hold(job, benchmark, Benchmark(job.spec, scratch), lease, make)
            clients = model or services.make_model(job.spec, invocation_log=log_file, home=benchmark.root)
            return await hold.make(services, clients)
    finally:
        lease.release()


@dataclass
class _Hold:
    """One conversation in the hands of this worker."""

    job: Job
    benchmark: Benchmark
    away: Benchmark
    lease: SharedLease
    make_stages: Make
    position: Position = field(default_factory=Position)
    verdict: JobEnd = JobEnd.MADE
    _making: asyncio.Task[None] | None = None
    _copying: threading.Lock = field(default_factory=threading.Lock)
    _copied: int = 0
    """Rows of the work log that the last copy held."""

    async def make(self, services: Services, model: ChatModel) -> JobResult:
        files = ReplyFiles(self.lease)
        try:
            with self._beating(files):
                return await self._make(services, model, files)
        finally:
            files.close()

    async def _make(self, services: Services, model: ChatModel, files: ReplyFiles) -> JobResult:
        self._fetch()
        spec = self.job.spec
        meter = CostMeter(model, spec)
        async with (
            limited_models(services.models(meter), spec) as shared,
            open_run(self._context(shared, files), self.job.conversation_id, self.job.seed) as run,
        ):
            await self._run(run, files)
        self._put_sealed()
        return self._result(run, meter)

    def _context(self, models: Models, files: ReplyFiles) -> RunContext:
        schedule = Schedule(self.job.spec.limits.concurrency)
        return RunContext(self.away, models, schedule, self, journal_of=lambda log: self._journal(log, files))

    def update(self, conversation_id: str, position: Position) -> None:
        """Take in how far the conversation is; the heart tells the others."""
        self.position = position

    def waiting(self, reason: str) -> None:
        """Take no note: a worker's waits are not shown."""

    def _journal(self, log: WorkLog, files: ReplyFiles) -> CopiedJournal:
        merge_replies(self.lease.folder, log)
        return CopiedJournal(log.journal, files)

    async def _run(self, run: ConversationRun, files: ReplyFiles) -> None:
        log = run.conversation.units.log
        making = self._making = asyncio.create_task(self.make_stages(run, self.away))
        copying = asyncio.create_task(self._copy_now_and_then(log, files))
        if self.verdict is not JobEnd.MADE:  # while the work log was fetched
            making.cancel()
        try:
            await asyncio.wait({making, copying}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (copying, making):
                task.cancel()
            ended = await asyncio.gather(making, copying, return_exceptions=True)
            await asyncio.to_thread(self._put_log, log, files)
        for error in ended:
            if isinstance(error, BaseException) and not isinstance(error, asyncio.CancelledError):
                raise error

    @contextmanager
    def _beating(self, files: ReplyFiles) -> Iterator[None]:
        """Give signs of life while the block lasts, and end the making when the command or another worker says so."""
        loop, over = asyncio.get_running_loop(), threading.Event()
        stop = stop_path(self.benchmark.root, self.job.run_id)

        def beat() -> None:
            while not over.wait(BEAT_S):
                try:
                    self.lease.renew()
                    files.sync()
                    self.lease.show(self.position)
                    if stop.exists() and self.verdict is JobEnd.MADE:
                        self.verdict = JobEnd.STOPPED
                        loop.call_soon_threadsafe(self._cancel)
                except LeaseLost:
                    self.verdict = JobEnd.LOST
                    loop.call_soon_threadsafe(self._cancel)
                    loop.call_soon_threadsafe(drop_replies)  # another worker asks for them
                    return
                except OSError:
                    continue  # a file server that is away; where it was for too long, the next beat finds that out

        thread = threading.Thread(target=beat, name="longbeam-heart", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _cancel(self) -> None:
        if self._making is not None:
            self._making.cancel()
            asyncio.get_running_loop().call_later(REPLIES_S, drop_replies)

    async def _copy_now_and_then(self, log: WorkLog, files: ReplyFiles) -> None:
        wait_s = COPY_EVERY_S
        while True:
            await asyncio.sleep(wait_s)
            began = time.monotonic()
            with suppress(StoreError):  # a file server that is away: the reply files keep what the next copy will hold
                await asyncio.to_thread(self._put_log, log, files)
            wait_s = max(COPY_EVERY_S, (time.monotonic() - began) / COPY_SHARE)

    # --- between the benchmark's folder and scratch ------------------------------------------------------------

    def _fetch(self) -> None:
        conversation_id = self.job.conversation_id
        source, target = self.benchmark.work_path(conversation_id), self.away.work_path(conversation_id)
        sealed = self.away.sealed_path(conversation_id)
        for path in (target, sealed):
            path.parent.mkdir(parents=True)
        try:
            if source.exists():
                if _has_frames(source):
                    WorkLog.open(source).close()  # a killed run left its write-ahead log: fold it in
                with _writing_alone(source):
                    _refuse_frames(source)
                    shutil.copyfile(source, target)
            if self.benchmark.sealed_path(conversation_id).exists():
                # Read where it is; a new one takes the link's place.
                sealed.symlink_to(self.benchmark.sealed_path(conversation_id).resolve())
        except OSError as exc:
            raise StoreError(describe_os_error(target, exc)) from exc

    def _put_log(self, log: WorkLog, files: ReplyFiles) -> None:
        """Put a copy of the work log in place, where there is news, and remove the reply files that it replaces."""
        target = self.benchmark.work_path(self.job.conversation_id)
        try:
            with self._copying:  # one may still be at it
                self._put_news(log, files, target)
        except OSError as exc:
            raise StoreError(describe_os_error(target, exc)) from exc

    def _put_news(self, log: WorkLog, files: ReplyFiles, target: Path) -> None:
        self.lease.check()
        if log.changes == self._copied:
            return
        held = files.rotate()
        log.meta_set(HELD, list(held))
        changes = log.changes
        source = self.lease.source("work.sqlite")
        log.copy_to(source)
        with _writing_alone(target):
            _refuse_frames(target)
            self.lease.put_in_place(source, target)
            for suffix in ("-wal", "-shm"):  # empty ones of readers, which would be taken for this file's
                target.with_name(target.name + suffix).unlink(missing_ok=True)
        self._copied = changes
        remove_replies(self.lease.folder, held)

    def _put_sealed(self) -> None:
        made = self.away.sealed_path(self.job.conversation_id)
        if made.exists() and not made.is_symlink():
            source = self.lease.source("sealed.duckdb")
            try:
                shutil.copyfile(made, source)
                sync_file(source)
                target = self.benchmark.sealed_path(self.job.conversation_id)
                record_digest(target, sha256_of(source))
                self.lease.put_in_place(source, target)
            except OSError as exc:
                raise StoreError(describe_os_error(source, exc)) from exc

    def _result(self, run: ConversationRun, meter: CostMeter) -> JobResult:
        return JobResult(
            conversation_id=self.job.conversation_id,
            worker=worker_name(),
            end=self.verdict,
            is_finished=not run.blocked and self.verdict is JobEnd.MADE,
            failures=tuple(run.conversation.units.failed),
            position=self.position.model_copy(update={"calls": run.journalled.asks}),
            replayed=run.journalled.hits,
            remade=dict(run.conversation.units.remade),
            usage=tuple(Usage.of(key, counts) for key, counts in meter.now.items()),
            stopped=run.stopped,
            is_capped=meter.is_capped,
        )


@contextmanager
def _scratch_folder(parent: str) -> Iterator[Path]:
    """Yield an empty folder on this machine's disk; those of workers that were killed here are removed."""
    where = Path(parent) if parent else Path(tempfile.gettempdir())
    try:
        where.mkdir(parents=True, exist_ok=True)
        for leftover in where.glob(f"{SCRATCH}*"):
            pid = leftover.name.removeprefix(SCRATCH).partition("-")[0]
            if pid.isdecimal() and not is_alive(int(pid)):
                shutil.rmtree(leftover, ignore_errors=True)
        scratch = Path(tempfile.mkdtemp(prefix=f"{SCRATCH}{os.getpid()}-", dir=where))
    except OSError as exc:
        raise StoreError(f"scratch folder {where}: {exc.strerror}; name another with --scratch") from exc
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _writing_alone(path: Path) -> Iterator[None]:
    """Hold the right to write a work log in place, which a run without workers holds all the time."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            lease = Lease(path)
            break
        except StoreError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
    try:
        yield
    finally:
        lease.release()


def _has_frames(path: Path) -> bool:
    try:
        return path.with_name(path.name + "-wal").stat().st_size > 0
    except FileNotFoundError:
        return False


def _refuse_frames(path: Path) -> None:
    if _has_frames(path):
        raise StoreError(f"{path}: another process has it open and writes it; close it and run the command again")
