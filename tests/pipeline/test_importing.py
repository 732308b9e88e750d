from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from longbeam.cli import INCOMPLETE, OK, USER_ERROR, run
from longbeam.errors import UserError
from longbeam.formats import ImportOptions, export_beam, import_beam
from longbeam.pipeline import GivenReport, Origin, check_and_store, import_benchmark, sealed_conversations
from longbeam.store import create_benchmark, open_benchmark, read_findings
from tests.formats.sources import beam_folder, json_files, longmemeval_items, write, write_json
from tests.store.stored_seeds import stored_seeds


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An output folder with nothing in it."""
    return tmp_path / "output"


def imported(folder: Path, out: Path) -> GivenReport:
    options = ImportOptions()
    origin = Origin("beam", "CC-BY-SA-4.0", options.tokenizer)
    return import_benchmark(import_beam(folder, options), "theirs", out, origin)


def test_an_import_is_a_benchmark_as_generate_leaves_one(tmp_path: Path, out: Path) -> None:
    report = imported(beam_folder(tmp_path), out)

    assert (report.conversations, report.messages, report.probes, report.notes) == (1, 12, 6, 11)
    benchmark = open_benchmark(out, "theirs")
    assert benchmark.sealed_ids == ("c000",)
    assert (benchmark.spec.imported_from, benchmark.spec.licence) == ("beam", "CC-BY-SA-4.0")
    assert [i for i, _ in stored_seeds(benchmark.database_path)] == ["c000"]
    assert {f.check_name for f in read_findings(benchmark.database_path)} == {"import"}
    assert [p.name for p in out.iterdir()] == ["theirs"]


def test_what_was_sealed_goes_back_as_it_was(tmp_path: Path, out: Path) -> None:
    folder = beam_folder(tmp_path)
    benchmark = imported(folder, out).benchmark
    with sealed_conversations(benchmark) as readers:
        target = export_beam(readers, benchmark.spec, tmp_path / "again").target
    assert json_files(target / "100K" / "7") == json_files(folder)


def test_validate_repeats_what_the_import_noticed(tmp_path: Path, out: Path) -> None:
    benchmark = imported(beam_folder(tmp_path), out).benchmark
    noted = [(f.check, f.subject) for f in read_findings(benchmark.database_path)]
    found = [(f.check, f.subject) for f in check_and_store(benchmark) if f.check.startswith("import.")]
    assert sorted(found) == sorted(noted)


def test_a_source_that_is_wrong_half_way_leaves_nothing(tmp_path: Path, out: Path) -> None:
    beam_folder(tmp_path, "1")
    (beam_folder(tmp_path, "2") / "chat.json").write_text("[{", encoding="utf-8")

    with pytest.raises(UserError, match=r"2/chat\.json: element 1: not JSON"):
        imported(tmp_path / "100K", out)
    assert list(out.iterdir()) == []


def test_a_name_that_is_taken_is_refused(tmp_path: Path, out: Path) -> None:
    imported(beam_folder(tmp_path), out)
    with pytest.raises(UserError, match="benchmark 'theirs' exists already"):
        imported(beam_folder(tmp_path), out)


def test_nothing_is_generated_into_an_import(tmp_path: Path, out: Path) -> None:
    spec = imported(beam_folder(tmp_path), out).benchmark.spec
    with pytest.raises(UserError, match="was imported"):
        create_benchmark(spec, out)


def test_the_commands_work_on_an_import(tmp_path: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = ["--out", str(out)]
    folder = beam_folder(tmp_path)
    assert run(["import", "beam", str(folder), "--name", "theirs", "--licence", "CC-BY-SA-4.0", *at]) == OK
    assert "theirs: 1 conversation, 12 messages, " in capsys.readouterr().out
    assert run(["status", "theirs", *at]) == OK
    assert capsys.readouterr().out == "theirs: imported from the beam format, 1 conversation; nothing is left to do\n"
    assert run(["resume", "theirs", *at]) == USER_ERROR
    assert "was imported from the beam format; there is nothing to resume" in capsys.readouterr().err
    assert run(["validate", "theirs", "--json", *at]) == INCOMPLETE  # it has faults
    assert "import.evidence_id" in {f["check"] for f in json.loads(capsys.readouterr().out)}
    assert run(["stats", "theirs", *at]) == OK
    assert run(["export", "theirs", "--format", "jsonl", "--to", str(tmp_path / "jsonl"), *at]) == OK
    card = (tmp_path / "jsonl" / "README.md").read_text(encoding="utf-8")
    assert "license: cc-by-sa-4.0" in card
    assert "Not longbeam: it was read from files in the beam format." in card


def test_haystacks_become_conversations(tmp_path: Path, out: Path) -> None:
    file = write_json(tmp_path / "q.json", longmemeval_items())
    assert run(["import", "longmemeval", str(file), "--name", "lme", "--out", str(out)]) == OK
    assert open_benchmark(out, "lme").sealed_ids == ("c000", "c001")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["beam", "nowhere", "--name", "x"], "nowhere: there is no folder or table here"),
        (["csv", "x", "--name", "x"], "format 'csv' cannot be imported; formats that can: beam, locomo, longmemeval"),
        (["locomo", "nowhere.json", "--name", "x"], "nowhere.json: cannot be read: No such file"),
        (["beam", "x", "--name", "a b"], "benchmark name 'a b': only letters, digits"),
        (["beam", "x", "--name", "x", "--tokenizer", "p50k"], "tokenizer 'p50k' is unknown"),
    ],
)
def test_mistakes_are_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    beam_folder(tmp_path / "x")
    assert run(["import", *arguments]) == USER_ERROR
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert complaint in captured.err


def test_an_import_of_our_own_export_keeps_the_questions(tmp_path: Path, out: Path) -> None:
    from tests.builders import good_conversation

    own = good_conversation()
    report = imported(write(export_beam, [own], tmp_path / "own"), out)
    assert (report.messages, report.probes) == (len(own.said), len(own.asked))


@pytest.mark.parametrize("tokens", ["1" + "0" * 30, "9223372036854775808", "-1", '"x"', "1e308"])
def test_a_number_that_no_store_can_hold_is_one_line(
    tmp_path: Path, out: Path, tokens: str, capsys: pytest.CaptureFixture[str]
) -> None:
    imported(beam_folder(tmp_path), out)
    exported = tmp_path / "exported"
    assert run(["export", "theirs", "--format", "jsonl", "--to", str(exported), "--out", str(out)]) == OK
    table = exported / "messages.jsonl"
    table.write_text(re.sub(r'"tokens": ?\d+', f'"tokens": {tokens}', table.read_text(), count=1))
    capsys.readouterr()
    assert run(["import", "jsonl", str(exported), "--name", "spoilt", "--out", str(out)]) == USER_ERROR
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    assert not (out / "spoilt").exists()
