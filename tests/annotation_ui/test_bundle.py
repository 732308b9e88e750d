from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from longbeam.annotation_ui import anchors_page, write_bundle, write_passports
from longbeam.errors import UserError
from longbeam.review import Archive, Workspace, from_jsonl, status_of
from longbeam.schemas import EventKind
from longbeam.store import Benchmark, seal_conversation
from tests.annotation_ui.conftest import Enter
from tests.tiny import tiny_conversation

ITEM = "c000/information_extraction.0"


def test_a_bundle_is_one_folder_without_abstentions_and_its_decisions_merge_once(
    workspace: Workspace, tmp_path: Path
) -> None:
    report = write_bundle(workspace, "ana", tmp_path / "bundle", around=1)
    assert (report.items, report.left_out) == (1, 1)
    page = (tmp_path / "bundle" / "index.html").read_text(encoding="utf-8")
    assert "http" not in re.sub(r"http-equiv", "", page)
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])  # type: ignore[index]
    (item,) = data["items"]
    assert [m["message_id"] for m in item["messages"]] == [0, 1, 3, 4, 5]
    # What static/bundle.js saves for an item that was edited and accepted.
    common = {k: item[k] for k in ("item_id", "item_version", "probe_version")} | {"reviewer_id": "ana"}
    acts = [
        {"kind": "edited", "target": "question", "before": item["question"], "after": "When?"},
        {"kind": "judged", "target": "item", "after": {"verdict": "accept"}},
    ]
    lines = [
        json.dumps({"event_id": f"b-{i}", **common, **act, "created_at": f"2026-11-21T10:00:0{i}.000Z"})
        for i, act in enumerate(acts)
    ]
    events = [event for _, event in from_jsonl("\n".join(lines), "decisions")]
    assert workspace.log.store.merge(events) == (2, 0)
    assert workspace.log.store.merge(events) == (0, 2)
    workspace.log.refresh()
    state = workspace.state(ITEM)
    assert (state.status.value, state.opinion("ana").probe.question) == ("edited", "When?")
    assert status_of(state) == "unsettled"  # nobody has looked at the nuggets since the question was edited


def test_a_bundle_replaces_a_former_one_and_nothing_else(workspace: Workspace, tmp_path: Path) -> None:
    write_bundle(workspace, "ana", tmp_path / "bundle")
    write_bundle(workspace, "ana", tmp_path / "bundle")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    with pytest.raises(UserError, match="not a former bundle"):
        write_bundle(workspace, "ana", tmp_path / "mine")


async def test_the_provenance_prints_the_quotes_and_hides_opinions_while_blind(enter: Enter) -> None:
    ana = await enter("ana")
    provenance = await ana.get(f"/items/{ITEM}/provenance.json")
    assert [(e["message_id"], e["quote"], e["attachment"]) for e in provenance["evidence"]] == [
        (0, "We fly t", "attached"),
        (4, "The budg", "attached"),
    ]
    assert provenance["judgements"] == []
    await ana.judge(ITEM, "accept", note="checked by hand")
    provenance = await ana.get(f"/items/{ITEM}/provenance.json")
    assert [(j["annotator_kind"], j["annotator_id"], j["label"]) for j in provenance["judgements"]] == [
        ("HUMAN", "ana", "accept")
    ]
    assert "checked by hand" in (await ana.client.get(f"/items/{ITEM}/provenance")).text


async def test_every_released_question_has_a_passport_and_no_other(
    enter: Enter, workspace: Workspace, tmp_path: Path
) -> None:
    ana = await enter("ana")
    rejected = "c000/abstention.0"
    await ana.judge(rejected, "reject")
    await ana.judge(ITEM, "accept", note="looked at twice")
    released = [ITEM, *(i for i in workspace.item_ids() if i not in (ITEM, rejected))]
    for _ in range(2):  # a former folder is replaced
        count = write_passports(workspace, tmp_path / "passports")
    pages = {p.relative_to(tmp_path / "passports").as_posix() for p in (tmp_path / "passports").rglob("*.html")}
    assert {f"{item}.html" for item in released} < pages
    assert (f"{rejected}.html" in pages, len(pages)) == (False, count + 1)
    kept = json.loads((tmp_path / "passports" / f"{released[0]}.json").read_text(encoding="utf-8"))
    assert kept == await ana.get(f"/items/{released[0]}/provenance.json")
    page = (tmp_path / "passports" / f"{released[0]}.html").read_text(encoding="utf-8")
    assert "looked at twice" in page
    assert f'href="{released[0]}.html"' in (tmp_path / "passports" / "index.html").read_text(encoding="utf-8")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    with pytest.raises(UserError, match="no former passports"):
        write_passports(workspace, tmp_path / "mine")


async def test_anchors_are_found_again_after_the_conversation_was_made_anew(
    enter: Enter, workspace: Workspace, benchmark: Benchmark
) -> None:
    ana = await enter("ana")
    await ana.post(f"/api/items/{ITEM}/open")
    await ana.act(ITEM, "evidence_added", after={"message_key": "p0.s0.t0.n2", "quote": "Hotel Fjord"})
    assert anchors_page(workspace).model_dump(exclude={"rows"}) == {
        "anchors": 3, "attached": 3, "moved": 0, "broken": 0, "reattached": None
    }  # fmt: skip
    tiny = tiny_conversation()
    # The first message has another key, the third and fourth another text; the fifth is as it was.
    said = [m.model_copy(update={"message_key": "p0.s0.t9.n0"}) if i == 0 else m for i, m in enumerate(tiny.said)]
    said[2] = said[2].model_copy(update={"content": "Pension Birke."})
    said[3] = said[3].model_copy(update={"content": "Noted."})
    seal_conversation(benchmark.sealed_path("c000"), tiny.head, said, tiny.asked)
    page = anchors_page(Workspace(Archive(benchmark), workspace.log))
    assert (page.attached, page.moved, page.broken, page.reattached) == (1, 1, 1, 0.5)
    found = {row.anchor.quote: (row.attachment, row.message_key) for row in page.rows}
    assert found == {"We fly t": ("moved", "p0.s0.t9.n0"), "Hotel Fjord": ("broken", "")}
    assert EventKind.OPENED in {e.kind for e in workspace.log.of_item(ITEM)}
