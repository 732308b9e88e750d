"""Redaction of imported chats: no file of the benchmark's folder keeps a private text, wherever it was copied to."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from longbeam.cli import OK, USER_ERROR, run
from longbeam.formats import ImportOptions, import_chat
from longbeam.pipeline import Origin, import_benchmark, private_texts, redact_chats
from longbeam.store import Benchmark, Lease, ReviewStore, SealedConversation, WorkLog, is_recorded, read_findings
from longbeam.text import Redaction

TITLED, SAID = "vera.titled@example.org", "vera.said@example.org"
SYSTEM = "vera.system@example.org"


@pytest.fixture
def imported(tmp_path: Path) -> Benchmark:
    """A benchmark of one chat, with private texts in its title, its messages and its system message."""
    chat = {
        "title": f"Mail of {TITLED}",
        "created_at": "2024-03-01T09:00:00Z",
        "messages": [
            {"role": "system", "content": f"You write for {SYSTEM}."},
            {"role": "user", "content": f"Write to {SAID}. The deposit of the flat is €2,400."},
            {"role": "assistant", "content": f"I wrote to {SAID}."},
            {"role": "user", "content": "The length of my language course is 24 lessons."},
            {"role": "assistant", "content": "Good."},
        ],
    }
    file = tmp_path / "chat.json"
    file.write_text(json.dumps([chat]))
    return import_benchmark(
        import_chat(file, ImportOptions()), "mine", tmp_path / "out", Origin("chat", "", "o200k_base")
    ).benchmark


def content_of(path: Path) -> str:
    """Everything in a file: its bytes as text, and the rows of a DuckDB file, whose texts may be compressed."""
    text = path.read_bytes().decode("utf-8", errors="replace")
    if path.suffix == ".duckdb":
        with duckdb.connect() as db:
            db.execute(f"ATTACH '{path}' AS file (READ_ONLY)")
            for (table,) in db.execute("SELECT table_name FROM duckdb_tables()").fetchall():
                text += str(db.execute(f'SELECT * FROM file."{table}"').fetchall())
    return text


def private_files(root: Path) -> set[str]:
    files = (path for path in root.rglob("*") if path.is_file())
    return {p.relative_to(root).as_posix() for p in files if "@example.org" in content_of(p)}


def test_no_file_keeps_a_private_text(imported: Benchmark, tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "out")]
    assert run(["probe", "mine", *out]) == OK
    assert run(["evaluate", "mine", "--system", "long_context", *out]) == OK
    assert private_files(imported.root) >= {
        "benchmark.duckdb",
        "conversations/c000.duckdb",
        "evaluation/c000.sqlite",
        "work/c000.sqlite",
    }

    assert run(["probe", "mine", "--model", "openai:m", "--redact", *out]) == USER_ERROR  # nothing may be sent
    assert private_files(imported.root) == set()
    assert run(["verify", "mine", *out]) == OK
    assert run(["probe", "mine", *out]) == OK
    assert run(["validate", "mine", *out]) == OK


def test_the_conversation_is_as_it_was_imported_but_for_private_texts(imported: Benchmark, tmp_path: Path) -> None:
    found = read_findings(imported.database_path)
    assert run(["probe", "mine", "--out", str(tmp_path / "out")]) == OK
    redact_chats(imported, Redaction())

    with SealedConversation(imported.sealed_path("c000")) as sealed:
        head = sealed.head
        assert [m.content for m in sealed.messages()][:2] == [
            "Write to [email 1]. The deposit of the flat is €2,400.",
            "I wrote to [email 1].",
        ]
        assert (list(sealed.probes()), list(head.plans), head.authors, head.making.prompts) == ([], [], (), ())
    assert head.seed.title == "Mail of [email 2]"
    assert head.details["system"] == ["You write for [email 3]."]
    assert {f.message for f in read_findings(imported.database_path)} <= {f.message for f in found}
    assert is_recorded(imported.database_path)
    assert is_recorded(imported.sealed_path("c000"))


def test_a_second_redaction_makes_nobody_of_the_first_one_somebody_else(imported: Benchmark) -> None:
    redact_chats(imported, Redaction())
    redact_chats(imported, Redaction(names=("language course",)))
    again = Redaction(names=("deposit",))
    redact_chats(imported, again)
    assert [one.placeholder for one in again.found()] == ["Person 2"]


def test_the_same_command_again_continues(imported: Benchmark, tmp_path: Path) -> None:
    command = ["probe", "mine", "--redact", "--out", str(tmp_path / "out")]
    assert run(command) == OK
    with WorkLog.open(imported.work_path("c000")) as log:
        log.meta_set("kept", True)
    ReviewStore(imported.reviews_path).close()

    assert run(command) == OK
    with WorkLog.open_read_only(imported.work_path("c000")) as log:
        assert log.meta_get("kept")


def test_titles_are_shown_before_they_are_sent(imported: Benchmark) -> None:
    assert {one.text for one in private_texts(imported)} == {SAID, TITLED}


@pytest.mark.parametrize("name", ["reviews.sqlite", "export/chat.json", "conversations/c000.duckdb.damaged-1"])
def test_files_that_may_not_be_deleted_stop_the_redaction(imported: Benchmark, name: str, tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "out")]
    assert run(["probe", "mine", *out]) == OK
    (imported.root / name).parent.mkdir(exist_ok=True)
    (imported.root / name).write_text(SAID)
    before = private_files(imported.root)

    assert run(["probe", "mine", "--redact", *out]) == USER_ERROR
    assert private_files(imported.root) == before


def test_nothing_is_redacted_while_another_process_writes(
    imported: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "out")]
    assert run(["probe", "mine", *out]) == OK
    before = private_files(imported.root)
    lease = Lease(imported.work_path("c000"))
    try:
        assert run(["probe", "mine", "--redact", *out]) == USER_ERROR
    finally:
        lease.release()
    assert "is writing it" in capsys.readouterr().err
    assert private_files(imported.root) == before


def test_nothing_is_deleted_if_a_conversation_is_damaged(imported: Benchmark, tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "out")]
    assert run(["probe", "mine", *out]) == OK
    before = private_files(imported.root)
    sealed = imported.sealed_path("c000")
    content = sealed.read_bytes()
    sealed.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))

    assert run(["probe", "mine", "--redact", *out]) != OK
    sealed.write_bytes(content)
    assert private_files(imported.root) == before


class Killed(Redaction):
    """Ends the command at the first text."""

    def redacted(self, text: str) -> str:
        raise KeyboardInterrupt


def test_a_killed_redaction_leaves_private_text_in_sealed_files_alone(imported: Benchmark, tmp_path: Path) -> None:
    assert run(["probe", "mine", "--out", str(tmp_path / "out")]) == OK
    with pytest.raises(KeyboardInterrupt):
        redact_chats(imported, Killed())

    assert private_files(imported.root) == {"conversations/c000.duckdb"}
    redact_chats(imported, Redaction())
    assert private_files(imported.root) == set()
