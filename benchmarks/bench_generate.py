"""Wall time and peak memory of whole runs, inline and with Prefect, from nothing to sealed conversations.

Each run is a process of its own. `peak` is the largest resident set of the command itself; Prefect's server is a
child, whose largest resident set is shown apart. Run: `python -m benchmarks.bench_generate [--quick]`.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

RUNS = (("128K", "inline"), ("1M", "inline"), ("128K", "prefect"), ("1M", "prefect"))
SAMPLE_S = 0.05


@dataclass(frozen=True)
class Measured:
    """One run: seconds and megabytes."""

    length: str
    runner: str
    wall_s: float
    peak_mb: float
    children_mb: float


def main() -> None:
    """Run the table and print it as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="128K inline only")
    parser.add_argument("--domain", default="coding")
    arguments = parser.parse_args()
    print(f"{platform.machine()}, Python {platform.python_version()}, domain {arguments.domain}\n")
    print("| length | runner | wall s | peak MB | children MB |\n| --- | --- | --- | --- | --- |")
    for length, runner in RUNS[:1] if arguments.quick else RUNS:
        row = measure(length, runner, arguments.domain)
        print(f"| {row.length} | {row.runner} | {row.wall_s:.1f} | {row.peak_mb:.0f} | {row.children_mb:.0f} |")


def measure(length: str, runner: str, domain: str) -> Measured:
    """Make one conversation in a folder of its own."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "longbeam", "generate", "--name", "bench", "--length", length]
        command += ["--domain", domain, "--runner", runner, "--out", out]
        begun = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            watch = Watch(process.pid)
            watch.start()
            if process.wait() != 0:
                raise SystemExit(f"{' '.join(command)} failed")
        wall = time.monotonic() - begun
        watch.join()
    return Measured(length, runner, wall, watch.own_mb, watch.children_mb)


class Watch(threading.Thread):
    """Samples the resident sets of a process and its children until it is gone (Linux)."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self.own_mb = 0.0
        self.children_mb = 0.0

    def run(self) -> None:
        """Sample; what has gone between two looks is left out."""
        while (own := _peak_mb(self._pid)) is not None:
            self.own_mb = max(self.own_mb, own)
            self.children_mb = max(self.children_mb, sum(_peak_mb(c) or 0.0 for c in _children(self._pid)))
            time.sleep(SAMPLE_S)


def _peak_mb(pid: int) -> float | None:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    found = next((line for line in status.splitlines() if line.startswith("VmHWM:")), None)
    return int(found.split()[1]) / 1024 if found else None


def _children(pid: int) -> list[int]:
    try:
        return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


if __name__ == "__main__":
    main()
