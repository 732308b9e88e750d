"""Speed and memory of the review server, and what its counter-evidence brings to the eye.

Starts `longbeam review` on a benchmark in a process of its own and asks it as a browser would, each address many times
over items, places and words chosen by a fixed seed; prints median, p95 and worst, and the server's peak memory.
`recall` takes one side of the evidence away from each update and contradiction and says how often the message that was
taken away is among the first messages offered. The log it writes is in a scratch copy: the benchmark stays as it was.

Run: `python -m benchmarks.bench_review output/ten [--times 50]`
     `python -m benchmarks.bench_review output/ten --recall`
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

from longbeam.annotation_ui.archive import Archive
from longbeam.annotation_ui.counter import counter_evidence
from longbeam.pipeline.benchmark import open_benchmark

SEED = 7
WORDS = ("budget", "deadline", "the", "thank you", "2024", "$1", "never", "instead", "table", "zyzzyva")
FIRST_OFFERED = (1, 5, 10, 30)


class Client:
    """A browser without pages."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        self.csrf = self.post("/api/session", {"reviewer_id": "bench"})["csrf"]

    def get(self, path: str) -> Any:
        with self.opener.open(self.base + path) as answer:
            return json.loads(answer.read())

    def post(self, path: str, body: object) -> Any:
        headers = {"Content-Type": "application/json", "X-CSRF-Token": getattr(self, "csrf", "")}
        request = urllib.request.Request(self.base + path, json.dumps(body).encode(), headers)
        with self.opener.open(request) as answer:
            return json.loads(answer.read())


@contextmanager
def serving(root: Path) -> Iterator[tuple[str, int]]:
    """Yield base URL and process id of a server over a copy of a benchmark."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / root.name
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns("work", "reviews.sqlite*", "evaluation"))
        command = [sys.executable, "-m", "longbeam", "review", root.name, "--out", scratch, "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield line.removeprefix("LISTENING ").strip(), process.pid
        finally:
            process.terminate()
            process.wait()


def measure(root: Path, times: int) -> None:
    """Print what each address takes."""
    draw = random.Random(SEED)
    with serving(root) as (base, pid):
        client = Client(base)
        rows = client.get("/queue.json?count=1000")["rows"]
        conversation_id = rows[0]["conversation_id"]
        rows = [row for row in rows if row["conversation_id"] == conversation_id]
        total = client.get(f"/conversations/{conversation_id}/minimap.json")["total"]
        print(f"{root.name}: {len(rows)} items, {total:,} messages, {times} times each")
        print(f"{'':34} {'median':>8} {'p95':>8} {'worst':>8} {'CPU':>8}  (ms)")
        for row in rows:  # the first opening of an item is measured as well
            client.get(row["href"] + ".json?k=1")
        place = f"/conversations/{conversation_id}"
        words = [draw.choice(WORDS) for _ in range(times)]
        asked: dict[str, Callable[[int], Any]] = {
            "item with evidence": lambda i: client.get(rows[draw.randrange(len(rows))]["href"] + ".json?k=1"),
            "next item (k=0)": lambda i: client.get(rows[i % len(rows)]["href"] + ".json"),
            "jump to any message": lambda i: client.get(
                f"{place}/messages.json?first={draw.randrange(total)}&count=12"
            ),
            "search: 20 hits and full count": lambda i: client.get(
                f"{place}/search.json?q={words[i].replace(' ', '+')}"
            ),
            "search: 1 hit": lambda i: client.get(f"{place}/search.json?count=1&q={words[i].replace(' ', '+')}"),
            "minimap": lambda i: client.get(f"{place}/minimap.json"),
            "queue": lambda i: client.get("/queue.json"),
            "save a draft": lambda i: act(
                client, rows[i % len(rows)], {"kind": "drafted", "target": "note", "after": str(i)}
            ),
            "save a verdict": lambda i: judge(client, rows[i % len(rows)]),
            "counter-evidence": lambda i: client.get(rows[i % len(rows)]["href"] + "/counter.json"),
            "panel": lambda i: client.get(rows[i % len(rows)]["href"] + "/panel.json"),
        }
        for name, ask in asked.items():
            report(name, times, ask, pid)
        report("check at once, first", 1, lambda i: client.post(f"/api{rows[0]['href']}/check", {}), pid)
        report("check at once", times, lambda i: client.post(f"/api{rows[i % len(rows)]['href']}/check", {}), pid)
        print(f"server: peak memory {peak_mb(pid)} MB")


def act(client: Client, row: dict[str, Any], body: dict[str, Any]) -> Any:
    """Do something to an item."""
    return client.post(f"/api{row['href']}/acts", body)


def judge(client: Client, row: dict[str, Any]) -> Any:
    """Reject; undone at once, so that the next time meets the same queue. The version comes with the undo."""
    version = versions.get(row["item_id"]) or client.get(row["href"] + ".json")["item_version"]
    body = {"kind": "judged", "after": {"verdict": "reject"}, "reason_code": "other", "item_version": version}
    versions[row["item_id"]] = act(client, row, body)["item"]["item_version"]


versions: dict[str, str] = {}


def report(name: str, times: int, ask: Callable[[int], Any], pid: int) -> None:
    """Print the times of one kind of request, and the server's CPU per request: that is steadier on a busy machine."""
    taken, cpu = [], cpu_s(pid)
    for i in range(times):
        start = time.perf_counter()
        ask(i)
        taken.append((time.perf_counter() - start) * 1000)
    taken.sort()
    p95 = taken[min(len(taken) - 1, round(0.95 * (len(taken) - 1)))]
    print(
        f"{name:34} {statistics.median(taken):8.1f} {p95:8.1f} {taken[-1]:8.1f} "
        f"{(cpu_s(pid) - cpu) / times * 1000:8.1f}",
        flush=True,
    )


def cpu_s(pid: int) -> float:
    """Return the CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mb(pid: int) -> int:
    """Return the most memory that a process ever had, in MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) // 1024


def recall(root: Path) -> None:
    """Print how often a message taken from the evidence is offered again, and how high."""
    archive = Archive(open_benchmark(root.parent, root.name))
    places: dict[str, list[int | None]] = {"knowledge_update": [], "contradiction_resolution": []}
    for conversation_id, probes in archive.probes():
        conversation = archive.conversation(conversation_id)
        for probe in probes.values():
            if probe.ability in places and len({e.message_key for e in probe.evidence}) == 2:
                taken = probe.evidence[-1].message_key
                half = tuple(e for e in probe.evidence if e.message_key != taken)
                # A half probe's gold is the first value: whoever wrote it knew nothing of the second.
                gold = probe.details.old_value or half[0].quote
                seeded = probe.model_copy(update={"evidence": half, "gold_answer": gold, "rubric": probe.rubric[:1]})
                nugget = seeded.rubric[0].model_copy(update={"text": gold})
                found = counter_evidence(
                    conversation, conversation_id, seeded.model_copy(update={"rubric": (nugget,)}), most=200
                )
                keys = [c.message_key for c in found.candidates]
                places[probe.ability].append(keys.index(taken) + 1 if taken in keys else None)
    for ability, ranks in places.items():
        shares = [sum(r is not None and r <= n for r in ranks) / max(len(ranks), 1) for n in FIRST_OFFERED]
        told = ", ".join(f"first {n}: {share:.0%}" for n, share in zip(FIRST_OFFERED, shares, strict=True))
        print(f"{ability}: {len(ranks)} seeded; {told}")


def main() -> None:
    """Measure what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmark", type=Path, help="folder of a benchmark")
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--recall", action="store_true")
    given = parser.parse_args()
    if given.recall:
        recall(given.benchmark)
    else:
        measure(given.benchmark, given.times)


if __name__ == "__main__":
    main()
