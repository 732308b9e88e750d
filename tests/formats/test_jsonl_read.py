from __future__ import annotations

import json
from pathlib import Path

import pytest

from longbeam.cli import USER_ERROR, run
from longbeam.errors import UserError
from longbeam.formats import export_jsonl, import_jsonl
from longbeam.schemas import BenchmarkSpec, NoteKind
from tests.builders import good_conversation
from tests.formats.sources import read
from tests.tiny import TinyConversation, tiny_conversation

SPEC = BenchmarkSpec(name="tiny")
TABLES = ("conversations.jsonl", "messages.jsonl", "probes.jsonl")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    export_jsonl([tiny_conversation("c000"), tiny_conversation("c001")], SPEC, tmp_path / "out")
    return tmp_path / "out"


def edit_line(path: Path, number: int, **changes: object) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[number] = json.dumps(json.loads(lines[number]) | changes)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def test_an_export_of_what_was_read_has_the_same_tables(folder: Path, tmp_path: Path) -> None:
    export_jsonl(read(import_jsonl, folder), SPEC, tmp_path / "again")

    assert [(tmp_path / "again" / n).read_bytes() for n in TABLES] == [(folder / n).read_bytes() for n in TABLES]


def test_messages_probes_and_ledger_come_back_whole(tmp_path: Path) -> None:
    ours = good_conversation()
    export_jsonl([ours], SPEC, tmp_path / "out")

    [back] = read(import_jsonl, tmp_path / "out")

    assert back.said == ours.said
    assert back.head.plans == ours.head.plans
    assert [p.model_copy(update={"rank": 0}) for p in back.asked] == [
        p.model_copy(update={"rank": 0}) for p in ours.asked if p.is_selected
    ]


def test_an_export_of_version_2_is_read_as_it_was(folder: Path) -> None:
    probes = folder / "probes.jsonl"
    new = read(import_jsonl, folder)
    old = []
    for line in map(json.loads, probes.read_text(encoding="utf-8").splitlines()):
        del line["asked_after"], line["details"]["difficulty"]
        for evidence in line["evidence"]:
            del evidence["role"], evidence["speaker"]
        old.append(json.dumps(line) + "\n")
    probes.write_text("".join(old), encoding="utf-8")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(json.dumps(manifest | {"format_version": 2}), encoding="utf-8")

    assert [c.asked for c in read(import_jsonl, folder)] == [c.asked for c in new]


def test_messages_can_be_read_twice(folder: Path) -> None:
    from longbeam.formats import ImportOptions

    second = list(import_jsonl(folder, ImportOptions()))[1]

    assert list(second.messages()) == list(second.messages())
    assert [m.message_id for m in second.messages()] == list(range(8))


def test_conversations_are_numbered_afresh_where_the_export_has_gaps(tmp_path: Path) -> None:
    gapped: list[TinyConversation] = [tiny_conversation("c000"), tiny_conversation("c004")]
    export_jsonl(gapped, SPEC, tmp_path / "out")

    heads = [reader.head for reader in read(import_jsonl, tmp_path / "out")]

    assert [(h.conversation_id, h.details) for h in heads] == [("c000", {}), ("c001", {"id": "c004"})]


def test_a_folder_that_is_no_export_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no manifest.json; name the folder"):
        read(import_jsonl, tmp_path)


def test_another_version_of_the_format_is_refused(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(json.dumps(manifest | {"format_version": 99}), encoding="utf-8")

    with pytest.raises(UserError, match=r"version 99; 'longbeam-jsonl' 2 and 3 are read"):
        read(import_jsonl, folder)


def test_a_table_that_is_not_the_one_of_the_manifest_is_noted(folder: Path) -> None:
    assert [c.head.import_notes for c in read(import_jsonl, folder)] == [(), ()]
    edit_line(folder / "probes.jsonl", 0, gold_answer="Another one.")
    notes = [n for c in read(import_jsonl, folder) for n in c.head.import_notes]
    assert [(n.kind, n.subject) for n in notes] == [(NoteKind.CHANGED_FILE, "probes.jsonl")] * 2


def test_a_line_that_does_not_fit_is_named(folder: Path) -> None:
    edit_line(folder / "messages.jsonl", 2, role="narrator")

    with pytest.raises(UserError, match=r"messages.jsonl: line 3: role: Input should be"):
        read(import_jsonl, folder)


@pytest.mark.parametrize("name", TABLES)
def test_a_column_that_stands_twice_is_refused_with_its_place(folder: Path, name: str) -> None:
    path = folder / name
    first, *rest = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(first.replace("{", '{"conversation_id": "c009", ', 1) + "".join(rest), encoding="utf-8")

    with pytest.raises(UserError, match=rf"{name}: line 1: not usable JSON: 'conversation_id' stands twice"):
        read(import_jsonl, folder)


@pytest.mark.parametrize("tokens", [10**30, 10**400, 2**63])
def test_a_number_that_no_column_holds_is_one_line(
    folder: Path, tokens: int, capsys: pytest.CaptureFixture[str]
) -> None:
    edit_line(folder / "messages.jsonl", 0, tokens=tokens)
    assert run(["import", "jsonl", str(folder), "--name", "big", "--out", str(folder.parent)]) == USER_ERROR
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert not (folder.parent / "big").exists()


def test_messages_of_one_conversation_in_two_places_are_refused(folder: Path) -> None:
    edit_line(folder / "messages.jsonl", 15, conversation_id="c000")

    with pytest.raises(UserError, match=r"line 16: messages of conversation 'c000' stand in two places"):
        read(import_jsonl, folder)
