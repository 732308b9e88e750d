"""What the server does so that no work is lost or falsified, without a browser."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import httpx
import pytest

from longbeam.annotation_ui import Reach, acts as aids, create_app, open_access, pages
from longbeam.review import ActContent, Viewer, Workspace, new_event
from longbeam.schemas import EventKind, ReviewerRole
from longbeam.store import Benchmark, ReviewStore, backup_reviews, stored_events
from tests.annotation_ui.conftest import Enter

ITEM = "c000/information_extraction.0"


async def test_an_act_sent_twice_counts_once(enter: Enter, workspace: Workspace) -> None:
    ana = await enter("ana")
    version = (await ana.item(ITEM))["item_version"]
    body = {"kind": "edited", "target": "gold_answer", "after": "Fjord.", "item_version": version, "act_id": "a" * 32}
    first = await ana.post(f"/api/items/{ITEM}/acts", body)
    again = await ana.post(f"/api/items/{ITEM}/acts", body)
    assert first["event_ids"] == again["event_ids"] == ["a" * 32]
    assert len(workspace.log.of_item(ITEM)) == 1
    bo = await enter("bo")
    assert (await bo.post(f"/api/items/{ITEM}/acts", body, status=422))["error"] == "invalid"


async def test_an_edit_of_a_text_that_has_changed_meanwhile_is_refused(enter: Enter) -> None:
    ana = await enter("ana")
    was = (await ana.item(ITEM))["gold_answer"]
    await ana.act(ITEM, "edited", "gold_answer", "The first tab.")
    refused = await ana.act(ITEM, "edited", "gold_answer", "The second tab.", base=was, status=409)
    assert refused["error"] == "stale"
    assert [(c["target"], c["before"], c["after"]) for c in refused["changes"]] == [
        ("gold_answer", was, "The first tab.")
    ]
    item = await ana.act(ITEM, "edited", "gold_answer", "The second tab.", base="The first tab.")
    assert item["gold_answer"] == "The second tab."


async def test_a_draft_holds_up_acceptance_and_outlives_a_rejection(enter: Enter) -> None:
    ana = await enter("ana")
    await ana.act(ITEM, "drafted", "gold_answer", "half writ")
    refused = await ana.judge(ITEM, "accept", status=409)
    assert [g["code"] for g in refused["gates"]] == ["drafts"]
    rejected = await ana.judge(ITEM, "reject")
    assert [u["text"] for u in rejected["mine"]["unsaved"]] == ["half writ"]
    await ana.act(ITEM, "drafted", "gold_answer", None)
    assert (await ana.judge(ITEM, "accept"))["mine"]["verdict"] == "accept"


async def test_one_who_has_saved_leaves_her_place_to_the_second(enter: Enter, workspace: Workspace) -> None:
    workspace.log.append(new_event(EventKind.CONFIGURED, "", "bo", ActContent("overlap", after=2)))
    ana, bo, cem = await enter("ana"), await enter("bo"), await enter("cem")
    await ana.judge(ITEM, "accept")
    assert (await ana.post(f"/api/items/{ITEM}/open"))["lease"]["is_mine"]  # she looks again
    assert (await bo.post(f"/api/items/{ITEM}/open"))["lease"]["is_mine"]
    assert (await cem.post(f"/api/items/{ITEM}/open", status=409))["lease"]["reviewer_id"] == "bo"
    assert ITEM in {row["item_id"] for row in (await bo.get("/queue.json?view=mine"))["rows"]}
    assert ITEM not in {row["item_id"] for row in (await cem.get("/queue.json?view=mine"))["rows"]}


async def test_a_lead_who_looks_takes_no_place(enter: Enter, workspace: Workspace) -> None:
    lead, bo = await enter("cleo", "lead"), await enter("bo")
    assert (await lead.post(f"/api/items/{ITEM}/open"))["lease"] is None
    assert workspace.leases() == {}
    assert (await bo.post(f"/api/items/{ITEM}/open"))["lease"]["is_mine"]


async def test_only_messages_that_were_shown_count_as_looked_at(enter: Enter) -> None:
    ana = await enter("ana")
    item = "c000/abstention.0"
    await ana.act(item, "searched", after={"query": "hotel", "total": 9, "looked_at": [0, 1, 2, 3]})
    await ana.act(item, "searched", after={"query": "Hotel", "total": 9})
    record = await ana.get(f"/items/{item}/absence.json")
    assert (record["hits"], record["looked_at"]) == (9, 0)
    await ana.act(item, "looked", after={"query": "hotel", "message_ids": [3]})
    await ana.act(item, "looked", after={"query": "hotel", "message_ids": [3, 5]})
    assert (await ana.get(f"/items/{item}/absence.json"))["looked_at"] == 2


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
async def test_nobody_without_a_link_reads_anything(workspace: Workspace, store: ReviewStore, host: str) -> None:
    access = open_access(store, "tiny", Reach(host, needs_token=True, offered={"ana": ReviewerRole.ANNOTATOR}))
    app = create_app(workspace, access)
    paths = {str(getattr(route, "path", "")) for route in (*pages.router.routes, *aids.router.routes)}
    known = {"conversation_id": "c000", "probe_id": "information_extraction.0", "message_id": "0", "path": "app.css"}
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}:8000") as client:
        assert len(paths) > 30
        for path in [*sorted(paths), "/api/openapi.json", "/no/such/page"]:
            answer = await client.get(path.format(**known) if "{" in path else path)
            assert answer.status_code == 403, path
            assert "information_extraction.0" not in answer.text
        link = access.invitation(Viewer("ana", ReviewerRole.ANNOTATOR))
        assert (await client.get(f"/join/{link}")).status_code == 303
        assert (await client.get("/queue.json")).status_code == 200


async def test_a_link_ends_and_one_who_is_no_longer_named_is_out(workspace: Workspace, store: ReviewStore) -> None:
    ana = Viewer("ana", ReviewerRole.ANNOTATOR)
    offered = {"ana": ReviewerRole.ANNOTATOR}
    access = open_access(store, "tiny", Reach("0.0.0.0", offered=offered))
    link, cookie = access.invitation(ana), access.session_of(ana)
    assert access.invited(link) == access.viewer_of(cookie) == ana
    ended = open_access(store, "tiny", Reach("0.0.0.0", offered=offered, link_days=0))
    assert not ended.invited(link).can_write
    without = open_access(store, "tiny", Reach("0.0.0.0", offered={"bo": ReviewerRole.LEAD}))
    assert not without.invited(link).can_write
    assert not without.viewer_of(cookie).can_write


async def test_a_plain_copy_of_the_log_is_whole(
    enter: Enter, benchmark: Benchmark, store: ReviewStore, tmp_path: Path
) -> None:
    ana = await enter("ana")
    for number in range(20):
        await ana.act(ITEM, "drafted", "gold_answer", f"draft {number}")
    store.fold()  # the server does so every few seconds
    copy = tmp_path / "copy.sqlite"
    shutil.copyfile(benchmark.reviews_path, copy)
    assert len(stored_events(copy)) == 20


async def test_a_backup_holds_everything_while_the_server_runs(
    enter: Enter, benchmark: Benchmark, tmp_path: Path
) -> None:
    ana = await enter("ana")
    await ana.act(ITEM, "drafted", "gold_answer", "a draft")
    assert backup_reviews(benchmark.reviews_path, tmp_path / "backup.sqlite") == 1
    with sqlite3.connect(tmp_path / "backup.sqlite") as db:
        assert db.execute("SELECT count(*) FROM events").fetchone() == (1,)
    db.close()
    assert len(stored_events(tmp_path / "backup.sqlite")) == 1


@pytest.mark.parametrize("kind", ["drafted", "edited"])
async def test_half_a_character_does_not_break_the_server(enter: Enter, kind: str) -> None:
    ana = await enter("ana")
    version = (await ana.item(ITEM))["item_version"]
    act = {"kind": kind, "target": "gold_answer", "after": "Fjord \ud83d!", "item_version": version}
    body = json.dumps(act)  # as `JSON.stringify` writes it
    headers = {"X-CSRF-Token": ana.csrf, "Content-Type": "application/json"}
    answer = await ana.client.post(f"/api/items/{ITEM}/acts", content=body, headers=headers)
    assert answer.status_code == 200, answer.text
    item = answer.json()["item"]
    typed = [u["text"] for u in item["mine"]["unsaved"]]
    assert (typed or [item["gold_answer"]]) == ["Fjord \N{REPLACEMENT CHARACTER}!"]
