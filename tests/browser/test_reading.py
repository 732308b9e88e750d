"""The conversation beside the form: a window onto any length, and permalinks to its comments."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import Opened, Server
from tests.browser.test_review import api, begin, first_of, select_words

pytestmark = pytest.mark.slow

MOST_MESSAGES = 80  # static/talk/talk.js


def test_the_page_holds_a_window_of_the_conversation_and_its_controls_stay(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "wes")
    begin(page, shared, first_of(page, shared, "event_ordering"))
    total = api(page, shared, "/conversations/c000/minimap.json")["total"]
    assert total > MOST_MESSAGES
    page.locator(".minimap").focus()
    page.keyboard.press("Home")
    expect(page.locator(".message.target")).to_have_attribute("data-id", "0")
    last = page.locator(".message").last
    for _ in range(40):
        page.evaluate("document.querySelector('.lines').scrollTop = 1e9")
        page.wait_for_timeout(120)
        if last.get_attribute("data-id") == str(total - 1):
            break
    expect(last).to_have_attribute("data-id", str(total - 1))
    assert page.locator(".message").count() <= MOST_MESSAGES
    for control in ("#search-box", "button[data-action=accept]", "#item-name"):
        expect(page.locator(control)).to_be_in_viewport()


def test_a_permalink_shows_the_comment_at_its_message(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "paul")
    begin(page, shared, first_of(page, shared, "preference_following"))
    select_words(page)
    page.keyboard.press("c")
    page.keyboard.type("Is it this year or the last?")
    page.keyboard.press("Control+Enter")
    link = page.locator("#notes a")
    expect(page.locator("#notes")).to_contain_text("Is it this year or the last?")
    address = shared.base + str(link.get_attribute("href"))
    assert re.search(r"/messages/\d+\?item=.*#comment-", address)
    reader = open_page(shared, "lea", "lead")
    reader.goto(address)
    comment = reader.locator(address[address.index("#") :])
    expect(comment).to_contain_text("Is it this year or the last?")
    expect(comment).to_be_in_viewport()


def test_a_permalink_of_an_item_shows_its_comment_and_a_flag_reaches_the_lead(
    shared: Server, open_page: Opened
) -> None:
    page = open_page(shared, "pam")
    begin(page, shared, first_of(page, shared, "preference_following", "c001"))
    page.keyboard.press("c")
    page.keyboard.type("Which of both trips?")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#notes")).to_contain_text("Which of both trips?")
    address = shared.base + str(page.locator("#notes a").get_attribute("href"))
    page.keyboard.press("f")
    page.keyboard.type("Two answers are right.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#notes")).to_contain_text("flagged")
    lead = open_page(shared, "lena", "lead", viewport={"width": 1280, "height": 420})
    lead.goto(address)
    expect(lead.locator(address[address.index("#") :])).to_be_in_viewport()
    assert api(lead, shared, "/queue.json?view=flagged")["total"] == 1


def test_the_count_of_a_former_search_is_gone_while_another_one_runs(shared: Server, open_page: Opened) -> None:
    page = open_page(shared, "sven")
    begin(page, shared, first_of(page, shared, "summarization"))
    page.keyboard.press("/")
    page.keyboard.type("the")
    page.keyboard.press("Enter")
    expect(page.locator("#search-count")).to_contain_text("messages")
    held: list[Route] = []
    page.route("**/search.json*", lambda route: held.append(route))
    page.keyboard.press("/")
    page.keyboard.type("zyzzyva")
    page.keyboard.press("Enter")
    expect(page.locator("#search-count")).to_have_text("")
    held[0].continue_()
    expect(page.locator("#search-count")).to_have_text("not found")
