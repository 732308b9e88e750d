"""The process around the command line: closed and full standard streams, and too little memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from longbeam.cli import INCOMPLETE, OK, USER_ERROR, run


@pytest.fixture
def out(tmp_path: Path) -> Path:
    chat = tmp_path / "chat.json"
    chat.write_text('[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]')
    folder = tmp_path / "output"
    assert run(["import", "chat", str(chat), "--name", "mine", "--out", str(folder)]) == OK
    return folder


def shell(command: str, out: Path) -> subprocess.CompletedProcess[str]:
    line = command.replace("longbeam", f"{sys.executable} -m longbeam").replace("OUT", str(out))
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (
            "longbeam status mine --out OUT >&-",
            INCOMPLETE,
            "error: standard output is closed, so nothing was printed",
        ),
        ("longbeam stats mine --out OUT >/dev/full", USER_ERROR, "standard output: No space left on device"),
        ("longbeam status mine --out OUT 2>/dev/full", OK, ""),
        ("longbeam status gone --out OUT 2>/dev/full", USER_ERROR, ""),
        ("longbeam status mine --out OUT <&- 2>&-", OK, ""),
        ("longbeam status mine --out OUT <&- >&- 2>&-", INCOMPLETE, ""),
    ],
)
def test_streams_that_cannot_be_written_end_in_a_code_and_a_line(out: Path, command: str, code: int, said: str) -> None:
    done = shell(command, out)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert said in done.stderr
    assert done.stderr.count("\n") == bool(said)


@pytest.mark.slow
def test_a_run_whose_messages_cannot_be_written_is_whole(out: Path) -> None:
    done = shell("longbeam generate --length 16K --runner inline --name made --out OUT 2>/dev/full", out)
    assert (done.returncode, done.stderr) == (OK, "")
    assert "1 of 1 conversation finished" in done.stdout
    assert shell("longbeam verify made --out OUT", out).returncode == OK


@pytest.mark.parametrize("kilobytes", [250_000, 400_000, 700_000, 1_000_000])
def test_too_little_memory_is_told_as_that(out: Path, kilobytes: int) -> None:
    before = {path: path.read_bytes() for path in (out / "mine").rglob("*") if path.is_file()}
    done = shell(f"ulimit -v {kilobytes}; longbeam validate mine --out OUT", out)
    if done.returncode == OK:  # a machine that needs less
        return
    assert "Traceback" not in done.stderr
    assert "memory" in done.stderr
    assert "delete it" not in done.stderr
    assert all(path.read_bytes() == content for path, content in before.items() if path.suffix == ".duckdb")


@pytest.mark.parametrize("setting", ["PYTHONIOENCODING=ascii", "PYTHONIOENCODING=cp1252", "PYTHONUTF8=0 LC_ALL=C"])
def test_a_stream_of_another_encoding_shows_escapes_for_the_rest(tmp_path: Path, setting: str) -> None:
    chat = tmp_path / "chat.json"
    chat.write_text(
        '{"title": "\u5bc6\u7801 \U0001f600", "messages": [{"role": "user", "content": "\u5bc6\u7801 \U0001f600"}]}',
        "utf-8",
    )
    assert run(["import", "chat", str(chat), "--name", "mine", "--out", str(tmp_path)]) == OK
    for command in ("show mine --out OUT", "status \u5bc6 --out OUT"):
        done = shell(f"env -u PYTHONUTF8 {setting} longbeam {command}", tmp_path)
        assert "Traceback" not in done.stderr
        assert done.returncode == (OK if command.startswith("show") else USER_ERROR), done.stderr
