"""How fast an evaluation is: all systems of a run, offline, and the same again from its journal.

The evaluation is made in a scratch folder, so that nothing of an earlier one is replayed. CPU seconds are of this
process alone and steadier than wall time on a busy machine; the wall time of a real run is its endpoints'.

Run: `python -m benchmarks.bench_evaluate output/NAME [--system rag,light,long_context]`
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from longbeam.evaluation import always_there, arms_of
from longbeam.memory import SYSTEMS
from longbeam.pipeline.evaluate import EvaluationRequest, evaluate, results_path
from longbeam.schemas import EvaluationSettings
from longbeam.store import Benchmark, open_benchmark
from longbeam.wiring import services


async def measure(benchmark: Benchmark, systems: str) -> None:
    """Print what an evaluation takes, and what its replay does."""
    arms = [*always_there(), *arms_of(systems, [], [])]
    for what in ("from nothing", "replayed"):
        wall, cpu = time.perf_counter(), time.process_time()
        run, results = await evaluate(
            benchmark,
            EvaluationRequest(benchmark.spec, arms, EvaluationSettings()),
            services().models(services().stand_in()),
        )
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print(
            f"{run.benchmark}, {run.conversations} conversations of {run.tokens:,} tokens, {len(arms)} rows, {what}: "
            f"{len(results):,} answers in {cpu:.1f} s CPU ({wall:.1f} s), {1000 * cpu / len(results):.1f} ms CPU each, "
            f"peak {_peak_mib():,.0f} MiB"
        )
    sizes = {path.name: path.stat().st_size for path in results_path(benchmark).parent.glob("results*.jsonl")}
    print(", ".join(f"{name} {size / 2**20:.1f} MiB" for name, size in sorted(sizes.items())))


def _peak_mib() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("benchmark", type=Path)
    parser.add_argument("--system", default=",".join(SYSTEMS))
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / given.benchmark.name
        shutil.copytree(given.benchmark, copied, ignore=shutil.ignore_patterns("evaluation", "work"))
        asyncio.run(measure(open_benchmark(copied.parent, copied.name), given.system))


if __name__ == "__main__":
    main()
