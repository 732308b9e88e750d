"""Faults that falsified data or tired people, each as somebody met it at the keyboard."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Opened, Server, serve
from tests.browser.test_review import HOSTILE, api, begin, first_of, given, ready, searches_needed, shown
from tests.tiny import tiny_conversation

pytestmark = pytest.mark.slow

Start = Callable[..., Server]
GOLD = "#gold-answer textarea"


def verdict_of(page: Page, server: Server, item: str) -> Any:
    return api(page, server, f"{item}.json")["mine"]["verdict"]


def with_nuggets(page: Page, server: Server, least: int) -> str:
    """Return the address of an item with at least this many nuggets that is no abstention."""
    rows = api(page, server, "/queue.json?count=1000")["rows"]
    return next(str(r["href"]) for r in rows if r["nuggets"] >= least and r["ability"] != "abstention")


def press(page: Page, *keys: str) -> int:
    """Press keys as a person does, and return how many."""
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(120)
    return len(keys)


def exported_probes(server: Server, target: Path) -> dict[str, Any]:
    """Return the probes of `longbeam export --reviewed-only` by item."""
    command = ["export", "made", "--to", str(target), "--out", str(server.out), "--reviewed-only"]
    subprocess.run([sys.executable, "-m", "longbeam", *command], check=True, capture_output=True)
    lines = map(json.loads, (target / "probes.jsonl").read_text(encoding="utf-8").splitlines())
    return {f"{line['conversation_id']}/{line['probe_id']}": line for line in lines}


def test_a_nugget_marked_no_is_not_accepted_without_a_word(shared: Server, open_page: Opened, tmp_path: Path) -> None:
    page = open_page(shared, "nia")
    item = with_nuggets(page, shared, 2)
    begin(page, shared, item)
    expect(page.locator("button[data-action=accept]")).to_contain_text(re.compile(r"0 of \d+ judged"))
    press(page, "n", "a")
    dialog = page.locator("dialog")
    expect(dialog).to_contain_text('You marked nugget 1 "no"')
    assert verdict_of(page, shared, item) is None
    before = len(api(page, shared, f"{item}.json")["rubric"])
    dialog.get_by_role("button", name="Remove it").click()
    expect(dialog).to_contain_text("Nothing stands in the way")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".toast")).to_contain_text("Accepted")
    rubric = [nugget["text"] for nugget in api(page, shared, f"{item}.json")["rubric"]]
    assert len(rubric) == before - 1
    exported = exported_probes(shared, tmp_path / "export")
    assert [nugget["text"] for nugget in exported[item.removeprefix("/items/")]["rubric"]] == rubric


def test_a_nugget_marked_no_may_stay_with_a_note(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "noa")
    item = first_of(page, shared, "temporal_reasoning", "c001")
    begin(page, shared, item)
    press(page, "n", "a")
    page.locator("dialog textarea").fill("wanted all the same")
    page.keyboard.press("Control+Enter")  # saves, and passes no gate
    page.locator("dialog").get_by_role("button", name="Accept all the same").click()
    expect(page.locator(".toast")).to_contain_text("Accepted")
    assert api(page, shared, f"{item}.json")["mine"]["note"] == "wanted all the same"


def test_every_nugget_must_be_judged_where_the_review_asks_for_it(
    start: Start, open_page: Opened, generated: Path
) -> None:
    server = start(generated, "made", "--every-nugget")
    page = open_page(server, "eve")
    begin(page, server, with_nuggets(page, server, 3))
    page.keyboard.press("a")
    expect(page.locator("dialog")).to_contain_text("Every nugget must be judged here")
    page.locator("dialog").get_by_role("button", name="All yes").click()
    expect(page.locator("dialog")).to_contain_text("Nothing stands in the way")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".toast")).to_contain_text("Accepted")


def test_drafts_of_two_tabs_are_both_there_and_offered(shared: Server, open_page: Opened) -> None:
    first = open_page(shared, "tab")
    item = first_of(first, shared, "information_extraction", "c001")
    second = first.context.new_page()
    begin(first, shared, item)
    begin(second, shared, item)
    for page, text in ((first, "Words of the first tab."), (second, "Words of the second tab.")):
        page.keyboard.press("g")
        page.locator(GOLD).press("Control+A")
        page.keyboard.type(text, delay=20)
    for page in (first, second):
        page.keyboard.press("Escape")
        page.wait_for_timeout(300)
        expect(page.locator(".strip")).to_have_text("Draft kept, not saved", timeout=15_000)
    typed = {u["text"] for u in api(first, shared, f"{item}.json")["mine"]["unsaved"]}
    assert typed == {"Words of the first tab.", "Words of the second tab."}
    third = first.context.new_page()
    begin(third, shared, item)
    third.keyboard.press("g")
    gold = api(third, shared, f"{item}.json")["gold_answer"]
    expect(third.locator(GOLD)).to_have_value(gold)  # not the words of another tab
    expect(third.locator("#gold-answer .typed")).to_have_count(2)
    third.get_by_role("button", name="Use these words").first.click()
    third.get_by_role("button", name="Add them below mine").first.click()
    assert {line for line in third.locator(GOLD).input_value().split("\n") if line} == typed


def test_a_double_tap_accepts_one_item(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "doe")
    begin(page, shared, first_of(page, shared, "instruction_following", "c001"))
    first = shown(page)
    page.keyboard.press("a")
    page.wait_for_timeout(120)
    page.keyboard.press("a")
    expect(page.locator(".item")).not_to_have_attribute("data-item", first)
    page.wait_for_timeout(1_000)
    events = api(page, shared, "/log.json?kind=judged&reviewer=doe")["events"]
    assert [e["item_id"] for e in events] == [first]
    page.wait_for_timeout(3_300)
    page.locator(".toast").get_by_role("button", name="Undo").click()  # the way back stays for five seconds
    expect(page.locator(".item")).to_have_attribute("data-item", first)
    assert verdict_of(page, shared, f"/items/{first}") is None


def test_no_verdict_before_the_evidence_is_drawn(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "eda")
    item = first_of(page, shared, "summarization", "c001")
    held: list[Route] = []
    page.route("**/messages.json*", lambda route: held.append(route))
    page.goto(shared.base + item)
    page.wait_for_selector(".verdict-bar")
    page.wait_for_timeout(700)
    page.keyboard.press("a")
    expect(page.locator(".toast")).to_contain_text("not there yet")
    assert verdict_of(page, shared, item) is None
    for route in held:
        route.continue_()


def test_searches_for_nonsense_do_not_open_the_gate_of_an_abstention(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "abe")
    item = first_of(page, shared, "abstention")
    begin(page, shared, item)
    for word in ("zzzz1", "zzzz2", "zzzz3"):
        page.keyboard.press("/")
        page.keyboard.type(word)
        with page.expect_response(re.compile("/acts")):
            page.keyboard.press("Enter")
    page.keyboard.press("a")
    dialog = page.locator("dialog")
    needed = searches_needed(page)
    expect(dialog).to_contain_text(f"0 of {needed} searches count")
    for number in range(needed):  # what blocks acceptance is done in the dialog
        dialog.locator(".chips button").nth(number).click()
        expect(page.locator("#room [data-count]")).to_contain_text(f"{number + 1} of {needed}")
    expect(dialog).to_contain_text("Nothing stands in the way")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".toast")).to_contain_text("Accepted")


def test_hits_are_a_list_that_enter_walks(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "hit")
    begin(page, shared, first_of(page, shared, "abstention", "c001"))
    found = api(page, shared, "/conversations/c001/search.json?q=the")
    page.keyboard.press("/")
    page.keyboard.type("the")
    for number in range(3):
        page.keyboard.press("Enter")
        target = page.locator(".message.target")
        expect(target).to_have_attribute("data-id", str(found["message_ids"][number]))
        expect(page.locator(".hits [aria-current]")).to_contain_text(f"#{found['message_ids'][number]}")


def test_an_ended_session_is_signed_in_on_the_spot(start: Start, open_page: Opened, generated: Path) -> None:
    server = start(generated, "made")
    page = open_page(server, "sid")
    item = first_of(page, server, "knowledge_update")
    begin(page, server, item)
    page.keyboard.press("g")
    page.locator(GOLD).fill("Typed before the session ended.")
    page.context.clear_cookies()
    page.keyboard.press("Control+Enter")
    dialog = page.locator("dialog")
    expect(dialog).to_contain_text("Sign in again")
    expect(dialog.locator("input")).to_have_value("sid")
    page.keyboard.press("Enter")
    expect(page.locator("#gold-answer .field")).to_have_text("Typed before the session ended.")
    assert api(page, server, f"{item}.json")["gold_answer"] == "Typed before the session ended."


def test_signing_in_in_another_tab_stops_nothing(start: Start, open_page: Opened, generated: Path) -> None:
    server = start(generated, "made")
    page = open_page(server, "sam")
    begin(page, server, first_of(page, server, "knowledge_update"))
    page.wait_for_timeout(1_100)  # a cookie of another second
    page.context.request.post(f"{server.base}/api/session", data={"reviewer_id": "sam", "role": "annotator"})
    page.keyboard.press("y")
    expect(page.locator(".choices [data-word=yes]").first).to_have_attribute("aria-pressed", "true")
    expect(page.locator("dialog")).to_have_count(0)


def test_a_shipped_sample_opens_as_a_copy_to_judge(tmp_path: Path, open_page: Opened) -> None:
    server = serve(tmp_path, "home16")
    try:
        page = open_page(server, "lou")
        rows = api(page, server, "/queue.json?view=mine&count=1000")["rows"]
        assert len(rows) > 10
        item = next(r["href"] for r in rows if r["ability"] == "information_extraction")
        view = api(page, server, f"{item}.json")
        assert (view["others"], view["adjudication"], view["status"]) == ([], None, "pending")
        begin(page, server, item)
        press(page, "x", "1")
        expect(page.locator(".toast")).to_contain_text("Rejected")
        assert {o["reviewer_id"] for o in api(page, server, f"{item}.json")["others"]} == {"reader-1", "reader-2"}
    finally:
        server.process.terminate()
        server.process.communicate(timeout=20)


def test_a_server_that_is_away_for_long_is_asked_again_and_the_page_says_so(
    start: Start, open_page: Opened, generated: Path
) -> None:
    server = start(generated, "made")
    page = open_page(server, "joe")
    item = first_of(page, server, "information_extraction")
    begin(page, server, item)
    page.keyboard.press("g")
    page.locator(GOLD).fill("Said while it was away.")
    server.kill()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".strip")).to_contain_text("the server does not answer")
    page.wait_for_timeout(50_000)
    expect(page.locator(".strip")).to_contain_text("the server does not answer")
    server.start_again("made")
    expect(page.locator("#gold-answer .field")).to_have_text("Said while it was away.", timeout=20_000)
    expect(page.locator(".strip")).to_have_text("Saved")


def test_signs_that_turn_a_paragraph_are_shown(start: Start, open_page: Opened, tmp_path: Path) -> None:
    signs = [chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))]
    turned = "".join(f"before {sign}reversed" for sign in signs)
    server = start(given(tmp_path, lambda i, m: f"{m.content}\n\n{turned}", turned), "tiny")
    page = open_page(server, "rtl")
    begin(page, server)
    expect(page.locator(".message").first.locator("mark.sign")).to_have_text([f"U+{ord(sign):04X}" for sign in signs])
    assert HOSTILE in page.locator("#question .field").inner_text()
    expect(page.locator("#question .field")).to_contain_text("[U+202E]")
    page.keyboard.press("c")
    page.keyboard.type(turned)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#notes")).to_contain_text("[U+202E]")
    item = page.url.removeprefix(server.base)
    pages = ("/queue", "/log", "/conversations/c000", "/conversations/c000/messages", "/conversations/c000/messages/0")
    for path in (item, *pages, "/conversations/c000/search?q=reversed", f"{item}/history", f"{item}/provenance"):
        page.goto(server.base + path)
        page.wait_for_load_state("networkidle")
        shown = page.locator("body").inner_text()
        assert [f"U+{ord(sign):04X}" for sign in signs if sign in shown] == [], path


def test_an_item_has_one_name_everywhere(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "ian")
    for row in api(page, shared, "/queue.json?count=40")["rows"]:
        number = re.search(r"\.(\d+)$", row["item_id"])
        assert number is not None
        assert re.search(rf"\b{number[1]}, conversation", row["name"]), (row["item_id"], row["name"])
    address, name, item_id = (
        row["href"],
        row["name"],
        row["item_id"],
    )  # the same in the address, on pages and in the export
    assert address == f"/items/{item_id}"
    begin(page, shared, address)
    expect(page.locator("#item-name")).to_have_text(name)
    press(page, "f")
    page.keyboard.type("which?")
    press(page, "Control+Enter")
    for path in (f"{address}/history", f"{address}/provenance", "/queue?view=flagged", "/log?reviewer=ian"):
        page.goto(shared.base + path)
        expect(page.locator("main")).to_contain_text(name)
    assert item_id in page.request.get(f"{shared.base}/queue.csv?count=1000").text()


def test_the_log_holds_one_opening_an_item_and_shows_decisions(
    start: Start, open_page: Opened, generated: Path
) -> None:
    server = start(generated, "made")
    page = open_page(server, "leo")
    item = first_of(page, server, "information_extraction")
    for _ in range(3):
        begin(page, server, item)
        page.wait_for_timeout(1_700)
    assert api(page, server, "/log.json?kind=opened")["total"] == 1
    assert api(page, server, "/log.json")["total"] == 0
    press(page, "y")
    page.wait_for_timeout(300)
    assert [e["kind"] for e in api(page, server, "/log.json")["events"]] == ["judged"]


def test_the_role_of_a_lead_is_offered_to_those_who_have_it(start: Start, open_page: Opened, generated: Path) -> None:
    server = start(generated, "made", "--reviewer", "ana", "--reviewer", "cleo:lead")
    page = open_page(server)
    page.goto(f"{server.base}/session")
    expect(page.locator("select[name=role]")).to_have_count(0)
    expect(page.locator("select[name=reviewer_id]")).to_contain_text("cleo, lead")
    refused = page.request.post(f"{server.base}/api/session", data={"reviewer_id": "ana", "role": "lead"})
    assert refused.status == 403
    assert "ana reviews here" in refused.json()["message"]
    page.select_option("select[name=reviewer_id]", "cleo")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/queue*")
    assert api(page, server, "/session.json")["role"] == "lead"


@pytest.fixture(scope="module")
def unchecked(generated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over a benchmark that was never validated."""
    out = tmp_path_factory.mktemp("unchecked")
    shutil.copytree(generated, out, dirs_exist_ok=True)
    for path in (out / "made").glob("benchmark.duckdb*"):
        path.unlink()
    server = serve(out, "made")
    yield server
    server.process.terminate()
    server.process.communicate(timeout=20)


def test_the_checks_run_at_the_start_and_after_an_edit(unchecked: Server, open_page: Opened) -> None:
    page = open_page(unchecked, "kit")
    item = first_of(page, unchecked, "knowledge_update")
    begin(page, unchecked, item)
    expect(page.locator("#findings")).to_contain_text("checks: no finding", timeout=60_000)
    page.keyboard.press("g")
    page.locator(GOLD).fill("It was 12,345 euros on May 3, 2031.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#findings > .error").first).to_be_visible(timeout=30_000)  # nobody asked for the checks


def test_adjudication_begins_with_nothing_chosen_and_goes_by_keys(
    start: Start, open_page: Opened, generated: Path
) -> None:
    server = start(generated, "made", "--overlap", "2")
    ana, ben = open_page(server, "ana"), open_page(server, "ben")
    items = [first_of(ana, server, ability) for ability in ("knowledge_update", "temporal_reasoning")]
    for item in items:
        begin(ana, server, item)
        press(ana, "a")
        expect(ana.locator(".toast")).to_contain_text("Accepted")
        begin(ben, server, item)
        press(ben, "x", "1")
        expect(ben.locator(".toast")).to_contain_text("Rejected")
    lead = open_page(server, "lea", "lead")
    lead.goto(f"{server.base}/adjudication")
    expect(lead.locator(".case")).to_have_count(1)  # one case at a time
    expect(lead.locator(".deciding [aria-pressed=true]")).to_have_count(0)
    expect(lead.locator(".talk .message.target")).to_be_visible()
    lead.keyboard.press("Control+Enter")
    expect(lead.locator("#notice")).to_contain_text("Answer this first: decision")
    first = lead.locator(".case").get_attribute("data-item")
    press(lead, "n", "2", "3", "5")  # `n` rules on a nugget, and there is none in dispute
    expect(lead.locator("legend")).to_have_count(0)
    press(lead, "Control+Enter")
    expect(lead.locator("h1")).to_have_text("Conflicts: 1 open, 1 decided")
    expect(lead.locator(".case")).not_to_have_attribute("data-item", str(first))
    decided = api(lead, server, f"/items/{first}.json")["adjudication"]
    assert (decided["verdict"], decided["taxonomy"], decided["confidence"]) == ("reject", "annotator_error", 5)
    press(lead, "z")
    expect(lead.locator("h1")).to_have_text("Conflicts: 2 open, 0 decided")


def test_key_presses_to_accept_three_nuggets_an_edited_gold_and_an_abstention(
    start: Start, open_page: Opened, generated: Path
) -> None:
    server = start(generated, "made")
    page = open_page(server, "key")
    rows = api(page, server, "/queue.json?count=1000")["rows"]

    def accepted(item: str, *keys: str, limit: int) -> None:
        expect(page.locator(".toast")).to_contain_text("Accepted")
        view = api(page, server, f"{item}.json")
        assert view["mine"]["verdict"] == "accept"
        assert all(nugget["label"] == "yes" for nugget in view["rubric"])
        assert len(keys) <= limit

    three = next(r["href"] for r in rows if r["nuggets"] == 3 and r["ability"] not in ("abstention",))
    begin(page, server, three)
    press(page, *(keys := ("y", "y", "y", "a")))
    accepted(three, *keys, limit=4)

    four = next(r["href"] for r in rows if r["nuggets"] >= 4 and r["href"] != three)
    begin(page, server, four)
    press(page, "g")
    page.locator(GOLD).press("End")
    page.keyboard.type(" ")  # words are no key presses of the measure
    gold = page.locator(GOLD).input_value()
    page.keyboard.type("Indeed.")
    press(page, "Control+Enter")
    expect(page.locator("#gold-answer .field")).to_have_text(f"{gold}Indeed.")
    expect(page.locator(".nugget.stale").first).to_be_visible()
    press(page, "Shift+Y", "a")
    keys = ("g", "Control+Enter", "Y", "a")
    if page.locator("dialog").count():  # the automatic judge asks for a word about the new gold
        page.locator("dialog textarea").fill("said so")
        press(page, "Tab", "Enter")
        keys = (*keys, "Tab", "Enter")
    accepted(four, *keys, limit=8)

    absent = next(r["href"] for r in rows if r["ability"] == "abstention")
    begin(page, server, absent)
    needed = searches_needed(page)
    for number in range(needed - 1):
        press(page, ".")
        expect(page.locator("[data-count]")).to_contain_text(f"{number + 1} of {needed}")
    press(page, "h")  # the first hit that one goes to counts as a search
    expect(page.locator("[data-count]")).to_contain_text(f"{needed} of {needed}")
    press(page, "Shift+Y", "a")
    accepted(absent, *"." * (needed - 1), "h", "Y", "a", limit=5)


def test_a_lead_gives_items_to_people_and_they_see_theirs(start: Start, open_page: Opened, generated: Path) -> None:
    server = start(generated, "made")
    ana, lead = open_page(server, "ana"), open_page(server, "lea", "lead")
    item = first_of(ana, server, "summarization")
    begin(ana, server, item)
    press(ana, "y")
    lead.goto(f"{server.base}/queue?view=all")
    boxes = lead.locator("input[name=item]")
    boxes.nth(0).check()
    boxes.nth(1).check()
    expect(lead.locator("#bulk-count")).to_have_text("2 chosen")
    lead.locator("input[name=people]").fill("ana")
    with lead.expect_navigation():
        lead.get_by_role("button", name="Give to them").click()
    assert api(ana, server, "/queue.json?view=assigned")["total"] == 2
    given = {row["item_id"] for row in api(ana, server, "/queue.json?view=assigned")["rows"]}
    ben = open_page(server, "ben")
    assert not given & {row["item_id"] for row in api(ben, server, "/queue.json?view=mine&count=1000")["rows"]}
    log = ana.request.get(f"{server.base}/log.jsonl")
    assert log.ok
    assert '"reviewer_id":"ana"' in log.text()
    assert '"reviewer_id":"lea"' not in log.text()
    assert "question" in ana.request.get(f"{server.base}/queue.csv").text()


def test_the_list_beside_the_item_shows_states_and_the_day_and_filters_are_kept(
    start: Start, open_page: Opened, generated: Path
) -> None:
    server = start(generated, "made")
    page = open_page(server, "lis", viewport={"width": 1920, "height": 1080})
    page.goto(f"{server.base}/queue?view=mine&ability=event_ordering")
    page.locator("summary", has_text="Filters").click()
    page.get_by_role("button", name="Save this filter").click()
    page.goto(f"{server.base}/queue")
    page.locator("summary", has_text="Filters").click()
    page.locator("#saved-filters a[data-saved]").click()
    expect(page.locator("h1")).to_contain_text("To do")
    assert "ability=event_ordering" in page.url
    begin(page, server, f"{api(page, server, '/queue.json?ability=event_ordering')['rows'][0]['href']}?view=all")
    here = page.locator(".list [aria-current=true]")
    expect(here).to_contain_text("event ordering", ignore_case=True)
    expect(here).to_contain_text("pending")
    counts = page.locator("#progress")
    left = api(page, server, "/queue.json?view=mine")["total"]
    expect(counts).to_have_text(re.compile(rf"0\s*today\s*{left}\s*left"))
    first = shown(page)
    press(page, "j")
    expect(page.locator(".item")).not_to_have_attribute("data-item", first)
    press(page, "k")
    expect(page.locator(".item")).to_have_attribute("data-item", first)
    page.wait_for_timeout(900)  # half a second from its appearance no key decides
    press(page, "x", "1")
    expect(counts).to_have_text(re.compile(rf"1\s*today\s*{left}\s*left"))  # a candidate takes the place
    expect(page.locator(".list li", has=page.locator(f"a[href*='{first.split('/')[1]}?']")).first).to_contain_text(
        "done"
    )


def test_the_page_is_light_dark_or_as_the_system_and_remembers_it(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "hue", color_scheme="light")

    def ground() -> int:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    page.goto(f"{shared.base}/queue")
    assert ground() > 600
    page.locator("#person summary").click()
    page.get_by_text("Dark", exact=True).click()
    assert ground() < 200
    page.goto(f"{shared.base}/guidelines")
    assert ground() < 200


def test_a_page_weighs_at_most_220_kilobytes(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "wei")
    sizes: list[int] = []
    page.on("response", lambda r: sizes.append(len(r.body())) if "/static/" in r.url else None)
    page.goto(shared.base + first_of(page, shared, "summarization"))
    page.wait_for_selector(".message")
    page.wait_for_load_state("networkidle")
    assert 50_000 < sum(sizes) <= 220_000, sum(sizes)


def test_the_verdict_bar_is_one_row_on_a_phone_and_parts_are_tabs(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "fon", viewport={"width": 390, "height": 844})
    begin_on_phone(page, shared)
    box = page.locator(".verdict-bar").bounding_box()
    assert box is not None
    assert box["height"] <= 60
    header = page.locator("header.site").bounding_box()
    assert header is not None
    assert header["height"] + box["height"] < 844 / 5
    for name, part in (("Question", "#question"), ("Evidence", "#dock"), ("Checks", "#findings")):
        page.get_by_role("button", name=re.compile(f"^{name}")).first.click()
        expect(page.locator(part)).to_be_visible()


def begin_on_phone(page: Page, server: Server) -> None:
    page.goto(server.base + first_of(page, server, "summarization"))
    page.wait_for_selector(".message", state="attached")
    ready(page)


def test_a_bad_event_of_another_log_stops_no_page(
    start: Start, open_page: Opened, generated: Path, tmp_path: Path
) -> None:
    server = start(generated, "made")
    page = open_page(server, "bad")
    item = first_of(page, server, "knowledge_update").removeprefix("/items/")
    version = tiny_conversation and api(page, server, f"/items/{item}.json")["item_version"]
    common = f'"item_id": "{item}", "item_version": "{version}", "reviewer_id": "eve"'
    lines = [
        f'{{"event_id": "e{i}", {common}, {act}}}'
        for i, act in enumerate(
            (
                '"kind": "judged", "after": {"verdict": "acccept"}, "created_at": "2026-11-21T10:00:00Z"',
                '"kind": "edited", "target": "question", "after": 5, "created_at": "2026-11-21T10:00:01Z"',
                '"kind": "flagged", "after": true, "created_at": "9999-12-31T23:59:59.999999Z"',
                '"kind": "commented", "note": "fine", "created_at": "2026-11-21T10:00:02Z"',
            )
        )
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "longbeam", "reviews", "import", "made", str(tmp_path / "log.jsonl")]
    told = subprocess.run([*command, "--out", str(server.out)], check=True, capture_output=True, text=True)
    assert told.stderr.count("left out") == 3
    assert "1 new event" in told.stdout
    for path in (f"/items/{item}", "/queue", "/log", "/agreement", "/adjudication"):
        assert page.request.get(server.base + path).ok, path
