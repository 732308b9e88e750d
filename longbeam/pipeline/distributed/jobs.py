"""Messages between a run and its workers: the job to make one conversation, its share of the limits, and its result."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from longbeam.schemas import BenchmarkSpec, Position, Record, Seed, Usage
from longbeam.store import Unit


def share_of(spec: BenchmarkSpec, places: int, max_cost_usd: float | None = None) -> BenchmarkSpec:
    """Return the spec with the limits of one of so many workers: together they stay within the run's.

    At least one call in flight, and one call and token a minute, are left to each. `max_cost_usd`: USD that this worker
    may spend; None leaves the cap of the spec.
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
    cap = {} if max_cost_usd is None else {"max_cost_usd": max_cost_usd}
    limits = spec.limits.model_copy(update={"concurrency": max(1, spec.limits.concurrency // places), **cap})
    return spec.model_copy(update={"limits": limits, "endpoints": endpoints})


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
    """Reference of the services that the worker loads; see `pipeline.services`."""
    scratch: str = ""
    """Folder on the worker's own disk; empty: the system's folder for temporary files."""
    invocation_log: str = ""


class JobEnd(StrEnum):
    """How a job ended."""

    MADE = "made"
    """All units that could run have run; some may have failed."""
    STOPPED = "stopped"
    """The command stopped the job; finished units are kept."""
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
    remade: dict[str, int] = Field(default_factory=dict)
    """Units of each stage that were made anew because their inputs, prompts or rules changed."""
    usage: tuple[Usage, ...] = ()
    """Usage of the calls that this job made."""
    stopped: str = ""
    """Reason to end the whole run: an endpoint that fails every call, or the spending cap; empty if there is none."""
    is_capped: bool = False
    """Whether the spending cap is that reason."""
    error: str = ""
    """One line, or the traceback of a bug."""
