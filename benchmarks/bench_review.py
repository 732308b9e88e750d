"""Speed and memory of the review pages in Chromium, and recall of the counter-evidence.

The benchmark starts `longbeam review` in a process of its own and reviews by keyboard, each act many times over items,
places and words chosen by a fixed seed. It prints median, p95 and worst time from the key press to the drawn page, and
peak memory. With `--recall` it removes one side of the evidence from each update and contradiction, and prints how
often the removed message is among the first messages offered. It writes into a scratch copy of the benchmark.

Run: `python -m benchmarks.bench_review output/ten [--times 50]`
     `python -m benchmarks.bench_review output/ten --recall`
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from longbeam.review import Archive, counter_evidence
from longbeam.store import open_benchmark

SEED = 7
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WORDS = ("budget", "deadline", "the", "thank you", "2024", "$1", "never", "instead", "table", "zyzzyva")
FIRST_OFFERED = (1, 5, 10, 30)


@contextmanager
def serving(root: Path) -> Iterator[tuple[str, int]]:
    """Yield base URL and process id of a server over a copy of a benchmark."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / root.name
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns("work", "reviews.sqlite*", "evaluation"))
        command = [sys.executable, "-m", "longbeam", "review", root.name, "--out", scratch, "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield line.removeprefix("LISTENING ").strip(), process.pid
        finally:
            process.terminate()
            process.wait()


def measure(root: Path, times: int) -> None:
    """Print a reviewer's waiting times, from the key press to the drawn page, and the memory of page and server."""
    draw = random.Random(SEED)
    with serving(root) as (base, pid), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        page.request.post(f"{base}/api/session", data={"reviewer_id": "bench"})
        rows = page.request.get(f"{base}/queue.json?count=1000").json()["rows"]
        cited = [row for row in rows if row["evidence"]]
        page.goto(base + cited[0]["href"])
        page.wait_for_selector(".message.target")
        total = page.request.get(f"{base}/conversations/{cited[0]['conversation_id']}/minimap.json").json()["total"]
        print(f"{root.name}: {len(rows)} items, {total:,} messages; {times} times each, load {os.getloadavg()[0]:.1f}")
        page.wait_for_timeout(WARM_MS)  # checks and search are prepared in the background when an item is opened
        print(f"{'':34} {'median':>8} {'p95':>8} {'worst':>8} {'CPU':>8}  (ms)")
        meter = Meter(browser, pid)
        meter.report(
            "open an item with its evidence", [opened(page, base, draw.choice(cited)) for _ in range(times)], times
        )
        steps = [stepped(page, base + rows[0]["href"]) for _ in range(times)]
        meter.report("next item, evidence drawn", [s[0] for s in steps], times)
        meter.report("next item, its place in the talk", [s[1] for s in steps])
        meter.report("jump to any message", [jumped(page, draw.randrange(total)) for _ in range(times)], times)
        found = [searched(page, draw.choice(WORDS)) for _ in range(times)]
        meter.report("search: the first hit is shown", [f[0] for f in found], times)
        meter.report("search: full count", [f[1] for f in found])
        meter.report("save (a nugget)", [saved(page, i) for i in range(times)], times)
        print(f"page: {page_memory(browser, page)}")
        print(f"server: peak memory {status_mb(pid, 'VmHWM')} MB; load {os.getloadavg()[0]:.1f}")
        browser.close()


WARM_MS = 15_000
UNTIL = """
    const until = (done) => new Promise((resolve, reject) => {
        const start = performance.now();
        const look = () => done() ? resolve(performance.now())
            : performance.now() - start > 30000 ? reject(new Error("30 s have passed")) : requestAnimationFrame(look);
        look();
    });
    const press = (key, more = {}) => document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
"""
"""Checked once a frame, so that times include the drawing of the page."""


def timed(page: Page, body: str, given: object = None) -> Any:
    """Return what a script in the page returns; it may use `until` and `press`."""
    return page.evaluate(f"async (given) => {{ {UNTIL} {body} }}", given)


def opened(page: Page, base: str, row: dict[str, Any]) -> float:
    """Open an item by its address; ms from the navigation until its quote stands in the conversation."""
    page.goto(base + row["href"], wait_until="commit")
    page.wait_for_selector(".message.target", state="attached")
    # The page records when it has drawn the conversation, so the time of this request does not count.
    return float(page.evaluate("performance.getEntriesByName('transcript-drawn').at(-1).startTime"))


def stepped(page: Page, first: str) -> tuple[float, float]:
    """Go to the next item two seconds after the last; ms until it is drawn, and until its conversation is."""
    if page.locator("[data-action=next-item]").is_disabled():
        page.goto(first)
    page.wait_for_timeout(2_000)
    found = timed(
        page,
        """
        const before = document.querySelector(".item").dataset.item;
        const drawn = performance.getEntriesByName("transcript-drawn").length;
        const start = performance.now();
        document.activeElement.blur();
        press("j");
        const item = await until(() => document.querySelector(".item").dataset.item !== before);
        const talk = await until(() => performance.getEntriesByName("transcript-drawn").length > drawn);
        return [item - start, talk - start];
        """,
    )
    return found[0], found[1]


def jumped(page: Page, message_id: int) -> float:
    """Jump by the key `t`."""
    return float(
        timed(
            page,
            """
            document.activeElement.blur();
            press("t");
            await until(() => document.querySelector("dialog textarea"));
            const area = document.querySelector("dialog textarea");
            area.value = String(given);
            area.dispatchEvent(new InputEvent("input", { bubbles: true }));
            await until(() => area.isConnected);
            const start = performance.now();
            press("Enter", { ctrlKey: true });
            return await until(() => document.querySelector(`.message.target[data-id="${given}"]`)) - start;
            """,
            message_id,
        )
    )


def searched(page: Page, word: str) -> tuple[float, float]:
    """Search; ms until the first hit is marked in the conversation, and until the count is shown."""
    found = timed(
        page,
        """
        const box = document.querySelector(".tools input[type=search]");
        const count = document.getElementById("search-count");
        box.focus();
        box.value = given;
        box.dispatchEvent(new InputEvent("input", { bubbles: true }));
        await new Promise(requestAnimationFrame);
        const drawn = performance.getEntriesByName("transcript-drawn").length;
        const start = performance.now();
        press("Enter");
        await new Promise(requestAnimationFrame); // the old count is gone by then
        const told = await until(() => count.textContent);
        const isFound = !count.textContent.startsWith("0 ");
        const isShown = () => performance.getEntriesByName("transcript-drawn").length > drawn;
        const shown = isFound ? await until(isShown) : told;
        return [shown - start, told - start];
        """,
        word,
    )
    return found[0], found[1]


def saved(page: Page, number: int) -> float:
    """Label a nugget; ms until the server has saved the label and the page shows it."""
    return float(
        timed(
            page,
            """
            document.activeElement.blur();
            const buttons = () => [...document.querySelectorAll(".nugget button[aria-pressed]")];
            const now = () => buttons().map((b) => b.ariaPressed).join();
            const before = now();
            const start = performance.now();
            press(given);
            return await until(() => now() !== before) - start;
            """,
            "yn"[number % 2],
        )
    )


def page_memory(browser: Browser, page: Page) -> str:
    """Return the page's heap, its number of elements, and the private memory of its process."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    private = max(status_mb(p["id"], "RssAnon") for p in processes if p["type"] == "renderer")
    heap = metrics["JSHeapUsedSize"] / 2**20
    return f"{heap:.1f} MB of script heap, {metrics['Nodes']:,.0f} nodes; its process has {private} MB of its own"


class Meter:
    """Prints times, and the CPU of server and browser per act, which varies less than time on a busy machine."""

    def __init__(self, browser: Browser, server: int) -> None:
        self.session, self.server = browser.new_browser_cdp_session(), server
        self.spent = self.cpu_s()

    def cpu_s(self) -> float:
        """Return the CPU seconds of the server and of all of Chromium's processes."""
        fields = Path(f"/proc/{self.server}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        of_server = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        processes = self.session.send("SystemInfo.getProcessInfo")["processInfo"]
        return of_server + float(sum(p["cpuTime"] for p in processes))

    def report(self, name: str, taken: Sequence[float], acts: int = 0) -> None:
        """Print the times of one kind of act, and the CPU since the last report over `acts` of them."""
        found, now = sorted(taken), self.cpu_s()
        p95 = found[min(len(found) - 1, round(0.95 * (len(found) - 1)))]
        cpu = f"{(now - self.spent) / acts * 1000:8.0f}" if acts else ""
        self.spent = now
        print(f"{name:34} {statistics.median(found):8.0f} {p95:8.0f} {found[-1]:8.0f} {cpu}", flush=True)


def status_mb(pid: int, name: str) -> int:
    """Return one value of a process's status file, in MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith(name))) // 1024


def recall(root: Path) -> None:
    """Print how often a message removed from the evidence is offered, and at which rank."""
    archive = Archive(open_benchmark(root.parent, root.name))
    places: dict[str, list[int | None]] = {"knowledge_update": [], "contradiction_resolution": []}
    for conversation_id, probes in archive.probes():
        conversation = archive.conversation(conversation_id)
        for probe in probes.values():
            if probe.ability in places and len({e.message_key for e in probe.evidence}) == 2:
                taken = probe.evidence[-1].message_key
                half = tuple(e for e in probe.evidence if e.message_key != taken)
                # The gold of a half probe is the first value, as if its author had not known the second.
                gold = probe.details.old_value or half[0].quote
                seeded = probe.model_copy(update={"evidence": half, "gold_answer": gold, "rubric": probe.rubric[:1]})
                nugget = seeded.rubric[0].model_copy(update={"text": gold})
                found = counter_evidence(conversation, seeded.model_copy(update={"rubric": (nugget,)}), most=200)
                keys = [c.message.message_key for c in found.candidates]
                places[probe.ability].append(keys.index(taken) + 1 if taken in keys else None)
    for ability, ranks in places.items():
        shares = [sum(r is not None and r <= n for r in ranks) / max(len(ranks), 1) for n in FIRST_OFFERED]
        told = ", ".join(f"first {n}: {share:.0%}" for n, share in zip(FIRST_OFFERED, shares, strict=True))
        print(f"{ability}: {len(ranks)} seeded; {told}")


def main() -> None:
    """Run the measurement that the arguments choose."""
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
