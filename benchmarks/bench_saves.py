"""Waiting times of saves while eight reviewers save at once, here and in another checkout, by turns.

Each round starts `longbeam review` in a process of its own over a new benchmark. Eight threads save fifty drafts each,
on items of their own; then they save fifty edits each on one item, as one reviewer in eight tabs, each from the version
that the thread has just read: most of those are refused. The benchmark prints median, p95 and worst time of a save, and
the server's CPU per save. `--against` names a checkout of another commit; rounds of the two alternate, so that a busy
machine slows both.

Run: `python -m benchmarks.bench_saves [--rounds 5] [--against ../checkout-of-another-commit]`
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx

THREADS, SAVES = 8, 50
NAME = "saves"
HERE = Path(__file__).parents[1]


def generate(tree: Path, out: Path) -> None:
    """Generate a small benchmark with the code of a checkout."""
    given = ["--name", NAME, "--length", "16K", "--conversations", "1", "--runner", "inline", "--out", str(out)]
    subprocess.run([sys.executable, "-m", "longbeam", "generate", *given], check=True, capture_output=True, **_in(tree))


@contextmanager
def serving(tree: Path, made: Path) -> Iterator[tuple[str, int]]:
    """Yield base URL and process id of a checkout's server over a copy of a benchmark."""
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(made, scratch, dirs_exist_ok=True)
        command = [sys.executable, "-m", "longbeam", "review", NAME, "--port", "0", "--overlap", "9", "--out", scratch]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **_in(tree))
        try:
            assert process.stdout is not None
            yield process.stdout.readline().removeprefix("LISTENING ").strip(), process.pid
        finally:
            process.terminate()
            process.communicate()


def _in(tree: Path) -> dict[str, object]:
    return {"cwd": tree, "env": {**os.environ, "PYTHONPATH": str(tree)}}


class Tab:
    """A browser tab of a reviewer, without its pages."""

    def __init__(self, base: str, name: str) -> None:
        self.http = httpx.Client(base_url=base, timeout=60)
        session = self.http.post("/api/session", json={"reviewer_id": name}).json()
        self.http.headers["X-CSRF-Token"] = session["csrf"]

    def save(self, item: str, kind: str, text: str, version: str = "") -> float:
        """Save a gold answer; returns ms."""
        body = {"kind": kind, "target": "gold_answer", "after": text, "item_version": version}
        begun = time.perf_counter()
        answer = self.http.post(f"/api{item}/acts", json=body)
        assert answer.status_code in (200, 409), answer.text
        return (time.perf_counter() - begun) * 1000


def measure(base: str, pid: int) -> dict[str, list[float]]:
    """Return the waiting times in ms by kind of save, and the server's CPU in ms per save."""
    with httpx.Client(base_url=base, timeout=60) as http:
        items = [row["href"] for row in http.get("/queue.json?count=100").json()["rows"]][:THREADS]

    def drafts(number: int) -> list[float]:
        tab = Tab(base, f"r{number}")
        return [tab.save(items[number], "drafted", f"{number}: draft {i}") for i in range(SAVES)]

    def edits(number: int) -> list[float]:
        tab = Tab(base, "racer")
        taken = []
        for i in range(SAVES):
            version = tab.http.get(f"{items[0]}.json").json()["item_version"]
            taken.append(tab.save(items[0], "edited", f"{number}.{i}", version))
        return taken

    before = _cpu_s(pid)
    found = {"drafts": _all(drafts), "racing edits": _all(edits)}
    spent = _cpu_s(pid) - before
    return {**found, "CPU": [spent * 1000 / (2 * THREADS * SAVES)]}


def _all(work: Callable[[int], list[float]]) -> list[float]:
    with ThreadPoolExecutor(THREADS) as pool:
        return [ms for taken in pool.map(work, range(THREADS)) for ms in taken]


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def report(name: str, taken: list[float]) -> None:
    """Print median, p95 and worst."""
    found = sorted(taken)
    p95 = found[min(len(found) - 1, round(0.95 * (len(found) - 1)))]
    print(f"{name:40} {statistics.median(found):7.1f} {p95:7.1f} {found[-1]:7.1f}", flush=True)


def main() -> None:
    """Run the rounds and print their times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", type=Path, help="a checkout of another commit")
    given = parser.parse_args()
    trees = {"here": HERE, **({"against": given.against.resolve()} if given.against else {})}
    found: dict[str, dict[str, list[float]]] = {name: {} for name in trees}
    with tempfile.TemporaryDirectory() as scratch:
        for name, tree in trees.items():
            generate(tree, Path(scratch) / name)
        print(f"{'ms':40} {'median':>7} {'p95':>7} {'worst':>7}")
        for number in range(given.rounds):
            for name, tree in trees.items():
                with serving(tree, Path(scratch) / name) as (base, pid):
                    measured = measure(base, pid)
                for kind, taken in measured.items():
                    found[name].setdefault(kind, []).extend(taken)
                saves = measured["drafts"] + measured["racing edits"]
                report(f"round {number + 1}, {name}, load {os.getloadavg()[0]:.1f}", saves)
    for name, kinds in found.items():
        for kind, taken in kinds.items():
            report(f"{name}: {kind}", taken)
        report(f"{name}: all saves", kinds["drafts"] + kinds["racing edits"])


if __name__ == "__main__":
    main()
