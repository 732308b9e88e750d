"""The package without its extras: what works, and the line that says what is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from longbeam.schemas import BenchmarkSpec
from longbeam.store import create_benchmark, seal_conversation
from tests.tiny import tiny_conversation

EXTRAS = (
    *("prefect", "sqlalchemy", "dask", "distributed"),
    *("fastapi", "starlette", "uvicorn", "itsdangerous", "nh3", "markdown_it"),
    *("onnxruntime", "tokenizers", "xllamacpp", "vllm", "sentence_transformers"),
    *("scipy", "pandas", "pyarrow"),  # the tests have them, the package needs none
)
# `None` in sys.modules is how Python marks a module that cannot be imported.
CODE = """
import json, sys
sys.modules.update(dict.fromkeys({extras!r}))
from longbeam.cli import run
for command in json.loads(sys.argv[1]):
    print(json.dumps([command[0], run(command)]))
"""


def run_without_extras(folder: Path, *commands: list[str]) -> tuple[list[list[object]], str]:
    """Return name and exit code of each command, and what was printed to stderr."""
    given = json.dumps([[*command, "--out", str(folder)] for command in commands])
    code = CODE.format(extras=EXTRAS)
    ran = subprocess.run([sys.executable, "-c", code, given], capture_output=True, text=True, cwd=folder, check=False)
    return [json.loads(line) for line in ran.stdout.splitlines() if line.startswith('["')], ran.stderr


def test_a_finished_benchmark_needs_no_extra(tmp_path: Path) -> None:
    benchmark, made = create_benchmark(BenchmarkSpec(name="tiny", length=16_000), tmp_path), tiny_conversation()
    seal_conversation(benchmark.sealed_path("c000"), made.head, made.said, made.asked)
    commands = [
        ["stats", "tiny"],
        ["export", "tiny", "--to", str(tmp_path / "export")],
        ["evaluate", "tiny", "--system", "rag"],
    ]
    ended, said = run_without_extras(tmp_path, *commands)
    assert ended == [[command, 0] for command in ("stats", "export", "evaluate")], said
    assert "Prefect" not in said


@pytest.mark.slow
def test_the_way_of_a_benchmark_needs_no_extra(tmp_path: Path) -> None:
    ended, said = run_without_extras(
        tmp_path,
        ["generate", "--name", "light", "--length", "16K"],
        ["validate", "light"],
        ["stats", "light"],
        ["export", "light", "--format", "jsonl", "--to", str(tmp_path / "export")],
        ["evaluate", "light", "--system", "rag"],
    )
    assert ended == [[command, 0] for command in ("generate", "validate", "stats", "export", "evaluate")], said
    assert "Prefect" not in said


def test_a_command_that_needs_an_extra_names_it(tmp_path: Path) -> None:
    needs = [
        (["generate", "--length", "16K", "--runner", "prefect"], "flows"),
        (["generate", "--length", "16K", "--runner", "dask"], "dask"),
        (["flows", "serve"], "flows"),
        (["review", "--demo"], "review"),
        (["serve-offline"], "review"),
    ]
    ended, said = run_without_extras(tmp_path, *(command for command, _ in needs))
    assert ended == [[command[0], 2] for command, _ in needs], said
    errors = [line for line in said.splitlines() if line.startswith("error: ")]
    assert len(errors) == len(needs)
    for line, (_, extra) in zip(errors, needs, strict=True):
        assert f"pip install 'longbeam[{extra}]'" in line
