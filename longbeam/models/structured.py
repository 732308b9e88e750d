"""The form in which an endpoint receives a reply's schema: strict JSON schema, JSON mode, the prompt alone, or a
tool.

The prompt always describes the form as well, so each step down still works. What an endpoint refuses is
remembered for the run; one line says so. A server that decodes by a grammar (llama.cpp, vLLM) takes more of
JSON schema than OpenAI: lengths of texts, which end a loop inside a text, and a form for each item of a list. A
prompt's tool is sent as a function; its calls come back as the prompt's JSON, so that journal and checks know
nothing of tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic_core import to_json

from longbeam.models.base import PromptDeclaration
from longbeam.schemas import PromptInputs, Structured, Tool


class Step(NamedTuple):
    """One way to ask for a schema."""

    form: Structured
    is_whole: bool = False
    """Whether the schema has its `GRAMMAR_KEYWORDS`."""


LADDER = (
    Step(Structured.JSON_SCHEMA, is_whole=True),
    Step(Structured.JSON_SCHEMA),
    Step(Structured.JSON_OBJECT),
    Step(Structured.PROMPT),
)
GRAMMAR_KEYWORDS = frozenset({"minLength", "maxLength", "prefixItems"})
"""Keywords that grammars have and OpenAI refuses."""
REFUSED_KEYWORDS = frozenset({"default", "title", "uniqueItems"})
"""OpenAI refuses a strict schema with these; our own check of the reply does not need the grammar for them."""
OPENING = re.compile(r'\{\s*["}]')
"""Beginning of a JSON object; a brace before anything else is prose."""
_DECODER = json.JSONDecoder()
_REFUSAL = re.compile(r"response_format|json_schema|json_object|json mode|schema|grammar|guided|structured", re.I)
_TOOL_REFUSAL = re.compile(r"tool|function", re.I)
_KEYWORD_REFUSAL = re.compile("|".join(sorted(GRAMMAR_KEYWORDS)), re.I)
_UNSUPPORTED = re.compile(r"invalid schema", re.I)


def strict_schema(schema: dict[str, Any], *, is_whole: bool = False) -> dict[str, Any]:
    """Return the schema by OpenAI's rules for strict ones: every object closed, every property required.

    A field with a default stays of its type: the model then has to say the default. `is_whole` keeps the keywords of
    grammars, which those rules do not allow. Source: OpenAI, "Structured model outputs", section "Supported schemas".
    """
    strict = _strict(schema, is_whole=is_whole)
    assert isinstance(strict, dict)
    return strict


def object_in(text: str) -> str | None:
    """Return the longest JSON object in a text: models put prose, thoughts and code fences around it.

    None if there is none, or if one is broken: what stands inside a broken object is not what the reply means.
    """
    found, opening = "", OPENING.search(text)
    while opening is not None:
        try:
            _, end = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            break
        found = max(found, text[opening.start() : end], key=len)
        opening = OPENING.search(text, end)
    return found or None


def _strict(node: Any, *, is_whole: bool, names: bool = False) -> Any:  # Any: a JSON tree
    if isinstance(node, list):
        return [_strict(part, is_whole=is_whole) for part in node]
    if not isinstance(node, dict):
        return node
    if names:  # the keys are names of fields or definitions, whatever they are called
        return {name: _strict(part, is_whole=is_whole) for name, part in node.items()}
    if "$ref" in node:
        return {"$ref": node["$ref"]}  # nothing may stand beside it
    if "prefixItems" in node and not is_whole:
        forms = node["prefixItems"]
        node = {**node, "items": {"anyOf": forms} if len(forms) > 1 else forms[0]}
    left_out = REFUSED_KEYWORDS if is_whole else REFUSED_KEYWORDS | GRAMMAR_KEYWORDS
    made = {
        "anyOf" if key == "oneOf" else key: _strict(part, is_whole=is_whole, names=key in {"properties", "$defs"})
        for key, part in node.items()
        if key not in left_out and key != "discriminator"
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
    _step: Step = field(init=False)
    _by_prompt: dict[str, Step] = field(default_factory=dict)
    _has_no_tools: bool = False
    _accepted: set[Step] = field(default_factory=set)
    _formats: dict[tuple[str, bool], tuple[dict[str, Any], bytes]] = field(default_factory=dict)
    """By prompt, whole or not: the last schema, and what is sent for it."""

    def __post_init__(self) -> None:
        self._step = next(s for s in LADDER if self.wanted in {Structured.AUTO, s.form})

    def step_for(self, prompt: PromptDeclaration) -> Step:
        """The step that is taken for a prompt now."""
        return self._by_prompt.get(prompt.prompt_id, self._step)

    def tool_of(self, prompt: PromptDeclaration) -> Tool | None:
        """The tool that a request offers; None where the prompt or the endpoint has none."""
        return None if self._has_no_tools else prompt.tool

    def response_format(self, prompt: PromptDeclaration, inputs: PromptInputs) -> bytes | None:
        """The `response_format` of a request as JSON; None for prose and for a schema in the prompt alone."""
        if prompt.output is None:
            return None
        step = self.step_for(prompt)
        match step.form:
            case Structured.JSON_SCHEMA:
                return self._schema_format(prompt, inputs, step.is_whole)
            case Structured.JSON_OBJECT:
                return b'{"type":"json_object"}'
            case _:
                return None

    def accept(self, step: Step) -> None:
        """A request at this step was answered."""
        self._accepted.add(step)

    def step_down(self, prompt: PromptDeclaration, step: Step, message: str) -> bool:
        """Whether the request may be sent again a step lower, because this error says that `step` was refused.

        One schema is left out where the endpoint has accepted others; otherwise the endpoint has no such step.
        """
        if self.tool_of(prompt) is not None:
            if not _TOOL_REFUSAL.search(message):
                return False
            self._has_no_tools = True
            self.notice(f"{self.where} has no tool calls; structured output is used ({message[:200]})")
            return True
        names_keyword = step.is_whole and _KEYWORD_REFUSAL.search(message) is not None
        if prompt.output is None or not (names_keyword or _REFUSAL.search(message)):
            return False
        is_of_prompt = not names_keyword and (step in self._accepted or _UNSUPPORTED.search(message) is not None)
        # An endpoint that takes no schemas at all is not asked for a plainer one.
        keeps_form = names_keyword or (is_of_prompt and self._sent_keywords(prompt))
        below = LADDER[LADDER.index(step) + 1 :]
        lower = next((s for s in below if keeps_form or s.form is not step.form), None)
        if lower is None or self.wanted not in {Structured.AUTO, lower.form}:
            return False
        if self.step_for(prompt) != step:
            return True  # another call has stepped down meanwhile
        used = "a plainer schema" if lower.form is step.form else lower.form.value
        if is_of_prompt:
            self._by_prompt[prompt.prompt_id] = lower
            what = f"refused the schema of prompt {prompt.prompt_id!r}; it is asked for as {used}"
        else:
            self._step = lower
            refused = "schemas with bounded texts" if names_keyword else f"structured output of kind {step.form.value}"
            what = f"has no {refused}; {used} is used"
        self.notice(f"{self.where} {what} ({message[:200]})")
        return True

    def _sent_keywords(self, prompt: PromptDeclaration) -> bool:
        """Return whether the schema that was last sent for a prompt has keywords of grammars."""
        _, sent = self._formats.get((prompt.prompt_id, True), (None, b""))
        return any(b'"%s":' % name.encode() in sent for name in GRAMMAR_KEYWORDS)

    def _schema_format(self, prompt: PromptDeclaration, inputs: PromptInputs, is_whole: bool) -> bytes | None:
        schema = prompt.schema(inputs)
        if schema is None:
            return None
        known, made = self._formats.get((prompt.prompt_id, is_whole), (None, b""))
        if known is not schema:  # most prompts have one schema for all calls, and it is one object
            form = strict_schema(schema, is_whole=is_whole)
            named = {"name": prompt.prompt_id, "strict": True, "schema": form}
            made = to_json({"type": "json_schema", "json_schema": named})
            self._formats[prompt.prompt_id, is_whole] = schema, made
        return made


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
