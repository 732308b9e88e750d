"""Time, memory and disk of a conversation from nothing to a validated export, and how they grow with its length.

Each step (generate inline, validate, export, stats) is a process of its own; peak memory is the largest of the first
three. Each run is appended to a JSON file, so that hours of runs may be spread over a day; `plot` draws the file and
prints the tables of docs/lengths.md.

Run: `python -m benchmarks.bench_lengths run --length 10M --strategy hierarchical --results docs/lengths.json`
     `python -m benchmarks.bench_lengths plot --results docs/lengths.json --to docs/lengths.svg`
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from longbeam.schemas import digest_of, parse_length
from longbeam.store import SealedConversation

MB = 1e6
KIBIBYTES_PER_MB = 1024
TABLES = ("conversations.jsonl", "messages.jsonl", "probes.jsonl")
STEPS = ("generate", "validate", "export", "stats")
COUNTED = STEPS[:3]
"""Steps from nothing to a validated export."""


@dataclass(frozen=True)
class Step:
    """One command: seconds and megabytes."""

    wall_s: float
    cpu_s: float
    peak_mb: float


@dataclass(frozen=True)
class Run:
    """One conversation, from nothing to its export."""

    length: str
    strategy: str
    tokens: int
    plans: int
    steps: dict[str, Step]
    work_mb: float
    """Size of the work log."""
    sealed_mb: float
    export_mb: float
    off_target: float
    """Difference from the tokens asked for, as a share of them."""
    worst_plan: float
    """`off_target` of the plan that is furthest off."""
    findings: dict[str, int]
    """Findings by severity."""
    median_span: float | None
    """Median span of the evidence of probes that cite several messages, as a share of the conversation."""
    load: float
    """Load average of the last five minutes, at the end of the run."""
    loop_s: float
    """Mean seconds of `loop_s` between the steps: the speed of the machine."""
    export_sha256: str
    """`digest_of_export`; bench_latency prints the same."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure one run, or draw the measured runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "plot"))
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--length", default="10M")
    parser.add_argument("--strategy", choices=("sequential", "hierarchical"), default="sequential")
    parser.add_argument("--to", type=Path, help="the SVG file")
    given = parser.parse_args(arguments)
    runs = json.loads(given.results.read_text()) if given.results.exists() else []
    if given.what == "run":
        with tempfile.TemporaryDirectory() as folder:
            runs.append(asdict(measure(given.length, given.strategy, Path(folder))))
        given.results.write_text(json.dumps(runs, indent=1) + "\n")
    print(tables(runs))
    if given.to is not None:
        draw(runs, given.to)


def measure(length: str, strategy: str, out: Path) -> Run:
    """Make one conversation in a folder of its own, validate it, export it, count it."""
    many = ["--strategy", strategy] if parse_length(length) > 1_000_000 else []
    place, target = ["--out", str(out)], out / "export"
    speed = [loop_s()]
    steps, said = {}, {}
    for name, arguments in {
        "generate": ("--name", "bench", "--length", length, *many, "--runner", "inline"),
        "validate": ("bench", "--json"),
        "export": ("bench", "--format", "jsonl", "--to", str(target)),
        "stats": ("bench", "--json"),
    }.items():
        steps[name], said[name] = timed(name, *arguments, *place, may_fail=name == "validate")
        speed.append(loop_s())
    tables = json.loads(said["stats"])
    sealed = next((out / "bench" / "conversations").glob("*.duckdb"))
    with SealedConversation(sealed) as reader:
        target_tokens = reader.head.target_tokens
        by_plan = reader.connection.execute("SELECT plan_index, sum(tokens) FROM messages GROUP BY ALL").fetchall()
    tokens, share = sum(n for _, n in by_plan), target_tokens / len(by_plan)
    return Run(
        length=length,
        strategy=strategy if many else "",
        tokens=tokens,
        plans=len(by_plan),
        steps=steps,
        work_mb=size_mb(out / "bench" / "work"),
        sealed_mb=size_mb(sealed.parent),
        export_mb=size_mb(target),
        off_target=tokens / target_tokens - 1,
        worst_plan=max((n / share - 1 for _, n in by_plan), key=abs),
        findings=dict(Counter(f["severity"] for f in json.loads(said["validate"]))),
        median_span=tables["median_span"],
        load=os.getloadavg()[1],
        loop_s=sum(speed) / len(speed),
        export_sha256=digest_of_export(target),
    )


def loop_s() -> float:
    """Return the seconds of CPU of three million steps of plain Python: the present speed of the machine."""
    begun, seen, x = time.process_time(), {}, 0
    for i in range(3_000_000):
        x = (x * 31 + i) & 0xFFFF
        seen[x] = i
    return time.process_time() - begun


def timed(*arguments: str, may_fail: bool = False) -> tuple[Step, str]:
    """Run a step in a process of its own; return the resources that it used, and its output."""
    begun = time.monotonic()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen([sys.executable, "-m", "longbeam", *arguments], stdout=said)
        _, status, used = os.wait4(process.pid, 0)
        said.seek(0)
        output = said.read()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode and not may_fail:
        raise SystemExit(f"{' '.join(arguments)} failed")
    kibibytes = used.ru_maxrss if sys.platform != "darwin" else used.ru_maxrss / KIBIBYTES_PER_MB
    return Step(time.monotonic() - begun, used.ru_utime + used.ru_stime, kibibytes / KIBIBYTES_PER_MB), output


def digest_of_export(folder: Path) -> str:
    """Return the first digits of a SHA-256 over the digests of the three tables of a JSONL export."""
    files = json.loads((folder / "manifest.json").read_text())["files"]
    return digest_of([files[name]["sha256"] for name in TABLES])[:12]


def size_mb(folder: Path) -> float:
    """Return the megabytes of a folder's files."""
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) / MB


# --- tables and plot --------------------------------------------------------------------------------------


def tables(runs: Sequence[dict[str, Any]]) -> str:
    """Return the table of runs, and the table of ratios between lengths, as Markdown."""
    lines = [
        f"{platform.machine()}, Python {platform.python_version()}, {os.cpu_count()} cores",
        "",
        "| length | strategy | generate: wall s, CPU s | validate | export | in all: CPU s | peak MB | disk MB: "
        "work log, sealed, export | tokens off | worst plan | errors, warnings | evidence span | load |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for run in ordered(runs):
        steps = run["steps"]
        each = [f"{steps[s]['wall_s']:.0f}, {steps[s]['cpu_s']:.1f}" for s in COUNTED]
        span = "" if run["median_span"] is None else f"{run['median_span']:.1%}"
        cells = (
            run["length"],
            run["strategy"] or "one plan",
            *each,
            f"{cpu(run):.1f}",
            f"{peak(run):.0f}",
            f"{run['work_mb']:.0f}, {run['sealed_mb']:.0f}, {run['export_mb']:.0f}",
            f"{run['off_target']:+.2%}",
            f"{run['worst_plan']:+.2%}",
            f"{run['findings'].get('error', 0)}, {run['findings'].get('warning', 0)}",
            span,
            f"{run['load']:.1f}",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *_ratios(runs)])


def _ratios(runs: Sequence[dict[str, Any]]) -> list[str]:
    lines = ["| ratio | tokens | CPU | disk | peak memory |", "| --- | --- | --- | --- | --- |"]
    for small, large in (("1M", "10M"), ("10M", "50M")):
        for strategy in ("sequential", "hierarchical"):
            one = next((r for r in runs if r["length"] == small and r["strategy"] in ("", strategy)), None)
            other = next((r for r in runs if r["length"] == large and r["strategy"] == strategy), None)
            if one is not None and other is not None:
                ratios = (of(other) / of(one) for of in (lambda r: r["tokens"], cpu, disk, peak))
                lines.append(f"| {large} / {small}, {strategy} | {' | '.join(f'{r:.2f}' for r in ratios)} |")
    return lines


def ordered(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the runs by length, then strategy."""
    return sorted(runs, key=lambda r: (r["tokens"] // 100_000, r["strategy"], r["tokens"]))


def cpu(run: dict[str, Any]) -> float:
    """Return the seconds of CPU from nothing to a validated export."""
    return sum(float(run["steps"][s]["cpu_s"]) for s in COUNTED)


def peak(run: dict[str, Any]) -> float:
    """Return the peak memory of the three steps, MB."""
    return max(float(run["steps"][s]["peak_mb"]) for s in COUNTED)


def disk(run: dict[str, Any]) -> float:
    """Return the size of all files that are left on disk, MB."""
    return float(run["work_mb"] + run["sealed_mb"] + run["export_mb"])


def draw(runs: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw CPU, memory and disk over the length, both axes logarithmic, with a straight line for comparison."""
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams["svg.hashsalt"] = "longbeam"  # the same bytes for the same figures
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    panels = figure.subplots(1, 3)
    for axes, (name, of) in zip(panels, (("CPU, s", cpu), ("disk, MB", disk), ("peak memory, MB", peak)), strict=True):
        for strategy, marker in (("sequential", "o"), ("hierarchical", "s")):
            shown = [r for r in ordered(runs) if r["strategy"] in ("", strategy)]
            axes.plot([r["tokens"] for r in shown], [of(r) for r in shown], marker=marker, label=strategy)
        base = next(r for r in ordered(runs) if r["length"] == "1M")
        if of is not peak:
            ends = [ordered(runs)[0]["tokens"], ordered(runs)[-1]["tokens"]]
            axes.plot(ends, [of(base) * n / base["tokens"] for n in ends], "--", color="grey", label="straight line")
            axes.set_yscale("log")
        else:
            axes.set_ylim(0, 1.15 * max(of(r) for r in runs))
        axes.set_xscale("log")
        axes.set_xlabel("tokens")
        axes.set_title(name)
        axes.grid(alpha=0.3)
    panels[0].legend()
    figure.suptitle("From nothing to a validated export, offline, inline")
    figure.savefig(path, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
