"""`longbeam evaluate` with classes that print, and classes that fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longbeam.cli import INCOMPLETE, OK, run
from longbeam.schemas import BenchmarkSpec
from longbeam.store import create_benchmark, seal_conversation
from tests.tiny import tiny_conversation

CHATTY = """
import threading

print("imported")


class Chatty:
    def __init__(self, settings, tools):
        print("made")

    async def add(self, exchange, timestamp):
        print("added")

    def search(self, query, k):
        beside = threading.Thread(target=print, args=("beside",))
        beside.start()
        beside.join()
        print("searched")
        yield "a text"


class Broken(Chatty):
    def search(self, query, k):
        raise KeyError("boom")
"""
RAISE = '        raise KeyError("boom")'


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A finished benchmark in the folder `output`, and a module `chatty_memory`."""
    (tmp_path / "chatty_memory.py").write_text(CHATTY)
    monkeypatch.syspath_prepend(tmp_path)
    benchmark = create_benchmark(BenchmarkSpec(name="tiny", length=16_000), tmp_path / "output")
    made = tiny_conversation()
    seal_conversation(benchmark.sealed_path("c000"), made.head, made.said, made.asked)
    return tmp_path / "output"


def test_what_a_class_prints_is_not_in_the_results(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["evaluate", "tiny", "--system", "chatty_memory:Chatty", "--out", str(out)]
    assert run([*line, "--json"]) == OK
    shown = capsys.readouterr()
    assert "chatty_memory:Chatty" in {row["system"] for row in json.loads(shown.out)["rows"]}
    assert {"imported", "made", "added", "beside", "searched"} <= set(shown.err.splitlines())
    assert run([*line, "--fresh"]) == OK
    shown = capsys.readouterr()
    assert "chatty_memory:Chatty" in shown.out
    assert "searched" not in shown.out


def test_a_class_that_fails_has_one_line_with_its_place(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", "tiny", "--system", "rag,chatty_memory:Broken", "--out", str(out)]) == INCOMPLETE
    shown = capsys.readouterr()
    assert " rag " in shown.out
    assert [line for line in shown.err.splitlines() if line.startswith("failed")] == [
        "failed: answer/chatty_memory:Broken (2 probes): chatty_memory:Broken.search: KeyError: 'boom' "
        f"(chatty_memory.py:{1 + CHATTY.splitlines().index(RAISE)})"
    ]
