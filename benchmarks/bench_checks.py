"""Cost of all checks: `python -m benchmarks.bench_checks [--beam FOLDER] [--benchmark NAME --out OUT] [--repeat 3]`.

`longbeam validate --json` in a process of its own, over the conversations of BEAM's release (imported first, which does
not count) or over a benchmark that is there: wall time, CPU time (user and system) and the most memory it held. Figures
of several runs are in docs/checks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

BEAM = Path(__file__).resolve().parents[2] / "shared" / "data" / "beam" / "100K"


def main() -> None:
    """Print a line for each run, and what was found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_checks", description=__doc__)
    parser.add_argument("--beam", type=Path, default=BEAM, help="BEAM's folder of conversations of one size")
    parser.add_argument("--benchmark", help="the name of a benchmark, in place of BEAM")
    parser.add_argument("--out", type=Path, help="where the benchmark is")
    parser.add_argument("--repeat", type=int, default=3)
    chosen = parser.parse_args()
    if chosen.benchmark:
        measure(chosen.benchmark, chosen.out, chosen.repeat)
        return
    with tempfile.TemporaryDirectory(prefix="longbeam-bench-") as folder:
        command = [sys.executable, "-m", "longbeam", "import", "beam", chosen.beam, "--name", "beam", "--out", folder]
        subprocess.run([str(part) for part in command], check=True, capture_output=True)
        measure("beam", Path(folder), chosen.repeat)


def measure(name: str, out: Path | None, repeat: int) -> None:
    """Validate a benchmark several times."""
    place = ["--out", str(out)] if out else []
    for _ in range(repeat):
        with tempfile.TemporaryFile() as printed:
            began = time.perf_counter()
            process = subprocess.Popen(
                [sys.executable, "-m", "longbeam", "validate", name, "--json", *place],
                stdout=printed,
                stderr=subprocess.DEVNULL,
            )
            _, _, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - began
            printed.seek(0)
            found = Counter(finding["severity"] for finding in json.load(printed))
        counts = ", ".join(f"{found[severity]} {severity}" for severity in ("error", "warning", "info"))
        cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
        load = os.getloadavg()[0]
        print(f"{name}: {wall:.1f} s, {cpu:.1f} s of CPU, {memory:.0f} MiB; {counts}; load {load:.1f}")


if __name__ == "__main__":
    main()
