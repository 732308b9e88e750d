"""Statistics pages: agreement, progress and ratings over HTTP."""

from __future__ import annotations

import json
import re

import pytest

from longbeam.review import ActContent, Workspace, new_event
from longbeam.schemas import EventKind
from tests.annotation_ui.conftest import Enter


async def test_the_page_counts_what_both_have_judged(enter: Enter, workspace: Workspace) -> None:
    workspace.log.append(new_event(EventKind.CONFIGURED, "", "bo", ActContent("overlap", after=2)))
    ana, bo, lead = await enter("ana"), await enter("bo"), await enter("cleo", "lead")
    item = "c000/information_extraction.0"
    await lead.post(f"/api/items/{item}/gold", {"verdict": "accept"})
    for reviewer, label in ((ana, "yes"), (bo, "no")):
        await reviewer.act(item, "judged", "nugget/information_extraction.0.n0", {"label": label})
        await reviewer.act(item, "judged", "nugget/information_extraction.0.n1", {"label": "yes"})
    await ana.judge(item, "accept")
    assert (await ana.get("/agreement.json"))["verdicts"][0]["units"] == 0  # still blind
    await bo.judge(item, "reject", active_ms=60_000)
    page = await ana.get("/agreement.json")
    assert [(r["name"], r["units"], r["percent"]) for r in page["verdicts"]] == [
        ("all", 1, 0.0),
        ("information_extraction", 1, 0.0),
    ]
    assert (page["nuggets"][0]["units"], page["nuggets"][0]["percent"]) == (2, 0.5)
    assert [row["name"] for row in page["pairs"]] == ["ana / bo"]
    rows = {r["reviewer_id"]: r for r in (await lead.get("/progress.json"))["reviewers"]}
    assert {name: (r["gold_seen"], r["gold_right"]) for name, r in rows.items()} == {"ana": (1, 1), "bo": (1, 0)}
    assert rows["bo"]["items_per_hour"] == pytest.approx(60)
    assert (await ana.get("/progress.json"))["reviewers"][0]["gold_seen"] is None


async def test_ratings_stand_beside_beams_once_all_are_there(enter: Enter, workspace: Workspace) -> None:
    workspace.log.append(new_event(EventKind.CONFIGURED, "", "bo", ActContent("overlap", after=2)))
    ana, bo = await enter("ana"), await enter("bo")
    address = "/api/conversations/c000/ratings"
    for aspect, score in (("coherence_and_flow", 4), ("realism", 5), ("complexity_and_depth", 3)):
        seen = await ana.post(address, {"aspect": aspect, "score": score})
    assert (seen["realism"]["mine"], seen["realism"]["mean"]) == (5, None)
    assert (await bo.get("/conversations/c000.json"))["ratings"]["realism"]["others"] == {}
    lead = await enter("cleo", "lead")
    assert [(await who.get("/ratings.json"))["waiting"] for who in (bo, lead)] == [1, 1]
    for aspect in ("coherence_and_flow", "realism", "complexity_and_depth"):
        seen = await bo.post(address, {"aspect": aspect, "score": 3})
    assert (seen["realism"]["others"], seen["realism"]["mean"]) == ({"ana": 5}, 4.0)
    rows = {r["length"]: r for r in (await bo.get("/ratings.json"))["rows"]}
    assert rows["all"]["means"] == {"coherence_and_flow": 3.5, "realism": 4.0, "complexity_and_depth": 3.0}
    assert rows["all"]["beam"]["realism"] == 4.57
    dora = await enter("dora")
    for path in ("/ratings.json", "/agreement.json", "/conversations/c000.json", "/log.json"):
        told = [json.dumps(await who.get(path), separators=(",", ":")) for who in (dora, lead)]
        shown = re.compile(r"[:,\[](?:4\.0|3\.5)[,}\]]|\"units\":[1-9]|\"rated\"")  # no time of an event
        assert [bool(shown.search(text)) for text in told] == [False, not path.startswith("/conv")], (
            path
        )  # dora has not rated; a lead need not
    assert (await bo.post(address, {"aspect": "wit", "score": 3}, status=422))["error"] == "invalid"
