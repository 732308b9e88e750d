"""A real `longbeam review`: races of many requests, kills, links, and a benchmark that is still being generated."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from longbeam.schemas import BenchmarkSpec
from longbeam.store import create_benchmark, seal_conversation, stored_events
from tests.browser.conftest import Server, serve
from tests.tiny import tiny_conversation

pytestmark = pytest.mark.slow

Start = Callable[..., Server]
THREADS = 8


class Client:
    """A reviewer who works over HTTP."""

    def __init__(self, server: Server, name: str) -> None:
        self.http = httpx.Client(base_url=server.base, timeout=20)
        session = self.http.post("/api/session", json={"reviewer_id": name}).json()
        self.http.headers["X-CSRF-Token"] = session["csrf"]

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def act(self, item: str, kind: str, target: str, after: Any, **more: Any) -> httpx.Response:
        body = {"kind": kind, "target": target, "after": after, **more}
        return self.http.post(f"/api{item}/acts", json=body)

    def version(self, item: str) -> str:
        return str(self.http.get(f"{item}.json").json()["item_version"])


def items_of(server: Server) -> list[str]:
    return [row["href"] for row in httpx.get(f"{server.base}/queue.json?count=1000").json()["rows"]]


def test_drafts_and_edits_of_eight_threads_lose_nothing(start: Start, generated: Path) -> None:
    server = start(generated, "made", "--overlap", "9")
    items = items_of(server)[:THREADS]

    def draft(number: int) -> None:
        with Client(server, f"r{number}") as client:
            for i in range(50):
                answer = client.act(items[number], "drafted", "gold_answer", f"{number}: draft {i}")
                assert answer.status_code == 200, answer.text

    def edit(number: int) -> int:
        """Race with the others of one name for one field, each from the text that it has seen."""
        saved = 0
        with Client(server, "racer") as client:
            for i in range(50):
                base = client.http.get(f"{items[0]}.json").json()["gold_answer"]
                answer = client.act(items[0], "edited", "gold_answer", f"{number}.{i}", base=base)
                assert answer.status_code in (200, 409), answer.text
                saved += answer.status_code == 200
        return saved

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(draft, range(THREADS)))
        saved = sum(pool.map(edit, range(THREADS)))
    events = stored_events(server.out / "made" / "reviews.sqlite")
    drafts = {e.after for e in events if e.kind == "drafted"}
    assert drafts == {f"{n}: draft {i}" for n in range(THREADS) for i in range(50)}
    edits = [e for e in events if e.kind == "edited"]
    assert len(edits) == saved > 0
    assert all(new.before == old.after for old, new in itertools.pairwise(edits))  # none passed over another


def test_a_server_that_is_killed_loses_no_acknowledged_save(start: Start, generated: Path) -> None:
    server = start(generated, "made")
    item = items_of(server)[0]
    acknowledged = []
    with Client(server, "kim") as client:
        for number in range(110):
            answer = client.act(item, "drafted", "gold_answer", f"save {number}")
            assert answer.status_code == 200
            acknowledged.append(f"save {number}")
            if number % 11 == 10:
                server.kill()
                server.start_again("made")
    kept = [e.after for e in stored_events(server.out / "made" / "reviews.sqlite") if e.kind == "drafted"]
    assert kept == acknowledged


def test_a_plain_copy_beside_a_running_server_is_whole(start: Start, generated: Path, tmp_path: Path) -> None:
    server = start(generated, "made")
    with Client(server, "cora") as client:
        for number in range(20):
            client.act(items_of(server)[0], "drafted", "gold_answer", f"words {number}")
    time.sleep(6)  # the server folds its log every five seconds
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes((server.out / "made" / "reviews.sqlite").read_bytes())
    assert len(stored_events(copy)) == 20
    command = ["reviews", "backup", "made", str(tmp_path / "backup.sqlite"), "--out", str(server.out)]
    subprocess.run([sys.executable, "-m", "longbeam", *command], check=True, capture_output=True)
    assert len(stored_events(tmp_path / "backup.sqlite")) == 20


@pytest.mark.parametrize("reach", [["--with-links"], ["--host", "0.0.0.0"]])
def test_links_lead_in_and_nobody_else_reads(generated: Path, reach: list[str]) -> None:
    command = [sys.executable, "-m", "longbeam", "review", "made", "--port", "0", "--out", str(generated)]
    process = subprocess.Popen(
        [*command, "--reviewer", "ana", *reach], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        base = process.stdout.readline().split()[1]
        link = process.stdout.readline().removeprefix("link of ana: ").strip()
        assert "0.0.0.0" not in base + link
        assert link.startswith(f"{base}/join/")
        here = re.sub(r"//[^:/]+:", "//127.0.0.1:", base)
        for path in ("/", "/queue", "/queue.json", "/items/c000/abstention.0.json", "/api/openapi.json", "/log"):
            refused = httpx.get(here + path)
            assert refused.status_code == 403
            assert "abstention" not in refused.text
        with httpx.Client(base_url=here, follow_redirects=True) as client:
            assert client.get(link.removeprefix(base)).status_code == 200
            assert client.get("/queue.json").json()["total"] > 35
    finally:
        process.terminate()
        _, told = process.communicate(timeout=20)
    assert ("unencrypted" in told) == ("--host" in reach)


def test_a_benchmark_without_a_finished_conversation_says_so_and_fills(tmp_path: Path) -> None:
    made = create_benchmark(BenchmarkSpec(name="tiny", conversations=2, length=16_000), tmp_path)
    server = serve(tmp_path, "tiny")
    try:
        page = httpx.get(f"{server.base}/queue").text
        assert "No conversation is finished yet" in page
        assert 'http-equiv="refresh"' in page
        tiny = tiny_conversation()
        seal_conversation(made.sealed_path("c000"), tiny.head, tiny.said, tiny.asked)
        queue = json.loads(httpx.get(f"{server.base}/queue.json").text)
        assert queue["total"] > 0
        assert queue["waiting_for"].startswith("1 of 2 conversations are finished")
    finally:
        server.process.terminate()
        server.process.communicate(timeout=20)
