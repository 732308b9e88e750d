"""Imports of files that lack something, or say it in a form of their own: nothing is lost, or a finding says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longbeam.formats import (
    CANARY,
    CHAT,
    TRUNCATED,
    export_beam,
    export_beam_json,
    export_jsonl,
    import_beam,
    import_jsonl,
    import_locomo,
)
from longbeam.schemas import NoteKind
from longbeam.validation import IMPORTS
from tests.builders import MemoryReader, good_conversation
from tests.formats.sources import (
    beam_chat,
    beam_folder,
    json_files,
    locomo_sample,
    many_plans,
    notes_of,
    read,
    write,
    write_json,
)


def three_plans(files: dict[str, Any]) -> None:
    """A chat in the files of its plans; the one of the second is missing, as it is in copies of BEAM."""
    many_plans(files)
    del files["chat.json"]
    for name in [name for name in files if name.startswith("plan-1/")]:
        files[name.replace("plan-1/", "plan-2/")] = files[name]
    files |= {"plan-0/chat.json": beam_chat(), "plan-2/chat.json": beam_chat()}


def imported(folder: Path, **options: Any) -> MemoryReader:
    (reader,) = read(import_beam, folder, **options)
    return reader


def test_chats_of_plans_are_kept_where_others_are_missing(tmp_path: Path) -> None:
    reader = imported(beam_folder(tmp_path, change=three_plans))

    by_plan = [[m.content for m in reader.said if m.plan_index == plan] for plan in range(3)]
    assert [len(said) for said in by_plan] == [12, 4, 12]  # four planned messages of the user in the middle
    assert by_plan[0] == by_plan[2]
    assert [m.role for m in reader.said if m.plan_index == 1] == ["user"] * 4
    assert ("no_chat", "plan-1") in notes_of(reader)
    assert not [note for note in notes_of(reader) if note[0] == "message_id"]


def test_evidence_behind_a_missing_plan_is_not_guessed(tmp_path: Path) -> None:
    def cite_later(files: dict[str, Any]) -> None:
        three_plans(files)
        (probe,) = files["probing_questions/probing_questions.json"]["knowledge_update"]
        probe["source_chat_ids"] = {"original_info": [4], "updated_info": [20]}

    reader = imported(beam_folder(tmp_path, change=cite_later))
    assert [e.message_key for e in reader.probe("knowledge_update").evidence] == ["p0.s0.t1.n0"]
    (note,) = [n for n in reader.head.import_notes if n.subject == "knowledge_update.0"]
    assert (note.kind, "20" in note.message) == (NoteKind.EVIDENCE_MISSING, True)


def test_a_chat_with_missing_plans_comes_back_as_it_was(tmp_path: Path) -> None:
    folder = beam_folder(tmp_path / "in", change=three_plans)
    target = write(export_beam, [imported(folder)], tmp_path / "out") / "100K" / "7"
    assert json_files(target) == json_files(folder)


def test_rows_leave_out_what_was_never_said(tmp_path: Path) -> None:
    reader = imported(beam_folder(tmp_path / "in", change=three_plans))
    (row,) = json.loads((write(export_beam_json, [reader], tmp_path / "out") / "beam_100K.json").read_text())
    assert [next(iter(plan)) for plan in row["chat"]] == ["plan-1", "plan-3"]


def test_the_version_that_was_not_imported_is_named(tmp_path: Path) -> None:
    folder = beam_folder(tmp_path, change=lambda files: files.update({TRUNCATED: files[CHAT][:1]}))
    (note,) = [n for n in imported(folder).head.import_notes if n.kind == NoteKind.OTHER_CHAT]
    assert note.subject == TRUNCATED
    assert "is not kept" in note.message


def test_a_truncated_chat_does_not_pass_for_the_full_one(tmp_path: Path) -> None:
    def shorten(files: dict[str, Any]) -> None:
        files[TRUNCATED] = files.pop(CHAT)[:1]

    folder = beam_folder(tmp_path / "in", change=shorten)
    reader = imported(folder)
    assert ("truncated_chat", TRUNCATED) in notes_of(reader)
    assert json_files(write(export_beam, [reader], tmp_path / "out") / "100K" / "7") == json_files(folder)
    assert ("truncated_chat", TRUNCATED) not in notes_of(imported(folder, full_chat=False))  # it was asked for


def test_the_canary_stays_with_our_rows(tmp_path: Path) -> None:
    first = write(export_beam_json, [good_conversation()], tmp_path / "a") / "beam_100K.json"
    (row,) = json.loads((write(export_beam_json, [imported(first)], tmp_path / "b") / "beam_100K.json").read_text())
    assert row["canary"] == CANARY


def test_odd_values_are_read_and_noted(tmp_path: Path) -> None:
    def spoil(files: dict[str, Any]) -> None:
        questions = files["probing_questions/probing_questions.json"]
        questions["knowledge_update"][0]["difficulty"] = "impossible"
        questions["abstention"][0]["rubric"] = "Says that nothing is said."
        questions["summarization"][0]["rubric"] = ["One.", {"two": 2}]

    folder = beam_folder(tmp_path / "in", change=spoil)
    reader = imported(folder)
    odd = [subject for kind, subject in notes_of(reader) if kind == "odd_value"]
    assert odd == ["abstention.0", "knowledge_update.0", "summarization.0"]
    assert [n.text for n in reader.probe("abstention").rubric] == ["Says that nothing is said."]
    assert json_files(write(export_beam, [reader], tmp_path / "out") / "100K" / "7") == json_files(folder)


def test_a_chat_without_topic_is_noted_and_gets_none(tmp_path: Path) -> None:
    folder = beam_folder(tmp_path / "in", change=lambda files: files.pop("topic.json"))
    reader = imported(folder)
    assert ("missing_file", "topic.json") in notes_of(reader)
    assert json_files(write(export_beam, [reader], tmp_path / "out") / "100K" / "7") == json_files(folder)


def test_conversations_without_questions_are_noted(tmp_path: Path) -> None:
    beam = beam_folder(tmp_path / "beam", change=lambda f: f.update({"probing_questions/probing_questions.json": {}}))
    locomo = write_json(tmp_path / "locomo.json", [{**locomo_sample(), "qa": []}])
    jsonl = write(export_jsonl, [MemoryReader(good_conversation().head, good_conversation().said, ())], tmp_path / "j")
    for importer, path in ((import_beam, beam), (import_locomo, locomo), (import_jsonl, jsonl)):
        (reader,) = read(importer, path)
        assert ("no_probes", "conversation") in notes_of(reader)


@pytest.mark.parametrize("kind", list(NoteKind))
def test_every_note_has_a_severity(kind: NoteKind) -> None:
    assert kind in IMPORTS.severities


def test_beams_own_chats_are_as_odd_as_before(tmp_path: Path) -> None:
    """The hand-made chat has BEAM's usual words for difficulties: none of them is odd."""
    assert not {"odd_value", "no_probes", "missing_file"} & {k for k, _ in notes_of(imported(beam_folder(tmp_path)))}
