"""Form of a reply: its JSON schema for the server, and the same form as a short text for the model.

The text is made from the schema and follows every prompt for JSON, so that the two never differ, and models without
structured output can reply as well. The schema has no titles and docstrings of our classes: all instructions to a
model are in the template.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

_PLAIN = {"string": "string", "integer": "integer", "number": "number", "boolean": "true or false", "null": "null"}


@lru_cache(maxsize=64)
def schema_of(output: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema without titles and descriptions. The schema is shared: do not edit it."""
    schema = _bare(output.model_json_schema())
    assert isinstance(schema, dict)
    return schema


def _bare(node: Any, *, names: bool = False) -> Any:  # Any: a JSON tree
    """Return the tree without annotations. `names`: whether the keys are names of fields, which may be `title`."""
    if isinstance(node, dict):
        kept = {k: v for k, v in node.items() if names or k not in ("title", "description")}
        return {k: _bare(v, names=not names and k in ("properties", "$defs")) for k, v in kept.items()}
    return [_bare(v) for v in node] if isinstance(node, list) else node


@lru_cache(maxsize=64)
def shape_of(output: type[BaseModel]) -> str:
    """Return the form of the reply for the model: one line for each field, none optional, as in a strict schema."""
    schema = schema_of(output)
    return _shape(schema, schema.get("$defs", {}), "")


def _shape(node: dict[str, Any], defs: dict[str, Any], indent: str) -> str:
    if "$ref" in node:
        return _shape(defs[node["$ref"].rpartition("/")[2]], defs, indent)
    if "enum" in node:
        return " | ".join(json.dumps(v) for v in node["enum"])
    # JSON Schema is shown as a filled form, because small models copy a form better than they read a schema.
    if "anyOf" in node:
        return " | ".join(_shape(option, defs, indent) for option in node["anyOf"])
    if node.get("type") == "array":
        return f"[{_shape(node['items'], defs, indent)}, ...]"
    if node.get("type") == "object" and "properties" in node:
        inner = indent + "  "
        fields = [f'{inner}"{name}": {_shape(field, defs, inner)}' for name, field in node["properties"].items()]
        return "{\n" + ",\n".join(fields) + f"\n{indent}}}"
    if node.get("format") == "date":
        return '"YYYY-MM-DD"'
    return _PLAIN.get(str(node.get("type")), "any JSON")
