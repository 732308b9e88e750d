"""Schemas as OpenAI's strict mode takes them, for every prompt that there is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, Field

from longbeam.models import GRAMMAR_KEYWORDS, REFUSED_KEYWORDS, object_in, strict_schema
from longbeam.prompts import default_registry


class Inner(BaseModel):
    title: str = Field(min_length=1)
    default: int = 3


class Outer(BaseModel):
    """A docstring."""

    inner: Inner = Inner(title="a")
    many: tuple[Inner, ...] = ()
    maybe: str | None = None


def objects_in(node: Any, *, names: bool = False) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if not names:
            yield node
        for key, part in node.items():
            yield from objects_in(part, names=not names and key in {"properties", "$defs"})
    elif isinstance(node, list):
        for part in node:
            yield from objects_in(part)


def test_every_object_is_closed_and_every_field_required() -> None:
    schema = strict_schema(Outer.model_json_schema())
    assert schema["required"] == ["inner", "many", "maybe"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["inner"] == {"$ref": "#/$defs/Inner"}
    # fields may be called like keywords
    assert schema["$defs"]["Inner"]["properties"] == {"title": {"type": "string"}, "default": {"type": "integer"}}
    assert schema["properties"]["maybe"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}


def test_every_prompt_has_a_schema_that_strict_mode_takes() -> None:
    for prompt in default_registry():
        schema = prompt.schema()
        if schema is None:
            continue
        strict = strict_schema(schema)
        for node in objects_in(strict):
            assert (REFUSED_KEYWORDS | GRAMMAR_KEYWORDS).isdisjoint(node), prompt.prompt_id
            if node.get("type") == "object":
                assert node["additionalProperties"] is False, prompt.prompt_id
                assert set(node["required"]) == set(node["properties"]), prompt.prompt_id
            if "$ref" in node:
                assert node.keys() == {"$ref"}, prompt.prompt_id


def test_a_form_for_each_item_is_one_of_several_where_grammars_are_not_taken() -> None:
    forms = [{"type": "string", "maxLength": 3}, {"type": "integer"}]
    array = {"type": "array", "prefixItems": forms, "minItems": 2, "maxItems": 2}
    assert strict_schema(array, is_whole=True) == array
    plain = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    assert strict_schema(array) == {"type": "array", "minItems": 2, "maxItems": 2, "items": plain}


def test_the_schema_that_was_given_stays_as_it_was() -> None:
    before = Outer.model_json_schema()
    strict_schema(before)
    assert before == Outer.model_json_schema()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ('Here {it} is:\n```json\n{"a": {"b": 2}}\n```\nDone {x}.', '{"a": {"b": 2}}'),
        ('First I thought of {"a": 1}, but: {"a": 2, "b": "}{"} it is.', '{"a": 2, "b": "}{"}'),
        ('{"a": 1', None),
        ("nothing", None),
        ('{"a": [{"b": 1}, {"b": 2}, {"b"', None),
        ('{"a": "she said "no"", "b": {"c": 1}}', None),
        ("{" * 300_000, None),
        ('{"a":' * 200_000, None),
    ],
)
def test_the_object_that_a_reply_means_is_found(text: str, found: str | None) -> None:
    assert object_in(text) == found
