"""Nothing that a reviewer types or decides is lost or falsified: slow typing, held keys, two tabs, a killed server."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened, Server
from tests.browser.test_review import api, begin, first_of

pytestmark = pytest.mark.slow

Start = Callable[..., Server]
GOLD = "#gold-answer textarea"


def type_slowly(page: Page, text: str) -> None:
    """Type as a person does: the draft is saved between the letters."""
    page.keyboard.type(text, delay=60)


def begin_gold(page: Page, server: Server, item: str, text: str) -> None:
    """Open an item and type a new gold answer, which is not saved yet."""
    begin(page, server, item)
    page.keyboard.press("g")
    page.locator(GOLD).press("Control+A")
    type_slowly(page, text)


def gold_of(page: Page, server: Server, item: str) -> Any:
    return api(page, server, f"{item}.json")["gold_answer"]


def verdicts(page: Page, server: Server) -> list[Any]:
    events = api(page, server, "/log.json?kind=judged&count=1000")["events"]
    return [e["item_id"] for e in events if e["target"] == "item"]


def test_accept_does_not_pass_over_an_open_edit(shared: Server, open_page: Opened) -> None:
    server, page = shared, open_page(shared, "ada")
    item = first_of(page, server, "information_extraction", "c001")
    begin_gold(page, server, item, "A slower answer.")
    page.locator("button[data-action=accept]").click()
    page.wait_for_timeout(1_500)
    assert gold_of(page, server, item) == "A slower answer."
    assert api(page, server, f"{item}.json")["mine"]["verdict"] is None  # the checks have not seen the edit


def test_accept_does_not_pass_over_a_field_that_was_left(shared: Server, open_page: Opened) -> None:
    server, page = shared, open_page(shared, "ada")
    item = first_of(page, server, "multi_session_reasoning", "c001")
    begin_gold(page, server, item, "An answer that was left.")
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    expect(page.locator("dialog")).to_contain_text("typed")
    assert api(page, server, f"{item}.json")["mine"]["verdict"] is None
    page.locator("dialog").get_by_role("button", name="Save it").click()
    expect(page.locator("#gold-answer .field")).to_have_text("An answer that was left.")
    assert gold_of(page, server, item) == "An answer that was left."


def test_an_edit_is_saved_after_the_server_died_under_it(start: Start, open_page: Opened, generated: Path) -> None:
    server = start(generated, "made")
    page = open_page(server, "eli")
    item = first_of(page, server, "information_extraction")
    begin_gold(page, server, item, "Said while the server died.")
    server.kill()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".strip")).to_contain_text("does not answer")
    expect(page.locator(GOLD)).to_have_value("Said while the server died.")
    server.start_again("made")
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(6_000)
    assert gold_of(page, server, item) == "Said while the server died."
    assert verdicts(page, server) == []
    edits = api(page, server, "/log.json?kind=edited")["events"]
    assert len(edits) == 1  # however often it was sent


@pytest.mark.parametrize("pause_ms", [0, 1_200])
def test_two_tabs_of_one_reviewer_overwrite_nothing(shared: Server, open_page: Opened, pause_ms: int) -> None:
    server, first = shared, open_page(shared, f"tia{pause_ms}")
    item = first_of(first, server, "preference_following" if pause_ms else "knowledge_update", "c001")
    second = first.context.new_page()
    begin_gold(first, server, item, "What the first tab says.")
    begin_gold(second, server, item, "What the second tab says.")
    second.keyboard.press("Control+Enter")
    expect(second.locator("#gold-answer .field")).to_have_text("What the second tab says.")
    first.locator(GOLD).press("End")
    type_slowly(first, " Slowly.")
    first.wait_for_timeout(pause_ms)
    first.keyboard.press("Control+Enter")
    expect(first.locator("dialog")).to_contain_text("second tab")
    assert gold_of(first, server, item) == "What the second tab says."
    first.locator("dialog").get_by_role("button", name="Save mine").click()
    expect(first.locator("#gold-answer .field")).to_have_text("What the first tab says. Slowly.")
    assert gold_of(first, server, item) == "What the first tab says. Slowly."


def test_a_held_key_decides_once(start: Start, open_page: Opened, generated: Path) -> None:
    server = start(generated, "made")
    page = open_page(server, "hal")
    begin(page, server, first_of(page, server, "information_extraction"))
    for _ in range(28):
        page.keyboard.down("a")  # after the first, Chromium says that the key repeats
        page.wait_for_timeout(50)
    page.keyboard.up("a")
    page.wait_for_timeout(500)
    assert len(verdicts(page, server)) == 1


def test_paging_leases_nothing_and_reading_leases_until_the_page_is_left(
    start: Start, open_page: Opened, generated: Path
) -> None:
    server = start(generated, "made")
    page = open_page(server, "lou")
    begin(page, server, first_of(page, server, "information_extraction"))
    for _ in range(4):
        shown = page.locator("h1").first.inner_text()
        page.keyboard.press("j")
        expect(page.locator("h1").first).not_to_have_text(shown)

    def leased() -> list[str]:
        rows = api(page, server, "/queue.json?count=1000")["rows"]
        return [row["href"] for row in rows if row["leased_to"]]

    assert leased() == []
    here = re.sub(r"[?#].*", "", page.url).removeprefix(server.base)
    expect(page.locator("#lease")).to_contain_text("kept for you until")
    assert leased() == [here]
    page.goto(f"{server.base}/queue")
    page.wait_for_timeout(300)
    assert leased() == []


def test_only_hits_that_were_visited_count_as_looked_at(shared: Server, open_page: Opened) -> None:
    server, page = shared, open_page(shared, "ira")
    item = first_of(page, server, "abstention", "c001")
    begin(page, server, item)
    page.keyboard.press("/")
    page.keyboard.type("the")
    page.keyboard.press("Enter")
    expect(page.locator("#search-count")).to_contain_text("messages")
    page.wait_for_timeout(2_000)
    record = api(page, server, f"{item}/absence.json")
    assert (record["made"], record["looked_at"]) == (0, 0)  # the first hit opened by itself
    for number in (1, 2):
        page.keyboard.press("h")
        page.wait_for_timeout(2_000)
        record = api(page, server, f"{item}/absence.json")
        assert (record["made"], record["looked_at"]) == (1, number)


def test_back_after_a_verdict_then_reload_shows_the_item_with_its_verdict(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "rob")
    item = first_of(page, shared, "event_ordering", "c001")
    begin(page, shared, item)
    name = page.locator("#item-name").inner_text()
    page.keyboard.press("x")
    page.keyboard.press("2")
    expect(page.locator("#item-name")).not_to_have_text(name)
    page.go_back()
    expect(page.locator("#item-name")).to_have_text(name)
    expect(page.locator("#verdict")).to_contain_text("Your verdict: reject")
    page.reload()
    expect(page.locator("#item-name")).to_have_text(name)
    expect(page.locator("#verdict")).to_contain_text("Your verdict: reject")
    page.go_forward()
    expect(page.locator("#item-name")).not_to_have_text(name)


def test_half_a_character_is_typed_and_saved(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "sia")
    item = first_of(page, shared, "temporal_reasoning", "c001")
    begin(page, shared, item)
    page.keyboard.press("g")
    with page.expect_response(lambda r: "/acts" in r.url) as answer:
        page.locator(GOLD).evaluate(
            "(area) => { area.value = 'a \\ud83d b'; area.dispatchEvent(new InputEvent('input', { bubbles: true })); }"
        )
    assert answer.value.status == 200
    page.keyboard.press("Control+Enter")
    expect(page.locator("#gold-answer .field")).to_have_text("a \ufffd b")
    assert gold_of(page, shared, item) == "a \ufffd b"


def test_an_item_of_somebody_else_is_read_only_and_says_until_when(shared: Server, open_page: Opened) -> None:
    holder = open_page(shared, "hana")
    item = first_of(holder, shared, "summarization", "c001")
    begin(holder, shared, item)
    with holder.expect_response(re.compile("/acts")):
        holder.keyboard.press("y")
    page = open_page(shared, "otto", timezone_id="Asia/Tokyo")
    begin(page, shared, item)
    expect(page.locator("#verdict")).to_contain_text(re.compile(r"hana has this item open until .*GMT\+9"))
    for action in ("accept", "reject", "skip"):
        expect(page.locator(f"button[data-action={action}]")).to_be_disabled()
    expect(page.get_by_role("button", name="edit")).to_have_count(0)
    page.keyboard.press("g")
    expect(page.locator(GOLD)).to_have_count(0)
    expect(page.locator(".toast")).to_contain_text("You read only")


def test_edits_are_seen_as_word_diffs_and_boxes_grow(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "dina")
    item = first_of(page, shared, "instruction_following", "c001")
    begin(page, shared, item)
    before = page.locator("#question .field").inner_text()
    page.keyboard.press("e")
    area = page.locator("#question textarea")
    low = area.bounding_box()
    page.keyboard.type(" Say it again, please." * 12, delay=0)
    high = area.bounding_box()
    assert low is not None
    assert high is not None
    assert high["height"] > 2 * low["height"]
    assert area.get_attribute("dir") == "auto"
    page.keyboard.press("Control+Enter")
    expect(page.locator("#question ins")).to_contain_text("Say it again")
    expect(page.locator("#question .field")).to_have_attribute("dir", "auto")
    page.goto(f"{shared.base}{item}/history")
    expect(page.locator("td .diff ins").first).to_contain_text("Say it again")
    expect(page.locator("td .diff").first).to_contain_text(before)
