"""Flow runs of a command: their events reach the server, and those of a killed command do not stay running for ever."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from prefect import get_client, get_run_logger, tags
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
    FlowRunFilterTags,
)
from prefect.client.schemas.objects import StateType
from prefect.events.clients import PrefectEventsClient
from prefect.events.worker import EventsWorker
from prefect.settings import get_current_settings
from prefect.states import Crashed

from longbeam.store import is_alive

T = TypeVar("T")
DRAIN_S = 20.0
"""Seconds that the last task runs may take to reach the server; after that Prefect's pages lack them."""
RECONNECTIONS = 3
"""Attempts to connect again for each event. Prefect's client waits a second before each further one."""
ANSWER_S = 15.0
"""Seconds that the server may take to answer a stage, which does not wait longer ..."""
SILENCE_S = 60.0
"""... and for which it is not asked again after it did not answer."""
MACHINE = f"longbeam-on-{socket.gethostname()}"


_silent_until = 0.0
"""Time on the clock until which the server is not asked."""


async def answered(work: Coroutine[Any, Any, T]) -> T | None:
    """Return what Prefect's server answers; None where it does not answer, which stops no work."""
    global _silent_until
    if time.monotonic() < _silent_until:
        work.close()
        return None
    try:
        async with asyncio.timeout(ANSWER_S):
            return await work
    except Exception as exc:  # noqa: BLE001 -- whatever Prefect's client raises for a server that is gone
        if not await is_server_there():  # a busy one is asked again
            _silent_until = time.monotonic() + SILENCE_S
        get_run_logger().warning("Prefect's server does not answer (%s); the run goes on", type(exc).__name__)
        return None


@contextmanager
def marked() -> Iterator[None]:
    """Mark the flow runs of the block with this machine and process."""
    with tags(MACHINE, f"pid-{os.getpid()}"):
        yield


async def close_killed_runs() -> None:
    """Mark the runs of commands of this machine that still count as running, and whose process is gone, as crashed."""
    running = FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.RUNNING, StateType.PENDING]))
    async with get_client() as client:
        wanted = FlowRunFilter(state=running, tags=FlowRunFilterTags(all_=[MACHINE]))
        for run in await client.read_flow_runs(flow_run_filter=wanted):
            pids = [tag.removeprefix("pid-") for tag in run.tags if tag.startswith("pid-")]
            if not any(is_alive(int(pid)) for pid in pids):
                await client.set_flow_run_state(run.id, Crashed(message="its process was killed"), force=True)


async def is_server_there() -> bool:
    """Return whether something listens at the address of Prefect's server; a busy server may take long to answer."""
    url = urlsplit(str(get_current_settings().api.url))
    try:
        async with asyncio.timeout(ANSWER_S):
            _, writer = await asyncio.open_connection(url.hostname, url.port or (443 if url.scheme == "https" else 80))
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


@asynccontextmanager
async def delivered_events() -> AsyncIterator[None]:
    """Send the events of a flow run to the server, and wait at the end until the server has every task run.

    Events that are left when the interpreter exits, when the server is gone, must not delay the exit: by default
    Prefect's client tries to connect ten times, a second apart, for each of them.
    """
    global _silent_until
    _silent_until = 0.0  # this run may have another server
    EventsWorker.set_client_override(PrefectEventsClient, reconnection_attempts=RECONNECTIONS)
    logging.getLogger("EventsWorker").setLevel(logging.ERROR)  # it warns of every item that is left to send
    try:
        yield
    finally:
        await cast(Awaitable[object], EventsWorker.drain_all(timeout=DRAIN_S, at_exit=False))
