"""`longbeam evaluate` with classes that print, and classes that fail."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from longbeam.cli import INCOMPLETE, OK, USER_ERROR, run
from longbeam.evaluation import arm_of
from longbeam.library import measurement_of, read_evaluation
from longbeam.schemas import BenchmarkSpec
from longbeam.store import Benchmark, create_benchmark, seal_conversation
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


def rewritten(out: Path, **fields: object) -> Benchmark:
    """Return a finished benchmark `other` whose spec has these fields."""
    spec = BenchmarkSpec.model_validate({"name": "other", "length": 16_000, **fields})
    benchmark, made = create_benchmark(spec, out), tiny_conversation()
    seal_conversation(benchmark.sealed_path("c000"), made.head, made.said, made.asked)
    return benchmark


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


def test_what_a_system_lacks_is_said_before_the_first_call(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["evaluate", "tiny", "--out", str(out), "--system"]
    assert run([*line, "rag,search_tool", "--set", "search_tool.retriever=hybrid"]) == USER_ERROR
    said = capsys.readouterr()
    assert "system 'search_tool[retriever=hybrid]' searches by vectors; name an embedding model" in said.err
    assert not (out / "tiny" / "evaluation").exists()


def test_a_key_that_no_role_needs_is_not_asked_for(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rewritten(out, models={"default": "openai:writer", "extractor": "openai:extractor"})
    line = ["evaluate", "other", "--out", str(out), "--system"]
    assert run([*line, "rag"]) == OK  # it asks no extractor
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("reader: rules (offline), no language model; judge: rules (offline), no language model")
    assert "the spec's default, openai:writer, wrote the benchmark; ask it with --reader openai:writer" in first
    assert run([*line, "summary"]) == USER_ERROR
    assert "openai:extractor: its key is read from OPENAI_API_KEY" in capsys.readouterr().err


def test_the_extractor_of_the_spec_is_the_evaluations(out: Path) -> None:
    benchmark = rewritten(out, models={"default": "offline", "extractor": "openai:extractor", "judge": "similarity"})
    request = measurement_of(benchmark, [arm_of("light", {})], {"embedder": "hashed"}).request
    assert request.spec.models == {"reader": "offline", "judge": "similarity", "extractor": "openai:extractor"}
    chosen = measurement_of(benchmark, [arm_of("light", {})], {"extractor": "offline"}).request
    assert chosen.spec.models["extractor"] == "offline"


@contextmanager
def undecided() -> Iterator[str]:
    """Serve a model that gives no verdict on one of the nuggets."""

    class Undecided(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["content-length"]))
            said = "Who knows?" if b"never said" in asked else '{"reason": "it is", "verdict": "met"}'
            choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
            reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "j", "choices": [choice]}
            body = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Undecided)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def test_an_answer_without_a_score_ends_with_exit_code_1(
    out: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with undecided() as url:
        spec = tmp_path / "judge.toml"
        spec.write_text(f'[models]\njudge = "openai:j"\n[endpoints."openai:j"]\nbase_url = "{url}"\n')
        assert run(["evaluate", "tiny", "--system", "rag", "--spec", str(spec), "--out", str(out)]) == INCOMPLETE
    shown = " ".join(capsys.readouterr().out.split())
    assert "answers have no score, because the judge failed on them" in shown
    assert "spent: an unknown price for" in shown


def test_several_budgets_make_a_curve_and_no_budget_is_named(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["evaluate", "tiny", "--system", "rag", "--out", str(out), "--json", "--budget"]
    assert run([*line, "100,200"]) == OK
    names = {row["system"] for row in json.loads(capsys.readouterr().out)["rows"]}
    assert {"rag[budget=100]", "rag[budget=200]", "bm25[budget=100]"} <= names
    assert run([*line, "99"]) == USER_ERROR
    assert "--budget '99': write tokens of context, 100 or more" in capsys.readouterr().err


EVALUATION = """
benchmarks = ["tiny"]
name = "first"
title = "Two systems"
budgets = [200]

[[systems]]
system = "rag"

[[systems]]
system = "rag"
name = "ours"
settings = { k = 1 }
"""


def test_an_evaluation_file_names_its_systems_and_its_run(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "eval.toml"
    file.write_text(EVALUATION)
    where = ["--out", str(out)]
    assert run(["evaluate", str(file), "--json", *where]) == OK
    shown = json.loads(capsys.readouterr().out)
    rows = {row["system"] for row in shown["rows"]}
    assert {"rag", "ours"} <= rows
    ours = next(of for of in shown["run"]["described"] if of["name"] == "ours")
    assert (ours["system"], ours["settings"], ours["budget"]) == ("rag", {"k": "1"}, 200)
    again = tmp_path / "saved.toml"
    line = ["evaluate", "tiny", "--system", "rag,rag[k=1]", "--budget", "200", "--name", "second", "--save", str(again)]
    assert run([*line, *where]) == OK
    assert run(["evaluate", str(again), *where]) == OK
    capsys.readouterr()
    assert run(["runs", "tiny", "--json", *where]) == OK
    assert [kept["name"] for kept in json.loads(capsys.readouterr().out)] == ["first", "second"]
    assert run(["compare", "tiny", "first", "second", *where]) == OK
    assert "rag: +0.000 (no interval; no p); won 0, lost 0, tied 2" in capsys.readouterr().out
    assert run(["report", "tiny", "first", *where]) == OK
    assert capsys.readouterr().out.startswith("# Two systems")
    assert run(["power", "tiny", "--systems", "rag,rag[k=1]", *where]) == USER_ERROR
    assert "have scores in 1 conversation of this run, and two are needed" in capsys.readouterr().err


def test_several_readers_and_benchmarks_of_a_file_are_one_table(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "eval.toml"
    file.write_text(EVALUATION.replace('["tiny"]', '["tiny", "tiny"]') + '\n[[systems]]\nsystem = "light"\n')
    assert run(["evaluate", str(file), "--out", str(out)]) == OK
    table = capsys.readouterr().out.partition("readers, systems and benchmarks")[2].splitlines()
    assert "reader offline" in table
    assert {"rag", "ours", "light", "fl", "ce"} <= {line.split()[0] for line in table[4:] if line.strip()}
    file.write_text(EVALUATION.replace("benchmarks", 'readers = ["offline", "openai:one"]\nbenchmarks', 1))
    named = read_evaluation(file)
    assert [(one.benchmark, one.options["reader"]) for one in named] == [("tiny", "offline"), ("tiny", "openai:one")]


def test_several_judges_of_a_file_judge_the_same_answers_and_their_agreement_is_said(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each has its rows in the last table; answers are asked for once."""
    file = tmp_path / "eval.toml"
    file.write_text(EVALUATION.replace("benchmarks", 'judges = ["offline", "similarity", "offline"]\nbenchmarks', 1))
    assert run(["evaluate", str(file), "--out", str(out)]) != USER_ERROR
    said = capsys.readouterr().out
    assert "reader offline, judge" in said
    _, found, agreement = said.partition("agreement of judges on tiny, reader offline:\n")
    assert found
    assert [line.split()[:3] for line in agreement.splitlines()[1:4]] == [
        ["1", "and", "2"], ["1", "and", "1"], ["2", "and", "1"],
    ]  # fmt: skip
    assert "1.000" in agreement.splitlines()[2]  # a judge agrees with itself


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('benchmarks = ["tiny"]', "systems = {'benchmarks': ['tiny']}: Field required"),
        (EVALUATION + "seeds = 3", "systems.1.seeds = 3: Extra inputs are not permitted"),
        ("= 1", "is no TOML"),
    ],
)
def test_a_file_that_is_none_says_what_does_not_fit(
    line: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "eval.toml"
    file.write_text(line)
    assert run(["evaluate", str(file)]) == USER_ERROR
    assert said in capsys.readouterr().err


def test_a_gate_fails_below_its_score_and_is_undecided_where_the_judge_cannot_rank(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["evaluate", "tiny", "--system", "rag", "--out", str(out), "--fail-below"]
    undecided = run([*line, "rag=0.5"])  # the lexical judge does not accept the tiny benchmark's gold
    assert (undecided, "gate rag=0.5: undecided: the judge cannot score" in capsys.readouterr().err) == (2, True)
    assert run([*line, "other=0.5"]) == USER_ERROR
    assert run([*line, "rag=high"]) == USER_ERROR
    assert "--fail-below 'rag=high': write SYSTEM=SCORE" in capsys.readouterr().err


def test_a_limit_takes_probes_of_each_ability(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["evaluate", "tiny", "--system", "rag", "--out", str(out), "--json", "--limit"]
    for limit, probes in ((1, 1), (2, 2), (9, 2)):
        assert run([*line, str(limit)]) == OK
        shown = json.loads(capsys.readouterr().out)
        assert len(shown["rows"][0]["by_ability"]) == probes
