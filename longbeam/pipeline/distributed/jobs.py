"""Messages between a command and its workers: the job to make one conversation, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from longbeam.schemas import BenchmarkSpec, Position, Record, Seed, Usage
from longbeam.store import Unit


@dataclass(frozen=True)
class WorkerSetup:
    """Settings of a worker that are the same for all conversations of a run."""

    services: str
    """Reference of the services that the worker loads; see `pipeline.services`."""
    scratch: str = ""
    """Folder on the worker's own disk; empty: the system's folder for temporary files."""
    invocation_log: str = ""


class Job(Record):
    """One conversation to make; plain JSON, so that it reaches any machine."""

    version: str
    """Version of longbeam that runs the command; a worker of another version refuses the job."""
    root: str
    """Folder of the benchmark; the path is the same on every machine."""
    run_id: str
    conversation_id: str
    seed: Seed
    spec: BenchmarkSpec
    """The benchmark's spec with this worker's share of the run's limits."""
    services: str
    """See `WorkerSetup`, also for the two fields below."""
    scratch: str = ""
    invocation_log: str = ""


class JobEnd(StrEnum):
    """How a job ended."""

    MADE = "made"
    """All units that could run have run; some may have failed."""
    STOPPED = "stopped"
    """The command stopped the job; finished units are kept."""
    HELD = "held"
    """Another worker holds the lease of this conversation."""
    LOST = "lost"
    """Another worker took the lease over; this job stored nothing."""
    REFUSED = "refused"
    """An error that the user can fix."""
    BUG = "bug"


class JobResult(Record):
    """Result of a job."""

    conversation_id: str
    worker: str
    end: JobEnd
    is_finished: bool = False
    """Whether no unit that the seal needs is missing."""
    failures: tuple[Unit, ...] = ()
    position: Position = Position()
    replayed: int = 0
    """Replies taken from the journal."""
    usage: tuple[Usage, ...] = ()
    """Usage of the calls that this job made."""
    stopped: str = ""
    """Reason to end the whole run: an endpoint that fails every call, or the spending cap; empty if there is none."""
    is_capped: bool = False
    """Whether the spending cap is that reason."""
    error: str = ""
    """One line, or the traceback of a bug."""
