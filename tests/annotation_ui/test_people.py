from __future__ import annotations

import pytest

from longbeam.review import ActContent, Workspace, new_event, queue as leases
from longbeam.schemas import EventKind
from tests.annotation_ui.conftest import Enter

ITEM = "c000/information_extraction.0"


@pytest.fixture
def two(workspace: Workspace) -> Workspace:
    """Two opinions are wanted of each probe."""
    workspace.log.append(new_event(EventKind.CONFIGURED, "", "bo", ActContent("overlap", after=2)))
    return workspace


async def test_opinions_are_hidden_until_both_have_saved(enter: Enter, two: Workspace) -> None:
    ana, bo = await enter("ana"), await enter("bo")
    await ana.act(ITEM, "commented", note="The date is wrong.")
    await ana.judge(ITEM, "reject", note="wrong date")
    seen = await bo.item(ITEM)
    assert (seen["is_blind"], seen["saved"], seen["others"], seen["notes"]) == (True, 1, [], [])
    assert (await bo.get(f"/items/{ITEM}/history.json"))["events"] == []
    named = (await bo.client.get(f"/items/{ITEM}/history")).text
    assert f"<h1>{seen['name']}: 0 entries</h1>" in named
    assert "Nobody has done anything with this item yet." in named
    await bo.judge(ITEM, "accept")
    lead = await enter("lea", "lead")
    queue = " ".join((await lead.client.get("/queue")).text.split())
    rows = (await lead.get("/queue.json"))["counts"]
    said = f"Of {rows['all']} items 0 are decided, {rows['all'] - 1} pending, 1 in conflict."
    assert (said in queue, "1 for you to decide" in queue) == (True, True)
    seen = await bo.item(ITEM)
    assert (seen["is_blind"], seen["status"]) == (False, "conflict")
    assert [(o["reviewer_id"], o["verdict"], o["note"]) for o in seen["others"]] == [("ana", "reject", "wrong date")]


async def test_a_lead_decides_a_conflict_and_the_opinions_stay(enter: Enter, two: Workspace) -> None:
    ana, bo, lead = await enter("ana"), await enter("bo"), await enter("cleo", "lead")
    await ana.judge(ITEM, "reject")
    version = (await lead.item(ITEM))["item_version"]
    early = {"verdict": "accept", "taxonomy": "edge_case", "confidence": 3, "item_version": version}
    assert (await lead.post(f"/api/items/{ITEM}/adjudicate", early, status=409))["error"] == "conflict"
    await bo.act(ITEM, "edited", "nugget/information_extraction.0.n1", "says 900 euros")
    await bo.post(f"/api/items/{ITEM}/check")
    await bo.judge(ITEM, "accept", override=["error_findings", "what_if"], note="the quote says it")
    page = await lead.get("/adjudication.json")
    assert (page["open"], page["items"][0]["differs"]) == (1, ["the verdict", "nugget 2"])
    assert (await ana.post(f"/api/items/{ITEM}/adjudicate", early, status=403))["error"] == "forbidden"
    decision = {**early, "content_of": "bo", "confidence": 4, "note": "bo is right"}
    item = (await lead.post(f"/api/items/{ITEM}/adjudicate", decision))["item"]
    assert (item["status"], item["rubric"][1]["text"]) == ("edited", "says 900 euros")
    assert (item["adjudication"]["taxonomy"], len(item["adjudication"]["judged"])) == ("edge_case", 2)
    assert {o["reviewer_id"]: o["verdict"] for o in item["others"]} == {"ana": "reject", "bo": "accept"}


async def test_a_lead_rules_on_nuggets_and_what_is_wrong_leaves_the_rubric(enter: Enter, two: Workspace) -> None:
    ana, bo, lead = await enter("ana"), await enter("bo"), await enter("cleo", "lead")
    first, second = (f"information_extraction.0.n{i}" for i in range(2))
    await ana.act(ITEM, "judged", f"nugget/{first}", {"label": "yes"})
    await bo.act(ITEM, "judged", f"nugget/{first}", {"label": "no"})
    await ana.judge(ITEM, "accept")
    await bo.judge(ITEM, "reject")
    (case,) = (await lead.get("/adjudication.json"))["items"]
    rows = {field["nugget_id"]: field for field in case["fields"]}
    assert [i for i, row in rows.items() if row["is_disputed"]] == [first]
    assert all(line["quote"] and line["speaker"] for line in rows[first]["evidence"])
    decision = {"verdict": "accept", "taxonomy": "other", "confidence": 3, "item_version": case["item_version"]}
    address = f"/api/items/{ITEM}/adjudicate"
    unknown = await lead.post(address, {**decision, "labels": {"n9": "no"}}, status=422)
    assert "no nugget n9" in unknown["message"]
    nothing = await lead.post(address, {**decision, "labels": {first: "no", second: "no"}}, status=422)
    assert "reject the item" in nothing["message"]
    item = (await lead.post(address, {**decision, "labels": {first: "no"}}))["item"]
    assert (item["status"], [n["nugget_id"] for n in item["rubric"]]) == ("edited", [second])


async def test_a_lead_edits_a_case_rules_on_what_the_edit_makes_doubtful_and_decides(
    enter: Enter, two: Workspace
) -> None:
    ana, bo, lead = await enter("ana"), await enter("bo"), await enter("cleo", "lead")
    second = "information_extraction.0.n1"
    await ana.act(ITEM, "judged", f"nugget/{second}", {"label": "yes"})
    await bo.act(ITEM, "judged", f"nugget/{second}", {"label": "no"})
    await ana.judge(ITEM, "accept")
    await bo.judge(ITEM, "reject")
    (case,) = (await lead.get("/adjudication.json"))["items"]
    disputed = next(field for field in case["fields"] if field["is_disputed"])
    assert case["opens_at"] == disputed["evidence"][0]["message_id"]  # not the first quote of the item
    assert case["opens_at"] != case["evidence"][0]
    piece = (await bo.item(ITEM))["evidence"][0]
    await bo.act(ITEM, "evidence_removed", f"evidence/{piece['evidence_id']}")
    await bo.judge(ITEM, "reject")
    (case,) = (await lead.get("/adjudication.json"))["items"]
    assert case["opens_at"] == piece["message_id"]  # a quote that one of them has stopped to cite
    await lead.act(ITEM, "edited", "gold_answer", "It costs 900 euros.")
    await lead.post(f"/api/items/{ITEM}/check")
    (case,) = (await lead.get("/adjudication.json"))["items"]
    gold = next(field for field in case["fields"] if field["target"] == "gold_answer")
    assert (case["is_edited"], gold["text"]) == (True, "It costs 900 euros.")
    assert any(part["kind"] == "added" for part in gold["own"])
    found = (await lead.item(ITEM))["findings"]
    assert [f["message"] for f in case["findings"]] == [f["message"] for f in found] != []
    assert all(f["place"] for f in found)
    decision = {"verdict": "accept", "taxonomy": "other", "confidence": 3, "item_version": case["item_version"]}
    address = f"/api/items/{ITEM}/adjudicate"
    assert "look again at nugget 1" in (await lead.post(address, decision, status=422))["message"]
    labels = {field["nugget_id"]: "yes" for field in case["fields"] if field["is_disputed"]}
    item = (await lead.post(address, {**decision, "labels": labels}))["item"]
    assert (item["status"], item["gold_answer"], len(item["rubric"])) == ("edited", "It costs 900 euros.", 2)


async def test_a_conflict_on_a_candidate_of_the_pool_is_decided_too(enter: Enter, two: Workspace) -> None:
    item = next(f"c000/{i}" for i in two.probes("c000") if f"c000/{i}" not in set(two.item_ids()))
    ana, ben, lea = await enter("ana"), await enter("ben"), await enter("lea", "lead")
    await ana.judge(item, "reject")
    await ben.judge(item, "accept")
    (conflict,) = (await lea.get("/adjudication.json"))["items"]
    decision = {"verdict": "reject", "taxonomy": "annotator_error", "confidence": 4}
    await lea.post(f"/api/items/{item}/adjudicate", {**decision, "item_version": conflict["item_version"]})
    assert (await lea.get("/adjudication.json"))["decided"] == 1


async def test_an_item_is_leased_to_as_many_as_are_wanted(enter: Enter) -> None:
    ana, bo = await enter("ana"), await enter("bo")
    await ana.post(f"/api/items/{ITEM}/open")
    refused = await bo.post(f"/api/items/{ITEM}/open", status=409)
    assert (refused["error"], refused["lease"]["reviewer_id"]) == ("leased", "ana")
    mine = (await bo.get("/queue.json?view=mine"))["rows"]
    assert ITEM not in {row["item_id"] for row in mine}
    assert (await bo.act(ITEM, "edited", "question", "Mine?", status=409))["error"] == "leased"
    await ana.post(f"/api/items/{ITEM}/release")
    assert (await bo.post(f"/api/items/{ITEM}/open"))["lease"]["is_mine"] is True


async def test_the_holder_renews_a_full_item_and_a_lease_expires(
    enter: Enter, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo = await enter("ana"), await enter("bo")
    first = await ana.post(f"/api/items/{ITEM}/lease")
    again = await ana.post(f"/api/items/{ITEM}/lease")  # the item is full, of herself
    assert again["is_mine"]
    assert again["expires_at"] >= first["expires_at"]
    (held,) = workspace.leases()[ITEM]
    monkeypatch.setattr(leases.time, "time", lambda: held.expires_at + 1)
    assert (await bo.post(f"/api/items/{ITEM}/lease"))["reviewer_id"] == "bo"


async def test_a_third_opinion_is_not_wanted_but_a_saved_one_may_be_changed(enter: Enter) -> None:
    ana, bo = await enter("ana"), await enter("bo")
    await ana.judge(ITEM, "accept")
    assert "all the opinions" in (await bo.judge(ITEM, "reject", status=409))["message"]
    assert (await ana.judge(ITEM, "reject"))["status"] == "rejected"


async def test_skipping_leaves_the_item_to_somebody_else(enter: Enter) -> None:
    ana, bo = await enter("ana"), await enter("bo")
    await ana.judge(ITEM, "skip")
    assert ITEM not in {row["item_id"] for row in (await ana.get("/queue.json?view=mine"))["rows"]}
    assert (await bo.judge(ITEM, "accept"))["status"] == "accepted"


async def test_returned_items_say_why_until_they_are_judged_again(enter: Enter) -> None:
    ana = await enter("ana")
    item = await ana.act(ITEM, "returned", note="The date is not in the text.")
    assert (item["status"], item["returned"]["text"]) == ("returned", "The date is not in the text.")
    assert (await ana.get("/queue.json"))["counts"]["returned"] == 1
    assert (await ana.judge(ITEM, "accept"))["status"] == "accepted"


async def test_judgements_keep_the_version_of_the_guidelines(enter: Enter) -> None:
    ana, lead = await enter("ana"), await enter("cleo", "lead")
    await ana.judge("c000/abstention.0", "reject")
    body = {"section": "abstention", "text": "Search twice.", "note": "three were too many"}
    assert (await ana.post("/api/guidelines", body, status=403))["error"] == "forbidden"
    assert (await lead.post("/api/guidelines", body))["version"] == "v1"
    await ana.judge(ITEM, "accept")
    assert (await ana.item("c000/abstention.0"))["mine"]["guideline_version"] == "v0"
    assert (await ana.item(ITEM))["mine"]["guideline_version"] == "v1"
    sections = {s["section"]: s for s in (await ana.get("/guidelines.json"))["sections"]}
    assert (sections["abstention"]["html"], sections["abstention"]["version"]) == ("<p>Search twice.</p>\n", "v1")


async def test_only_leads_know_which_items_are_gold(enter: Enter) -> None:
    ana, lead = await enter("ana"), await enter("cleo", "lead")
    item = (await lead.post(f"/api/items/{ITEM}/gold", {"verdict": "reject"}))["item"]
    assert item["is_gold"] is True
    assert (await ana.item(ITEM))["is_gold"] is None
    assert "gold_set" not in {e["kind"] for e in (await ana.get("/log.json"))["events"]}
    assert (await ana.post(f"/api/items/{ITEM}/gold", {"verdict": None}, status=403))["error"] == "forbidden"
