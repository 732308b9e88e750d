from __future__ import annotations

import pytest
from pydantic import JsonValue

from longbeam.review import Workspace
from tests.annotation_ui.conftest import Enter

ITEM = "c000/information_extraction.0"
SPARE = "c000/information_extraction.1"


async def test_item_page_shows_the_quote_in_its_message_and_the_same_as_html(enter: Enter) -> None:
    ana = await enter("ana")
    item = await ana.get(f"/items/{ITEM}.json")
    first = item["evidence"][0]
    assert (first["message_id"], first["quote"], first["attachment"]) == (0, "We fly t", "attached")
    assert '<mark class="evidence">We fly t</mark>' in first["message"]["html"]
    assert (item["spread"], item["sessions_touched"]) == (4, 2)
    page = await ana.client.get(f"/items/{ITEM}")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")


async def test_an_edit_makes_nuggets_and_checks_stale_and_bars_acceptance(enter: Enter) -> None:
    ana = await enter("ana")
    item = await ana.act(ITEM, "edited", "gold_answer", "4 May; 900 euros")
    assert item["gold_answer"] == "4 May; 900 euros"
    assert [n["is_stale"] for n in item["rubric"]] == [True, True]
    refused = await ana.judge(ITEM, "accept", status=409)
    assert refused["error"] == "gates"
    assert [gate["code"] for gate in refused["gates"]] == ["stale", "checks", "what_if"]


async def test_a_save_on_an_old_version_is_refused_with_what_changed(enter: Enter) -> None:
    ana = await enter("ana")
    old = (await ana.item(ITEM))["item_version"]
    await ana.act(ITEM, "edited", "question", "What of it?")
    refused = await ana.act(ITEM, "edited", "question", "Another one?", item_version=old, status=409)
    assert refused["error"] == "stale"
    (change,) = refused["changes"]
    assert (change["target"], change["name"]) == ("question", "the question")
    assert (change["before"], change["after"]) == ("What of information_extraction.0?", "What of it?")
    assert [p["text"] for p in change["parts"] if p["kind"] == "added"] == ["it"]
    assert (await ana.item(ITEM))["question"] == "What of it?"


async def test_undo_and_redo_write_events_and_delete_nothing(enter: Enter, workspace: Workspace) -> None:
    ana = await enter("ana")
    await ana.act(ITEM, "edited", "question", "First?")
    await ana.act(ITEM, "edited", "question", "Second?")
    assert (await ana.post("/api/undo"))["item"]["question"] == "First?"
    assert (await ana.post("/api/undo"))["item"]["question"] == "What of information_extraction.0?"
    assert (await ana.post("/api/undo"))["event"] is None
    assert (await ana.post("/api/redo"))["item"]["question"] == "First?"
    assert (await ana.post("/api/redo"))["item"]["question"] == "Second?"
    assert (await ana.post("/api/redo"))["event"] is None
    kinds = [e.kind.value for e in workspace.log.of_item(ITEM)]
    assert kinds == ["edited", "edited", "undone", "undone", "undone", "undone"]


async def test_a_rejected_probe_makes_room_for_the_next_candidate(enter: Enter) -> None:
    ana = await enter("ana")
    await ana.judge(ITEM, "reject")
    rows = {r["item_id"]: r for r in (await ana.get("/queue.json"))["rows"]}
    assert rows[ITEM]["status"] == "rejected"
    assert (rows[SPARE]["status"], rows[SPARE]["is_candidate"]) == ("pending", True)
    await ana.post("/api/undo")
    assert SPARE not in {r["item_id"] for r in (await ana.get("/queue.json"))["rows"]}


async def test_evidence_is_added_from_a_selection_and_stands_in_the_order_of_the_conversation(enter: Enter) -> None:
    ana = await enter("ana")
    # the page shows no line break where the message has one
    selected = {"message_key": "p0.s0.t0.n2", "quote": "hotel  fjord"}
    item = await ana.act(ITEM, "evidence_added", after=selected)
    assert [(e["message_id"], e["quote"]) for e in item["evidence"]] == [
        (0, "We fly t"),
        (2, "Hotel Fjord"),
        (4, "The budg"),
    ]
    added = item["evidence"][1]
    item = await ana.act(ITEM, "evidence_removed", f"evidence/{added['evidence_id']}")
    assert [e["message_id"] for e in item["evidence"]] == [0, 4]


async def test_abstention_needs_distinct_searches(enter: Enter) -> None:
    ana = await enter("ana")
    item = "c000/abstention.0"
    await ana.act(item, "edited", "question", "Where is the dentist in Oslo?")
    await ana.post(f"/api/items/{item}/check")
    await ana.act(item, "judged", "nugget/abstention.0.n0", {"label": "yes"})
    for query in ("dentist", "DENTIST ", "dentists", "zzzz1", "zzzz2", "zzzz3", "the"):
        await ana.act(item, "searched", after={"query": query, "total": 0})
    gates = {gate["code"]: gate for gate in (await ana.item(item))["gates"]}
    # Nonsense and "the" share no word with the question; it has two words to search for, so that two searches do.
    assert gates["searches"]["title"] == "1 of 2 searches"
    assert (await ana.get(f"/items/{item}/absence.json"))["suggested"] == ["dentist", "Oslo"]
    await ana.act(item, "searched", after={"query": "hotel", "total": 1})
    assert "searches" in {gate["code"] for gate in (await ana.item(item))["gates"]}
    await ana.act(item, "looked", after={"query": "hotel", "message_ids": [0]})  # one went to its hit
    await ana.judge(item, "accept", override=["error_findings", "what_if"], note="nobody says it")
    assert (await ana.item(item))["status"] == "edited"


@pytest.mark.parametrize(
    ("kind", "after"),
    [("looked", {"query": "any dentist", "message_ids": [1]}), ("searched", {"query": "orthodontist", "total": 0})],
)
async def test_suggested_searches_alone_do_not_open_an_abstention(enter: Enter, kind: str, after: JsonValue) -> None:
    ana = await enter("ana")
    item = "c000/abstention.0"
    await ana.act(item, "edited", "question", "Where is the dentist in Oslo?")
    suggested = (await ana.get(f"/items/{item}/absence.json"))["suggested"]

    async def gate() -> str | None:
        return next((g["title"] for g in (await ana.item(item))["gates"] if g["code"] == "searches"), None)

    for query in suggested:
        await ana.act(item, "searched", after={"query": query, "total": 0})
    record = await ana.get(f"/items/{item}/absence.json")
    assert record["made"] >= record["needed"]
    assert (record["is_by_rote"], await gate()) == (True, "go to a hit yourself")
    await ana.act(item, "searched", after={"query": f"any {suggested[0]}", "total": 2})
    assert await gate() == "go to a hit yourself"  # it found two messages, and nobody went to one
    await ana.act(item, kind, after=after)  # a hit, or a synonym in vain
    assert await gate() is None


async def test_drafts_come_back_until_the_field_is_saved(enter: Enter) -> None:
    ana = await enter("ana")
    await ana.act(ITEM, "drafted", "question", "Half a sent")
    again = await enter("ana")
    await again.act(ITEM, "drafted", "question", "Another sent", tab="t2")
    kept = (await again.item(ITEM))["mine"]["unsaved"]
    assert [(u["target"], u["tab"], u["text"]) for u in kept] == [
        ("question", "", "Half a sent"),
        ("question", "t2", "Another sent"),
    ]
    item = await again.act(ITEM, "edited", "question", "Half a sentence?")
    assert [u["tab"] for u in item["mine"]["unsaved"]] == ["t2"]  # the words of the other tab stay


async def test_without_a_judge_rubrics_are_not_tried(workspace: Workspace, enter: Enter) -> None:
    workspace.judge = None
    ana = await enter("ana")
    await ana.act(ITEM, "edited", "gold_answer", "4 May; 900 euros")
    assert "what_if" not in [gate["code"] for gate in (await ana.item(ITEM))["gates"]]
    assert (await ana.get(f"/items/{ITEM}/what-if.json", status=404))["error"] == "not_found"
