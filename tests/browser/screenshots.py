"""Screenshots of every page of the review, of a benchmark that two people have half reviewed; kept in docs/review.

Run: `make screenshots`, which is `python -m tests.browser.screenshots docs/review`. With `--every-width` there is a
folder for each width, light and dark; at 1280 and 390 px with the dialogs and states of the pages, too.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import APIRequestContext, Browser, Page, sync_playwright

from tests.browser.conftest import CHROMIUM, GUIDE_CLOSED, Server, generate_made, serve

COLOURS = 64
"""Colours of a screenshot: enough for text, at a tenth of the bytes."""


PAGES = {
    "session": "/session",
    "queue": "/queue",
    "conversations": "/conversations",
    "conversation": "/conversations/c000",
    "reading": "/conversations/c000/messages",
    "message": "/conversations/c000/messages/3",
    "adjudication": "/adjudication",
    "agreement": "/agreement",
    "progress": "/progress",
    "ratings": "/ratings",
    "guidelines": "/guidelines",
    "anchors": "/anchors",
    "log": "/log",
    "search": "/conversations/c000/search?q=budget",
    "history": "{item}/history",
    "provenance": "{item}/provenance",
}
"""Addresses of the pages but the item page; `{item}` is that of an item."""

SIZES = {1280: 800, 1920: 1080, 768: 1024, 390: 844}
"""Heights of the windows by their widths: two laptops, a tablet, a phone."""

STATES = {
    "summarization": {
        "search": ["/", *"budget", "Enter"],
        "editing": ["Escape", "g", *" Roughly."],
        "keys": ["Escape", "?"],
        "comment": ["Escape", "c"],
        "reject": ["Escape", "x"],
        "reject-other": ["9"],
        "no-accept": ["Escape", "n", "a"],
    },
    "knowledge_update": {
        "counter": ["m"],
        "what-if": ["w"],
        "guidelines": ["i"],
        "decisions": ["l"],
        "list": ["o"],
        "blind": ["o", "b"],
    },
    "abstention": {"searched": [".", "h"], "accept": ["a"]},
}
"""Key presses that lead to states of the item page, by the ability of the item that they are shown on."""


class Reviewer:
    """A reviewer who works over HTTP, so that the pages have content."""

    def __init__(self, server: Server, request: APIRequestContext, name: str, role: str = "annotator") -> None:
        self.server, self.request, self.csrf = server, request, ""
        self.csrf = self.post("/api/session", {"reviewer_id": name, "role": role})["csrf"]

    def get(self, path: str) -> Any:
        return self.request.get(self.server.base + path).json()

    def post(self, path: str, body: object) -> Any:
        headers = {"X-CSRF-Token": self.csrf, "Content-Type": "application/json"}
        answer = self.request.post(self.server.base + path, data=json.dumps(body), headers=headers)
        return answer.json()

    def act(self, item_id: str, kind: str, target: str = "item", after: Any = None, **more: Any) -> None:
        version = self.get(f"/items/{item_id}.json")["item_version"]
        given = {"kind": kind, "target": target, "after": after, "item_version": version, "active_ms": 41_000, **more}
        self.post(f"/api/items/{item_id}/acts", given)

    def label(self, item_id: str, word: str) -> None:
        for nugget in self.get(f"/items/{item_id}.json")["rubric"]:
            self.act(item_id, "judged", f"nugget/{nugget['nugget_id']}", {"label": word})


def half_review(server: Server, browser: Browser) -> list[str]:
    """Let Ana and Ben judge some items, differently in places; returns the items of the queue."""
    ana = Reviewer(server, browser.new_context().request, "ana")
    ben = Reviewer(server, browser.new_context().request, "ben")
    items = [row["item_id"] for row in ana.get("/queue.json?count=1000")["rows"]]
    judged = [i for i in items if i.startswith("c001/") and "abstention" not in i]
    for number, item in enumerate(judged[:12]):
        ana.post(f"/api/items/{item}/open", {})
        ana.label(item, "yes")
        ana.act(item, "judged", after={"verdict": "accept"})
        ben.label(item, "no" if number % 4 == 1 else "yes")
        if number % 4 == 1:
            evidence = ben.get(f"/items/{item}.json")["evidence"]
            for piece in evidence[1:2]:
                ben.act(item, "evidence_removed", f"evidence/{piece['evidence_id']}")
            note = "the second quote says something else"
            ben.act(item, "judged", after={"verdict": "reject"}, reason_code="wrong_evidence", note=note)
        else:
            ben.act(item, "judged", after={"verdict": "accept"})
    ben.act(items[0], "flagged", note="is a part of the answer in the second session?")
    for aspect, scores in {"coherence_and_flow": (4, 5), "realism": (4, 4), "complexity_and_depth": (3, 4)}.items():
        for who, score in zip((ana, ben), scores, strict=True):
            for conversation in ("c000", "c001"):
                who.post(f"/api/conversations/{conversation}/ratings", {"aspect": aspect, "score": score})
    return items


def keep(page: Page, target: Path, name: str, most: int = 1280) -> None:
    """Write the page as a PNG of few colours, at most so many pixels wide and high."""
    picture = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
    picture.thumbnail((most, most), Image.Resampling.LANCZOS)
    few = picture.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(target / f"{name}.png", optimize=True)


def show_item(page: Page, server: Server, item: str) -> None:
    page.goto(f"{server.base}/items/{item}")
    page.wait_for_selector(".message")
    page.wait_for_load_state("networkidle")


def photograph(server: Server, browser: Browser, items: list[str], target: Path) -> None:
    """Walk through all pages as a lead, who sees every one of them."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_init_script(GUIDE_CLOSED)
    Reviewer(server, context.request, "lea", "lead")
    page = context.new_page()
    for name, path in PAGES.items():
        page.goto(server.base + path.format(item=f"/items/{items[6]}"))
        if name == "reading":
            page.wait_for_selector(".message")
        keep(page, target, name)
    by_ability = {ability: next(of) for ability, of in itertools.groupby(items, lambda i: re.split(r"[/.]", i)[1])}
    for ability, item in by_ability.items():
        show_item(page, server, item)
        if ability == "abstention":
            for _ in range(2):
                with page.expect_response(re.compile("/acts")):
                    page.keyboard.press(".")
                page.wait_for_timeout(1_500)
        keep(page, target, f"item-{ability}")
    page.keyboard.press("m")
    page.wait_for_selector("#counter li")
    keep(page, target, "counter-evidence")
    page.keyboard.press("?")
    keep(page, target, "keys")
    wide = browser.new_context(viewport={"width": 1920, "height": 1080}, color_scheme="dark")
    wide.add_init_script(GUIDE_CLOSED)
    Reviewer(server, wide.request, "cleo")
    page = wide.new_page()
    show_item(page, server, by_ability["knowledge_update"])
    keep(page, target, "item-dark-1920")


def photograph_at(server: Server, browser: Browser, items: list[str], target: Path, width: int, scheme: Any) -> None:
    """Walk through all pages and states at one width in one scheme: as a lead, then on items as an annotator."""
    target.mkdir(parents=True, exist_ok=True)
    viewport = {"width": width, "height": SIZES[width]}

    def opened(name: str, role: str) -> Page:
        context = browser.new_context(viewport=viewport, color_scheme=scheme)
        context.add_init_script(GUIDE_CLOSED)
        Reviewer(server, context.request, name, role)
        return context.new_page()

    def taken(name: str) -> None:
        page.wait_for_timeout(300)
        keep(page, target, name, 1920)

    page = opened("lea", "lead")
    for name, path in PAGES.items():
        page.goto(server.base + path.format(item=f"/items/{items[6]}"))
        if name in ("reading", "adjudication"):
            page.wait_for_selector(".message", state="attached")
        taken(name)
    page.goto(f"{server.base}/adjudication")
    page.wait_for_selector(".message", state="attached")
    page.keyboard.press("2")
    taken("adjudication-2")
    page = opened(f"cleo{width}{scheme}", "annotator")
    page.goto(f"{server.base}/queue")
    taken("queue-annotator")
    for ability, item in {re.split(r"[/.]", i)[1]: i for i in items if i.startswith("c000/")}.items():
        page.goto(f"{server.base}/items/{item}")
        page.wait_for_selector(".message", state="attached")
        page.wait_for_load_state("networkidle")
        taken(f"item-{ability}")
        if width == 390:
            for tab in ("Evidence", "Checks"):
                page.get_by_role("button", name=re.compile(f"^{tab}")).first.click()
                taken(f"item-{ability}-{tab.lower()}")
            page.get_by_role("button", name=re.compile("^Question")).first.click()
        for state, keys in STATES.get(ability, {}).items() if width in (1280, 390) else ():
            for key in keys:
                page.keyboard.press(key)
                page.wait_for_timeout(60)
            page.wait_for_timeout(900)
            taken(f"item-{ability}-{state}")
    page.goto(f"{server.base}/items/{items[6]}")
    page.context.clear_cookies()
    page.wait_for_selector(".message", state="attached")
    page.wait_for_timeout(700)
    page.keyboard.press("y")
    taken("signed-out")
    page.context.close()


def photograph_bundle(server: Server, browser: Browser, target: Path) -> None:
    folder = server.out / "bundle"
    command = ["reviews", "bundle", "made", str(folder), "--reviewer", "dora", "--out", str(server.out)]
    subprocess.run([sys.executable, "-m", "longbeam", *command], check=True, capture_output=True)
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto((folder / "index.html").as_uri())
    page.get_by_role("button", name="accept").click()
    page.evaluate("scrollTo(0, 0)")
    keep(page, target, "bundle")


@contextmanager
def served(given: Path | None) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch)
        if given is None:
            generate_made(out)
        else:
            shutil.copytree(given, out / "made")
        server = serve(out, "made", "--overlap", "2")
        try:
            yield server
        finally:
            server.process.terminate()
            server.process.wait()


def main() -> None:
    """Make the screenshots."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path)
    parser.add_argument(
        "--every-width", action="store_true", help="all pages and states at four widths, in both schemes"
    )
    parser.add_argument("--benchmark", type=Path, help="folder of a benchmark named `made`, of two conversations")
    given = parser.parse_args()
    given.target.mkdir(parents=True, exist_ok=True)
    with served(given.benchmark) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        items = half_review(server, browser)
        if given.every_width:
            for width, scheme in itertools.product(SIZES, ("light", "dark")):
                photograph_at(server, browser, items, given.target / f"{width}-{scheme}", width, scheme)
        else:
            photograph(server, browser, items, given.target)
            photograph_bundle(server, browser, given.target)
        browser.close()


if __name__ == "__main__":
    main()
