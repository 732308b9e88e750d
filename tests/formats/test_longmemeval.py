from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longbeam.errors import UserError
from longbeam.formats import export_longmemeval, import_longmemeval
from longbeam.formats.longmemeval import FILE
from tests.builders import MemoryReader, good_conversation
from tests.formats.sources import longmemeval_items, notes_of, read, write, write_json


@pytest.fixture
def imported(tmp_path: Path) -> list[MemoryReader]:
    """The hand-made questions."""
    return read(import_longmemeval, write_json(tmp_path / "q.json", longmemeval_items()))


def exported(folder: Path) -> Any:
    return json.loads((folder / FILE).read_text(encoding="utf-8"))


def test_questions_on_one_haystack_share_a_conversation(imported: list[MemoryReader]) -> None:
    assert [[p.probe_id for p in reader.asked] for reader in imported] == [
        ["knowledge_update.0", "abstention.1"],
        ["temporal_reasoning.0"],  # the same sessions on other days
    ]
    assert [m.content for m in imported[0].said] == ["I have 3 cats.", "Nice.", "Now it is 4.", "More cats!"]
    assert [m.session for m in imported[0].said] == [0, 0, 1, 1]
    assert imported[0].said[2].sent_at == dt.datetime(2023, 5, 21, 10, 0)


def test_marked_turns_are_evidence_and_the_question_has_its_date(imported: list[MemoryReader]) -> None:
    update, abstention = imported[0].asked
    assert [e.message_key for e in update.evidence] == ["s0.m0", "s1.m0"]  # marked false is not evidence
    assert (update.gold_answer, update.source_category) == ("4", "knowledge-update")
    assert update.asked_at == dt.datetime(2023, 5, 30, 23, 40)
    assert (abstention.ability, abstention.source_category) == ("abstention", "multi-session")


def test_a_question_of_an_unlisted_type_is_kept_with_it(tmp_path: Path) -> None:
    item = longmemeval_items()[0] | {"question_type": "guess-work"}
    (reader,) = read(import_longmemeval, write_json(tmp_path / "q.json", [item]))

    assert [(p.ability, p.source_category) for p in reader.asked] == [("guess_work", "guess-work")]
    assert exported(write(export_longmemeval, [reader], tmp_path / "out"))[0]["question_type"] == "guess-work"


def test_oddities_are_noted(imported: list[MemoryReader]) -> None:
    assert notes_of(imported[0]) == [("evidence_id", "abstention.1")]
    assert notes_of(imported[1]) == [("time_goes_back", "s1"), ("evidence_missing", "temporal_reasoning.0")]


def test_a_file_comes_back_as_it_was(tmp_path: Path, imported: list[MemoryReader]) -> None:
    assert exported(write(export_longmemeval, imported, tmp_path / "out")) == longmemeval_items()


def test_what_was_changed_since_is_written(tmp_path: Path, imported: list[MemoryReader]) -> None:
    reader = imported[0]
    changed = reader.with_probe("knowledge_update", evidence=reader.asked[0].evidence[1:])
    item = exported(write(export_longmemeval, [changed], tmp_path / "out"))[0]
    # LongMemEval's retrieval script knows evidence by the word in the id, and reads has_answer of each turn.
    assert item["answer_session_ids"] == ["answer_ultra_2"]
    assert item["haystack_session_ids"] == ["answer_1", "answer_ultra_2"]
    assert [m["has_answer"] for session in item["haystack_sessions"] for m in session] == [False, False, True, False]


def test_empty_sessions_come_back_too(tmp_path: Path) -> None:
    (item,) = longmemeval_items()[:1]
    item["haystack_sessions"] = [[], *item["haystack_sessions"], []]
    item["haystack_session_ids"] = ["e1", "answer_1", "ultra_2", "e2"]
    item["haystack_dates"] = ["2023/05/01 (Mon) 00:00", *item["haystack_dates"], "2023/05/22 (Mon) 00:00"]
    readers = read(import_longmemeval, write_json(tmp_path / "q.json", [item]))
    assert exported(write(export_longmemeval, readers, tmp_path / "out")) == [item]


def test_an_empty_answer_comes_back(tmp_path: Path) -> None:
    (item,) = longmemeval_items()[:1]
    item["answer"] = ""
    readers = read(import_longmemeval, write_json(tmp_path / "q.json", [item]))
    assert exported(write(export_longmemeval, readers, tmp_path / "out")) == [item]


def test_the_files_of_a_folder_are_read_as_one_list(tmp_path: Path) -> None:
    for name, item in zip(("a.json", "b.json"), longmemeval_items()[:2], strict=True):
        write_json(tmp_path / name, [item])
    (reader,) = read(import_longmemeval, tmp_path)  # one haystack, asked about in both files
    assert [p.probe_id for p in reader.asked] == ["knowledge_update.0", "abstention.1"]


def test_our_own_conversation_comes_back_as_far_as_the_format_holds_it(tmp_path: Path) -> None:
    own = good_conversation()
    (back,) = read(import_longmemeval, write(export_longmemeval, [own], tmp_path / "out") / FILE)

    assert [(m.role, m.content) for m in back.said] == [(m.role, m.content) for m in own.said]
    opening = [i for i, m in enumerate(own.said) if m.kind == "question"]
    assert [back.said[i].sent_at.date() for i in opening] == [own.said[i].sent_at.date() for i in opening]
    assert asked(back) == asked(own)
    assert [kind for kind, _ in notes_of(back)] == []


def asked(reader: MemoryReader) -> list[Any]:
    place = {m.message_key: i for i, m in enumerate(reader.said)}
    return sorted(
        (p.probe_id, p.ability, p.question, p.gold_answer, p.difficulty, [n.text for n in p.rubric],
         sorted({place[e.message_key] for e in p.evidence}))
        for p in reader.asked
    )  # fmt: skip


# --- wrong input ------------------------------------------------------------------------------------------


def no_type(item: dict[str, Any]) -> None:
    item["question_type"] = ""


def no_id(item: dict[str, Any]) -> None:
    del item["question_id"]


def too_few_dates(item: dict[str, Any]) -> None:
    item["haystack_dates"].pop()


def other_role(item: dict[str, Any]) -> None:
    item["haystack_sessions"][1][0]["role"] = "tool"


def no_sessions(item: dict[str, Any]) -> None:
    item["haystack_sessions"] = []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (no_type, r"q\.json: question 1: question_type: it is empty; a name is needed"),
        (no_id, r"question 1: question_id: found nothing; an id is needed"),
        (too_few_dates, r"haystack_dates has 1 entries, haystack_sessions 2"),
        (other_role, r"haystack_sessions\[1\]: role the text \"tool\"; allowed: user, assistant"),
        (no_sessions, r"the haystack holds no message"),
    ],
)
def test_wrong_input_is_one_clear_line(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], complaint: str
) -> None:
    item = longmemeval_items()[0]
    change(item)
    with pytest.raises(UserError, match=complaint):
        read(import_longmemeval, write_json(tmp_path / "q.json", [item]))


def test_a_question_id_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    item = longmemeval_items()[0]
    with pytest.raises(UserError, match="question_id 'q1' occurs twice"):
        read(import_longmemeval, write_json(tmp_path / "q.json", [item, item]))


def test_the_folder_of_an_export_is_read_without_its_manifest(tmp_path: Path, imported: list[MemoryReader]) -> None:
    folder = write(export_longmemeval, imported, tmp_path / "out")
    assert (folder / "manifest.json").is_file()
    assert len(read(import_longmemeval, folder)) == len(imported)
