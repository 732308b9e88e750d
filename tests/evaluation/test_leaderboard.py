from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from longbeam.cli import USER_ERROR, run as command
from longbeam.errors import UserError
from longbeam.evaluation import RIGHT_ANSWERS, WRONG, Evaluated, faults_of, merged, render_board, rows_in
from longbeam.schemas import Scoring
from tests.evaluation.evaluated import evaluated

NOTHING = [[0, 0], [0, 0]]
ALL_RIGHT = [[1, 1], [1, 1]]
CALIBRATION = {name: ALL_RIGHT if name in RIGHT_ANSWERS else NOTHING for name in (*RIGHT_ANSWERS, *WRONG)}
SCORES = {"blank": NOTHING, "bm25": [[0.5, 0], [1, 0]], "rag": [[1, 0.5], [1, None]], **CALIBRATION}

IMPOSSIBLE = evaluated(SCORES).results[0].retrieval.model_copy(update={"evidence_recall": float("nan")})
RIGHT = (Scoring(rule="paper", score=1), Scoring(rule="released", score=1))


def test_rows_are_added_and_replaced() -> None:
    old = merged("", [evaluated(SCORES)], "board.json")
    better = {"bm25": [[1, 1], [1, 1]], **CALIBRATION}
    new = merged(old, [evaluated(better), evaluated(better, judge="another")], "board.json")
    rows = json.loads(new)["rows"]
    assert len(json.loads(old)["rows"]) == 5  # wrong and swapped only calibrate
    assert {(r["judge"], r["paper"]) for r in rows if r["system"] == "bm25"} == {("another", 1.0), ("judge one", 1.0)}
    assert len({r["settings_digest"] for r in rows}) == 2  # one for each judge
    assert merged(new, [evaluated(better)], "board.json") == new
    assert "| bm25 | floor | 1.000 |" in render_board(rows_in(new, "board.json"))


@pytest.mark.parametrize("old", ["[]", '{"format": "x", "version": 1, "rows": []}', "no json"])
def test_what_is_no_leaderboard_is_left_alone(old: str) -> None:
    with pytest.raises(UserError, match="no leaderboard"):
        merged(old, [evaluated(SCORES)], "board.json")


def changed(made: Evaluated, **fields: Any) -> Evaluated:
    first, *rest = made.results
    return replace(made, results=(first.model_copy(update=fields), *rest))


@pytest.mark.parametrize(
    ("submitted", "fault"),
    [
        (
            changed(evaluated(SCORES), scores=(Scoring(rule="paper", score=1), Scoring(rule="released", score=1))),
            "verdicts",
        ),
        (changed(evaluated(SCORES), probe_id="summarization.9"), "no such probe"),
        (changed(evaluated(SCORES), system="mine"), "no such system"),
        (changed(evaluated(SCORES), probe_id="summarization.1"), "2 results"),
        (replace(evaluated(SCORES), results=evaluated(SCORES).results[1:]), "1 answers are missing of"),
        (
            replace(
                evaluated(SCORES),
                results=tuple(r for r in evaluated(SCORES).results if r.system != "rag"),
                run=evaluated(SCORES).run.model_copy(update={"failures": ("invented failure",) * 200}),
            ),
            "and no failure names them",
        ),
        (changed(evaluated(SCORES), retrieval=IMPOSSIBLE), "evidence_recall is nan"),
        (
            evaluated({"rag": NOTHING, "gold": [[1, 1], [1, 1]]}),
            "the answers paraphrased, wrong, echo, swapped, denied, ",
        ),
    ],
)
def test_a_file_that_is_not_sound_is_refused(submitted: Evaluated, fault: str) -> None:
    assert any(fault in found for found in faults_of(submitted))
    with pytest.raises(UserError, match="faults in its results"):
        merged("", [submitted], "board.json")


def test_a_judge_that_cannot_score_leaves_no_score_on_the_board() -> None:
    board = merged("", [evaluated({"rag": NOTHING, **CALIBRATION, "gold": NOTHING})], "board.json")
    row = next(r for r in rows_in(board, "b") if r["system"] == "rag")
    assert (row["paper"], row["rank"]) == (None, None)
    assert row["calibration"].startswith("calibrated: gold 0.000, paraphrased 1.000, wrong 0.000, echo 0.000")
    assert "judge cannot score" in render_board([row])


def test_both_recalls_stand_in_the_table() -> None:
    text = render_board(rows_in(merged("", [evaluated(SCORES)], "b"), "b"))
    assert "| evidence recall | source recall |" in text
    assert "| reader | embedder |" in text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a|b", "a\\|b"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("[x](javascript:1)", "\\[x\\](javascript:1)"),
        ("two\nlines", "two lines"),
        ("\x1b[2Jred", "\ufffd\\[2Jred"),
    ],
)
def test_names_are_escaped_in_the_table(name: str, shown: str) -> None:
    rows = rows_in(merged("", [evaluated(SCORES)], "b"), "b")
    board = render_board([{**row, "system": name, "reader": name, "benchmark": name} for row in rows])
    assert shown in board
    assert name not in board


@pytest.mark.parametrize(
    "change",
    [
        {"paper": "1"},
        {"paper": 1e400},
        {"evidence_recall": float("nan")},
        {"interval": [1.0]},
        {"rank": None, "x": 1},
        {},
    ],
)
def test_rows_of_another_form_are_one_line(change: dict[str, Any]) -> None:
    board = json.loads(merged("", [evaluated(SCORES)], "b"))
    board["rows"][0] |= change
    if not change:
        del board["rows"][0]["reader"]
    with pytest.raises(UserError, match=r"^b: is no leaderboard that can be added to \("):
        rows_in(json.dumps(board), "b")


@pytest.mark.parametrize("recall", [1e308, -5.0, float("inf"), float("nan")])
def test_a_recall_that_cannot_be_is_a_fault(recall: float) -> None:
    given = evaluated(SCORES)
    retrieval = given.results[0].retrieval.model_copy(update={"source_recall": recall})
    assert any("source_recall is" in fault for fault in faults_of(changed(given, retrieval=retrieval)))


BOARD = '{"format": "longbeam-leaderboard", "version": 2, "rows": %s}'
NO_BOARD = "is no leaderboard that can be added to ("


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "has no rows yet; name results files to begin one"),
        (b"\xff\xfe{}", "is no text; name the JSON file with the rows"),
        (b"[" * 200_000, NO_BOARD),
        ('{"format": "longbeam-leaderboard", "version": ' + "9" * 6_000 + "}", NO_BOARD),
        ('{"format": "\\u001b[2J\\ud800", "version": 2, "rows": []}', NO_BOARD + "format '\\x1b[2J\\ud800'"),
        *(
            (BOARD % rows, NO_BOARD)
            for rows in ('{"a": 1}', "null", "3", '"abc"', "[[]]", "[null]", '[{"paper": NaN}]')
        ),
    ],
)
def test_a_damaged_or_hostile_board_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | str, said: str
) -> None:
    board = tmp_path / "board.json"
    board.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert command(["leaderboard", "--board", str(board)]) == USER_ERROR
    shown = capsys.readouterr().err
    assert said in shown
    assert [line for line in shown.splitlines() if not line.startswith("warning: ")] == [shown.splitlines()[-1]]
    assert "\x1b" not in shown


def test_a_board_that_is_no_file_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    for board, said in {
        tmp_path: "Is a directory; name the JSON file with the rows",
        tmp_path / "pipe": "Is a pipe or a device; name the JSON file with the rows",
        Path("/dev/zero"): "Is a pipe or a device; name the JSON file with the rows",
        tmp_path / "loop": "has no rows yet; name results files to begin one",
        tmp_path / "loop" / "board.json": "has no rows yet; name results files to begin one",
        tmp_path / ("x" * 300): "File name too long; name the JSON file with the rows",
    }.items():
        assert command(["leaderboard", "--board", str(board)]) == USER_ERROR
        assert capsys.readouterr().err == f"error: --board {board}: {said}\n"


LINES = [
    '{"answer": null}',
    '{"answer": [1]}',
    '{"answer": {"context": 3}}',
    "[" * 100_000,
    "5",
    f'{{"{"x" * 100_000}": 1}}',
]


@pytest.mark.parametrize("line", LINES, ids=[line[:30] for line in LINES])
def test_a_results_file_with_a_line_of_another_form_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    results = tmp_path / "results.jsonl"
    results.write_text(f"{evaluated(SCORES).run.model_dump_json()}\n{line}\n", encoding="utf-8")
    assert command(["leaderboard", str(results), "--board", str(tmp_path / "board.json")]) == USER_ERROR
    (shown,) = capsys.readouterr().err.splitlines()
    assert "results.jsonl: line 2: " in shown
    assert len(shown) < 5_000


@pytest.mark.parametrize(
    "line", ['"paragraph of text"', '{"paragraph": 3}\n{"paragraphs": [0], "digest": "x"}', "[[", "[]"]
)
def test_contexts_of_another_form_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str) -> None:
    (tmp_path / "results.jsonl").write_text(evaluated(SCORES).run.model_dump_json() + "\n", encoding="utf-8")
    (tmp_path / "results.contexts.jsonl").write_text(f"{line}\n", encoding="utf-8")
    assert command(["leaderboard", str(tmp_path / "results.jsonl"), "--board", str(tmp_path / "b.json")]) == USER_ERROR
    (shown,) = capsys.readouterr().err.splitlines()
    assert "results.contexts.jsonl: line " in shown
