"""The pages for everybody: axe-core finds nothing serious, the keyboard reaches everything, nothing overflows."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Opened, Server, serve
from tests.browser.screenshots import PAGES, half_review
from tests.browser.test_review import api, begin, first_of

pytestmark = pytest.mark.slow

Start = Callable[..., Server]
ITEM = "/items/c000/contradiction_resolution.0"
AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def faults_of(page: Page) -> list[str]:
    """Return axe-core's findings."""
    # Not add_script_tag: the pages' content security policy forbids scripts that are not theirs.
    page.evaluate(AXE)
    found: dict[str, Any] = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [f"{v['id']} ({v['impact']}): {node['html'][:150]}" for v in found["violations"] for node in v["nodes"]]


@pytest.fixture(scope="module")
def half_reviewed(generated: Path, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose pages have content: conflicts, opinions, ratings, a log."""
    out = tmp_path_factory.mktemp("half")
    shutil.copytree(generated, out, dirs_exist_ok=True)
    server = serve(out, "made", "--overlap", "2")
    half_review(server, browser)
    yield server
    server.process.terminate()
    server.process.communicate(timeout=20)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_fault(half_reviewed: Server, open_page: Opened, scheme: str, width: int) -> None:
    viewport = {"width": width, "height": 800}
    page = open_page(half_reviewed, f"axe{scheme}", "lead", color_scheme=scheme, viewport=viewport)
    assert api(page, half_reviewed, "/adjudication.json")["open"] > 0
    found = {}
    for name, path in {**PAGES, "item": ITEM, "missing": "/no/such/page"}.items():
        page.goto(half_reviewed.base + path.format(item=ITEM))
        if name in ("item", "reading", "adjudication"):
            page.wait_for_selector(".message", state="attached")
        if faults := faults_of(page):
            found[name] = faults
    assert found == {}


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_state_of_the_item_page_has_a_fault(shared: Server, open_page: Opened, scheme: str, width: int) -> None:
    page = open_page(shared, f"axel{scheme}{width}", color_scheme=scheme, viewport={"width": width, "height": 800})
    begin(page, shared, first_of(page, shared, "event_ordering"))
    found = {}
    for keys in (
        ["g"],
        ["Escape", "y"],
        ["x"],
        ["Escape", "?"],
        ["Escape", "m"],
        ["w"],
        ["i"],
        ["l"],
        ["c"],
        ["Escape", "n", "a"],
        ["Escape", "t"],
    ):
        for key in keys:
            page.keyboard.press(key)
        page.wait_for_timeout(700)
        if faults := faults_of(page):
            found["+".join(keys)] = faults
    assert found == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_of_a_folder_has_a_fault(half_reviewed: Server, browser: Browser, tmp_path: Path, scheme: str) -> None:
    made = {"bundle": ["--reviewer", "dora"], "passports": []}
    for name, given in made.items():
        command = ["reviews", name, "made", str(tmp_path / name), *given, "--out", str(half_reviewed.out)]
        subprocess.run([sys.executable, "-m", "longbeam", *command], check=True, capture_output=True)
    context = browser.new_context(color_scheme=scheme, viewport={"width": 390, "height": 800})
    page = context.new_page()
    found = {}
    passports = sorted((tmp_path / "passports" / "c000").glob("*.html"))
    for path in (tmp_path / "bundle" / "index.html", tmp_path / "passports" / "index.html", *passports):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
        assert page.evaluate("document.styleSheets.length") > 0
        if path not in passports[1:] and (faults := faults_of(page)):
            found[path.name] = faults
    context.close()
    assert found == {}


@pytest.mark.parametrize("width", [390, 640, 768, 1280, 1920])
def test_nothing_overflows(half_reviewed: Server, open_page: Opened, width: int) -> None:
    page = open_page(half_reviewed, "wilma", "lead", viewport={"width": width, "height": 800})
    wide = {}
    for name, path in {**PAGES, "item": ITEM}.items():
        page.goto(half_reviewed.base + path.format(item=ITEM))
        if name in ("item", "reading"):
            page.wait_for_selector(".message", state="attached")
        measured = page.evaluate("document.documentElement.scrollWidth")
        if measured > width:
            wide[name] = measured
        assert page.locator(".primary:visible").count() <= 1, name
        assert re.findall(r"\b\d{1,2}[/.]\d{1,2}[/.]\d{4}\b", page.locator("body").inner_text()) == [], name
    assert wide == {}


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_the_verdict_is_in_view_on_every_item(shared: Server, open_page: Opened, width: int) -> None:
    page = open_page(shared, "vera", viewport={"width": width, "height": 800})
    for row in api(page, shared, "/queue.json?conversation=c000&count=20")["rows"]:
        page.goto(shared.base + row["href"])
        page.wait_for_selector(".message", state="attached")
        expect(page.locator("button[data-action=accept]")).to_be_in_viewport(ratio=1)


def test_arrow_keys_bring_each_nugget_into_view(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "nora", viewport={"width": 1280, "height": 500})
    rows = api(page, shared, "/queue.json?count=100")["rows"]
    most = max(rows, key=lambda row: row["nuggets"])
    begin(page, shared, most["href"])
    for _ in range(most["nuggets"] - 1):
        page.keyboard.press("ArrowDown")
    expect(page.locator(".nugget").last).to_have_class(re.compile("current"))
    expect(page.locator(".nugget").last).to_be_in_viewport()


def test_the_focus_stays_where_the_reviewer_works(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "fay")
    begin(page, shared, first_of(page, shared, "summarization"))
    yes = page.get_by_role("button", name="nugget 1: yes")
    yes.focus()
    with page.expect_response(re.compile("/acts")):
        page.keyboard.press("Enter")
    expect(yes).to_have_attribute("aria-pressed", "true")
    expect(yes).to_be_focused()
    page.keyboard.press("c")
    expect(page.locator("dialog textarea")).to_be_focused()
    page.keyboard.press("Escape")
    expect(yes).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("#item-name")).to_be_focused()


def test_the_strip_is_moved_by_the_keyboard(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "sue")
    begin(page, shared, first_of(page, shared, "summarization"))
    page.locator(".minimap").focus()
    page.keyboard.press("End")
    total = api(page, shared, "/conversations/c000/minimap.json")["total"]
    expect(page.locator(".message.target")).to_have_attribute("data-id", str(total - 1))


def test_results_of_the_aids_are_in_view(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "ann")
    begin(page, shared, first_of(page, shared, "knowledge_update"))
    for key, heading in (("m", "Counter-evidence"), ("w", "Try the rubric")):
        page.keyboard.press(key)
        expect(page.get_by_role("heading", name=heading)).to_be_in_viewport()


def test_searches_of_one_item_are_gone_on_the_next(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "olga")
    begin(page, shared, first_of(page, shared, "summarization"))
    page.keyboard.press("/")
    page.keyboard.type("the")
    page.keyboard.press("Enter")
    expect(page.locator("#search-count")).to_contain_text("messages")
    page.keyboard.press("j")
    expect(page.locator("#search-count")).to_have_text("")
    expect(page.locator("#search-box")).to_have_value("")


def test_a_missing_page_says_so_in_words(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "max")
    page.goto(f"{shared.base}/items/c000/nothing.7")
    expect(page.locator("h1")).to_have_text("There is no such page")


def test_no_internal_name_reaches_a_reviewer(start: Start, open_page: Opened, generated: Path) -> None:
    server = start(generated, "made")
    page = open_page(server, "ines", "lead")
    begin(page, server, first_of(page, server, "contradiction_resolution"))
    page.keyboard.press("e")
    page.locator("#question textarea").fill("Which of the two is it?")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#question ins").first).to_be_visible()
    page.keyboard.press("y")
    page.keyboard.press("z")
    internal = re.compile(r"\b[a-z]+_[a-z_]+\.\d+(?:\.n\d+)?\b|\bp\d+\.s\d+\.t\d+|\{'|gold_answer|nugget/|judged item")
    for path in (page.url.removeprefix(server.base), "/log", "/queue", "/adjudication", "/progress"):
        page.goto(server.base + path)
        page.wait_for_timeout(600)
        assert internal.findall(page.locator("body").inner_text()) == [], path


def test_a_new_reviewer_is_guided(start: Start, open_page: Opened, generated: Path) -> None:
    server = start(generated, "made")
    page = open_page(server, is_new=True)
    page.goto(f"{server.base}/queue")
    expect(page.locator("main")).to_contain_text("choose a name")
    page.goto(f"{server.base}/")
    expect(page.locator("input[name=reviewer_id]")).to_be_visible()
    page.fill("input[name=reviewer_id]", "nelly")
    page.keyboard.press("Enter")
    page.wait_for_url("**/queue*")
    expect(page.locator("main")).to_contain_text("Begin with the first item")
    page.get_by_role("link", name="Begin with the first item").click()
    page.wait_for_selector(".message", state="attached")
    expect(page.locator("#guide")).to_be_visible()
    expect(page.locator("#guidelines")).to_be_visible()


def test_the_strip_shows_the_evidence_of_a_finished_item_after_a_reload(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "rolf")
    item = first_of(page, shared, "contradiction_resolution", "c001")
    begin(page, shared, item)
    page.keyboard.press("x")
    page.keyboard.press("1")
    expect(page.locator("body")).to_contain_text("Rejected: ")
    begin(page, shared, item)
    expect(page.locator("#status")).to_have_text("rejected")
    marked = """() => {
        const canvas = document.querySelector(".minimap");
        const pixels = canvas.getContext("2d").getImageData(10, 0, 6, canvas.height).data;
        let red = 0;
        for (let i = 0; i < pixels.length; i += 4) red += pixels[i + 3] > 0 && pixels[i] > 140 && pixels[i + 1] < 90;
        return red;
    }"""
    page.wait_for_function(f"({marked})() > 0")
