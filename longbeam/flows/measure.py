"""The flows of a finished benchmark: check it, repair it, evaluate memory systems on it.

Each does what the command of its name does, and keeps the same results in the benchmark.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from longbeam.flows.artifacts import show_findings, show_table, show_usage
from longbeam.flows.control import stoppable
from longbeam.library import evaluate
from longbeam.pipeline import check_and_store
from longbeam.pipeline.repair import RepairReport, repair
from longbeam.pipeline.run import open_meter
from longbeam.review import rejections_of
from longbeam.schemas import Severity
from longbeam.store import open_benchmark
from longbeam.terminal import counted
from longbeam.wiring import services


@flow(name="validate-benchmark", flow_run_name="{name}", persist_result=False)
async def validate_benchmark(name: str, out: str = "output") -> State[Any]:
    """Check the finished conversations; the run fails if an error is found."""
    errors = await check(name, out)
    return Failed(message=f"{errors} errors; see the findings") if errors else Completed(message="no error")


@task(cache_policy=NO_CACHE, persist_result=False)
async def check(name: str, out: str) -> int:
    """Check a benchmark and return the number of errors."""
    benchmark = open_benchmark(out, name)
    found = await asyncio.to_thread(check_and_store, benchmark)
    await show_findings(benchmark, found)
    return sum(finding.severity is Severity.ERROR for finding in found)


@flow(name="repair-benchmark", flow_run_name="{name}", persist_result=False)
async def repair_benchmark(name: str, out: str = "output", rounds: int = 3) -> State[Any]:
    """Repair messages and probes with error findings; the run fails if errors are left."""
    async with stoppable():
        report = await mend(name, out, rounds)
    if report.left or report.stopped:
        return Failed(message=report.stopped or f"{len(report.left)} errors are left; see the mended faults")
    return Completed(message=f"{counted(len(report.conversations), 'conversation')} sealed again")


@task(cache_policy=NO_CACHE, persist_result=False)
async def mend(name: str, out: str, rounds: int) -> RepairReport:
    """Repair a benchmark and return what was done."""
    benchmark = open_benchmark(out, name)
    models = services().models(open_meter(benchmark, services()))
    report = await repair(benchmark, models, rejected=partial(rejections_of, benchmark), rounds=rounds)
    rows = [{"what": line, "is_mended": True} for line in report.done]
    rows += [{"what": line, "is_mended": False} for line in report.left]
    await show_table(benchmark, "repaired", rows, "Faults that were mended, and those that are left")
    await show_usage(benchmark)
    return report


@flow(name="evaluate-benchmark", flow_run_name="{name}", persist_result=False)
async def evaluate_benchmark(
    name: str,
    systems: list[str] = ["long_context", "rag"],  # noqa: B006 -- Prefect shows the default in its form
    out: str = "output",
    reader: str | None = None,
    judge: str | None = None,
) -> State[Any]:
    """Measure memory systems on the finished conversations."""
    async with stoppable():
        failures = await measure(name, systems, out, reader, judge)
    return Failed(message=failures) if failures else Completed(message="evaluated")


@task(cache_policy=NO_CACHE, persist_result=False)
async def measure(name: str, systems: list[str], out: str, reader: str | None, judge: str | None) -> str:
    """Evaluate and show the table; return the failures as a line."""
    benchmark = open_benchmark(out, name)
    done = await evaluate(benchmark, systems, reader=reader, judge=judge)
    rows = [{"system": system, "score": score} for system, score in done.scores().items()]
    await show_table(benchmark, "scores", rows, "Scores under the paper's rule")
    return "; ".join(done.failures)
