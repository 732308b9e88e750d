"""Faults that strict readers of the pages' pictures named as reasons not to work with them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Opened, Server, serve
from tests.browser.screenshots import half_review
from tests.browser.test_review import api, begin, first_of, ready, searches_needed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def half(generated: Path, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with two opinions of twelve items, three conflicts, a flag, and ratings."""
    out = tmp_path_factory.mktemp("half")
    shutil.copytree(generated, out, dirs_exist_ok=True)
    server = serve(out, "made", "--overlap", "2")
    half_review(server, browser)
    yield server
    server.process.terminate()
    server.process.communicate(timeout=20)


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_adjudication_shows_verdicts_quotes_and_the_decision(half: Server, open_page: Opened, width: int) -> None:
    page = open_page(half, "lea", "lead", viewport={"width": width, "height": 800})
    page.goto(f"{half.base}/adjudication")
    for number, text in enumerate(("ana: accept", "ben: reject")):
        expect(page.locator(".version").nth(number)).to_contain_text(text)
        expect(page.locator(".version").nth(number)).to_be_in_viewport(ratio=1)
    for name in (re.compile("^Accept"), re.compile("^Reject"), re.compile("^Decide")):
        for button in page.locator(".deciding").get_by_role("button", name=name).all():
            expect(button).to_be_in_viewport(ratio=1)
    dropped = page.locator(".quotes li", has_text="not cited by ben").first
    expect(dropped).to_be_attached()
    number = dropped.get_by_role("button").inner_text()
    expect(page.locator(".versions > .warning").first).to_contain_text(f"the quote of {number}")
    expect(page.locator(".versions > .warning").first).to_contain_text("nugget 1")
    quotes = page.locator(".quotes button")
    expect(quotes.first).to_be_attached()
    number = quotes.first.inner_text()
    quotes.first.click()
    expect(page.locator(".message.target")).to_be_visible()
    expect(page.locator(".message.target")).to_contain_text(number)


def test_a_nugget_in_dispute_is_ruled_on_and_leaves_the_rubric(half: Server, open_page: Opened) -> None:
    page = open_page(half, "lou", "lead")
    cases = api(page, half, "/adjudication.json")["items"]
    case = next(c for c in cases if sum(field["is_disputed"] for field in c["fields"]) > 1)
    disputed = [field["nugget_id"] for field in case["fields"] if field["is_disputed"]]
    page.goto(f"{half.base}/adjudication?item={case['item_id']}")
    expect(page.locator(".message.target")).to_have_attribute("data-id", str(case["opens_at"]))  # a quote in dispute
    page.get_by_role("button", name="edit the gold answer").click()
    page.get_by_role("textbox", name="the gold answer").fill("It was 12,345 euros on May 3, 2031.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".versions .diff ins").first).to_be_visible(timeout=20_000)
    expect(page.locator(".versions > p.error").first).to_contain_text("12,345")  # a finding, beside what it is about
    expect(page.locator(".deciding")).to_contain_text("Accept as you edited it")
    page.locator("h1").click()
    page.keyboard.press("z")
    expect(page.locator(".deciding")).to_contain_text("Undone")
    expect(page.locator(".deciding legend")).to_contain_text("Decision")
    page.keyboard.press("1")
    for nugget_id in disputed:
        expect(page.locator("tr.asked .label").first).to_contain_text(f"nugget {int(nugget_id.rsplit('n', 1)[1]) + 1}")
        page.keyboard.press("n" if nugget_id == disputed[0] else "y")
    page.keyboard.press("3")
    page.keyboard.press("5")
    page.keyboard.press("Control+Enter")
    expect(page.locator("h1")).to_contain_text("1 decided")
    item = api(page, half, f"/items/{case['item_id']}.json")
    assert disputed[0] not in [nugget["nugget_id"] for nugget in item["rubric"]]
    assert item["status"] == "edited"


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_an_abstention_says_nothing_of_searches_before_one_is_made(half: Server, open_page: Opened, width: int) -> None:
    page = open_page(half, f"abe{width}", viewport={"width": width, "height": 800})
    page.goto(half.base + first_of(page, half, "abstention", "c001"))
    ready(page)
    expect(page.locator("#dock h2")).to_have_text("No message is cited: search whether it is told after all")
    expect(page.locator("#panel")).to_contain_text("You have not searched yet")
    gate = page.locator("#verdict button[data-action=accept] .missing")
    expect(gate).to_have_text(re.compile(r"^0 of \d searches$"))
    expect(gate).to_be_in_viewport(ratio=1)  # whole, at each width
    expect(page.locator("#verdict .shut")).to_have_count(1)  # the button looks as shut as it is
    expect(page.locator("#verdict .primary")).to_have_count(0)
    gate.click()
    for number in range(searches_needed(page, "dialog")):
        page.locator("dialog .chips button").nth(number).click()
        expect(page.locator("#room [data-count]")).to_contain_text(f"{number + 1} of")
    expect(page.locator("dialog .hits button").first).to_be_visible()  # what the last one found is read in the dialog
    expect(page.locator("dialog .gate")).to_be_visible()  # the first hit opened by itself
    page.locator("dialog .hits button").first.click()
    expect(page.locator("dialog")).to_contain_text("Nothing stands in the way")
    expect(page.locator("#panel")).to_contain_text("Your searches: ")


def test_nothing_of_a_colleague_is_shown_before_one_has_judged(half: Server, open_page: Opened) -> None:
    lead, other = open_page(half, "lex", "lead"), open_page(half, "oda")
    item = api(lead, half, "/queue.json?view=flagged")["rows"][0]["href"]
    note = "a part of the answer in the second session"
    begin(lead, half, item)
    expect(lead.locator("#notes")).not_to_contain_text(note, use_inner_text=True)  # closed, until the lead asks for it
    lead.locator("#notes summary").click()
    expect(lead.locator("#notes")).to_contain_text(note, use_inner_text=True)
    assert api(other, half, f"{item}.json")["notes"] == []
    assert all(row["flags"] == 0 for row in api(other, half, "/queue.json?count=100")["rows"])
    other.goto(f"{half.base}/conversations/c000")
    expect(other.locator("main")).to_contain_text("2 of 2 rated")
    expect(other.locator("main")).not_to_contain_text("mean of")
    assert api(other, half, "/log.json?kind=rated")["events"] == []
    for number in range(3):
        other.locator("button[data-score='3']").nth(number).click()
        expect(other.locator("button[data-score='3']").nth(number)).to_have_attribute("aria-pressed", "true")
    expect(other.locator("main")).to_contain_text("mean of 3")


def test_the_first_button_of_a_dialog_does_not_override(half: Server, open_page: Opened) -> None:
    page = open_page(half, "ova")
    begin(page, half, first_of(page, half, "event_ordering"))
    page.keyboard.press("n")
    page.wait_for_timeout(200)
    page.keyboard.press("a")
    expect(page.locator("dialog .primary")).to_have_count(0)
    expect(page.locator("dialog textarea")).to_be_focused()  # Enter removes nothing and passes no gate


def test_figures_of_few_items_are_not_given_and_no_column_is_hidden(half: Server, open_page: Opened) -> None:
    page = open_page(half, "fig", viewport={"width": 390, "height": 800})
    assert api(page, half, "/ratings.json")["rows"][0]["conversations"] == 0  # nobody sees means before having rated
    page = open_page(half, viewport={"width": 390, "height": 800})  # one who only reads, and cannot rate
    page.goto(f"{half.base}/agreement")
    expect(page.locator("tbody tr").nth(1)).to_contain_text("too few items")
    for path in ("/agreement", "/progress", "/ratings"):
        page.goto(half.base + path)
        cells = page.locator("main :is(td, tbody th)").all()
        assert len(cells) > 10
        edges = [box["x"] + box["width"] for cell in cells if (box := cell.bounding_box())]
        assert max(edges) <= 390, path
    rows = {row["length"]: row for row in api(page, half, "/ratings.json")["rows"]}
    assert (rows["under 90K"]["conversations"], rows["under 90K"]["beam"]) == (2, {})
    assert rows["128K"]["conversations"] == 0


def test_a_letter_is_a_capital_with_shift_whatever_caps_lock_says(half: Server, open_page: Opened) -> None:
    page = open_page(half, "cap")
    item = first_of(page, half, "summarization")
    begin(page, half, item)
    press = "document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Y', shiftKey: false, bubbles: true }))"
    with page.expect_response(re.compile("/acts")):
        page.evaluate(press)  # `y` with Caps Lock
    marks = [nugget["label"] for nugget in api(page, half, f"{item}.json")["rubric"]]
    assert marks.count("yes") == 1
    expect(page.locator("#verdict .primary")).to_have_count(0)  # "1 of n judged" is not what to press next
    page.keyboard.press("Shift+Y")
    expect(page.locator(".choices [data-word=yes][aria-pressed=true]")).to_have_count(len(marks))
    expect(page.locator(".primary")).to_have_attribute("data-action", "accept")  # the one of the page


def test_evidence_says_who_spoke_and_an_old_value_does_not_look_right(half: Server, open_page: Opened) -> None:
    page = open_page(half, "who")
    roles = {"knowledge_update": ("old value", "doubted"), "contradiction_resolution": ("one side", "contested")}
    for ability, (role, look) in roles.items():
        item = first_of(page, half, ability)
        begin(page, half, item)
        expect(page.locator("#dock .evidence").first).to_contain_text(re.compile("(user|assistant): "))
        expect(page.locator("#dock .evidence").first).to_contain_text(role)
        if ability == "knowledge_update":  # it opens at the new value
            page.keyboard.press("[")
        expect(page.locator(".message .tag", has_text=role).first).to_be_visible()
        expect(page.locator(f".message mark.{look}").first).to_be_visible()
        expect(page.locator("#panel .ok")).to_have_count(0)
    page.goto(f"{half.base}{item}/provenance")
    for piece in api(page, half, f"{item}.json")["evidence"]:
        row = page.locator("tr", has=page.get_by_text(f"(#{piece['message_id']})"))
        expect(row.locator("td").nth(2)).to_contain_text(piece["message"]["speaker"])
    expect(page.locator("main")).not_to_contain_text("said by the user")


def test_the_summary_of_the_checks_counts_what_stands_below_it(half: Server, open_page: Opened) -> None:
    page = open_page(half, "sum")
    item = first_of(page, half, "information_extraction", "c000")
    begin(page, half, item)
    expect(page.locator("#findings summary")).to_contain_text("no finding")
    expect(page.locator("#findings .doubt")).to_have_count(0)
    page.keyboard.press("g")
    page.locator("#gold-answer textarea").fill("It was 12,345 euros on May 3, 2031.")
    page.keyboard.press("Control+Enter")
    doubts = page.locator("#findings .doubt")
    expect(doubts).to_have_count(2, timeout=20_000)  # the amount and the day
    count = page.locator("#findings > p:is(.error, .warning, .info):not(.doubt)").count()
    expect(page.locator("#findings summary")).to_contain_text(f"{count} finding")
    expect(page.locator("#findings summary")).to_contain_text("2 points to look at")


def test_a_draft_is_not_called_saved_and_close_says_what_it_keeps(half: Server, open_page: Opened) -> None:
    page = open_page(half, "dra")
    begin(page, half, first_of(page, half, "temporal_reasoning"))
    page.keyboard.press("g")
    expect(page.locator(".strip")).to_have_text("Editing")
    page.keyboard.type(" Roughly.")
    expect(page.locator("#gold-answer")).to_contain_text("Close keeps it as a draft")
    expect(page.locator(".strip")).to_have_text("Draft kept, not saved")
    page.keyboard.press("Escape")
    expect(page.locator("#gold-answer .typed-text")).to_contain_text("Roughly.")


def test_an_item_opens_at_the_evidence_that_holds(half: Server, open_page: Opened) -> None:
    page = open_page(half, "ope")
    begin(page, half, first_of(page, half, "knowledge_update"))
    expect(page.locator("#dock .evidence.current")).to_contain_text("new value")
    expect(page.locator(".message.target .tag", has_text="new value")).to_be_in_viewport()
    expect(page.locator("#findings li.no_finding").first).to_contain_text("no finding: ")


def test_nothing_is_cut_on_a_phone_and_the_tab_counts_what_waits_there(half: Server, open_page: Opened) -> None:
    page = open_page(half, "pho", viewport={"width": 390, "height": 844})
    cut = "node => node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 2"
    for ability in ("multi_session_reasoning", "contradiction_resolution", "abstention", "temporal_reasoning"):
        begin(page, half, first_of(page, half, ability))
        assert not page.locator("#item-name").evaluate(cut), ability
        assert not page.locator("#verdict .missing").evaluate(cut), ability
    page.get_by_role("button", name="edit the gold answer").click()
    page.locator("#gold-answer textarea").fill("It was 12,345 euros on May 3, 2031.")
    page.keyboard.press("Control+Enter")
    badge = page.get_by_role("button", name=re.compile("^Checks")).locator(".badge.error").first
    expect(badge).to_have_text(re.compile(r"^\d+$"), timeout=20_000)
    page.get_by_role("button", name=re.compile("^Checks")).first.click()
    shown = page.locator("#findings > p:is(.error, .warning, .info)")
    expect(badge).to_have_text(str(shown.count()))
    page.get_by_role("button", name=re.compile("^Question")).first.click()
    page.keyboard.press("n")
    gate = page.locator("#verdict .missing")
    expect(gate).to_contain_text("nugget 1")
    assert not gate.evaluate(cut)
    expect(page.locator("#verdict .menu summary")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_reasons_of_a_reject_stand_within_their_dialog(half: Server, open_page: Opened, width: int) -> None:
    page = open_page(half, f"rea{width}", viewport={"width": width, "height": 844})
    begin(page, half, first_of(page, half, "summarization"))
    page.keyboard.press("x")
    box = page.locator("dialog").bounding_box()
    assert box is not None
    assert page.locator("dialog").evaluate("node => node.scrollWidth <= node.clientWidth")
    for button in page.locator("[data-reason]").all():
        reason = button.bounding_box()
        assert reason is not None
        assert box["x"] <= reason["x"]
        assert reason["x"] + reason["width"] <= box["x"] + box["width"]
        assert button.evaluate("node => node.scrollWidth <= node.clientWidth")


def test_accept_says_whether_every_nugget_must_be_judged(half: Server, open_page: Opened) -> None:
    page = open_page(half, "opt")
    begin(page, half, first_of(page, half, "summarization"))
    accept = page.locator("button[data-action=accept]")
    expect(accept).to_contain_text(re.compile(r"0 of \d+ judged, optional"))
    expect(accept).not_to_have_class(re.compile("primary|shut"))
    expect(page.locator("#rubric")).to_contain_text("right, and needed in an answer")
    page.keyboard.press("n")
    expect(accept).to_have_class("shut")
    expect(accept.locator("use")).to_have_attribute("href", re.compile("#lock$"))
    page.keyboard.press("a")
    expect(page.locator("dialog")).to_contain_text("not right, or not needed in an answer")


def test_counts_of_an_adjudication_name_what_they_count(half: Server, open_page: Opened) -> None:
    page = open_page(half, "cou", "lead")
    page.goto(f"{half.base}/adjudication")
    expect(page.locator(".bar")).to_contain_text(re.compile(r"case 1 of \d+"))
    expect(page.locator(".deciding legend")).to_have_text(re.compile(r"^Question 1 of \d+: Decision$"))
    page.keyboard.press("1")
    expect(page.locator(".deciding legend")).to_contain_text("right, and needed in an answer")
    page.goto(f"{half.base}/conversations")
    expect(page.locator("tbody tr").first).to_contain_text(re.compile(r"\d+ of \d+"))
    expect(page.locator("tbody tr").first).not_to_contain_text("finished")


def test_a_reject_for_another_reason_asks_what_is_wrong(half: Server, open_page: Opened) -> None:
    page = open_page(half, "oth")
    item = first_of(page, half, "preference_following")
    begin(page, half, item)
    page.keyboard.press("x")
    page.keyboard.press("9")
    words = page.get_by_role("textbox", name="what is wrong")
    expect(words).to_be_focused()
    page.keyboard.press("Control+Enter")  # without words it rejects nothing
    page.keyboard.type("No cat was asked.")
    page.keyboard.press("Escape")
    page.keyboard.press("x")
    page.keyboard.press("9")
    expect(words).to_have_value("No cat was asked.")  # Close keeps what was typed
    page.keyboard.press("Control+Enter")
    expect(page.locator(".toast")).to_contain_text("Rejected")
    mine = api(page, half, f"{item}.json")["mine"]
    assert (mine["verdict"], mine["reason_code"], mine["note"]) == ("reject", "other", "No cat was asked.")


@pytest.mark.parametrize("width", [1280, 1920, 390])
def test_the_tab_of_counter_evidence_counts_what_nobody_has_looked_at(
    half: Server, open_page: Opened, width: int
) -> None:
    page = open_page(half, f"ctr{width}", viewport={"width": width, "height": 844})
    item = first_of(page, half, "knowledge_update")
    begin(page, half, item)
    if width < 700:
        page.get_by_role("button", name=re.compile("^Checks")).first.click()
    tab = page.locator("#aids").get_by_role("button", name=re.compile("^Counter-evidence"))
    found = api(page, half, f"{item}/counter.json")["candidates"]
    expect(tab.locator(".badge")).to_have_text(str(len(found)))
    row = page.locator("#aids .tabs").first
    assert row.evaluate("node => node.scrollWidth <= node.clientWidth && node.clientHeight < 40")  # in one row
    tab.click()
    page.get_by_role("button", name="changes nothing").first.click()
    expect(tab).to_have_text(re.compile(rf"^Counter-evidence\s*{len(found) - 1}$"))
    page.keyboard.press("b")
    expect(page.locator("#aids .badge")).to_have_count(0)  # while the gold answer is hidden, nothing tells of it


def test_a_hit_of_a_search_in_vain_is_not_called_missing_search(half: Server, open_page: Opened) -> None:
    page = open_page(half, "vai")
    begin(page, half, first_of(page, half, "abstention"))
    page.keyboard.press("h")
    expect(page.locator(".toast")).to_contain_text("Search first")
    page.keyboard.press("/")
    page.keyboard.type("zzzz")
    page.keyboard.press("Enter")
    expect(page.locator("#search-count")).to_have_text("not found")
    page.keyboard.press("h")
    expect(page.locator(".toast")).to_contain_text("Nothing is found for “zzzz”")


def test_a_lead_sees_ratings_once_all_wanted_are_in(half: Server, open_page: Opened) -> None:
    lead = open_page(half, "rat", "lead")
    assert api(lead, half, "/ratings.json")["rows"][0]["conversations"] == 2
    lead.goto(f"{half.base}/ratings")
    expect(lead.locator("tbody").first.locator("tr")).to_have_count(2)  # lengths that nobody rated are no rows
    expect(lead.locator("main")).to_contain_text("rate a whole conversation")
    lead.goto(f"{half.base}/conversations/c001")  # beside the buttons of a rating nobody is told another one
    expect(lead.locator("main")).to_contain_text("2 of 2 rated")


def test_one_button_of_the_page_is_the_next_step(half: Server, open_page: Opened) -> None:
    page = open_page(half, "pri")
    begin(page, half, first_of(page, half, "multi_session_reasoning"))
    primary = page.locator(".primary:visible")
    expect(primary).to_have_count(0)
    page.keyboard.press("Shift+Y")
    expect(primary).to_contain_text("Accept")
    page.keyboard.press("c")
    expect(primary).to_have_text("Save")  # of the dialog
    page.keyboard.press("Escape")
    expect(primary).to_contain_text("Accept")
    page.keyboard.press("g")
    page.keyboard.type(" Roughly.")
    expect(primary).to_have_text("Save")  # of the field
    expect(primary).to_have_count(1)
