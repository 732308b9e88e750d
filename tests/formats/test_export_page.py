"""The tables of docs/export-format.md, which are a contract: they name what the JSON Schemas in docs/schemas hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import longbeam
from longbeam.formats import LINES
from longbeam.schemas import EvidencePart

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "export-format.md").read_text(encoding="utf-8")
NAME = re.compile(r"`(\w+)(\??)`")


def schema_of(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((DOCS / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return schema


def tables_of(name: str) -> list[list[list[str]]]:
    """The tables of a file's section: rows of three cells, without the heads."""
    section = PAGE.split(f"\n## {name}.jsonl\n")[1].split("\n## ")[0]
    found = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
    return [[[cell.strip() for cell in line[1:-1].split("|")] for line in t.splitlines()[2:]] for t in found]


def rows_of(name: str, table: int = 0) -> Iterator[tuple[str, str, str]]:
    """Each column with its type and its text; a row may name several columns."""
    for columns, kind, text in tables_of(name)[table]:
        for column, _ in NAME.findall(columns):
            yield column, kind, text


def is_null(schema: dict[str, Any]) -> bool:
    return {"type": "null"} in schema.get("anyOf", ())


def record_of(schema: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    """The schema of the record or enumeration that a column holds, alone or in a list; nothing for others."""
    ways = [schema, schema.get("items", {}), *schema.get("anyOf", ())]
    for way in ways:
        if "$ref" in way:
            found: dict[str, Any] = whole["$defs"][way["$ref"].rsplit("/", 1)[1]]
            return found
    return {}


@pytest.mark.parametrize("name", LINES)
def test_every_row_of_the_tables_has_three_cells(name: str) -> None:
    for table in tables_of(name):
        assert {len(row) for row in table} == {3}, [row for row in table if len(row) != 3]


@pytest.mark.parametrize("name", LINES)
def test_the_columns_are_those_of_the_schema(name: str) -> None:
    properties = schema_of(name)["properties"]
    rows = list(rows_of(name))
    assert [column for column, _, _ in rows] == list(LINES[name].model_fields)
    assert {column for column, _, _ in rows} == set(properties)
    assert {c for c, kind, _ in rows if kind.endswith("?")} == {c for c, s in properties.items() if is_null(s)}


@pytest.mark.parametrize("name", LINES)
def test_a_column_of_records_names_their_fields(name: str) -> None:
    whole = schema_of(name)
    for column, _, text in rows_of(name):
        record = record_of(whole["properties"][column], whole)
        fields = record.get("properties", {})
        named = dict(NAME.findall(text))
        assert set(fields) <= set(named), f"{column}: {set(fields) - set(named)} is not named"
        assert {f for f in fields if named[f]} == {f for f, s in fields.items() if is_null(s)}, column
        assert set(record.get("enum", ())) <= set(named), column


def test_the_table_of_difficulty_has_its_fields() -> None:
    properties = schema_of("probes")["$defs"]["MeasuredDifficulty"]["properties"]
    rows = list(rows_of("probes", 1))
    assert {column for column, _, _ in rows} == set(properties)
    assert {c for c, kind, _ in rows if kind.endswith("?")} == {c for c, s in properties.items() if is_null(s)}


def test_every_part_of_evidence_is_named() -> None:
    (text,) = (text for column, _, text in rows_of("probes") if column == "evidence")
    assert set(EvidencePart) <= {name for name, _ in NAME.findall(text)}


def test_every_part_of_the_samples_is_known() -> None:
    lines = [
        line
        for path in Path(longbeam.__file__).parent.glob("samples/*/probes.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    parts = {evidence["part"] for line in lines for evidence in json.loads(line)["evidence"]}
    assert "clue" in parts
    assert parts <= set(EvidencePart)
