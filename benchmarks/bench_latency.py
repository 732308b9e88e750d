"""How near the scheduler comes to what chains and limits allow, with latencies that are simulated and vary tenfold.

Every call takes 0.5 to 5 s on a virtual clock; nothing sleeps. Without a limit every call begins as soon as what it
needs is there, which gives what chains allow: by no moment can any schedule have done more. The bound of a limit
follows from that and from the limit (`bound_of`). Run:
`python -m benchmarks.bench_latency [--length 10M] [--conversations 1] [--in-flight 16 64]`; the run without a limit is
always made, first. Its critical path is printed by prompt.

`--over-http` makes the same with real requests to the loopback server in real time (`--length 1M --in-flight 64`), with
latencies of 0.2 to 2 s; there the critical path is added up from the latencies that the server drew.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench_http import HttpSpec, get_json, longest_chain, loopback
from benchmarks.bench_lengths import digest_of_export
from benchmarks.virtual_clock import DelayedModel, VirtualClockLoop
from longbeam.formats import export_jsonl
from longbeam.keys import UnitKey
from longbeam.offline import OfflineWriter
from longbeam.pipeline.run import run_inline
from longbeam.schemas import MAX_SINGLE_PLAN_LENGTH, BenchmarkSpec, parse_length
from longbeam.store import SealedConversation, create_benchmark
from longbeam.wiring import services

NO_LIMIT = 4096
IN_FLIGHT = (256, 64, 16)
CLOCK_S = 1e-9
"""Seconds by which sums of latencies differ from the clock."""


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
    export_sha256: str
    """Digest of the first conversation's export, as in bench_lengths; the same for any number of calls in flight."""
    spans: tuple[tuple[float, float], ...]
    """Beginning and end of each call."""
    prompt_ids: tuple[str, ...]
    """Prompt of each call."""


def measure(length: str, conversations: int, in_flight: int) -> Timed:
    """Make a benchmark from nothing on a virtual clock."""
    spec = BenchmarkSpec.model_validate(
        {
            "name": "latency",
            "length": length,
            "conversations": conversations,
            "limits": {"concurrency": in_flight, "timeout_s": 3600},
            **({"strategy": "sequential"} if parse_length(length) > MAX_SINGLE_PLAN_LENGTH else {}),
        }
    )
    model = DelayedModel(OfflineWriter())
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner(loop_factory=VirtualClockLoop) as runner:
        benchmark = create_benchmark(spec, Path(folder))
        summary = runner.run(run_inline(benchmark, services().models(model)))
        if summary.finished != conversations:
            raise SystemExit(f"{summary.finished} of {conversations} conversations finished")
        wall_s, took_s = runner.get_loop().time(), time.monotonic() - begun
        target = Path(folder, "export")
        with SealedConversation(benchmark.sealed_path(benchmark.conversation_ids[0])) as reader:
            export_jsonl([reader], spec, target)
        digest = digest_of_export(target)
    return Timed(
        in_flight,
        model.calls,
        model.total_s,
        wall_s,
        model.most_in_flight,
        took_s,
        digest,
        tuple(model.spans),
        tuple(model.prompt_ids),
    )


def bound_of(spans: Sequence[tuple[float, float]], in_flight: int) -> float:
    """Return the seconds (s) that no schedule with so many calls in flight can beat.

    `spans`: beginning and end of each call where each begins as early as its chain allows. By a moment t no schedule
    has done more of the work than that one; what is left takes at least its sum over the calls in flight. The bound is
    the largest such t plus rest: at the beginning the sum of latencies over the limit, at the end the critical path.
    """
    total = sum(end - begin for begin, end in spans)
    steps = sorted([(begin, 1) for begin, _ in spans] + [(end, -1) for _, end in spans])
    bound, done, open_calls, before = total / in_flight, 0.0, 0, 0.0
    for moment, step in steps:
        done += open_calls * (moment - before)
        bound = max(bound, moment + (total - done) / in_flight)
        open_calls, before = open_calls + step, moment
    return bound


def critical_path(spans: Sequence[tuple[float, float]]) -> list[int]:
    """Return the calls of the chain that ends last, oldest first, as positions in `spans`.

    Without a limit a call begins when the one ends that it waits for, so each call follows the latest end before it.
    """
    by_end = sorted(range(len(spans)), key=lambda i: spans[i][1])
    ends = [spans[i][1] for i in by_end]
    path = [by_end[-1]]
    while found := bisect_right(ends, spans[path[0]][0] + CLOCK_S):
        path.insert(0, by_end[found - 1])
    return path


def path_lines(row: Timed) -> list[str]:
    """Return a line of a table for each prompt on the critical path: calls, seconds and share of it."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for i in critical_path(row.spans):
        seconds[row.prompt_ids[i]].append(row.spans[i][1] - row.spans[i][0])
    by_share = sorted(seconds.items(), key=lambda item: -sum(item[1]))
    return [f"| {name} | {len(own)} | {sum(own):.1f} | {sum(own) / row.wall_s:.1%} |" for name, own in by_share]


def measure_over_http(length: str, in_flight: int) -> None:
    """Make a conversation of one plan over HTTP, and print wall time against critical path and sum of latencies."""
    with tempfile.TemporaryDirectory() as folder, loopback("latency_ms=200", "jitter_ms=1800") as base_url:
        spec = HttpSpec(length, base_url, concurrency=in_flight).write(Path(folder))
        command = [sys.executable, "-m", "longbeam", "generate", str(spec), "--runner", "inline", "--out", folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        counts = get_json(f"{base_url.removesuffix('/v1')}/counts?calls=1")
    keys = {UnitKey.parse(key): seconds for key, seconds in counts["latencies_s"].items()}
    units = {f"{key.stage}/{key.unit}": seconds for key, seconds in keys.items()}
    serial_s, chains_s, wall_s = sum(units.values()), longest_chain(units), counts["span_s"]
    bound_s = max(chains_s, serial_s / in_flight)
    print(
        f"{length} over HTTP, {in_flight} in flight: {counts['received']} calls, {serial_s:.0f} s one after the other, "
        f"critical path {chains_s:.0f} s, bound {bound_s:.0f} s, wall {wall_s:.0f} s ({wall_s / bound_s:.3f} of the "
        f"bound, {serial_s / wall_s:.1f} times faster); load {os.getloadavg()[1]:.1f}"
    )


def main() -> None:
    """Print the table as Markdown, a line as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", default="10M")
    parser.add_argument("--conversations", type=int, default=1)
    parser.add_argument("--over-http", action="store_true")
    parser.add_argument("--in-flight", type=int, nargs="*", help="without: 256, 64, 16; over HTTP: 64")
    arguments = parser.parse_args()
    if arguments.over_http:
        for in_flight in arguments.in_flight or (64,):
            measure_over_http(arguments.length, in_flight)
        return
    print(f"{arguments.conversations} x {arguments.length}, latencies 0.5 to 5 s\n")
    print("| in flight | calls | serial h | wall h | times faster | bound h | wall / bound | most in flight |", end="")
    print(f" real s | export |\n{'| --- ' * 10}|", flush=True)
    unlimited = measure(arguments.length, arguments.conversations, NO_LIMIT)
    limits = IN_FLIGHT if arguments.in_flight is None else arguments.in_flight
    for in_flight in (NO_LIMIT, *limits):
        row = unlimited
        if in_flight != NO_LIMIT:
            row = measure(arguments.length, arguments.conversations, in_flight)
        bound_s = bound_of(unlimited.spans, in_flight)
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
            row.export_sha256,
        )
        print("| " + " | ".join(figures) + " |", flush=True)
    print("\n| prompt on the critical path | calls | s | share |\n| --- | --- | --- | --- |")
    print("\n".join(path_lines(unlimited)), flush=True)


if __name__ == "__main__":
    main()
