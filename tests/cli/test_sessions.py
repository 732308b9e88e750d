from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from longbeam.cli import OK, USER_ERROR, run
from tests.memory.cmv.lines import call, line, result, write_session


def test_the_commands_on_a_session_from_snapshot_to_tree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    projects, store = tmp_path / "projects", ["--store", str(tmp_path / "store")]
    lines = [line("user", "a", sessionId="s1", cwd="/p"), call("Bash", {}), result("r" * 900)]
    session = str(write_session(projects / "-p" / "s1.jsonl", lines))
    here = ["--projects", str(projects)]
    assert run(["cmv", "snapshot", "base", *here, *store]) == OK
    assert run(["cmv", "branch", "base", "--name", "next", *here, *store]) == OK
    assert run(["cmv", "tree", *store]) == OK
    shown = capsys.readouterr().out
    assert "go on with: claude --resume " in shown
    assert "└── next [branch" in shown
    assert run(["cmv", "export", "base", "--to", str(tmp_path / "b.cmv"), *store]) == OK
    assert run(["cmv", "import", str(tmp_path / "b.cmv"), *store]) == USER_ERROR
    assert run(["cmv", "import", str(tmp_path / "b.cmv"), "--name", "theirs", *store]) == OK
    assert run(["cmv", "analyze", session, "--json", *here]) == OK
    told = json.loads(capsys.readouterr().out.partition("{")[2].join(["{", ""]))
    assert told["analysis"]["breakdown"]["tool_results"]["count"] == 1
    assert run(["cmv", "analyze", str(projects)]) == OK
    assert "heavy         1" in capsys.readouterr().out
    assert run(["cmv", "analyze", str(tmp_path / "store")]) == USER_ERROR
    assert run(["cmv", "trim", session, *here]) == USER_ERROR
    assert run(["cmv", "trim", session, "--to", str(tmp_path / "out.jsonl"), *here]) == OK
    assert "bytes (" in capsys.readouterr().out
    halved = line("user", "half HALF emoji", sessionId="s2").replace("HALF", "\\ud83d")
    half = write_session(projects / "-p" / "s2.jsonl", [*lines, halved])
    assert run(["cmv", "trim", str(half), "--to", str(tmp_path / "half.jsonl"), *here]) == OK
    assert "half \\ud83d emoji" in (tmp_path / "half.jsonl").read_text(encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps({"transcript_path": session})))
    assert run(["cmv", "auto-trim", *store]) == OK
    assert (tmp_path / "out.jsonl").read_bytes() == Path(session).read_bytes()
    assert run(["cmv", "delete", "base", *store]) == OK
