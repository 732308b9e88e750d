"""Aids beside the form: counter-evidence, solving blind, guidelines, the last decisions, the place to go on."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opened, Server
from tests.browser.test_review import api, begin, first_of, ready, shown

pytestmark = pytest.mark.slow

Start = Callable[..., Server]


def test_messages_that_could_change_the_answer_are_cleared_or_cited(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "cora")
    item = first_of(page, shared, "knowledge_update")
    begin(page, shared, item)
    cited = page.locator("#dock .evidence").count()
    page.keyboard.press("m")
    rows = page.locator("#counter li")
    expect(rows.first).to_contain_text(re.compile("(user|assistant), "))
    rows.first.get_by_role("button", name="changes the answer").click()
    reason = page.locator("dialog [data-reason]:focus")
    expect(reason).to_have_attribute("data-reason", re.compile("outdated|wrong_gold"))
    page.get_by_role("button", name="Edit the gold answer instead").click()
    expect(page.locator("#gold-answer textarea")).to_be_focused()
    page.keyboard.press("Escape")
    rows.nth(1).get_by_role("button", name="changes nothing").click()
    expect(rows.nth(1)).to_contain_text("changes nothing")
    expect(rows.nth(1).get_by_role("button", name="cite it")).to_have_count(0)
    number = str(rows.nth(0).locator("button").first.inner_text())
    rows.nth(0).get_by_role("button", name="cite it").click()
    expect(page.locator("#dock .evidence")).to_have_count(cited + 1)
    expect(page.locator("#dock")).to_contain_text(number)
    expect(rows.first).not_to_contain_text(f"{number} ")


def test_one_who_answers_first_sees_nothing_that_tells_the_answer(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "bea")
    item = first_of(page, shared, "information_extraction", "c001")
    begin(page, shared, item)
    gold = page.locator("#gold-answer .field").inner_text()
    page.keyboard.press("b")
    expect(page.locator("#solve")).to_be_visible()
    for key in ("w", "m"):
        page.keyboard.press(key)
        expect(page.locator("#hidden")).to_be_visible()
    said = [page.locator(part).inner_text() for part in (".left", ".right", ".verdict-bar", ".bar")]
    assert gold not in " ".join(said)
    expect(page.locator("#dock")).to_have_count(0)
    expect(page.locator(".message.target")).to_have_attribute("data-id", "0")
    assert page.locator("mark").evaluate_all("marks => marks.every((m) => getComputedStyle(m).display === 'contents')")
    page.locator("#solve textarea").fill(gold)
    page.get_by_role("button", name="Answer", exact=True).click()
    expect(page.locator(".toast")).to_contain_text("Your answer scores 1.00 by the rubric")
    expect(page.locator("#gold-answer .field")).to_have_text(gold)


def test_the_guidelines_stay_beside_the_form_and_follow_the_ability(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "gil")
    begin(page, shared, first_of(page, shared, "abstention"))
    page.keyboard.press("i")
    expect(page.locator("#guidelines")).to_contain_text("Accept: ")
    expect(page.locator("#guidelines summary")).to_have_text(["General", "Abstention"])
    page.locator("#guidelines summary").first.click()  # collapsible
    expect(page.locator("#guidelines details").first).not_to_have_attribute("open", "")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("#item-name")).to_contain_text("Contradiction")
    expect(page.locator("#guidelines summary").last).to_have_text("Contradiction resolution")


def test_any_of_the_last_decisions_is_taken_back_from_the_list(
    start: Start, open_page: Opened, generated: Path
) -> None:
    server = start(generated, "made")
    page = open_page(server, "dan")
    begin(page, server, first_of(page, server, "information_extraction"))
    first = shown(page)
    for key in ("s", "s", "s"):
        ready(page)
        here = shown(page)
        page.keyboard.press(key)
        expect(page.locator(".item")).not_to_have_attribute("data-item", here)
    page.keyboard.press("l")
    rows = page.locator("#decisions li")
    expect(rows).to_have_count(3)
    rows.nth(2).get_by_role("button", name="undo").click()
    expect(page.locator(".item")).to_have_attribute("data-item", first)
    expect(page.locator("#decisions li")).to_have_count(2)
    assert api(page, server, f"/items/{first}.json")["mine"]["verdict"] is None
    kinds = [e["kind"] for e in api(page, server, f"/items/{first}/history.json")["events"]]
    assert {"judged", "undone"} <= set(kinds)  # the log keeps both


def test_one_goes_on_where_one_left_off(start: Start, open_page: Opened, generated: Path) -> None:
    server = start(generated, "made")
    page = open_page(server, "ria")
    begin(page, server, first_of(page, server, "summarization"))
    begun = shown(page)
    with page.expect_response(re.compile("/acts")):
        page.keyboard.press("y")
    page.context.close()
    again = open_page(server, "ria")
    again.goto(f"{server.base}/")
    again.get_by_role("link", name="Go on where you left off").click()
    expect(again.locator(".item")).to_have_attribute("data-item", begun)
    ready(again)
    again.keyboard.press("s")
    expect(again.locator(".item")).not_to_have_attribute("data-item", begun)
    again.goto(f"{server.base}/queue")
    again.get_by_role("link", name="Go on where you left off").click()
    rows = api(again, server, "/queue.json?view=mine")["rows"]
    expect(again.locator(".item")).to_have_attribute("data-item", rows[0]["item_id"])
