"""What a command and its workers tell each other: one conversation to make, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from longbeam.schemas.base import Record
from longbeam.schemas.progress import Position
from longbeam.schemas.seeds import Seed
from longbeam.schemas.spec import BenchmarkSpec
from longbeam.schemas.usage import Usage
from longbeam.store.units import Unit


@dataclass(frozen=True)
class WorkerSetup:
    """What every worker of a run needs, whichever conversation it makes."""

    services: str
    """Reference of the services that the worker loads; see `pipeline.services`."""
    scratch: str = ""
    """Folder on the worker's own disk; empty: the system's folder for temporary files."""
    invocation_log: str = ""


class Job(Record):
    """One conversation to make; plain JSON, so that it reaches any machine."""

    version: str
    """Of longbeam, where the command runs: a worker of another one refuses."""
    root: str
    """The benchmark's folder, by the same path on every machine."""
    run_id: str
    conversation_id: str
    seed: Seed
    spec: BenchmarkSpec
    """With this worker's share of the run's limits."""
    services: str
    """See `WorkerSetup`, as for the fields that follow."""
    scratch: str = ""
    invocation_log: str = ""


class JobEnd(StrEnum):
    """How a job ended."""

    MADE = "made"
    """All that could be tried was; there may be failed units."""
    STOPPED = "stopped"
    """By the command; what was done is kept."""
    HELD = "held"
    """Another worker makes this conversation."""
    LOST = "lost"
    """Another worker took over: nothing was put in place."""
    REFUSED = "refused"
    """An error that the user can mend."""
    BUG = "bug"


class JobResult(Record):
    """What became of a job."""

    conversation_id: str
    worker: str
    end: JobEnd
    is_finished: bool = False
    """Whether everything that its seal needs could be made."""
    failures: tuple[Unit, ...] = ()
    position: Position = Position()
    replayed: int = 0
    """Replies taken from the journal."""
    usage: tuple[Usage, ...] = ()
    """Of the calls made."""
    stopped: str = ""
    """Why the run was to end: an endpoint that answers nobody, or the spending cap; empty if it was not."""
    is_capped: bool = False
    """Whether it was the cap."""
    error: str = ""
    """One line, or the traceback of a bug."""
