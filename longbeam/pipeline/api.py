"""What a notebook calls: the inline runner in one function."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from longbeam.models.base import ChatModel
from longbeam.pipeline.run.driver import RunSummary, run_inline
from longbeam.pipeline.run.units import Progress
from longbeam.schemas.spec import BenchmarkSpec
from longbeam.store.layout import create_benchmark


async def generate(
    spec: BenchmarkSpec,
    out: Path | str = "output",
    *,
    progress: Progress | None = None,
    model: ChatModel | None = None,
) -> RunSummary:
    """Make the benchmark of a spec under the folder `out`, or go on with it, and return what was done.

    Runs in this process, without Prefect. `model` answers every call in place of the spec's models. Raises
    SpecError when the benchmark exists and the spec changes what may not change.
    """
    benchmark = create_benchmark(spec, Path(out))
    if model is not None:
        benchmark = replace(benchmark, spec=benchmark.spec.for_any_model())
    return await run_inline(benchmark, progress=progress, model=model)
