"""Evaluation of an import with a model of one's own, which the benchmark's spec does not know."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import longbeam
from longbeam.cli import OK, USER_ERROR, run
from longbeam.evaluation import last_results
from longbeam.formats import ImportOptions, importer
from longbeam.pipeline import EVALUATION_FIELDS, Origin, import_benchmark, load_evaluation_spec
from longbeam.schemas import Role
from tests.e2e.loopback import Loopback, loopback

LOCAL = """
[models]
reader = "openai:mine"
judge = "openai:mine"
[endpoints."openai:mine"]
base_url = "{base_url}"
model = "offline"
sends_extras = true
price = {{ input = 1.0, output = 2.0 }}
"""
SAID = [("Ana", "I adopted a dog named Rex."), ("Ben", "Lovely!"), ("Ana", "I work at the harbour now.")]


@pytest.fixture(scope="module")
def running() -> Iterator[Loopback]:
    """A server that answers as the rule-based models do."""
    with loopback() as server:
        yield server


@pytest.fixture
def server(running: Loopback) -> Loopback:
    """The server, which was asked nothing yet."""
    running.control(reset=True)
    return running


@pytest.fixture
def spec(tmp_path: Path, server: Loopback) -> Path:
    """A spec file that names the server as reader and judge."""
    path = tmp_path / "local.toml"
    path.write_text(LOCAL.format(base_url=server.base_url))
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder with the import `talk`, a LoCoMo conversation of one session."""
    sample = {
        "sample_id": "one",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": s, "dia_id": f"D1:{i}", "text": t} for i, (s, t) in enumerate(SAID, 1)],
        },
        "qa": [
            {"question": "What is the dog's name?", "answer": "Rex", "evidence": ["D1:1"], "category": 4},
            {"question": "How much is the rent of Ben's flat?", "answer": "$900", "evidence": ["D1:2"], "category": 4},
        ],
    }
    file = tmp_path / "locomo10.json"
    file.write_text(json.dumps([sample]), encoding="utf-8")
    import_benchmark(
        importer("locomo")(file, ImportOptions()), "talk", tmp_path / "out", Origin("locomo", "", "o200k_base")
    )
    return tmp_path / "out"


def evaluated(out: Path, *options: str) -> int:
    """Evaluate `rag` on the import."""
    return run(["evaluate", "talk", "--system", "rag", "--json", "--out", str(out), *options])


def stages(server: Loopback) -> Counter[str]:
    """Calls that the server answered, by stage."""
    return Counter(key.split("/")[1] for key in server.counts(calls=True)["answered_calls"])


def test_reader_and_judge_of_a_spec_file_are_asked_and_nobody_else(out: Path, spec: Path, server: Loopback) -> None:
    # No OPENAI_API_KEY is set: a model at OpenAI's own address would be refused.
    assert evaluated(out, "--spec", str(spec)) == OK
    assert set(stages(server)) == {"answer", "judge"}
    head = json.loads(last_results(out / "talk" / "evaluation").read_text("utf-8").splitlines()[0])
    assert (head["reader"], head["judge"].split()[0]) == ("openai:mine", "openai:mine")
    assert "base_url" not in (out / "talk" / "spec.json").read_text("utf-8")


def test_an_option_wins_over_the_spec_file(out: Path, spec: Path, server: Loopback) -> None:
    assert evaluated(out, "--spec", str(spec), "--judge", "offline") == OK
    assert set(stages(server)) == {"answer"}


def test_the_endpoints_of_a_spec_file_serve_the_model_of_an_option(out: Path, spec: Path, server: Loopback) -> None:
    spec.write_text(spec.read_text("utf-8").replace('reader = "openai:mine"\n', ""))
    assert evaluated(out, "--spec", str(spec), "--reader", "openai:mine", "--judge", "offline") == OK
    assert set(stages(server)) == {"answer"}


def test_another_address_asks_nothing_again_and_another_model_does(out: Path, spec: Path, server: Loopback) -> None:
    assert evaluated(out, "--spec", str(spec)) == OK
    with loopback() as moved:
        spec.write_text(LOCAL.format(base_url=moved.base_url) + "[limits]\nconcurrency = 1\n")
        assert evaluated(out, "--spec", str(spec)) == OK
        assert not stages(moved)
        spec.write_text(LOCAL.format(base_url=moved.base_url) + "[sampling.reader]\ntemperature = 0.5\n")
        assert evaluated(out, "--spec", str(spec)) == OK
        assert set(stages(moved)) == {"answer"}  # the same answers are judged once
        spec.write_text(LOCAL.format(base_url=moved.base_url).replace('"offline"', '"other"'))
        assert evaluated(out, "--spec", str(spec)) == OK
        assert set(stages(moved)) == {"answer", "judge"}


def test_an_estimate_prices_the_models_of_the_spec_file(
    out: Path, spec: Path, server: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluated(out, "--spec", str(spec), "--estimate") == OK
    found = json.loads(capsys.readouterr().out)
    assert found["models"] == {"prepare": "offline", "answer": "openai:mine", "judge": "openai:mine"}
    assert sum(row["cost_usd"] for row in found["rows"]) > 0
    assert not stages(server)


def test_model_checks_ask_the_judge_of_the_spec_file_once(
    out: Path, spec: Path, server: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    spec.write_text(spec.read_text("utf-8") + "[sampling.checker]\ntemperature = 0.5\n")
    checks = ["validate", "talk", "--json", "--out", str(out)]
    run([*checks, "--model-checks", "--spec", str(spec)])
    found = capsys.readouterr()
    assert set(stages(server)) == {"checks"}
    assert "gate.nothing" in found.out
    server.control(reset=True)
    run([*checks, "--model-checks", "--spec", str(spec)])
    assert not stages(server)
    capsys.readouterr()
    run(checks)  # the findings stay without the spec file
    assert capsys.readouterr().out == found.out


def test_the_example_of_the_page_is_a_spec(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "memory-systems.md").read_text("utf-8")
    (tmp_path / "local.toml").write_text(page.partition("```toml\n")[2].partition("```")[0])
    found = load_evaluation_spec(tmp_path / "local.toml", "home16")
    assert {found.model_for(role) for role in (Role.READER, Role.JUDGE, Role.EXTRACTOR)} == {"openai:qwen"}
    assert found.endpoint_for("openai:qwen").base_url == "http://127.0.0.1:11434/v1"


def test_the_page_names_the_tables_that_count() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
    told = page.partition("Of the file, ")[2].partition(" count, and the rest")[0]
    assert re.findall(r"`\[(\w+)\]`", told) == list(EVALUATION_FIELDS)


def test_a_faulty_spec_file_is_named(out: Path, spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec.write_text('[models]\nraeder = "openai:mine"\n')
    assert evaluated(out, "--spec", str(spec)) == USER_ERROR
    assert f"error: {spec}: models: unknown role 'raeder'" in capsys.readouterr().err


@pytest.mark.parametrize("is_path", [True, False])
async def test_python_takes_the_same_spec(out: Path, spec: Path, server: Loopback, *, is_path: bool) -> None:
    benchmark = await longbeam.load("talk", out=out)
    endpoints = {"openai:mine": {"base_url": server.base_url, "model": "offline", "sends_extras": True}}
    models = {"default": "offline", "reader": "openai:mine"}
    made = longbeam.BenchmarkSpec.model_validate({"name": "any", "models": models, "endpoints": endpoints})
    found = await longbeam.evaluate(benchmark, "rag", spec=str(spec) if is_path else made)
    assert found.run.reader == "openai:mine"
    assert set(stages(server)) == ({"answer", "judge"} if is_path else {"answer"})
