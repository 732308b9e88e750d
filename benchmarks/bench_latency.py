"""How near the scheduler comes to what chains and limits allow, with latencies that are simulated and vary tenfold.

Every call takes 0.5 to 5 s on a virtual clock; nothing sleeps. `chains` is the wall time without a limit: the critical
path. The bound is the larger of that and the sum of all latencies over the calls in flight. Run:
`python -m benchmarks.bench_latency [--length 10M] [--conversations 1]`.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.virtual_clock import DelayedModel, VirtualClockLoop
from longbeam.models.offline.writer import OfflineWriter
from longbeam.pipeline.benchmark import create_benchmark
from longbeam.pipeline.run import run_inline
from longbeam.schemas.spec import BenchmarkSpec

NO_LIMIT = 4096
IN_FLIGHT = (NO_LIMIT, 256, 64, 16)


@dataclass(frozen=True)
class Timed:
    """One run: seconds on the virtual clock."""

    in_flight: int
    calls: int
    serial_s: float
    wall_s: float
    most_in_flight: int
    took_s: float
    """Real seconds."""


def measure(length: str, conversations: int, in_flight: int) -> Timed:
    """Make a benchmark from nothing on a virtual clock."""
    spec = BenchmarkSpec.model_validate(
        {
            "name": "latency",
            "length": length,
            "conversations": conversations,
            "limits": {"concurrency": in_flight, "timeout_s": 3600},
        }
    )
    model = DelayedModel(OfflineWriter())
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner(loop_factory=VirtualClockLoop) as runner:
        summary = runner.run(run_inline(create_benchmark(spec, Path(folder)), model=model))
        if summary.finished != conversations:
            raise SystemExit(f"{summary.finished} of {conversations} conversations finished")
        wall_s = runner.get_loop().time()
    took_s = time.monotonic() - begun
    return Timed(in_flight, model.calls, model.total_s, wall_s, model.most_in_flight, took_s)


def main() -> None:
    """Print the table as Markdown, a line as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", default="10M")
    parser.add_argument("--conversations", type=int, default=1)
    arguments = parser.parse_args()
    print(f"{arguments.conversations} x {arguments.length}, latencies 0.5 to 5 s\n")
    print("| in flight | calls | serial h | wall h | times faster | bound h | wall / bound | most in flight | real s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    chains_s = 0.0
    for in_flight in IN_FLIGHT:
        row = measure(arguments.length, arguments.conversations, in_flight)
        chains_s = chains_s or row.wall_s
        bound_s = max(chains_s, row.serial_s / in_flight)
        figures = (
            "none" if in_flight == NO_LIMIT else str(in_flight),
            f"{row.calls:,}",
            f"{row.serial_s / 3600:.2f}",
            f"{row.wall_s / 3600:.3f}",
            f"{row.serial_s / row.wall_s:.1f}",
            f"{bound_s / 3600:.3f}",
            f"{row.wall_s / bound_s:.3f}",
            str(row.most_in_flight),
            f"{row.took_s:.0f}",
        )
        print("| " + " | ".join(figures) + " |", flush=True)


if __name__ == "__main__":
    main()
