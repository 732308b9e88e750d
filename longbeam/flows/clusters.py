"""The interface of a cluster to a run: number of parallel tasks, survey of the workers, end of a task."""

from __future__ import annotations

import os
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from longbeam import __version__
from longbeam.errors import LongbeamError, UserError
from longbeam.flows.server import LOOPBACK

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State
    from prefect.futures import PrefectFuture
    from prefect.task_runners import TaskRunner

REACH_S = 20.0
"""Seconds that a cluster at a given address may take to answer."""
ANSWER_S = 60.0
"""Seconds that a running process may take to answer; its machine may be busy with conversations."""


@dataclass(frozen=True)
class ClusterOptions:
    """Options of the command line about the cluster."""

    workers: int | None = None
    """Number of workers of a local cluster; None: one for each core, and no more than there are conversations."""
    address: str = ""
    """Address of a running cluster; empty: the command starts a local cluster, and stops it at its end."""
    host: str = ""
    """Name or address under which workers reach this machine; empty: its address in the cluster's network."""
    scratch: str = ""
    """Folder on each worker's own disk."""

    def local_workers(self, conversations: int) -> int:
        """Return the number of workers of a local cluster."""
        return self.workers or max(1, min(os.cpu_count() or 1, conversations))


class Cluster(Protocol):
    """A cluster whose workers run Prefect tasks."""

    @property
    def places(self) -> int:
        """Number of tasks that can run at the same time."""

    @property
    def task_runner(self) -> TaskRunner[Any]:
        """Prefect's task runner for this cluster."""

    async def survey(self, api_url: str, mark: str) -> Mapping[str, WorkerFacts]:
        """Return the result of `facts_here` on each worker, by the worker's name."""

    async def state_of(self, future: PrefectFuture[Any]) -> State[Any]:
        """Return the state in which a task ended; raises WorkerDied."""


@dataclass(frozen=True)
class WorkerFacts:
    """Facts about a worker that decide whether it can make conversations."""

    longbeam: str
    python: str
    sees_folder: bool
    reaches_prefect: str
    """The reason why the worker does not reach Prefect's server; empty if it does."""


def facts_here(api_url: str, mark: str) -> WorkerFacts:
    """Return the facts about the worker that runs this function; `mark` is a file in the benchmark's folder."""
    try:
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        direct.open(f"{api_url}/health", timeout=ANSWER_S).close()
        trouble = ""
    except (OSError, urllib.error.URLError) as exc:
        trouble = str(exc)
    return WorkerFacts(
        longbeam=__version__,
        python=".".join(map(str, sys.version_info[:2])),
        sees_folder=Path(mark).exists() and os.access(Path(mark).parent, os.W_OK),
        reaches_prefect=trouble,
    )


def refuse_unfit(facts: Mapping[str, WorkerFacts], root: Path, api_url: str) -> None:
    """Raise UserError for the first worker that cannot do its work, and say what it lacks."""
    here = ".".join(map(str, sys.version_info[:2]))
    for worker, fact in sorted(facts.items()):
        if fact.longbeam != __version__:
            raise UserError(f"worker {worker} has longbeam {fact.longbeam}, this command {__version__}; install one")
        if fact.python != here:
            raise UserError(f"worker {worker} has Python {fact.python}, this command {here}; install the same")
        if not fact.sees_folder:
            raise UserError(
                f"worker {worker} cannot write {root}: the benchmark must lie in a folder that all machines see under "
                "one path; name it with --out"
            )
        if fact.reaches_prefect:
            raise UserError(
                f"worker {worker} cannot reach this command's Prefect server at {api_url} ({fact.reaches_prefect}); "
                "name this machine as workers know it with --host"
            )


def unreachable(extra: str, address: str, reason: object) -> LongbeamError:
    """The error for a cluster that does not answer."""
    words = " ".join(str(reason).split())[:200]
    return UserError(f"no {extra} cluster answers at {address!r}: {words}. See that it runs, and its address")


def without_longbeam(extra: str, reason: object) -> LongbeamError:
    """The error for workers that could not even begin."""
    words = " ".join(str(reason).split())
    if "No module named" in words:
        name = words.rpartition("No module named")[2].split()[0].strip("'\".\\;")
        return UserError(f"a worker has no {name}: install longbeam[{extra}]=={__version__} on every machine")
    return LongbeamError(f"the workers of the {extra} cluster could not be asked: {words[-300:]}")


def own_host(address: str, asked: str) -> str:
    """Return the address under which workers of the cluster at `address` reach this machine."""
    if asked:
        return asked
    if not address:
        return LOOPBACK
    parts = urlsplit(address if "//" in address else f"//{address}")
    try:
        return _facing(parts.hostname or LOOPBACK, parts.port or 9)
    except (OSError, ValueError) as exc:
        raise UserError(f"--address {address!r}: {exc}; write it as in tcp://10.0.0.5:8786") from exc


def _facing(host: str, port: int) -> str:
    """The address of this machine from which it would send to another one; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, port))
        return str(probe.getsockname()[0])
