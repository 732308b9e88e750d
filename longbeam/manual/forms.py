"""The form that a request asks of its reply, checked before the reply is accepted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from pydantic_core import to_json

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
    match form.get("type"):
        case "json_schema":
            schema = form.get("json_schema", {}).get("schema")
            return schema if isinstance(schema, dict) else {}
        case "json_object":
            return {}
        case _:
            return None


def schema_name(body: Mapping[str, Any]) -> str:
    """Return the name of a request's JSON schema; empty if it has none."""
    return str(((body.get("response_format") or {}).get("json_schema") or {}).get("name") or "")


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
    error = best_match(Draft202012Validator(schema).iter_errors(json.loads(found)))
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
