"""The door of this room: run a benchmark with Prefect, server and all."""

from __future__ import annotations

import sys

from longbeam.flows.server import prefect_server
from longbeam.models.base import ChatModel
from longbeam.pipeline.benchmark import Benchmark
from longbeam.pipeline.run import RunSummary
from longbeam.pipeline.units import Progress

HOME = ".prefect"
"""Prefect's folder beside the benchmarks of an output folder."""


async def run_with_prefect(benchmark: Benchmark, *, progress: Progress, model: ChatModel | None = None) -> RunSummary:
    """Run every conversation through all stages as Prefect tasks, and return what was done.

    Does what `pipeline.run.run_inline` does. Raises LongbeamError when Prefect's server does not start.
    """
    had_prefect = "prefect" in sys.modules  # a notebook may have its own use for it
    try:
        async with prefect_server(benchmark.root.parent / HOME):
            _take_up_settings()
            from longbeam.flows.generate import run_flow

            return await run_flow(benchmark, progress=progress, model=model)
    finally:
        if had_prefect:
            _take_up_settings()


def _take_up_settings() -> None:
    """Have Prefect read the environment again; it does so by itself only when it is first imported."""
    from prefect.context import refresh_global_settings_context

    refresh_global_settings_context()
