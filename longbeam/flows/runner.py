"""A benchmark by its Prefect flow, for the command line: on the server that is configured, or on one of our own.

This module imports no Prefect at its top: Prefect reads its settings when it is first imported.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from longbeam.errors import require_extra
from longbeam.flows.opened import Begun, begun, opened_benchmark
from longbeam.flows.server import LOOPBACK, is_configured, own_host, prefect_server, quiet_prefect
from longbeam.pipeline.run import RunSummary
from longbeam.plugins import failure_of

HOME = ".prefect"
"""Prefect's folder beside the benchmarks of an output folder."""
Say = Callable[[str], None]


async def run_with_prefect(run: Begun, say: Say) -> RunSummary:
    """Run the flow of a benchmark, and return what was done; `say` receives a line for the user.

    Without a configured server, one of our own runs for as long as the flow. Where a server goes away meanwhile, the
    run ends without Prefect. Raises LongbeamError when our server does not start, and UserError for what the user can
    put right.
    """
    require_extra("dask" if run.cluster else "flows", "a run with Prefect", "prefect")
    run.benchmark = replace(run.benchmark, root=run.benchmark.root.resolve())
    root = str(run.benchmark.root)
    run.on_terminate = signal.getsignal(signal.SIGTERM)
    begun[root] = run
    try:
        async with _server(run, say):
            return await _run_flow(run, root, say)
    finally:
        del begun[root]


@asynccontextmanager
async def _server(run: Begun, say: Say) -> AsyncIterator[None]:
    if is_configured():
        with quiet_prefect():
            _take_up_settings()
            from prefect.settings import get_current_settings

            say(f"Prefect's server: {get_current_settings().api.url}")
            yield
        _take_up_settings()
        return
    cluster = run.cluster
    host = own_host(cluster.address, cluster.host) if cluster is not None else LOOPBACK
    home = run.benchmark.root.parent / HOME
    had_prefect = "prefect" in sys.modules  # a notebook may have its own use for it
    try:
        async with prefect_server(home, host, say):
            _take_up_settings()
            yield
    finally:
        if had_prefect:
            _take_up_settings()


async def _run_flow(run: Begun, root: str, say: Say) -> RunSummary:
    from prefect.exceptions import Pause

    from longbeam.flows.control import is_of_prefect, raise_escaped
    from longbeam.flows.events import close_killed_runs, delivered_events, is_server_there, marked
    from longbeam.flows.generate import generate

    async with opened_benchmark(root) as opened:
        try:
            async with delivered_events():
                await close_killed_runs()
                with marked():
                    where = "dask" if run.cluster is not None else "here"
                    state = await generate(spec=root, runner=where, return_state=True)
                await raise_escaped(state)
        except Pause:
            say("the run was suspended on Prefect's pages")
        except Exception as exc:
            is_there = await is_server_there()
            if is_there and not is_of_prefect(exc):
                raise
            what = "Prefect failed" if is_there else "Prefect's server is gone"
            say(f"{what} ({failure_of(exc)}); the run ends without it")
            if not opened.is_over:
                return await opened.finish_without_prefect()
        return opened.summary()


def _take_up_settings() -> None:
    """Have Prefect read the environment again; it does so by itself only when it is first imported."""
    from prefect.context import refresh_global_settings_context

    refresh_global_settings_context()
