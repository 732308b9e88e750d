"""A conversation made over HTTP against the loopback server, 50 ms a call, 64 calls at once.

Shows how close the time from the first to the last model call comes to the critical path, what a call costs in CPU,
from prompt to record, and a run per call, with the checks of what replies say (the slope between a shorter and a longer
run, which leaves out start-up), memory with and without Prefect, and beside it the CPU of independent calls made with
two other clients. Of five runs of each length the one with the least CPU counts.

A run sends what it would send to a real endpoint: the server tells again what the offline writer said to the same
requests before (`serve-offline --recorded`), so the typed inputs need not travel. What a run of real models costs is
estimated once, before its first run, by a rehearsal; that is not measured here. `--typed` measures runs that say
`sends_extras = true` instead, whose every request is sent twice: as messages and as typed inputs.

A conversation keeps four (128K) to nine (512K) calls in flight on average, and the process waits between them;
`--conversations 8` makes eight at once: 18 and 38 in flight, and a process that hardly waits.

The server and this benchmark keep to one core, and what is measured to the others: an endpoint would be elsewhere,
and here the kernel often wakes the server on the core that has just sent it a request (`--beside` lets it).
Run: `python -m benchmarks.bench_http [--quick] [--typed] [--beside] [--conversations N]`.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.bench_generate import Watch
from longbeam.keys import UnitKey

N = TypeVar("N", int, float)
LATENCY_MS, CONCURRENCY, CALLS = 50, 64, 1_000
MEMORY_BYTES = 512 * 2**20
LENGTHS, ROUNDS = ("128K", "512K"), 5
"""Rounds per length. Other processes only add CPU to a run (cold caches), so the least of the rounds counts."""
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Modules are compiled once, as for a user, and not in the middle of every run that is measured."""
SPEC = """
name = "bench"
length = "{length}"
conversations = {conversations}
domains = ["coding"]
models = {{ default = "openai:offline" }}
[endpoints."openai:offline"]
base_url = "{base_url}"
structured = "json_schema"
sends_extras = {sends_extras}
limits = {{ concurrency = {concurrency} }}
[checks]
model = false
[limits]
concurrency = {concurrency}
"""
PEERS = {
    "AsyncOpenAI": (
        "openai>=3,<4",
        "import openai; client = openai.AsyncOpenAI(base_url=url, api_key='k')\n"
        "async def one(i): await client.chat.completions.create(model='m', messages=said(i))",
    ),
    "litellm acompletion": (
        "litellm",
        "import litellm\nasync def one(i): await litellm.acompletion('openai/m', said(i), api_base=url, api_key='k')",
    ),
}
YARDSTICK = PEERS["AsyncOpenAI"][1]
PEER_SCRIPT = """
import asyncio, sys, time
url, calls, at_once = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def said(i): return [dict(role='user', content=f'{{i}} ' + 'word ' * 200)]
{client}
async def main():
    gate = asyncio.Semaphore(at_once)
    async def gated(i):
        async with gate: await one(i)
    await one(-1)
    cpu, wall = time.process_time(), time.monotonic()
    await asyncio.gather(*(gated(i) for i in range(calls)))
    print((time.process_time() - cpu) / calls * 1000, time.monotonic() - wall)
asyncio.run(main())
"""


@dataclass(frozen=True)
class Made:
    """One run."""

    calls: int
    cpu_s: float
    span_s: float
    """From the first call's arrival at the server to the last reply."""
    critical_s: float
    """The longest chain of dependent calls, by the latency."""
    peak_mb: float
    children_mb: float
    server_cpu_s: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="128K and 512K inline only")
    parser.add_argument("--typed", action="store_true", help="send the typed inputs, too")
    parser.add_argument("--conversations", type=int, default=1, help="made at once; ratios are of the first one's path")
    parser.add_argument("--beside", action="store_true", help="let the server use the cores of what is measured")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _on_one_core(is_wanted=not arguments.beside):
        _measure_all(
            Path(folder), is_quick=arguments.quick, is_typed=arguments.typed, conversations=arguments.conversations
        )
        if not arguments.quick:
            _measure_peers()


def _measure_all(folder: Path, *, is_quick: bool, is_typed: bool, conversations: int) -> None:
    columns = "length", "runner", "calls", "span s", "critical path s", "ratio", "CPU s", "peak MB", "children MB"
    print(f"| {' | '.join(columns)} | server ms/call |")
    print("| --- " * 10 + "|")
    recorded = {length: None if is_typed else record(folder / length, length, conversations) for length in LENGTHS}
    measure("16K", "inline")  # not shown: it compiles the modules, which would count as CPU of the shorter run
    rounds = [[measure(length, "inline", recorded[length], conversations) for length in LENGTHS] for _ in range(ROUNDS)]
    short, long = (min(made, key=lambda m: m.cpu_s) for made in zip(*rounds, strict=True))
    for length, made in zip(LENGTHS, (short, long), strict=True):
        _show(length, "inline", made)
    if not is_quick:
        _show("128K", "prefect", measure("128K", "prefect", recorded["128K"], conversations))
    slope = (long.cpu_s - short.cpu_s) / (long.calls - short.calls) * 1000
    own = min(_independent(sys.executable, "-m", "benchmarks.own_calls")[0] for _ in range(3))
    bare = min(_independent(sys.executable, "-c", PEER_SCRIPT.format(client=YARDSTICK))[0] for _ in range(3))
    print(
        f"\nCPU per call: {own:.2f} ms from prompt to record (benchmarks.own_calls); `chat.completions.create`"
        f" of the openai package alone {bare:.2f} ms (best of 3; load {os.getloadavg()[0]:.1f})\n"
        f"CPU of a run per call, with stages, checks of what replies say and probes, as the slope of 128K to 512K:"
        f" {slope:.2f} ms"
    )


def _show(length: str, runner: str, made: Made) -> None:
    print(
        f"| {length} | {runner} | {made.calls} | {made.span_s:.2f} | {made.critical_s:.2f} |"
        f" {made.span_s / made.critical_s:.2f} | {made.cpu_s:.2f} | {made.peak_mb:.0f} | {made.children_mb:.0f} |"
        f" {made.server_cpu_s / made.calls * 1000:.2f} |",
        flush=True,
    )


def record(folder: Path, length: str, conversations: int = 1) -> Path:
    """Make conversations with the offline writer over HTTP, and once more from the recording; return its folder.

    The second time leaves a rehearsal there, which a run of models that cost anything makes once and keeps.
    """
    with loopback() as base_url:
        _generate(HttpSpec(length, base_url, conversations).write(folder), folder / "recorded")
    with loopback("--recorded", "bench", "--out", str(folder / "recorded")) as base_url:
        spec = HttpSpec(length, base_url, conversations, sends_extras=False).write(folder)
        _generate(spec, folder / "rehearsed")
    return folder


def measure(length: str, runner: str, recorded: Path | None = None, conversations: int = 1) -> Made:
    """Make conversations in a folder of its own, of what was recorded or else of typed inputs."""
    of_recording = () if recorded is None else ("--recorded", "bench", "--out", str(recorded / "recorded"))
    with (
        tempfile.TemporaryDirectory() as name,
        loopback(f"latency_ms={LATENCY_MS}", *of_recording) as base_url,
    ):
        folder, out = Path(name), Path(name, "out")
        if recorded is not None:
            (out / "bench").mkdir(parents=True)
            shutil.copy(recorded / "rehearsed" / "bench" / "rehearsal.json", out / "bench")
        spec = HttpSpec(length, base_url, conversations, sends_extras=recorded is None).write(folder)
        _take_memory()
        used, watch = _generate(spec, out, runner)
        counts = get_json(f"{base_url.removesuffix('/v1')}/counts")
        chain = longest_chain(calls_of(out / "bench" / "work" / "c000.sqlite"))
    return Made(
        calls=counts["received"],
        cpu_s=used.ru_utime + used.ru_stime,
        span_s=counts["span_s"],
        critical_s=chain * LATENCY_MS / 1000,
        peak_mb=watch.own_mb,
        children_mb=watch.children_mb,
        server_cpu_s=counts["cpu_s"],
    )


@dataclass(frozen=True)
class HttpSpec:
    """The spec of conversations that are generated over HTTP."""

    length: str
    base_url: str
    conversations: int = 1
    concurrency: int = CONCURRENCY
    sends_extras: bool = True

    def write(self, folder: Path) -> Path:
        """Write the spec into a folder, made where there is none; return its path."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "bench.toml"
        path.write_text(SPEC.format(**asdict(self) | {"sends_extras": str(self.sends_extras).lower()}))
        return path


def _generate(spec: Path, out: Path, runner: str = "inline") -> tuple[resource.struct_rusage, Watch]:
    command = [sys.executable, "-m", "longbeam", "generate", str(spec), "--runner", runner, "--out", str(out)]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT, preexec_fn=_leave_that_core
    )
    watch = Watch(process.pid)
    watch.start()
    _, status, used = os.wait4(process.pid, 0)
    watch.join()
    if status != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return used, watch


def _take_memory() -> None:
    """Use some memory and give it back.

    A virtual machine may take back for its host what is free for two seconds; getting it again costs 2.5 ms of CPU a
    MB instead of 0.1, and counts as the run's own: 0.1 s more or less of 3.
    """
    with mmap.mmap(-1, MEMORY_BYTES) as memory:
        if hasattr(mmap, "MADV_HUGEPAGE"):
            memory.madvise(mmap.MADV_HUGEPAGE)
        memory[:: mmap.PAGESIZE] = bytes(MEMORY_BYTES // mmap.PAGESIZE)


@contextmanager
def _on_one_core(*, is_wanted: bool) -> Iterator[None]:
    """Keep to the last core, with the servers that are started meanwhile; where there are several, and it is wanted."""
    if not is_wanted or len(CORES) < 2:
        yield
        return
    os.sched_setaffinity(0, CORES[-1:])
    try:
        yield
    finally:
        os.sched_setaffinity(0, CORES)


def _leave_that_core() -> None:
    """In a new process: use the cores that this benchmark and its server do not keep to."""
    if CORES and len(os.sched_getaffinity(0)) < len(CORES):
        os.sched_setaffinity(0, CORES[:-1])


def calls_of(work_log: Path) -> Counter[str]:
    """Return the calls of each unit (`dialogue/p0.s1`) of a conversation."""
    with sqlite3.connect(f"file:{work_log}?mode=ro", uri=True) as db:
        keys = [UnitKey.parse(key) for (key,) in db.execute("SELECT unit_key FROM replies")]
    return Counter(f"{key.stage}/{key.unit}" for key in keys)


def longest_chain(units: Mapping[str, N]) -> N:
    """Return how much of a conversation of one plan had to wait for each other: the calls of a unit are one chain.

    `units`: calls, or seconds of them, by unit.

    Personality and narratives go side by side; then the outline, the stages one after the other, their special
    bullets side by side, the turns of the sub-plans side by side and their batches one after the other, the dialogues
    side by side and what settles their length one after the other, and for each ability the candidates and then their
    wordings side by side.
    """
    by_stage: dict[str, dict[str, N]] = {}
    for key, calls in units.items():
        stage, _, unit = key.partition("/")
        by_stage.setdefault(stage, {})[unit] = calls
    plan, dialogue, probes = by_stage["plan"], by_stage["dialogue"], by_stage["probes"]
    abilities = {unit.partition(".")[0] for unit in probes}
    batches: defaultdict[str, list[N]] = defaultdict(list)
    for unit, calls in by_stage["user_turns"].items():
        batches[unit.rpartition(".b")[0]].append(calls)
    return (
        max(by_stage["persona"].values())
        + sum(calls for unit, calls in plan.items() if not unit.endswith(".special"))
        + max((calls for unit, calls in plan.items() if unit.endswith(".special")), default=0)
        + max(sum(calls) for calls in batches.values())
        + max(calls for unit, calls in dialogue.items() if ".settle" not in unit)
        + sum(calls for unit, calls in dialogue.items() if ".settle" in unit)
        + max(
            probes.get(f"{ability}.candidates", 0)
            + max((c for u, c in probes.items() if u.startswith(f"{ability}.") and "candidates" not in u), default=0)
            for ability in abilities
        )
    )


def _measure_peers() -> None:
    print(f"\nIndependent calls, {CALLS} of them, {CONCURRENCY} at once (ideal {CALLS / CONCURRENCY * 0.05:.2f} s):")
    for name, (requirement, client) in PEERS.items():
        with tempfile.TemporaryDirectory() as folder:
            python = Path(folder, "venv", "bin", "python")
            try:
                for command in (["uv", "venv", str(Path(folder, "venv"))], _install(python, requirement)):
                    subprocess.run(command, check=True, capture_output=True, timeout=300)
                cpu_ms, wall_s = _independent(str(python), "-c", PEER_SCRIPT.format(client=client))
            except (OSError, subprocess.SubprocessError) as exc:
                print(f"  {name}: skipped, {exc}")
                continue
            print(f"  {name}: {cpu_ms:.2f} ms CPU per call, {wall_s:.2f} s")


def _independent(*script: str) -> tuple[float, float]:
    """Make the same number of independent calls with a Python and its script; return CPU (ms) per call and wall (s)."""
    with loopback(f"latency_ms={LATENCY_MS}", "fixed_reply_tokens=200") as base_url:
        done = subprocess.run(
            [*script, base_url, str(CALLS), str(CONCURRENCY)],
            capture_output=True, text=True, timeout=300, check=True, env=ENVIRONMENT, preexec_fn=_leave_that_core,
        )  # fmt: skip
    cpu_ms, wall_s = done.stdout.split()[-2:]
    return float(cpu_ms), float(wall_s)


def _install(python: Path, requirement: str) -> list[str]:
    return ["uv", "pip", "install", "--python", str(python), requirement]


@contextmanager
def loopback(*settings: str) -> Iterator[str]:
    """A loopback server with these settings; gives its base URL."""
    command = [sys.executable, "-m", "longbeam", "serve-offline", "--port", "0", *settings]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[1]
        finally:
            process.terminate()
            time.sleep(0.1)


def get_json(address: str) -> Any:  # Any: JSON
    """Return what an address answers."""
    with urllib.request.urlopen(address, timeout=30) as reply:
        return json.load(reply)


if __name__ == "__main__":
    main()
