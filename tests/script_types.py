"""TypeScript types of the records that scripts read, generated from the view records before `tsc` checks the scripts.

`python -m tests.script_types` writes them to a folder that `tsconfig.json` lays over that of the scripts.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic.json_schema import models_json_schema

from longbeam.annotation_ui import (
    ActResult,
    AdjudicationPage,
    CounterView,
    GuidelinesView,
    HistoryView,
    ItemView,
    Key,
    LocatedView,
    MessagePart,
    MinimapView,
    PanelView,
    QueueView,
    SearchResult,
    TranscriptView,
    UndoResult,
    WrittenView,
)
from longbeam.review import AbsenceView, DatesView, PeopleProblem, RubricTrial
from longbeam.schemas import Record

TYPES = Path("build/script-types/types.d.ts")
READ: tuple[type[Record], ...] = (
    ItemView,
    QueueView,
    AdjudicationPage,
    HistoryView,
    GuidelinesView,
    CounterView,
    PanelView,
    TranscriptView,
    MessagePart,
    MinimapView,
    SearchResult,
    LocatedView,
    AbsenceView,
    DatesView,
    RubricTrial,
    ActResult,
    UndoResult,
    WrittenView,
    PeopleProblem,
    Key,
)
"""Records that the pages' scripts read; those that they hold come along."""
_HEAD = "// Generated from the view records by `python -m tests.script_types`; do not edit.\n"
_WORDS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def script_types() -> str:
    """Return the text of the declarations."""
    _, schema = models_json_schema([(record, "serialization") for record in READ], ref_template="{model}")
    return _HEAD + "".join(_declared(name, part) for name, part in sorted(schema["$defs"].items()))


def _declared(name: str, schema: dict[str, Any]) -> str:
    if schema.get("type") != "object":
        return f"\nexport type {name} = {_type(schema)};\n"
    return f"\nexport interface {name} {{\n" + "".join(_fields(schema)) + "}\n"


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    for name, field in schema.get("properties", {}).items():
        if text := field.get("description"):
            yield f"  /** {' '.join(text.split())} */\n"
        yield f"  {name}: {_type(field)};\n"


def _type(schema: dict[str, Any]) -> str:
    """Return the TypeScript type of a JSON schema; what has no type of its own is `any`, as JSON of events has."""
    if "$ref" in schema:
        return str(schema["$ref"])
    if "enum" in schema:
        return " | ".join(f'"{value}"' for value in schema["enum"])
    if "const" in schema:
        return f'"{schema["const"]}"'
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(part) for part in schema["anyOf"]))
    if schema.get("type") == "array":
        parts = schema.get("prefixItems")
        inner = " | ".join(dict.fromkeys(map(_type, parts))) if parts else _type(schema.get("items", {}))
        return f"({inner})[]" if " " in inner else f"{inner}[]"
    if schema.get("type") == "object":
        values = schema.get("additionalProperties")
        return f"Record<string, {_type(values)}>" if isinstance(values, dict) else "Record<string, any>"
    return _WORDS.get(str(schema.get("type")), "any")


if __name__ == "__main__":
    TYPES.parent.mkdir(parents=True, exist_ok=True)
    TYPES.write_text(script_types(), encoding="utf-8")
