from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from longbeam.errors import UserError
from longbeam.formats import (
    GivenQuestion,
    Notes,
    SessionDate,
    exported_fields,
    json_files,
    numbered_elements,
    session_times,
)
from tests.builders import good_conversation
from tests.formats.sources import write_json

FIRST, SECOND = dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 2)


def test_elements_are_numbered_through_all_files(tmp_path: Path) -> None:
    write_json(tmp_path / "b.json", ["z"])
    write_json(tmp_path / "a.json", ["x", "y"])
    assert list(numbered_elements(json_files(tmp_path), "sample")) == [
        ("a.json: sample 1", "x"),
        ("a.json: sample 2", "y"),
        ("b.json: sample 3", "z"),
    ]


def test_folder_without_json_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no JSON file in this folder"):
        json_files(tmp_path)


def test_session_without_a_date_gets_the_one_before_it() -> None:
    notes = Notes()
    given = [("s0", FIRST), ("s1", None), ("s2", SECOND), ("s3", FIRST)]
    dates = [SessionDate(name, f"session {name}", "no date", time) for name, time in given]
    assert session_times(dates, notes) == [FIRST, FIRST, SECOND, FIRST]
    assert [(note.kind.value, note.subject) for note in notes.kept] == [("no_date", "s1"), ("time_goes_back", "s3")]


def test_fields_of_our_own_export_make_the_same_probe() -> None:
    probe = good_conversation().asked[0]
    fields = {"question": probe.question, "answer": probe.gold_answer, "longbeam": exported_fields(probe)}
    question = GivenQuestion.read(fields, "here", ("multi-hop", "multi_session_reasoning"), 7)
    back = question.probe(question.take_answer(Notes()), [], {})
    assert (back.probe_id, back.ability, back.question, back.gold_answer, back.difficulty, back.rubric) == (
        probe.probe_id, probe.ability, probe.question, probe.gold_answer, probe.difficulty, probe.rubric,
    )  # fmt: skip


def test_numeric_answer_is_gold_and_stays_as_it_was() -> None:
    question = GivenQuestion.read({"question": "How many?", "answer": 4}, "here", ("single-hop", "x"), 0)
    assert question.take_answer(Notes()) == "4"
    assert question.kept == {"answer": 4}
