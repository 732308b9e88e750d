from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from longbeam.schemas import BenchmarkSpec, Message
from longbeam.store import create_benchmark, seal_conversation
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
    page.wait_for_selector(".message", state="attached")  # on a phone it is behind a tab
    ready(page)


def ready(page: Page) -> None:
    """Wait until the item that the page shows may be judged: its evidence is drawn, and half a second has passed."""
    page.wait_for_function(
        "() => { const item = document.querySelector('.item'); return item?.dataset.ready === item?.dataset.item }"
    )


def shown(page: Page) -> str:
    """Return the item that the page shows."""
    return str(page.locator(".item").get_attribute("data-item"))


def first_of(page: Page, server: Server, ability: str, conversation: str = "c000") -> str:
    """Return the address of the first item of an ability in the queue."""
    rows = api(page, server, f"/queue.json?ability={ability}&conversation={conversation}")["rows"]
    return str(rows[0]["href"])


def api(page: Page, server: Server, path: str) -> Any:
    answer = page.request.get(server.base + path)
    assert answer.ok, answer.text()
    return answer.json()


def accept(page: Page) -> None:
    """Accept by keyboard, with the searches that an abstention needs, and override gates that allow it."""
    if "abstention" in shown(page):
        for number in range(needed := searches_needed(page)):
            page.keyboard.press(".")
            expect(page.locator("#room .chips [aria-pressed=true]")).to_have_count(number + 1)
            expect(page.locator("#search-count")).not_to_be_empty()
            if page.locator("#search-count").inner_text() != "not found":
                page.keyboard.press("h")
                page.wait_for_timeout(900)  # a hit counts as opened once it was shown for 0.7 s
        expect(page.locator("#room [data-count].ok")).to_have_text(f"{needed} of {needed} searches count")
        expect(page.locator("#room .chips .warning")).to_have_count(0)
    page.keyboard.press("a")


def searches_needed(page: Page, where: str = "#room") -> int:
    """Return the searches that the abstention on the page asks for; as many are offered, one click each."""
    expect(page.locator(f"{where} .chips button").first).to_be_visible()
    count = re.search(r"0 of (\d+)", page.locator(f"{where} [data-count]").inner_text())
    assert count is not None
    assert page.locator(f"{where} .chips button").count() >= int(count[1]) >= 1
    return int(count[1])


def test_every_item_with_the_keyboard_alone(start: Start, open_page: Opened, generated: Path) -> None:
    server = start(generated, "made")
    page = open_page(server)
    page.goto(f"{server.base}/session")
    page.keyboard.type("ana")
    with page.expect_navigation(url="**/queue*"):
        page.keyboard.press("Enter")
    begin(page, server)
    verdicts = {"accept": 0, "reject": 0, "skip": 0}
    total = api(page, server, "/queue.json?view=mine")["total"]
    assert total > 35
    for number in range(total):
        ready(page)
        item = shown(page)
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
        expect(page.locator(".toast")).to_contain_text(re.compile(word, re.IGNORECASE))
        verdicts[word] += 1
        if number < total - 1:
            expect(page.locator(".item")).not_to_have_attribute("data-item", item)
    events = api(page, server, "/log.json?kind=judged&count=1000")["events"]
    saved = [e["after"]["verdict"] for e in events if e["target"] == "item"]
    assert {word: saved.count(word) for word in verdicts} == verdicts
    assert len({e["item_id"] for e in events if e["target"] == "item"}) == total


def test_undo_after_save_and_redo_go_back_to_the_item(shared: Server, open_page: Opened) -> None:
    server, page = shared, open_page(shared, "una")
    begin(page, server)
    first = shown(page)
    page.keyboard.press("s")
    expect(page.locator(".item")).not_to_have_attribute("data-item", first)
    page.keyboard.press("z")
    expect(page.locator(".item")).to_have_attribute("data-item", first)
    assert api(page, server, f"/items/{first}.json")["mine"]["verdict"] is None
    page.keyboard.press("Shift+Z")
    expect(page.locator(".toast")).to_contain_text("Redone")
    assert api(page, server, f"/items/{first}.json")["mine"]["verdict"] == "skip"


def test_two_reviewers_are_blind_then_a_lead_decides(start: Start, open_page: Opened, generated: Path) -> None:
    server = start(generated, "made", "--overlap", "2")
    ana, ben = open_page(server, "ana"), open_page(server, "ben")
    item = first_of(ana, server, "knowledge_update").removeprefix("/items/")
    begin(ana, server, f"/items/{item}")
    ana.keyboard.press("e")
    ana.locator("#question textarea").fill("What does it cost by now?")
    ana.keyboard.press("Control+Enter")
    expect(ana.locator("#question .field")).to_have_text("What does it cost by now?")
    ana.keyboard.press("x")
    ana.keyboard.press("1")
    expect(ana.locator(".toast")).to_contain_text("Rejected")
    begin(ben, server, f"/items/{item}")
    assert "What does it cost by now?" not in ben.content()
    expect(ben.locator("#verdict")).to_contain_text("You judge alone")
    assert api(ben, server, f"/items/{item}.json")["others"] == []
    ben.keyboard.press("a")
    expect(ben.locator(".toast")).to_contain_text("Accepted")
    lead = open_page(server, "lea", "lead")
    lead.goto(f"{server.base}/adjudication")
    expect(lead.locator(".version")).to_have_count(2)
    expect(lead.locator(".version").first).to_contain_text("ana: reject")
    expect(lead.locator(".changed ins").first).to_contain_text("cost by now")
    expect(lead.locator(".deciding [aria-pressed=true]")).to_have_count(0)  # nothing is chosen beforehand
    for key in ("1", "2", "4"):
        lead.keyboard.press(key)
    lead.keyboard.press("c")
    lead.keyboard.type("clearer")
    lead.keyboard.press("Control+Enter")
    expect(lead.locator("h1")).to_have_text("Conflicts: 0 open, 1 decided")
    decided = api(lead, server, f"/items/{item}.json")
    assert decided["adjudication"]["verdict"] == "accept"
    assert {o["reviewer_id"] for o in decided["others"]} == {"ana", "ben"}


def test_a_browser_killed_in_the_middle_of_an_edit_loses_nothing(shared: Server, open_page: Opened) -> None:
    server, page = shared, open_page(shared, "kim")
    item = first_of(page, server, "temporal_reasoning")
    begin(page, server, item)
    page.keyboard.press("g")
    with page.expect_response(re.compile("/acts")):
        page.locator("#gold-answer textarea").fill("eleven days, half written")
    page.context.close()
    again = open_page(server, "kim")
    begin(again, server, item)
    expect(again.locator("#gold-answer .typed")).to_contain_text("eleven days, half written")
    again.get_by_role("button", name="Use these words").click()
    expect(again.locator("#gold-answer textarea")).to_have_value("eleven days, half written")
    again.keyboard.press("Escape")
    assert api(again, server, f"{item}.json")["gold_answer"] != "eleven days, half written"


def test_what_another_tab_changed_is_shown_and_nothing_is_overwritten(shared: Server, open_page: Opened) -> None:
    server, first = shared, open_page(shared, "tom")
    item = first_of(first, server, "summarization")
    begin(first, server, item)
    second = first.context.new_page()
    begin(second, server, item)
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


def given(tmp_path: Path, change: Callable[[int, Message], str], asked_too: str = "") -> Path:
    """A benchmark of the hand-written conversation with other contents, and hostile questions."""
    out = tmp_path / "given"
    made = create_benchmark(BenchmarkSpec(name="tiny", conversations=1, length=16_000), out)
    tiny = tiny_conversation()
    said = [m.model_copy(update={"content": change(i, m)}) for i, m in enumerate(tiny.said)]
    asked = [p.model_copy(update={"question": f"{HOSTILE} {p.question}{asked_too}"}) for p in tiny.asked]
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
    shared: Server, open_page: Opened, scheme: str, width: int
) -> None:
    page = open_page(shared, "wim", color_scheme=scheme, viewport={"width": width, "height": 900})
    begin(page, shared, first_of(page, shared, "contradiction_resolution", "c001"))
    parts = (
        "#question",
        "#gold-answer",
        "#rubric",
        "#verdict",
        "#dock .evidence >> nth=0",
        "#findings",
        "#panel",
        "#room canvas",
    )
    for part in parts:  # an item is drawn again when the opinion on it is begun
        expect(page.locator(part)).to_be_visible()
    for part in parts:
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
    begin(page, server, first_of(page, server, "instruction_following"))
    asked = ["generate", "--name", "made", "--length", "16K", "--conversations", "3", "--runner", "inline"]
    command = [sys.executable, "-m", "longbeam", *asked, "--out", str(server.out)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as run:
        for _ in range(3):
            page.keyboard.press("n")
        page.keyboard.press("s")
        expect(page.locator(".toast")).to_contain_text("Skipped")
        assert run.wait(100) == 0
    page.goto(f"{server.base}/conversations")
    expect(page.locator("td a")).to_have_count(3)
    added = first_of(page, server, "instruction_following", "c002")
    begin(page, server, added)
    expect(page.locator(".item")).to_have_attribute("data-item", added.removeprefix("/items/"))


def select_words(page: Page) -> None:
    """Select the first paragraph of a user in the conversation, as a mouse would."""
    page.evaluate(
        """() => {
            const words = document.querySelector('.message.user .body p') ?? document.querySelector('.message .body p');
            const range = document.createRange();
            range.selectNodeContents(words);
            getSelection().removeAllRanges();
            getSelection().addRange(range);
        }"""
    )


def test_words_selected_in_the_conversation_become_evidence(shared: Server, open_page: Opened) -> None:
    server, page = shared, open_page(shared, "eva")
    item = first_of(page, server, "information_extraction").removeprefix("/items/")
    begin(page, server, f"/items/{item}")
    before = len(api(page, server, f"/items/{item}.json")["evidence"])
    select_words(page)
    page.keyboard.press("v")
    expect(page.locator(".toast")).to_contain_text("Cited")
    found = api(page, server, f"/items/{item}.json")["evidence"]
    assert len(found) == before + 1
    assert all(e["attachment"] == "attached" for e in found)
    page.keyboard.press("z")
    expect(page.locator("#dock .evidence")).to_have_count(before)


def test_search_filters_jumps_and_the_minimap_lead_to_the_message(shared: Server, open_page: Opened) -> None:
    server, page = shared, open_page(shared, "mia")
    begin(page, server, first_of(page, server, "event_ordering", "c001"))
    found = api(page, server, "/conversations/c001/search.json?q=the&speaker=user")
    page.select_option(".tools select", "user")
    page.keyboard.press("/")
    page.keyboard.type("the")
    page.keyboard.press("Enter")
    expect(page.locator("#search-count")).to_have_text(f"{found['total']:,} in {found['messages']:,} messages")
    expect(page.locator(".message.target")).to_have_attribute("data-id", str(found["message_ids"][0]))
    expect(page.locator(".message.target mark.search").first).to_be_in_viewport()
    page.keyboard.press("h")
    expect(page.locator(".message.target")).to_have_attribute("data-id", str(found["message_ids"][1]))
    page.locator(".tools details summary").click()
    page.locator(".tools input[aria-label=session]").fill("2")  # people count from 1, addresses from 0
    narrowed = api(page, server, "/conversations/c001/search.json?q=the&speaker=user&session=1")
    assert 0 < narrowed["messages"] < found["messages"]
    page.locator(".tools input[type=search]").press("Enter")
    expect(page.locator("#search-count")).to_have_text(f"{narrowed['total']:,} in {narrowed['messages']:,} messages")
    day = api(page, server, "/conversations/c001/messages.json?first=90&count=1")["messages"][0]["sent_at"][:10]
    place = api(page, server, f"/conversations/c001/locate.json?by=date&value={day}")["message_id"]
    page.keyboard.press("t")
    page.keyboard.type(day)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".message.target")).to_have_attribute("data-id", str(place))
    strip = page.locator(".talk canvas").bounding_box()
    assert strip is not None
    page.mouse.click(strip["x"] + 10, strip["y"] + strip["height"] * 0.5)
    total = api(page, server, "/conversations/c001/minimap.json")["total"]
    page.wait_for_timeout(300)
    shown = int(str(page.locator(".message.target").get_attribute("data-id")))
    assert abs(shown - total / 2) <= 2


def test_a_finding_leads_to_its_cause(start: Start, open_page: Opened, tmp_path: Path) -> None:
    server = start(given(tmp_path, lambda i, m: m.content), "tiny")
    page = open_page(server, "ana")
    rows = api(page, server, "/queue.json?count=1000")["rows"]
    begin(page, server, next(r["href"] for r in rows if r["evidence"] and r["nuggets"]))
    page.keyboard.press("g")
    page.locator("#gold-answer textarea").fill("It was 12,345 euros on May 3, 2031.")
    page.keyboard.press("Control+Enter")
    finding = page.locator("#findings a").first
    expect(finding).to_be_visible()
    cause = str(finding.get_attribute("href"))
    finding.click()
    if not cause.startswith("#evidence-"):
        expect(page.locator(cause.replace(".", "\\."))).to_have_class(re.compile("pointed"))


def test_a_probe_written_by_hand_is_checked_and_reviewed_and_one_is_taken_from_the_pool(
    shared: Server, open_page: Opened
) -> None:
    server, page = shared, open_page(shared, "pia")
    begin(page, server, first_of(page, server, "multi_session_reasoning"))
    page.locator("#aids summary", has_text="More").click()
    page.get_by_role("button", name="Other candidates", exact=True).click()
    candidate = page.locator("#pool li", has=page.get_by_role("button", name="take in")).first
    name = candidate.locator("a").inner_text()
    candidate.get_by_role("button", name="take in").click()
    taken_in = page.locator("#pool li", has=page.get_by_text(name, exact=True))
    expect(taken_in.locator(".tag")).to_have_text("in the queue")
    page.get_by_role("button", name="Write an item").click()
    page.locator("#writing textarea[aria-label=question]").fill("What did I say first?")
    page.locator("#writing textarea[aria-label='gold answer']").fill("A greeting.")
    page.locator("#writing textarea[aria-label=nuggets]").fill("Says that it was a greeting")
    select_words(page)
    page.get_by_role("button", name="cite selection").last.click()
    page.locator("#writing").get_by_role("button", name="check").click()
    expect(page.locator("#writing [role=status] p").last).to_be_visible()
    page.get_by_role("button", name="save and review").click()
    expect(page.locator(".item")).to_have_attribute("data-item", "c000/multi_session_reasoning.h0")
    expect(page.locator("#question .field")).to_have_text("What did I say first?")


def test_a_bundle_opens_without_a_server_and_its_decisions_come_back(
    shared: Server, browser: Browser, tmp_path: Path
) -> None:
    def run(*given: str) -> None:
        command = [sys.executable, "-m", "longbeam", "reviews", *given, "--out", str(shared.out)]
        subprocess.run(command, check=True, capture_output=True)

    run("bundle", "made", str(tmp_path / "bundle"), "--reviewer", "dora")
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda r: asked.append(r.url))
    page.goto((tmp_path / "bundle" / "index.html").as_uri())
    assert not page.evaluate("fetch('http://127.0.0.1:9/').then(() => true, () => false)")
    item = page.locator("#item").get_attribute("data-item")
    page.get_by_role("button", name="accept").click()
    expect(page.locator("#progress")).to_contain_text("1 of")
    page.reload()
    expect(page.locator("#progress")).to_contain_text("1 of")
    with page.expect_download() as download:
        page.click("#save")
    download.value.save_as(tmp_path / "dora.jsonl")
    page.close()
    assert all(url.startswith(("file:", "blob:")) for url in asked if ":9/" not in url), asked
    run("import", "made", str(tmp_path / "dora.jsonl"))
    with urllib.request.urlopen(f"{shared.base}/log.json?reviewer=dora") as answer:
        events = json.load(answer)["events"]
    assert [(e["item_id"], e["after"]) for e in events] == [(item, {"verdict": "accept"})]
