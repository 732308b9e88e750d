"""The form in which an endpoint receives a reply's schema: as strict JSON schema, as JSON mode, or in the prompt alone.

The prompt always describes the form as well, so each step down still works. What an endpoint refuses is
remembered for the run; one line says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_json

from longbeam.models.base import PromptDeclaration
from longbeam.schemas.calls import PromptInputs, Tool
from longbeam.schemas.spec import Structured

LADDER = (Structured.JSON_SCHEMA, Structured.JSON_OBJECT, Structured.PROMPT)
REFUSED_KEYWORDS = frozenset({"default", "title", "minLength", "maxLength", "uniqueItems"})
"""OpenAI refuses a strict schema with these; our own check of the reply does not need the grammar for them."""
_REFUSAL = re.compile(r"response_format|json_schema|json_object|json mode|schema|grammar|guided|structured", re.I)
_TOOL_REFUSAL = re.compile(r"tool|function", re.I)
_UNSUPPORTED = re.compile(r"invalid schema", re.I)


def strict_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema by OpenAI's rules for strict ones: every object closed, every property required.

    A field with a default stays of its type: the model then has to say the default. Source: OpenAI, "Structured
    model outputs", section "Supported schemas".
    """
    strict = _strict(schema)
    assert isinstance(strict, dict)
    return strict


def _strict(node: Any, *, names: bool = False) -> Any:  # Any: a JSON tree
    if isinstance(node, list):
        return [_strict(part) for part in node]
    if not isinstance(node, dict):
        return node
    if names:  # the keys are names of fields or definitions, whatever they are called
        return {name: _strict(part) for name, part in node.items()}
    if "$ref" in node:
        return {"$ref": node["$ref"]}  # nothing may stand beside it
    made = {
        "anyOf" if key == "oneOf" else key: _strict(part, names=key in {"properties", "$defs"})
        for key, part in node.items()
        if key not in REFUSED_KEYWORDS and key != "discriminator"
    }
    if "properties" in made:
        made |= {"additionalProperties": False, "required": list(made["properties"])}
    return made


@dataclass
class StructuredOutput:
    """The step of the ladder that an endpoint takes; some prompts may take a lower one."""

    wanted: Structured
    notice: Callable[[str], None]
    """Told one line when a step is left."""
    where: str
    """The endpoint, in that line."""
    _step: Structured = field(init=False)
    _by_prompt: dict[str, Structured] = field(default_factory=dict)
    _has_no_tools: bool = False
    _accepted: set[Structured] = field(default_factory=set)
    _formats: dict[str, tuple[dict[str, Any], bytes]] = field(default_factory=dict)
    """By prompt: the last schema, and what is sent for it."""

    def __post_init__(self) -> None:
        self._step = LADDER[0] if self.wanted is Structured.AUTO else self.wanted

    def step_for(self, prompt: PromptDeclaration) -> Structured:
        """The step that is taken for a prompt now."""
        return self._by_prompt.get(prompt.prompt_id, self._step)

    def tool_of(self, prompt: PromptDeclaration) -> Tool | None:
        """The tool that a request offers; None where the prompt or the endpoint has none."""
        return None if self._has_no_tools else prompt.tool

    def response_format(self, prompt: PromptDeclaration, inputs: PromptInputs) -> bytes | None:
        """The `response_format` of a request as JSON; None for prose and for a schema in the prompt alone."""
        if prompt.output is None:
            return None
        match self.step_for(prompt):
            case Structured.JSON_SCHEMA:
                return self._schema_format(prompt, inputs)
            case Structured.JSON_OBJECT:
                return b'{"type":"json_object"}'
            case _:
                return None

    def accept(self, step: Structured) -> None:
        """A request at this step was answered."""
        self._accepted.add(step)

    def step_down(self, prompt: PromptDeclaration, step: Structured, message: str) -> bool:
        """Whether the request may be sent again a step lower, because this error says that `step` was refused.

        One schema is left out where the endpoint has accepted others; otherwise the endpoint has no such step.
        """
        if self.tool_of(prompt) is not None:
            if not _TOOL_REFUSAL.search(message):
                return False
            self._has_no_tools = True
            self.notice(f"{self.where} has no tool calls; structured output is used ({message[:200]})")
            return True
        if prompt.output is None or self.wanted is not Structured.AUTO or step is LADDER[-1]:
            return False
        if not _REFUSAL.search(message):
            return False
        if self.step_for(prompt) is not step:
            return True  # another call has stepped down meanwhile
        lower = LADDER[LADDER.index(step) + 1]
        if step in self._accepted or _UNSUPPORTED.search(message):
            self._by_prompt[prompt.prompt_id] = lower
            what = f"refused the schema of prompt {prompt.prompt_id!r}; it is asked for as {lower.value}"
        else:
            self._step = lower
            what = f"has no structured output of kind {step.value}; {lower.value} is used"
        self.notice(f"{self.where} {what} ({message[:200]})")
        return True

    def _schema_format(self, prompt: PromptDeclaration, inputs: PromptInputs) -> bytes | None:
        schema = prompt.schema(inputs)
        if schema is None:
            return None
        known, made = self._formats.get(prompt.prompt_id, (None, b""))
        if known is not schema:  # most prompts have one schema for all calls, and it is one object
            named = {"name": prompt.prompt_id, "strict": True, "schema": strict_schema(schema)}
            made = to_json({"type": "json_schema", "json_schema": named})
            self._formats[prompt.prompt_id] = schema, made
        return made
