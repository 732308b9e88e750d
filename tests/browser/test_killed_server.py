"""Two reviewers and an adjudicator work by keyboard while their server is killed at random moments: nothing is lost."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Error, Page, Response, expect

from longbeam.store import stored_events
from tests.browser.conftest import Opened, Server
from tests.browser.test_review import api, ready, shown

pytestmark = pytest.mark.slow

Start = Callable[..., Server]
IS_ACCEPTANCE = bool(os.environ.get("LONGBEAM_ACCEPTANCE"))
"""Whether the run is one of acceptance: twenty items of a shipped sample by each reviewer, and five kills."""
ITEMS, SECOND, KILLS = (
    (40, 10, 10) if os.environ.get("LONGBEAM_NIGHTLY") else (20, 20, 5) if IS_ACCEPTANCE else (12, 4, 3)
)
"""Items of the first reviewer, those of them that the second judges too, and kills; `make nightly` takes minutes."""
GOLD = "#gold-answer textarea"
PATIENCE_MS = 60_000
OVERLAP = ("--overlap", "2")


class Killer:
    """Kills the server a random while after it was asked to, and starts it again."""

    def __init__(self, server: Server, draw: random.Random) -> None:
        self.server, self.draw = server, draw
        self.kills = 0
        self._running: threading.Thread | None = None

    def strike(self) -> None:
        """Kill the server within the next two seconds, whatever happens then."""
        self.wait()
        self._running = threading.Thread(target=self._kill, args=(self.draw.uniform(0, 2), self.draw.uniform(0, 1)))
        self._running.start()

    def wait(self) -> None:
        """Wait until the server that was killed last is back."""
        if self._running is not None:
            self._running.join(60)

    def _kill(self, after_s: float, away_s: float) -> None:
        time.sleep(after_s)
        self.server.kill()
        time.sleep(away_s)
        self.server.start_again("made", *OVERLAP)
        self.kills += 1


class Worker:
    """A reviewer at a keyboard: what this reviewer has typed, and what the server has acknowledged."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page, self.server = page, server
        self.typed: dict[str, str] = {}
        self.saved: dict[str, str] = {}
        self.comments: list[str] = []
        self.notes: list[str] = []
        self.acknowledged: set[str] = set()
        self.verdicts: dict[str, str] = {}
        page.on("response", self._note)

    def _note(self, answer: Response) -> None:
        if not (answer.url.split("?")[0].endswith("/acts") and answer.ok):
            return
        act = answer.request.post_data_json
        self.acknowledged.add(act["act_id"])
        if act["kind"] == "judged" and act["target"] == "item":
            self.verdicts[answer.url.split("/api/items/")[1].split("/acts")[0]] = act["after"]["verdict"]

    def open(self, address: str) -> None:
        """Open a page, again and again while the server is away."""
        for _ in range(100):
            try:
                self.page.goto(self.server.base + address)
                self.page.wait_for_selector(".message", timeout=5_000)
                return
            except Error:
                self.page.wait_for_timeout(300)
        pytest.fail(f"{address} did not open")

    def type_gold(self, text: str) -> None:
        self.page.keyboard.press("g")
        self.page.locator(GOLD).press("Control+A")
        self.page.keyboard.type(text, delay=10)

    def leave_words(self, text: str) -> None:
        """Type a gold answer and leave it unsaved."""
        self.type_gold(text)
        self.page.keyboard.press("Escape")
        self.typed[shown(self.page)] = text

    def save_words(self, text: str) -> None:
        """Type a gold answer and save it, however long the server is away."""
        self.type_gold(text)
        self.page.keyboard.press("Control+Enter")
        expect(self.page.locator("#gold-answer .field")).to_have_text(text, timeout=PATIENCE_MS)
        self.saved[shown(self.page)] = text

    def comment(self, text: str) -> None:
        self.page.keyboard.press("c")
        self.page.locator("dialog textarea").wait_for()
        self.page.keyboard.type(text, delay=10)
        self.page.keyboard.press("Control+Enter")
        expect(self.page.locator("dialog")).to_have_count(0, timeout=PATIENCE_MS)
        self.comments.append(text)

    def decide(self, key: str) -> None:
        """Give a verdict, and wait until it is acknowledged."""
        item = shown(self.page)
        ready(self.page)
        self.page.keyboard.press(key)
        if key == "x":
            self.page.locator("[data-reason]").first.wait_for()
            self.page.keyboard.press("2")
        begun = time.monotonic()
        while item not in self.verdicts:
            note = self.page.locator("dialog[open] textarea")
            if key == "a" and note.count() and not note.input_value():  # a check found an error
                self.notes.append(f"{item} may stay as it is.")
                note.fill(self.notes[-1])
                self.page.get_by_role("button", name="Accept all the same").click()
            assert time.monotonic() - begun < PATIENCE_MS / 1000, item
            self.page.wait_for_timeout(50)


def review(worker: Worker, number: int, href: str, who: str) -> None:
    """Judge an item by keyboard, with words typed, words saved, or a comment on some of them."""
    worker.open(href)
    if number % 4 == 0:
        worker.comment(f"{who}: a comment on {number}.")
    if number % 5 == 2:
        worker.leave_words(f"{who}: words typed and left on {number}.")
    if number % 5 == 3:
        worker.save_words(f"{who}: words that were saved on {number}.")
    worker.decide("a" if is_disputed(number, href) and (number + len(who)) % 2 else "x")


def is_disputed(number: int, href: str) -> bool:
    """Whether the two reviewers would judge this item differently: the lengths of their names are odd and even."""
    return number % 5 in (0, 1, 4) and "abstention" not in href


def decide_conflicts(lead: Page, server: Server) -> int:
    """Decide every conflict by keyboard; returns how many there were."""
    lead.goto(f"{server.base}/adjudication")
    count = int(lead.locator("h1").inner_text().split()[1])
    for left in range(count, 0, -1):
        for key in ("1", "1", "3", "c"):
            lead.keyboard.press(key)
        lead.keyboard.type(f"decision {left}")
        lead.keyboard.press("Control+Enter")
        expect(lead.locator("h1")).to_have_text(f"Conflicts: {left - 1} open, {count - left + 1} decided")
    return count


@pytest.fixture
def reviewed(generated: Path, tmp_path: Path) -> Path:
    """The folder of the benchmark `made`: a generated one, or a shipped sample without its reviews."""
    if not IS_ACCEPTANCE:
        return generated
    out = tmp_path / "sample"
    command = [sys.executable, "-m", "longbeam", "sample", "home16", "--name", "made", "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    for path in (out / "made").glob("reviews.sqlite*"):
        path.unlink()
    return out


def exported(server: Server, target: Path) -> str:
    """Return the log as `longbeam reviews export` writes it."""
    command = [sys.executable, "-m", "longbeam", "reviews", "export", "made", str(target), "--out", str(server.out)]
    subprocess.run(command, check=True, capture_output=True)
    return target.read_text(encoding="utf-8")


@pytest.mark.timeout(1800 if IS_ACCEPTANCE else 600)
def test_two_reviewers_and_an_adjudicator_lose_nothing_to_killed_servers(
    start: Start, open_page: Opened, reviewed: Path, tmp_path: Path
) -> None:
    seed = random.randrange(1_000_000) if os.environ.get("LONGBEAM_NIGHTLY") else 590_490
    print(f"seed {seed}")
    draw = random.Random(seed)
    server = start(reviewed, "made", *OVERLAP)
    killer = Killer(server, draw)
    ana, benedict = (Worker(open_page(server, name), server) for name in ("ana", "benedict"))
    items = [row["href"] for row in api(ana.page, server, "/queue.json?count=1000")["rows"]]
    work = [(number, ana, "ana") for number in range(ITEMS)]
    disputed = draw.choice([number for number in range(ITEMS) if is_disputed(number, items[number])])
    others = draw.sample([number for number in range(ITEMS) if number != disputed], SECOND - 1)
    work += [(number, benedict, "benedict") for number in (disputed, *others)]
    draw.shuffle(work)
    strikes = set(draw.sample(range(len(work)), KILLS))
    for place, (number, worker, who) in enumerate(work):
        if place in strikes:
            killer.strike()
        review(worker, number, items[number], who)
    killer.wait()
    assert killer.kills == KILLS
    for worker, who in ((ana, "ana"), (benedict, "benedict")):
        worker.open(items[0])  # words that a page could not send are sent by the next one
        worker.page.wait_for_timeout(1_000)
        events = [e for e in stored_events(server.out / "made" / "reviews.sqlite") if e.reviewer_id == who]
        assert worker.acknowledged <= {e.event_id for e in events}
        judged = {e.item_id: e.after for e in events if e.kind == "judged" and e.target == "item"}
        assert judged == {item: {"verdict": verdict} for item, verdict in worker.verdicts.items()}
        assert sorted(e.note for e in events if e.kind == "commented") == sorted(worker.comments)
        for item, words in worker.saved.items():
            assert [e.after for e in events if e.item_id == item and e.kind == "edited"] == [words]
        drafts = {e.item_id: e.after for e in events if e.kind == "drafted" and e.item_id in worker.typed}
        assert drafts == worker.typed
    assert (len(ana.verdicts), len(benedict.verdicts)) == (ITEMS, SECOND)
    lead = open_page(server, "lea", "lead")
    count = decide_conflicts(lead, server)
    decided = api(lead, server, "/log.json?kind=adjudicated&count=1000")["events"]
    assert sorted(e["note"] for e in decided) == sorted(f"decision {n + 1}" for n in range(count))
    assert count > 0
    log = exported(server, tmp_path / "log.jsonl")
    typed = [*(f"decision {n + 1}" for n in range(count))]
    for worker in (ana, benedict):
        typed += [*worker.typed.values(), *worker.saved.values(), *worker.comments, *worker.notes]
    assert [text for text in typed if json.dumps(text) not in log] == []  # every typed word is in the export


def test_a_decision_typed_while_the_server_is_away_is_kept(start: Start, open_page: Opened, generated: Path) -> None:
    server = start(generated, "made", *OVERLAP)
    ana, ben = (Worker(open_page(server, name), server) for name in ("ana", "ben"))
    item = next(row["href"] for row in api(ana.page, server, "/queue.json?ability=knowledge_update")["rows"])
    for worker, key in ((ana, "a"), (ben, "x")):
        worker.open(item)
        worker.decide(key)
    lead = open_page(server, "lea", "lead")
    lead.goto(f"{server.base}/adjudication")
    form = lead.locator(".deciding")
    form.locator("input[name=note]").fill("decided while the server was away")
    lead.keyboard.press("Escape")
    for key in ("1", "1", "3"):
        lead.keyboard.press(key)
    server.kill()
    lead.keyboard.press("Control+Enter")
    expect(lead.locator("#notice")).to_contain_text("does not answer")
    server.start_again("made", *OVERLAP)
    lead.reload()
    expect(form.locator("input[name=note]")).to_have_value("decided while the server was away")
    for key in ("1", "1", "3"):
        lead.keyboard.press(key)
    lead.keyboard.press("Control+Enter")
    expect(lead.locator("h1")).to_have_text("Conflicts: 0 open, 1 decided")
