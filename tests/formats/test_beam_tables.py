"""BEAM's rows, read from JSON, JSON Lines and parquet, and the two exports that write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longbeam.errors import UserError
from longbeam.formats import Exporter, export_beam_json, export_huggingface, import_beam
from tests.builders import MemoryReader
from tests.formats.sources import BEAM_TEXTS, beam_chat, beam_folder, beam_questions, many_plans, notes_of, read, write


def row(**changes: Any) -> dict[str, Any]:
    """A row as the released tables have it: flat batches, every key in every message, questions as a literal."""
    keys = ("content", "id", "index", "question_type", "role", "time_anchor")
    return {
        "conversation_id": "7",
        "conversation_seed": {"category": "Coding", "id": 7, "subtopics": ["a"], "theme": "t", "title": "A budget"},
        "narratives": BEAM_TEXTS["labels.txt"],
        "user_profile": {
            "user_info": BEAM_TEXTS["main_spec.txt"],
            "user_relationships": BEAM_TEXTS["relationships.txt"],
        },
        "conversation_plan": BEAM_TEXTS["plan_new.txt"],
        "user_questions": [{"messages": ["Hi, I'm Ada. ->-> 1,1"], "time_anchor": "March-15-2024"}],
        "chat": [[{k: m.get(k) for k in keys} for turn in b["turns"] for m in turn] for b in beam_chat()],
        "probing_questions": repr(beam_questions()),
        **changes,
    }


def rows_file(tmp_path: Path, rows: list[Any], suffix: str = ".json") -> Path:
    path = tmp_path / f"rows{suffix}"
    text = json.dumps(rows, indent=1) if suffix == ".json" else "\n".join(json.dumps(r) for r in rows)
    path.write_text(text, encoding="utf-8")
    return path


def content_of(reader: MemoryReader) -> list[Any]:
    return [(m.message_key, m.content, m.kind, m.bullet_ids, m.sent_at, m.details.get("marker")) for m in reader.said]


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_row_is_the_same_conversation_as_the_folder(tmp_path: Path, suffix: str) -> None:
    (from_row,) = read(import_beam, rows_file(tmp_path, [row()], suffix))
    (from_folder,) = read(import_beam, beam_folder(tmp_path / "folder"))

    assert content_of(from_row) == content_of(from_folder)
    assert from_row.asked == from_folder.asked
    assert from_row.head.plans == from_folder.head.plans
    assert from_row.head.profile == from_folder.head.profile
    assert from_row.head.user_turns[0].text == "Hi, I'm Ada."


@pytest.mark.parametrize("export", [export_beam_json, export_huggingface])
def test_the_folder_of_an_export_is_read(tmp_path: Path, export: Exporter) -> None:
    (from_row,) = read(import_beam, rows_file(tmp_path, [row()]))
    (back,) = read(import_beam, write(export, [from_row], tmp_path / "out"))
    assert [m.content for m in back.said] == [m.content for m in from_row.said]


@pytest.mark.parametrize(
    "changes",
    [
        {"probing_questions": beam_questions()},
        {"probing_questions": json.dumps(beam_questions())},
        {"chat": beam_chat()},  # objects with turns
        {"chat": [batch["turns"] for batch in beam_chat()]},  # lists of turns
    ],
)
def test_other_shapes_of_rows_are_read(tmp_path: Path, changes: dict[str, Any]) -> None:
    (plain,) = read(import_beam, rows_file(tmp_path, [row()]))
    (other,) = read(import_beam, rows_file(tmp_path, [row(**changes)]))
    assert content_of(other) == content_of(plain)
    assert other.asked == plain.asked


def test_a_row_of_several_plans_is_read(tmp_path: Path) -> None:
    chat = [{"plan-1": beam_chat(), "plan-2": None}, {"plan-1": None, "plan-2": beam_chat()}]
    plan = {
        "conversation_plan": BEAM_TEXTS["plan_new.txt"],
        "narratives": BEAM_TEXTS["labels.txt"],
        "user_questions": [],
        "user_profile": {"user_info": "", "user_relationships": ""},
        "chat": beam_chat(),
    }
    (reader,) = read(import_beam, rows_file(tmp_path, [row(chat=chat, plans=[plan, plan])]))

    assert len(reader.said) == 24
    assert [p.plan_index for p in reader.head.plans] == [0, 1]
    assert [kind for kind, _ in notes_of(reader) if kind == "other_chat"] == ["other_chat", "other_chat"]


def test_unknown_columns_are_kept(tmp_path: Path) -> None:
    (reader,) = read(import_beam, rows_file(tmp_path, [row(score=3)]))
    assert reader.head.details["row"] == {"score": 3}


@pytest.mark.parametrize("export", [export_beam_json, export_huggingface], ids=["json", "parquet"])
def test_rows_come_back_as_they_were(tmp_path: Path, export: Any) -> None:
    before = read(import_beam, rows_file(tmp_path, [row(), row(conversation_id="8")]))
    target = write(export, before, tmp_path / "out")
    after = read(import_beam, target if export is export_huggingface else target / "beam_100K.json")

    assert [r.head.details["id"] for r in after] == ["7", "8"]
    for left, right in zip(before, after, strict=True):
        assert content_of(left) == content_of(right)
        assert left.asked == right.asked
        assert left.head.plans == right.head.plans
        assert left.head.profile == right.head.profile
        assert [t.text for t in left.head.user_turns] == [t.text for t in right.head.user_turns]


@pytest.mark.parametrize("export", [export_beam_json, export_huggingface], ids=["json", "parquet"])
def test_several_plans_come_back_as_they_were(tmp_path: Path, export: Any) -> None:
    (before,) = read(import_beam, beam_folder(tmp_path / "in", change=many_plans))
    before = before.with_head(details={**before.head.details, "size": "10M"})
    target = write(export, [before], tmp_path / "out")
    (after,) = read(import_beam, target if export is export_huggingface else target / "beam_10M.json")

    assert content_of(after) == content_of(before)
    assert after.asked == before.asked
    assert after.head.plans == before.head.plans
    assert after.head.plan_seeds == before.head.plan_seeds


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([row(), row()], r"rows\.json: row 2: conversation_id '7' is that of row 1, too"),
        ([{"conversation_id": "1"}], r"row 1: there is no chat; a BEAM row has chat and probing_questions"),
        ([row(probing_questions="{'a':")], r"row 1: probing_questions: found the text .*; a Python literal or JSON"),
        ([row(chat="hello")], r"row 1: chat: found the text \"hello\"; a list of sub-plans is needed"),
        ([[1]], r"row 1: found a list \[1\]; an object with chat and probing_questions is needed"),
        ([], r"rows\.json: holds nothing to import"),
        ([row(probing_questions={"guessing": 1})], r"guessing: found 1; a list of questions is needed"),
    ],
)
def test_wrong_rows_are_one_clear_line(tmp_path: Path, rows: list[Any], complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        read(import_beam, rows_file(tmp_path, rows))


def test_a_literal_runs_no_code(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a Python literal or JSON is needed"):
        read(import_beam, rows_file(tmp_path, [row(probing_questions="__import__('os').getcwd()")]))


def test_a_file_that_is_no_parquet_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_text("no", encoding="utf-8")
    with pytest.raises(UserError, match=r"x\.parquet: cannot be read as parquet"):
        read(import_beam, tmp_path / "x.parquet")
