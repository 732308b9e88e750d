"""The form that a request asks of its reply, checked before the reply is accepted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal

import jsonschema
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import SchemaError, to_json
from referencing import Registry
from referencing.exceptions import Unresolvable

from longbeam.errors import UserError
from longbeam.models import object_in

LONGEST_FAULT = 300
"""Characters of a fault; a validator's message holds the value that it refuses."""


def key_of(body: Mapping[str, Any]) -> str:
    """Return the key of a request: SHA-256 (hex) of its messages and of the form that it asks for."""
    return hashlib.sha256(to_json([body["messages"], body.get("response_format")])).hexdigest()


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message, whose content is a text or a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def schema_of(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the JSON schema that a reply has to fit, `{}` for JSON of any form; None for prose."""
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema":
        schema: dict[str, Any] = form["json_schema"].get("schema") or {}
        return schema
    return {} if form.get("type") == "json_object" else None


def schema_name(body: Mapping[str, Any]) -> str:
    """Return the name of a request's JSON schema; empty if it has none."""
    form = body.get("response_format") or {}
    return str((form.get("json_schema") or {}).get("name") or "")


class _Asked(BaseModel):
    """The members of a part of a request that are read here; others are of no matter."""

    model_config = ConfigDict(extra="allow", strict=True)


class _Said(_Asked):
    role: str
    content: str | list[dict[str, Any]] | None = None


class _NamedSchema(_Asked):
    name: str
    form: dict[str, Any] | None = Field(default=None, alias="schema")


class _Text(_Asked):
    type: Literal["text", "json_object"] = "text"


class _Json(_Asked):
    type: Literal["json_schema"]
    json_schema: _NamedSchema


class _Body(_Asked):
    model: str = ""
    messages: list[_Said] = Field(min_length=1)
    response_format: _Text | _Json | None = None
    stream: bool | None = None
    stream_options: dict[str, Any] | None = None
    tools: list[Any] | None = None


def fault_of_body(body: object) -> str | None:
    """Return why a request cannot be answered by hand, with the place; None if it can.

    References of a form go nowhere but into the form itself. Patterns are matched by Rust's engine, whose time is
    linear.
    """
    try:
        _Body.model_validate(body)
    except ValidationError as exc:
        error = exc.errors(include_url=False)[-1]
        place = ".".join(str(part) for part in error["loc"] if part not in ("_Text", "_Json"))
        return _shortened(f"{place or 'the body'}: {error['msg']}")
    assert isinstance(body, dict)
    if body.get("tools"):
        return "tools are not supported here: replies are texts, or JSON by `response_format`"
    try:
        schema = schema_of(body) or {}
        Draft202012Validator.check_schema(schema)
        for key, value in _members(schema):
            if key in {"$ref", "$dynamicRef"} and not (isinstance(value, str) and value.startswith("#")):
                return (
                    f"the form refers to {_shortened(str(value))!r}; only references within it (#/$defs/...) are read"
                )
            if key == "patternProperties" and value:
                return "the form has patternProperties, which are not read here"
            if key == "pattern" and isinstance(value, str):
                _matcher(value)
        next(_Validator(schema, registry=Registry()).iter_errors({}), None)
    except (jsonschema.exceptions.SchemaError, SchemaError, RecursionError) as exc:
        return f"the form is no JSON schema that can be checked: {_shortened(str(exc))}"
    except Unresolvable as exc:
        return f"the form refers to what it does not hold: {_shortened(str(exc))}"
    return None


def _members(tree: object) -> Iterator[tuple[str, object]]:
    """Yield the members of all objects of a JSON tree."""
    if isinstance(tree, dict):
        yield from tree.items()
    for inner in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _members(inner)


@cache
def _matcher(pattern: str) -> TypeAdapter[str]:
    return TypeAdapter(Annotated[str, Field(pattern=pattern)])


def _match(_: Any, pattern: str, value: object, __: object) -> Iterator[jsonschema.exceptions.ValidationError]:
    if isinstance(value, str):
        try:
            _matcher(pattern).validate_python(value)
        except ValidationError:
            yield jsonschema.exceptions.ValidationError(f"{value!r} does not match {pattern!r}")


_Validator = jsonschema.validators.extend(Draft202012Validator, {"pattern": _match})


def checked_reply(text: str, body: Mapping[str, Any]) -> str:
    """Return a reply as it is sent: stripped, and for a JSON form the object without fences and prose around it.

    Raises UserError with the first thing that is wrong: where in the JSON, which value, what was allowed.
    """
    said, schema = text.strip(), schema_of(body)
    if not said:
        raise UserError("the reply is empty")
    if schema is None:
        return said
    found = object_in(said)
    if found is None:
        raise UserError(f"the reply holds no whole JSON object: {_json_fault(said)}")
    try:
        error = best_match(_Validator(schema, registry=Registry()).iter_errors(json.loads(found)))
    except (Unresolvable, RecursionError) as exc:
        raise UserError(f"the form of the request cannot be checked: {_shortened(str(exc))}") from exc
    if error is not None:
        raise UserError(f"{_place(error.absolute_path)}: {_shortened(error.message)}")
    return found


def _json_fault(text: str) -> str:
    start = text.find("{")
    if start < 0:
        return "there is no `{` in it"
    try:
        json.JSONDecoder().raw_decode(text, start)
    except json.JSONDecodeError as exc:
        return f"{exc.msg} at line {exc.lineno}, column {exc.colno}"
    except RecursionError:
        return "it is nested too deeply"
    return "a brace opens no object"


def _place(path: Sequence[str | int]) -> str:
    """Return where in the reply a fault is: `turns[2].text`; `the object` for its top level."""
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return place.lstrip(".") or "the object"


def _shortened(message: str) -> str:
    line = " ".join(message.split())
    half = LONGEST_FAULT // 2
    return line if len(line) <= LONGEST_FAULT else f"{line[:half]} ... {line[-half:]}"
