"""The training set of `longbeam review --demo`: every kind of fault, and what its pages say to the one who learns."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from longbeam.schemas import REASON_CODES
from tests.browser.conftest import Opened, Server
from tests.browser.screenshots import Reviewer
from tests.browser.test_review import begin

pytestmark = pytest.mark.slow

MISSED = 3
OVERRIDDEN = ["error_findings", "what_if"]


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Server]:
    command = [sys.executable, "-m", "longbeam", "review", "--demo", "--port", "0", "--out", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    yield Server(process.stdout.readline().split()[1], tmp_path, process)
    process.terminate()
    process.communicate(timeout=20)


def test_the_demo_has_every_kind_of_fault_and_says_how_many_were_found(demo: Server, open_page: Opened) -> None:
    planted = json.loads((demo.out / "review-demo" / "training.json").read_text(encoding="utf-8"))
    assert len(planted) == 20
    assert {fault["reason"] for fault in planted.values()} == set(REASON_CODES) - {"other"}
    page = open_page(demo, "lou")
    reviewer = Reviewer(demo, page.context.request, "lou")
    faulty = sorted(planted)
    for item in faulty[MISSED:-1]:
        reviewer.act(item, "judged", after={"verdict": "reject"}, reason_code=planted[item]["reason"])
    for item in faulty[:MISSED]:
        if "abstention" in item:
            for word in reviewer.get(f"/items/{item}/absence.json")["suggested"]:
                reviewer.act(item, "searched", after={"query": word, "total": 1})
                reviewer.act(item, "looked", after={"query": word, "message_ids": [0]})
        note = "looks right to me"
        reviewer.act(item, "judged", after={"verdict": "accept"}, override=OVERRIDDEN, note=note)
    begin(page, demo, f"/items/{faulty[-1]}")
    page.keyboard.press("x")
    page.keyboard.press(str(list(REASON_CODES).index(planted[faulty[-1]]["reason"]) + 1))
    told = page.locator(".training")
    expect(told).to_contain_text(f"Right: {planted[faulty[-1]]['text']}.")
    expect(told).to_contain_text("You found 17 of 20 faults")
