from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from longbeam.pipeline.benchmark import create_benchmark
from longbeam.schemas.dialogue import Message
from longbeam.schemas.spec import BenchmarkSpec
from longbeam.store.artifacts import seal_conversation
from tests.browser.conftest import Opened, Server
from tests.tiny import tiny_conversation

# Minutes on two cores: `make browser` runs them.
pytestmark = pytest.mark.slow

Start = Callable[..., Server]


def begin(page: Page, server: Server, item: str = "") -> None:
    """Open an item, or the first of the queue, and wait until its conversation is there."""
    if not item:
        page.goto(f"{server.base}/queue?view=mine")
        item = str(page.locator("td a").first.get_attribute("href"))
    page.goto(server.base + item)
    page.wait_for_selector(".message")


def api(page: Page, server: Server, path: str) -> Any:
    answer = page.request.get(server.base + path)
    assert answer.ok, answer.text()
    return answer.json()


def accept(page: Page) -> None:
    """Accept by keys, with the searches that an abstention needs, over gates where they may be passed."""
    if page.locator(".bar .tag").first.inner_text() == "abstention":
        for word in ("ticket", "budget", "letter"):
            page.keyboard.press("/")
            page.keyboard.type(word)
            with page.expect_response(re.compile("/acts")):
                page.keyboard.press("Enter")
            page.keyboard.press("Escape")
    page.keyboard.press("a")


def test_forty_items_with_the_keyboard_alone(start: Start, open_page: Opened, generated: Path) -> None:
    server = start(generated, "made")
    page = open_page(server, "ana")
    begin(page, server)
    verdicts = {"accept": 0, "reject": 0, "skip": 0}
    for number in range(40):
        item = page.locator("#bar b").inner_text()
        if number % 3 == 0:
            page.keyboard.press("y")
            expect(page.locator(".nugget button[aria-pressed=true]").first).to_have_text(re.compile("^yes"))
        word = ("accept", "accept", "accept", "reject", "skip")[number % 5]
        if word == "reject":
            page.keyboard.press("x")
            page.keyboard.press("2")
        elif word == "skip":
            page.keyboard.press("s")
        else:
            accept(page)
        expect(page.locator(".note")).to_contain_text(word)
        verdicts[word] += 1
        if number < 39:
            expect(page.locator("#bar b")).not_to_have_text(item)
    page.goto(f"{server.base}/log?kind=judged")
    events = api(page, server, "/log.json?kind=judged&count=1000")["events"]
    saved = [e["after"]["verdict"] for e in events if e["target"] == "item"]
    assert {word: saved.count(word) for word in verdicts} == verdicts
    assert len({e["item_id"] for e in events if e["target"] == "item"}) == 40


def test_undo_after_save_and_redo_go_back_to_the_item(start: Start, open_page: Opened, generated: Path) -> None:
    server = start(generated, "made")
    page = open_page(server, "ana")
    begin(page, server)
    first = page.locator("#bar b").inner_text()
    page.keyboard.press("s")
    expect(page.locator("#bar b")).not_to_have_text(first)
    page.keyboard.press("z")
    expect(page.locator("#bar b")).to_have_text(first)
    assert api(page, server, f"/items/{first}.json")["mine"]["verdict"] is None
    page.keyboard.press("Z")
    expect(page.locator(".note")).to_contain_text("redo")
    assert api(page, server, f"/items/{first}.json")["mine"]["verdict"] == "skip"


def test_two_reviewers_are_blind_then_a_lead_decides(start: Start, open_page: Opened, generated: Path) -> None:
    server = start(generated, "made", "--overlap", "2")
    item = "c000/knowledge_update.0"
    ana, ben = open_page(server, "ana"), open_page(server, "ben")
    begin(ana, server, f"/items/{item}")
    ana.keyboard.press("e")
    ana.locator("#question textarea").fill("What does it cost by now?")
    ana.keyboard.press("Control+Enter")
    expect(ana.locator("#question .field")).to_have_text("What does it cost by now?")
    ana.keyboard.press("x")
    ana.keyboard.press("1")
    expect(ana.locator(".note")).to_contain_text("reject")
    begin(ben, server, f"/items/{item}")
    assert "What does it cost by now?" not in ben.content()
    expect(ben.locator("#verdict")).to_contain_text("as many are saved as are wanted")
    assert api(ben, server, f"/items/{item}.json")["others"] == []
    ben.keyboard.press("a")
    expect(ben.locator(".note")).to_contain_text("accept")
    lead = open_page(server, "lea", "lead")
    lead.goto(f"{server.base}/adjudication")
    expect(lead.locator(".versions .card")).to_have_count(2)
    lead.select_option("select[name=content_of]", "ana")
    lead.fill("input[name=note]", "clearer")
    lead.click("form[data-decide] button")
    expect(lead.locator("h1")).to_have_text("0 open, 1 decided")
    decided = api(lead, server, f"/items/{item}.json")
    assert decided["adjudication"]["verdict"] == "accept"
    assert {o["reviewer_id"] for o in decided["others"]} == {"ana", "ben"}


def test_a_browser_killed_in_the_middle_of_an_edit_loses_nothing(
    start: Start, open_page: Opened, generated: Path
) -> None:
    server = start(generated, "made")
    page = open_page(server, "ana")
    begin(page, server, "/items/c000/temporal_reasoning.0")
    page.keyboard.press("g")
    with page.expect_response(re.compile("/acts")):
        page.locator("#gold textarea").fill("eleven days, half written")
    page.context.close()
    again = open_page(server, "ana")
    begin(again, server, "/items/c000/temporal_reasoning.0")
    again.keyboard.press("g")
    expect(again.locator("#gold textarea")).to_have_value("eleven days, half written")
    again.keyboard.press("Escape")
    assert api(again, server, "/items/c000/temporal_reasoning.0.json")["gold_answer"] != "eleven days, half written"


def test_what_another_tab_changed_is_shown_and_nothing_is_overwritten(
    start: Start, open_page: Opened, generated: Path
) -> None:
    server = start(generated, "made")
    first = open_page(server, "ana")
    begin(first, server, "/items/c000/summarization.0")
    second = first.context.new_page()
    begin(second, server, "/items/c000/summarization.0")
    second.keyboard.press("e")
    second.locator("#question textarea").fill("Sum it up, please.")
    second.keyboard.press("Control+Enter")
    expect(second.locator("#question .field")).to_have_text("Sum it up, please.")
    first.keyboard.press("y")
    expect(first.locator("dialog")).to_contain_text("changed meanwhile")
    expect(first.locator("dialog")).to_contain_text("Sum it up, please.")
    first.keyboard.press("Escape")
    expect(first.locator("#question .field")).to_have_text("Sum it up, please.")


HOSTILE = (
    "<script>document.title='owned'</script><img src='http://evil.example/x.png' onerror=\"alert(1)\">"
    "[click](javascript:alert(2)) ![p](http://evil.example/p.png) <iframe src='http://evil.example'></iframe>"
    "</script><svg onload=alert(3)> **bold**"
)


def given(tmp_path: Path, change: Callable[[int, Message], str]) -> Path:
    """A benchmark of the hand-written conversation with other contents."""
    out = tmp_path / "given"
    made = create_benchmark(BenchmarkSpec(name="tiny", conversations=1, length=16_000), out)
    tiny = tiny_conversation()
    said = [m.model_copy(update={"content": change(i, m)}) for i, m in enumerate(tiny.said)]
    asked = [p.model_copy(update={"question": f"{HOSTILE} {p.question}"}) for p in tiny.asked]
    seal_conversation(made.sealed_path("c000"), tiny.head, said, asked)
    return out


def test_hostile_text_runs_nothing_and_fetches_nothing(start: Start, open_page: Opened, tmp_path: Path) -> None:
    server = start(given(tmp_path, lambda i, m: f"{m.content}\n\n{HOSTILE}"), "tiny")
    page = open_page(server, "ana")  # fails by itself where a script runs or another server is asked
    begin(page, server)
    expect(page.locator("#question .field")).to_contain_text("<script>")
    assert page.locator(".message strong").first.inner_text() == "bold"
    assert page.locator(".body script, .body img, .body iframe, .body a, .body svg").count() == 0
    for path in ("/queue", "/log", "/conversations/c000/messages", "/conversations/c000/messages/0"):
        page.goto(server.base + path)
        assert page.title() != "owned"


def test_a_message_of_330000_characters_opens_at_its_quote_and_can_be_searched(
    start: Start, open_page: Opened, tmp_path: Path
) -> None:
    def grow(number: int, message: Message) -> str:
        return "filler words go here. " * 7_500 + message.content + " needle " + "and go on here. " * 10_500

    server = start(given(tmp_path, grow), "tiny")
    page = open_page(server, "ana")
    page.goto(f"{server.base}/queue?view=all")
    items = api(page, server, "/queue.json?view=all")["rows"]
    item = next(row for row in items if row["evidence"])
    begin(page, server, item["href"])
    shown = page.locator(".message.target")
    assert len(shown.inner_text()) < 5_000
    quote = page.locator(".message.target mark.evidence").first
    expect(quote).to_be_visible()
    box, room = quote.bounding_box(), page.locator(".lines").bounding_box()
    assert box is not None
    assert room is not None
    assert room["y"] <= box["y"] <= room["y"] + room["height"]
    shown.locator("input[type=search]").fill("needle")
    shown.locator("input[type=search]").press("Enter")
    expect(page.locator(".message mark.search").first).to_be_visible()
    assert page.evaluate("document.querySelectorAll('*').length") < 3_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 1920])
def test_both_schemes_and_widths_show_all_of_the_item(
    start: Start, open_page: Opened, generated: Path, scheme: str, width: int
) -> None:
    server = start(generated, "made")
    page = open_page(server, "ana", color_scheme=scheme, viewport={"width": width, "height": 900})
    begin(page, server, "/items/c001/contradiction_resolution.0")
    for part in (
        "#question",
        "#gold",
        "#rubric",
        "#verdict",
        "#dock .evidence >> nth=0",
        "#findings",
        "#panel",
        "#room canvas",
    ):
        box = page.locator(part).bounding_box()
        assert box is not None, part
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width + 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", colour)[:3])) < 200) == (scheme == "dark")


def test_a_review_goes_on_while_generate_adds_conversations(start: Start, open_page: Opened, generated: Path) -> None:
    server = start(generated, "made")
    page = open_page(server, "ana")
    begin(page, server, "/items/c000/instruction_following.0")
    command = [
        sys.executable,
        "-m",
        "longbeam",
        "generate",
        "--name",
        "made",
        "--length",
        "16K",
        "--conversations",
        "3",
    ]
    with subprocess.Popen([*command, "--runner", "inline", "--out", str(server.out)], stderr=subprocess.DEVNULL) as run:
        for _ in range(3):
            page.keyboard.press("n")
            page.keyboard.press("n")
        page.keyboard.press("s")
        expect(page.locator(".note")).to_contain_text("skip")
        assert run.wait(100) == 0
    page.goto(f"{server.base}/conversations")
    expect(page.locator("td a")).to_have_count(3)
    begin(page, server, "/items/c002/instruction_following.0")
    expect(page.locator("#bar b")).to_have_text("c002/instruction_following.0")


def test_words_selected_in_the_conversation_become_evidence(start: Start, open_page: Opened, generated: Path) -> None:
    server = start(generated, "made")
    page = open_page(server, "ana")
    item = "c000/information_extraction.0"
    begin(page, server, f"/items/{item}")
    before = len(api(page, server, f"/items/{item}.json")["evidence"])
    page.evaluate(
        """() => {
            const words = document.querySelector('.message.user .body p') ?? document.querySelector('.message .body p');
            const range = document.createRange();
            range.selectNodeContents(words);
            getSelection().removeAllRanges();
            getSelection().addRange(range);
        }"""
    )
    page.keyboard.press("v")
    expect(page.locator(".note")).to_contain_text("cited")
    found = api(page, server, f"/items/{item}.json")["evidence"]
    assert len(found) == before + 1
    assert all(e["attachment"] == "attached" for e in found)
    page.keyboard.press("z")
    expect(page.locator(".evidence")).to_have_count(before)
