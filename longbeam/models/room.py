"""Length limits of replies, from the form that a prompt asks for: a reply that runs away is cut off and asked again.

A limit is generous (the longest recorded reply has 26 % of its limit, tests/models/test_room.py), because a reply that
is cut off costs more than the room. One that is cut off all the same is asked for again with twice the room.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel

from longbeam.models.base import PromptDeclaration
from longbeam.schemas import PromptInputs

FACTOR = 3
"""Room in place of the expected length: people and models differ, and so do languages in tokens per word."""
LEAST = 512
"""Room of the shortest reply; models that are not held to a form say something around the JSON."""
TEXT_TOKENS, NUMBER_TOKENS, WORD_TOKENS = 100, 6, 12
"""Expected lengths of a text field, a number, and a date or one of several choices."""
ITEMS, INNER_ITEMS = 12, 2
"""Expected items of a list whose schema names no number, and of one within the items of another."""
MOST = 32_768
"""Room of the longest reply; few models write more at once."""
CHARACTERS_PER_TOKEN = 4
DEEPEST = 12
"""Levels of a schema that are looked at; one that refers to itself has no end."""


def room_of(prompt: PromptDeclaration, inputs: PromptInputs) -> int:
    """Return the length limit in tokens of the reply to one call."""
    schema = prompt.schema(inputs)
    if schema is None:
        asked = inputs.asked_tokens or getattr(inputs, "max_tokens", None) or inputs.usual_tokens
        return max(LEAST, FACTOR * asked)
    # Most prompts have one schema for all calls.
    output = prompt.output
    is_shared = output is not None and schema is prompt.schema()
    return _room_of_form(output) if is_shared and output is not None else room_of_schema(schema)


def room_of_schema(schema: dict[str, Any]) -> int:
    """Return the length limit in tokens of JSON in this form."""
    return min(MOST, max(LEAST, FACTOR * _tokens(schema, schema.get("$defs", {}), 0, ITEMS)))


@cache
def _room_of_form(output: type[BaseModel]) -> int:
    return room_of_schema(output.model_json_schema())


def _tokens(node: dict[str, Any], definitions: dict[str, Any], depth: int, items: int) -> int:
    """Return the expected length of the JSON that a part of a schema describes."""
    if depth > DEEPEST:
        return 0
    if "$ref" in node:
        return _tokens(definitions.get(str(node["$ref"]).rpartition("/")[2], {}), definitions, depth + 1, items)
    for several in ("anyOf", "oneOf"):
        if several in node:
            return max(_tokens(part, definitions, depth + 1, items) for part in node[several])
    if "enum" in node or "const" in node or "format" in node:
        return WORD_TOKENS
    match node.get("type"):
        case "object":
            fields = node.get("properties", {})
            names = sum(4 + len(name) // CHARACTERS_PER_TOKEN for name in fields)
            return 4 + names + sum(_tokens(part, definitions, depth + 1, items) for part in fields.values())
        case "array" if "prefixItems" in node:
            return 2 + sum(2 + _tokens(part, definitions, depth + 1, INNER_ITEMS) for part in node["prefixItems"])
        case "array":
            least, most = node.get("minItems", 0), node.get("maxItems")
            count: int = most if most is not None else max(2 * least, items)
            return 2 + count * (2 + _tokens(node.get("items", {}), definitions, depth + 1, INNER_ITEMS))
        case "integer" | "number" | "boolean" | "null":
            return NUMBER_TOKENS
        case _:
            longest: int | None = node.get("maxLength")
            return TEXT_TOKENS if longest is None else 1 + longest // CHARACTERS_PER_TOKEN
