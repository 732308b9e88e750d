from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longbeam.errors import UserError
from longbeam.evaluation import always_there, arms_of, reworded
from longbeam.formats import ExportOptions, export_jsonl
from longbeam.pipeline.evaluate import EvaluationRequest, evaluate
from longbeam.review import (
    Workspace,
    as_jsonl,
    export_log,
    from_jsonl,
    import_log,
    reviewed_conversations,
    reviewed_probes,
)
from longbeam.schemas import EvaluationRun, EvaluationSettings
from longbeam.store import Benchmark, stored_events
from tests.annotation_ui.conftest import Enter
from tests.pipeline.conftest import CountingModel
from tests.wired import answered_by

ITEM = "c000/information_extraction.0"
SPARE = "c000/information_extraction.1"


def exported(benchmark: Benchmark, to: Path, *, reviewed_only: bool = False) -> tuple[dict[str, Any], Any]:
    with reviewed_conversations(benchmark) as reviewed:
        report = export_jsonl(reviewed.readers, benchmark.spec, to, ExportOptions(reviewed.statuses, reviewed_only))
    lines = (to / "probes.jsonl").read_text(encoding="utf-8").splitlines()
    return {line["probe_id"]: line for line in map(json.loads, lines)}, report


async def test_export_leaves_out_the_rejected_and_takes_the_next_candidate(
    enter: Enter, benchmark: Benchmark, tmp_path: Path
) -> None:
    ana = await enter("ana")
    await ana.judge(ITEM, "reject")
    probes, report = exported(benchmark, tmp_path / "export")
    assert {i: p["review"]["status"] for i, p in probes.items()} == {
        "abstention.0": "unreviewed",
        "information_extraction.1": "unreviewed",
    }
    assert (report.rejected, report.not_reviewed) == (1, 0)
    await ana.judge(SPARE, "accept")
    probes, report = exported(benchmark, tmp_path / "export", reviewed_only=True)
    assert {i: p["review"]["status"] for i, p in probes.items()} == {"information_extraction.1": "accepted"}
    assert (report.rejected, report.not_reviewed) == (1, 1)


async def test_export_has_the_edits_of_accepted_probes_and_no_half_edited_one(
    enter: Enter, benchmark: Benchmark, tmp_path: Path
) -> None:
    ana = await enter("ana")
    await ana.act(ITEM, "edited", "question", "When do we fly, and on which budget?")
    probes, report = exported(benchmark, tmp_path / "export")
    assert "information_extraction.0" not in probes
    assert report.unsettled == 1
    for nugget in (await ana.item(ITEM))["rubric"]:
        await ana.act(ITEM, "judged", f"nugget/{nugget['nugget_id']}", {"label": "yes"})
    await ana.post(f"/api/items/{ITEM}/check")
    await ana.judge(ITEM, "accept", override=["error_findings", "what_if"], note="seen")
    probes, report = exported(benchmark, tmp_path / "export")
    line = probes["information_extraction.0"]
    assert (line["question"], line["review"]["status"]) == ("When do we fly, and on which budget?", "edited")
    assert report.unsettled == 0


async def test_an_evaluation_asks_probes_as_reviewed_and_its_scores_go_out_of_date(
    enter: Enter, benchmark: Benchmark
) -> None:
    async def measured() -> tuple[EvaluationRun, int]:
        model = CountingModel()
        arms = [*always_there(), *arms_of("rag", (), ())]
        given = reviewed_probes(benchmark)
        run, _ = await evaluate(
            benchmark, EvaluationRequest(benchmark.spec, arms, EvaluationSettings(), probes=given), answered_by(model)
        )
        return run, sum(model.calls.values())

    ana = await enter("ana")
    before, asked = await measured()
    assert asked > 0
    assert await measured() == (before, 0)
    await ana.act(ITEM, "edited", "question", "When do we fly, and on which budget?")
    for nugget in (await ana.item(ITEM))["rubric"]:
        await ana.act(ITEM, "judged", f"nugget/{nugget['nugget_id']}", {"label": "yes"})
    await ana.post(f"/api/items/{ITEM}/check")
    await ana.judge(ITEM, "accept", override=["error_findings", "what_if"], note="seen")
    assert reworded(before.probes, reviewed_probes(benchmark) or {}) == [ITEM]
    after, again = await measured()
    assert {p.probe_id: p.question for p in after.probes}["information_extraction.0"].startswith("When do we fly, and")
    assert 0 < again < asked
    await ana.judge(ITEM, "reject")
    assert "information_extraction.0" not in {p.probe_id for p in (await measured())[0].probes}


async def test_hand_written_probes_are_checked_at_once_and_exported(
    enter: Enter, benchmark: Benchmark, tmp_path: Path
) -> None:
    ana = await enter("ana")
    draft = {
        "ability": "information_extraction",
        "question": "Which hotel do I stay in?",
        "gold_answer": "Hotel Fjord, for $80 a night.",
        "nuggets": ["States Hotel Fjord"],
        "evidence": [{"message_key": "p0.s0.t0.n2", "quote": "hotel fjord"}],
    }
    checked = await ana.post("/api/conversations/c000/probes", draft)
    assert checked["item_id"] is None
    assert [f["check"] for f in checked["findings"]] == ["gold_values.nowhere"]  # nobody said $80
    saved = await ana.post(
        "/api/conversations/c000/probes", {**draft, "gold_answer": "You stay in Hotel Fjord.", "is_saved": True}
    )
    assert saved["probe"]["evidence"][0]["quote"] == "Hotel Fjord"
    assert saved["item_id"] == "c000/information_extraction.h0"
    assert saved["item_id"] in {r["item_id"] for r in (await ana.get("/queue.json"))["rows"]}
    probes, _ = exported(benchmark, tmp_path / "export")
    assert probes["information_extraction.h0"]["gold_answer"] == "You stay in Hotel Fjord."


async def test_the_log_goes_out_and_comes_back_without_loss_or_duplicates(
    enter: Enter, workspace: Workspace, benchmark: Benchmark, tmp_path: Path
) -> None:
    ana = await enter("ana")
    await ana.act(ITEM, "edited", "question", "Über 𝄞?")
    await ana.post("/api/undo")
    await ana.judge(ITEM, "accept")
    assert export_log(benchmark.reviews_path, tmp_path / "log.jsonl") == 3
    again = import_log(benchmark.reviews_path, tmp_path / "log.jsonl")
    other = import_log(tmp_path / "other.sqlite", tmp_path / "log.jsonl")
    assert [(r.new, r.known, r.number) for r in (again, other)] == [(0, 3, 0), (3, 0, 1)]
    assert stored_events(tmp_path / "other.sqlite") == workspace.log.events()
    assert (
        as_jsonl(e for _, e in from_jsonl((tmp_path / "log.jsonl").read_text(), "log"))
        == (tmp_path / "log.jsonl").read_text()
    )


def test_a_line_that_is_no_event_is_named_and_nothing_is_taken_in(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"event_id": "1"}\n')
    with pytest.raises(UserError, match=r"log\.jsonl:1: no review event: item_id"):
        import_log(tmp_path / "reviews.sqlite", tmp_path / "log.jsonl")
    assert stored_events(tmp_path / "reviews.sqlite") == []
