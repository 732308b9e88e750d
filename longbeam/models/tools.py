"""Prompts whose reply may be a tool call: sent as `tools` to an endpoint that has them, read back as the prompt's JSON.

Every reply then has one form, whoever gave it, so that the journal and the check of the reply know nothing of tools. An
endpoint that refuses `tools` is asked for the same as structured output.
"""

from __future__ import annotations

import json
from typing import Any

from longbeam.models.base import PromptDeclaration
from longbeam.schemas import PromptInputs, Tool


def tools_of(prompt: PromptDeclaration, tool: Tool, inputs: PromptInputs) -> list[dict[str, Any]]:
    """Return the `tools` of a request: the fields of the reply's schema that are the tool's arguments."""
    schema = prompt.schema(inputs) or {}
    arguments = {name: schema["properties"][name] for name in tool.arguments}
    parameters = {"type": "object", "properties": arguments, "required": list(arguments)}
    if "$defs" in schema:
        parameters["$defs"] = schema["$defs"]
    function = {"name": tool.name, "description": tool.purpose, "parameters": parameters}
    return [{"type": "function", "function": function}]


def text_of_tools(tool: Tool, message: dict[str, Any], content: str) -> str:
    """Return a reply as the prompt's JSON: the arguments of its tool calls, or its text where nothing was called.

    Several calls of the tool are one with all their values. Arguments that are no JSON come back as they are: the
    check of the reply then says what is wrong with them.
    """
    merged: dict[str, Any] = {}
    for call in message.get("tool_calls") or ():
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or function.get("name") != tool.name:
            continue
        given = function.get("arguments")
        found = _object(given) if isinstance(given, str) else given
        if not isinstance(found, dict):
            return str(given)
        for name, value in found.items():
            both = isinstance(merged.get(name), list) and isinstance(value, list)
            merged[name] = [*merged[name], *value] if both else value
    if merged:
        return json.dumps({**merged, tool.otherwise: ""}, ensure_ascii=False)
    # A model that does what the prompt says writes the JSON itself.
    if (written := _object(content)) is not None and {*tool.arguments, tool.otherwise} & written.keys():
        return content
    return json.dumps({tool.otherwise: content}, ensure_ascii=False)


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
