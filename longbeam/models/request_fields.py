"""Optional members of a request: sampling, streaming, and a length limit from the form that the prompt asks for.

An endpoint that refuses a member names it in its error. The member is then left out for the rest of the run,
and one line says so. A length limit is generous (the longest recorded reply has 26 % of its limit,
tests/models/test_room.py), because a reply that is cut off costs more than the room; one that is cut off is
asked for again with twice the room.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json

from longbeam.models.base import PromptDeclaration, Sampling
from longbeam.models.tuning import CALLING
from longbeam.schemas import PromptInputs

CHARACTERS_PER_TOKEN = 4
DEEPEST = 12
"""Levels of a schema that are looked at; one that refers to itself has no end."""


def room_of(prompt: PromptDeclaration, inputs: PromptInputs) -> int:
    """Return the length limit in tokens of the reply to one call."""
    schema = prompt.schema(inputs)
    if schema is None:
        asked = inputs.asked_tokens or getattr(inputs, "max_tokens", None) or inputs.usual_tokens
        return max(CALLING.least_room, CALLING.room_factor * asked)
    # Most prompts have one schema for all calls.
    output = prompt.output
    is_shared = output is not None and schema is prompt.schema()
    return _room_of_form(output) if is_shared and output is not None else room_of_schema(schema)


def room_of_schema(schema: dict[str, Any]) -> int:
    """Return the length limit in tokens of JSON in this form."""
    return min(
        CALLING.most_room,
        max(CALLING.least_room, CALLING.room_factor * _tokens(schema, schema.get("$defs", {}), 0, CALLING.list_items)),
    )


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
        return CALLING.word_tokens
    match node.get("type"):
        case "object":
            fields = node.get("properties", {})
            names = sum(4 + len(name) // CHARACTERS_PER_TOKEN for name in fields)
            return 4 + names + sum(_tokens(part, definitions, depth + 1, items) for part in fields.values())
        case "array" if "prefixItems" in node:
            return 2 + sum(
                2 + _tokens(part, definitions, depth + 1, CALLING.inner_items) for part in node["prefixItems"]
            )
        case "array":
            least, most = node.get("minItems", 0), node.get("maxItems")
            count: int = most if most is not None else max(2 * least, items)
            return 2 + count * (2 + _tokens(node.get("items", {}), definitions, depth + 1, CALLING.inner_items))
        case "integer" | "number" | "boolean" | "null":
            return CALLING.number_tokens
        case _:
            longest: int | None = node.get("maxLength")
            return CALLING.text_tokens if longest is None else 1 + longest // CHARACTERS_PER_TOKEN


STREAM, STREAM_OPTIONS = "stream", "stream_options"
MAX_TOKENS, MAX_COMPLETION_TOKENS = "max_tokens", "max_completion_tokens"
_PENALTIES = {
    "top_p": "top_p",
    "min_p": "min_p",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "repetition_penalty": "repetition_penalty",
    "repeat_penalty": "repetition_penalty",
}
"""Members by which endpoints know a setting; llama.cpp calls the repetition penalty `repeat_penalty`."""
_NO_STREAM = re.compile(r"\bstream(ed|ing)?\b", re.I)
_TOO_MANY_TOKENS = re.compile(r"max_(completion_|new_)?tokens|completion tokens|in the completion", re.I)
REFUSING = frozenset({"bad_request", "context_length", "server_error"})
"""Kinds of errors by which endpoints refuse a member."""


@dataclass
class RequestFields:
    """The optional members that an endpoint takes."""

    notice: Callable[[str], None]
    """Told one line when a member is given up."""
    where: str
    """The endpoint, in that line."""
    is_reasoning: bool
    """Whether the endpoint's table says that the model reasons: no temperature, and `max_completion_tokens`."""
    streams: bool
    """Whether replies are asked for as streams."""
    given_up: int = 0
    """Number of members that were given up so far."""
    _refused: set[str] = field(default_factory=set)
    _limit_name: str = MAX_TOKENS
    _made: dict[tuple[Sampling, int | None, bool], bytes] = field(default_factory=dict)
    """JSON by sampling and length limit: few kinds of calls have most of a run's calls."""

    def __post_init__(self) -> None:
        if self.is_reasoning:
            self._refused.add("temperature")
            self._limit_name = MAX_COMPLETION_TOKENS

    def json(self, sampling: Sampling, max_tokens: int | None, *, is_streamed: bool = True) -> bytes:
        """Return the members of a request, each with a comma before it; `max_tokens` None: no limit is sent."""
        key = sampling, max_tokens, is_streamed
        made = self._made.get(key)
        if made is None:
            if len(self._made) >= 1_000:
                self._made.clear()
            members = self._members(sampling, max_tokens, is_streamed=is_streamed)
            made = self._made[key] = b"".join(b',"%s":%s' % (name.encode(), value) for name, value in members)
        return made

    def give_up(self, sampling: Sampling, message: str) -> bool:
        """Return whether the request may be sent again without a member that this error refuses."""
        if self._limit_name == MAX_TOKENS and MAX_COMPLETION_TOKENS in message:
            self._limit_name = MAX_COMPLETION_TOKENS
            self._made.clear()
            self.given_up += 1
            return True
        sent = [name for name, _ in self._members(sampling, 1) if name not in {STREAM, self._limit_name}]
        for name in sorted(sent, key=len, reverse=True):
            if re.search(rf"\b{name}\b", message):
                return self._leave_out(name, message)
        return False

    def give_up_streaming(self, message: str) -> bool:
        """Return whether the request may be sent again without `stream`, because this error refuses that."""
        return self._streams_now and bool(_NO_STREAM.search(message)) and self._leave_out(STREAM, message)

    @staticmethod
    def is_too_long(message: str) -> bool:
        """Return whether an error says that the length limit does not fit the model."""
        return bool(_TOO_MANY_TOKENS.search(message))

    @property
    def _streams_now(self) -> bool:
        return self.streams and STREAM not in self._refused

    def _leave_out(self, name: str, message: str) -> bool:
        self._refused.add(name)
        self.given_up += 1
        self._made.clear()
        self.notice(f"{self.where} does not take {name}; it is left out ({message[:200]})")
        return True

    def _members(
        self, sampling: Sampling, max_tokens: int | None, *, is_streamed: bool = True
    ) -> Iterator[tuple[str, bytes]]:
        if is_streamed and self._streams_now:
            yield STREAM, b"true"
            if STREAM_OPTIONS not in self._refused:
                yield STREAM_OPTIONS, b'{"include_usage":true}'
        if max_tokens is not None:
            yield self._limit_name, b"%d" % max_tokens
        if sampling.temperature is not None and "temperature" not in self._refused:
            yield "temperature", to_json(sampling.temperature)
        for name, setting in _PENALTIES.items():
            value = getattr(sampling, setting)
            if value is not None and name not in self._refused:
                yield name, to_json(value)
