"""The JSON Schemas in docs/schemas: they are current, and every line of an export fits them."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import longbeam
from benchmarks.json_schemas import json_schemas
from longbeam.formats import export_jsonl
from longbeam.schemas import BenchmarkSpec
from tests.tiny import tiny_conversation

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"


def assert_lines_fit(export: Path) -> None:
    for name, text in json_schemas().items():
        validator = jsonschema.Draft202012Validator(json.loads(text))
        lines = (export / name.replace(".schema.json", ".jsonl")).read_text(encoding="utf-8").split("\n")[:-1]
        assert lines
        for line in lines:
            validator.validate(json.loads(line))


def test_the_files_are_those_of_the_records() -> None:
    kept = {path.name: path.read_text(encoding="utf-8") for path in SCHEMAS.glob("*.schema.json")}
    assert kept == json_schemas(), "run `make schemas`"


def test_lines_of_a_tiny_conversation_fit(tmp_path: Path) -> None:
    export_jsonl([tiny_conversation()], BenchmarkSpec(name="tiny"), tmp_path / "out")
    assert_lines_fit(tmp_path / "out")


async def test_lines_of_a_generated_benchmark_fit(tmp_path: Path) -> None:
    made = await longbeam.generate(name="small", length="16K", out=tmp_path)
    await longbeam.export(made, tmp_path / "out")
    assert_lines_fit(tmp_path / "out")


@pytest.mark.parametrize(("file", "column"), [("probes", "question"), ("messages", "content")])
def test_a_line_without_a_column_does_not_fit(tmp_path: Path, file: str, column: str) -> None:
    export_jsonl([tiny_conversation()], BenchmarkSpec(name="tiny"), tmp_path / "out")
    line = json.loads((tmp_path / "out" / f"{file}.jsonl").read_text(encoding="utf-8").split("\n")[0])
    del line[column]
    with pytest.raises(jsonschema.ValidationError, match=column):
        jsonschema.validate(line, json.loads(json_schemas()[f"{file}.schema.json"]))
