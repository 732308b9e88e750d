"""The door of this room: run a benchmark with Prefect, server and all."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from longbeam.errors import require_extra
from longbeam.flows.begun import BegunRun, begun_run
from longbeam.flows.clusters import ClusterOptions, own_host, refuse_unfit
from longbeam.flows.server import prefect_server
from longbeam.models import Models
from longbeam.pipeline.distributed import RunControls
from longbeam.pipeline.run import Progress, RunSummary
from longbeam.store import Benchmark

HOME = ".prefect"
"""Prefect's folder beside the benchmarks of an output folder."""
Summary = asyncio.Task[RunSummary]
WAITING_AT_END = "everything is made; its pages are written when Prefect's server has started"
STOPPED_AT_END = "the run has ended early; its pages are written when Prefect's server has started"


async def run_with_prefect(benchmark: Benchmark, models: Models, *, progress: Progress) -> RunSummary:
    """Run every conversation through all stages, show each stage as a Prefect task, and return what was done.

    Does what `pipeline.run.run_inline` does, from the first moment: the server starts beside it. Raises LongbeamError
    when Prefect's server does not start.
    """
    require_extra("flows", "--runner prefect", "prefect")
    had_prefect = "prefect" in sys.modules  # a notebook may have its own use for it
    try:
        async with begun_run(benchmark, models, progress) as begun:
            progress.waiting("starting Prefect's server; the run goes on meanwhile")
            wait_at_end = partial(_tell_that_it_has_ended, progress)
            begun.summary.add_done_callback(wait_at_end)
            showing = asyncio.create_task(_show(begun, benchmark.root.parent / HOME, wait_at_end, progress))
            try:
                await asyncio.shield(showing)
            except asyncio.CancelledError:
                begun.summary.cancel()  # first: no call is sent while Prefect's server stops
                showing.cancel()
                await asyncio.gather(showing, return_exceptions=True)
                raise
            return await begun.summary
    finally:
        if had_prefect:
            _take_up_settings()


async def _show(begun: BegunRun, home: Path, wait_at_end: Callable[[Summary], None], progress: Progress) -> None:
    async with prefect_server(home):
        begun.summary.remove_done_callback(wait_at_end)
        progress.waiting("")
        _take_up_settings()
        from longbeam.flows.generate import show_run

        await show_run(begun)


def _tell_that_it_has_ended(progress: Progress, run: Summary) -> None:
    if not run.cancelled() and run.exception() is None:
        summary = run.result()
        is_whole = summary.finished == summary.conversations and not summary.stopped
        progress.waiting(WAITING_AT_END if is_whole else STOPPED_AT_END)


async def run_on_cluster(benchmark: Benchmark, options: ClusterOptions, controls: RunControls) -> RunSummary:
    """Make the conversations on the workers of a Dask cluster, and return what was done.

    Raises UserError when the extra is not installed, the cluster does not answer, or a worker cannot do its work.
    """
    require_extra("dask", "--runner dask", "prefect")
    from longbeam.flows.on_dask import dask_cluster

    host = own_host(options.address, options.host)
    benchmark = replace(benchmark, root=benchmark.root.resolve())
    controls.progress.waiting("starting Prefect's server and the Dask cluster")
    async with (
        prefect_server(benchmark.root.parent / HOME, host) as api_url,
        dask_cluster(options, benchmark.spec.conversations) as cluster,
    ):
        _take_up_settings()
        controls.progress.waiting("")
        refuse_unfit(await cluster.survey(api_url, str(benchmark.root / "spec.json")), benchmark.root, api_url)
        from longbeam.flows.distributed import run_distributed

        return await run_distributed(benchmark, cluster, controls)


def _take_up_settings() -> None:
    """Have Prefect read the environment again; it does so by itself only when it is first imported."""
    from prefect.context import refresh_global_settings_context

    refresh_global_settings_context()
