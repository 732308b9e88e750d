"""Prompts as files: a Jinja2 template, typed inputs, an output schema, a version.

A template holds up to three blocks. `system` has what is fixed for a sub-plan, `user` what this call asks. The
declaration may name a `history` field, whose messages go between the two, so that a server's prefix cache serves
the next call; `opening` precedes a history that begins with the assistant. Foreign text must pass the `fenced`,
`inline` or `listed` filter (`environment.py`); rendering refuses a plain string.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from jinja2 import Template, nodes
from pydantic import BaseModel

from longbeam.prompts.environment import (
    BLOCKS,
    TEMPLATES,
    Trusted,
    block_of,
    environment_of,
    fault_of,
    fenced,
    inline,
    listed,
    parse,
    parts_of,
    source_of,
    used_variables,
)
from longbeam.prompts.narrowing import Narrow, narrowed
from longbeam.prompts.passages import find_copied, find_passage, passages_of, vocabulary_of, words_in_a_row
from longbeam.schemas import ChatMessage, PromptInputs, Retry, Role, Tool

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


__all__ = ["TEMPLATES", "Prompt", "PromptRegistry", "Trusted", "fenced", "inline", "listed"]


@dataclass(frozen=True)
class Prompt:
    """One prompt's declaration."""

    prompt_id: str
    """Also the template's file name, without `.j2`."""
    version: int
    role: Role
    """Role of the model that answers it."""
    inputs: type[PromptInputs]
    output: type[BaseModel] | None = None
    """Schema of the reply; None for prose."""
    fixed: tuple[str, ...] = ()
    """Exactly the input fields that the `system` block uses; it is rendered once for the same values of them.

    `language` is not named: every block may use it, because it is the same in a whole benchmark."""
    history: str | None = None
    """Name of the input field that holds the dialogue so far, a tuple of `ChatMessage`."""
    narrow: Narrow | None = None
    """Function that narrows the reply's schema to what is known before a call, such as ids and counts."""
    tool: Tool | None = None
    """Tool that a reply may call if the endpoint supports tools."""
    directory: Path = TEMPLATES
    is_override: bool = False
    """Whether the template, or a part of it, is the user's own in place of longbeam's."""

    @cached_property
    def variables(self) -> frozenset[str]:
        """Input fields that the template receives: those that it uses; prompts with the same inputs show other ones."""
        return frozenset().union(*self._used.values())

    @cached_property
    def _used(self) -> Mapping[str, frozenset[str]]:
        """Variables that each block of the template uses."""
        environment = environment_of(self.directory)
        tree = parse(environment, self._file)
        return {b: used_variables(environment, part) for b in BLOCKS if (part := block_of(tree, b))}

    @property
    def source(self) -> str:
        """The template's text, without the parts it includes."""
        return source_of(environment_of(self.directory), self._file)

    @cached_property
    def version_mark(self) -> str:
        """Version in fingerprints; a template of the user's own has its digest behind it, as it has no versions."""
        return f"{self.version}+{self.digest[:12]}" if self.is_override else f"{self.version}"

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of everything that determines the request: template, included parts, schema of the reply."""
        environment = environment_of(self.directory)
        names = [self._file, *sorted(parts_of(environment, parse(environment, self._file)))]
        texts = [[name, source_of(environment, name)] for name in names]
        return hashlib.sha256(json.dumps([texts, self.schema()], sort_keys=True).encode()).hexdigest()

    @cached_property
    def passages(self) -> frozenset[str]:
        """Runs of words in the template's own text; a reply holds none of them, unless its inputs do."""
        environment = environment_of(self.directory)
        names = [self._file, *sorted(parts_of(environment, parse(environment, self._file)))]
        trees = [parse(environment, name) for name in names]
        return passages_of(data.data for tree in trees for data in tree.find_all(nodes.TemplateData))

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Words of the passages."""
        return vocabulary_of(self.passages)

    @property
    def _file(self) -> str:
        return f"{self.prompt_id}.j2"

    def check(self) -> None:
        """Raise ValueError unless the template's variables are declared inputs, and its blocks allowed."""
        try:
            self._check_declaration()
            self._check_template()
        except ValueError as exc:
            raise ValueError(f"prompt {self.prompt_id!r}: {exc}") from exc

    def _check_declaration(self) -> None:
        fields = self.inputs.model_fields
        declared = {*self.fixed, *([self.history] if self.history else [])}
        if unknown := sorted(declared - fields.keys()):
            raise ValueError(f"{unknown[0]!r} is no field of {self.inputs.__name__}")
        if self.history and fields[self.history].annotation != tuple[ChatMessage, ...]:
            raise ValueError(f"history {self.history!r} is not a tuple of ChatMessage")

    def _check_template(self) -> None:
        environment = environment_of(self.directory)
        tree = parse(environment, self._file)
        for name in (self._file, *sorted(parts_of(environment, tree))):
            if fault := fault_of(parse(environment, name)):
                raise ValueError(f"{name}, {fault}")
        names_of_blocks = {block.name for block in tree.find_all(nodes.Block)}
        if not BLOCKS >= names_of_blocks >= {"system"}:
            raise ValueError(f"blocks are {sorted(names_of_blocks)}; system (always), opening and user are allowed")
        if unknown := sorted(self.variables - (self.inputs.model_fields.keys() - {self.history, "feedback"})):
            raise ValueError(f"the template uses {unknown[0]!r}, which is history, feedback or no field of its inputs")
        used = self._used["system"] - {"language"}
        # A template of the user's own may leave something out; its system message is then made for more calls.
        if not used <= set(self.fixed) or (used != set(self.fixed) and not self.is_override):
            raise ValueError(
                f"block system uses {sorted(self._used['system'])}; declared as fixed are {sorted(self.fixed)}"
            )
        if self._used.get("opening"):
            raise ValueError("block opening stands before every history and uses no variable")

    def compile(self) -> None:
        """Compile the template before the first rendering needs it."""
        environment = environment_of(self.directory)
        _ = self._template, self._system_digest  # Both are cached.
        for name in parts_of(environment, parse(environment, self._file)):
            environment.get_template(name)

    def render(self, inputs: PromptInputs, retry: Retry | None = None) -> tuple[ChatMessage, ...]:
        """Return the request: the system message, the history if there is one, the user block if there is one.

        The user block and the feedback join a last message of the user's. Behind these messages, a retry shows the
        model its last reply and the faults. Raises TypeError for inputs of another
        prompt and for text that did not pass a filter.
        """
        if type(inputs) is not self.inputs and not isinstance(inputs, self.inputs):
            raise TypeError(f"prompt {self.prompt_id!r} takes {self.inputs.__name__}, not {type(inputs).__name__}")
        parts = [self._system(inputs)]
        if self.history:
            history: tuple[ChatMessage, ...] = getattr(inputs, self.history)
            if history and history[0].role == "assistant" and (opening := self._block("opening", {})):
                parts.append(ChatMessage(role="user", content=opening))
            parts.extend(history)
        last = self._block("user", {name: getattr(inputs, name) for name in self.variables})
        if inputs.feedback:
            last += f"\n\n{_reasons((inputs.feedback,))}"
        if last:
            _append_user_text(parts, last.strip())
        if retry is not None:
            if retry.reply:
                parts.append(ChatMessage(role="assistant", content=retry.reply))
            _append_user_text(parts, _kept(retry) if retry.kept else _reasons(retry.faults))
        return tuple(parts)

    def _system(self, inputs: PromptInputs) -> ChatMessage:
        values = {name: getattr(inputs, name) for name in self._system_fields}
        key = (self._system_digest, *map(_identity, values.values()))
        message = _SYSTEM_MESSAGES.get(key)
        if message is None:
            message = ChatMessage(role="system", content=self._block("system", values) + self._form_of_reply())
            _SYSTEM_MESSAGES.put(key, message, tuple(values.values()))
        return message

    @cached_property
    def _system_fields(self) -> tuple[str, ...]:
        return (*self.fixed, "language")

    @cached_property
    def _system_digest(self) -> str:
        """SHA-256 (hex) of everything that determines the system message; prompts of one role may share it."""
        environment = environment_of(self.directory)
        tree = block_of(parse(environment, self._file), "system")
        assert tree is not None
        parts = [[name, source_of(environment, name)] for name in sorted(parts_of(environment, tree))]
        shown = [repr(tree.body), parts, self._form_of_reply(), self._system_fields, str(self.directory)]
        return hashlib.sha256(json.dumps(shown).encode()).hexdigest()

    def _block(self, name: str, values: Mapping[str, object]) -> str:
        block = self._template.blocks.get(name)
        return "" if block is None else "".join(block(self._template.new_context(dict(values)))).strip()

    @cached_property
    def _template(self) -> Template:
        return environment_of(self.directory).get_template(self._file)

    def _form_of_reply(self) -> str:
        if self.output is None:
            return ""
        return f"\n\nReply with one JSON object of this form and nothing around it:\n{shape_of(self.output)}"

    def schema(self, inputs: PromptInputs | None = None) -> dict[str, Any] | None:
        """Return the JSON schema of the reply, narrowed to one call if its inputs are given; None for prose.

        The schema may be shared: do not edit it.
        """
        if self.output is None:
            return None
        schema = schema_of(self.output)
        return schema if self.narrow is None or inputs is None else narrowed(schema, self.narrow, inputs)


def _reasons(faults: Sequence[str]) -> str:
    reasons, these = ("reason", "this fault") if len(faults) == 1 else ("reasons", "these faults")
    text = "\n".join(faults if len(faults) == 1 else (f"- {fault}" for fault in faults))
    said = f"Your last reply could not be used. The {reasons}:\n{fenced(text, 'reason')}"
    return f"{said}\nWrite the whole reply again, without {these}."


def _kept(retry: Retry) -> str:
    kept = "\n".join(f"- {item}" for item in retry.kept)
    faults = "\n".join(f"- {fault}" for fault in retry.faults)
    return (
        f"These items of your earlier replies are good and kept:\n{fenced(kept, 'kept')}\n"
        f"This is still missing or wrong:\n{fenced(faults, 'reason')}\n"
        "Reply in the same form, with the missing items alone: do not write the kept ones again."
    )


_SPOKEN = frozenset({Role.PLANNER, Role.WRITER, Role.ASSISTANT, Role.USER})
"""Roles whose replies become part of a conversation."""


def _append_user_text(parts: list[ChatMessage], text: str) -> None:
    # Chat templates that insist on alternating roles refuse two user messages in a row.
    if parts[-1].role == "user":
        parts[-1] = ChatMessage(role="user", content=f"{parts[-1].content}\n\n{text}")
    else:
        parts.append(ChatMessage(role="user", content=text))


def _identity(value: object) -> Hashable:
    """Return a key that is unique to the value as long as the value lives.

    Records are frozen, so identity implies equality. A key by digest would also find equal copies, but computing
    digests costs more than that saves.
    """
    if type(value) is str or value is None:  # The exact types first: `isinstance` with several classes costs more.
        return str, value
    if isinstance(value, BaseModel):
        return type(value), id(value)
    if isinstance(value, Mapping):
        return tuple((k, _identity(v)) for k, v in value.items())
    if isinstance(value, tuple | list):
        return tuple(_identity(v) for v in value)
    if isinstance(value, Hashable):
        return type(value), value
    raise TypeError(f"a fixed field of a prompt holds a {type(value).__name__}")


class MessageCache:
    """Cache of the last rendered system messages, up to a total number of characters."""

    def __init__(self, max_chars: int) -> None:
        self.max_chars = max_chars
        self.chars = 0
        # Each message is kept with its values, because no other object gets their ids as long as they live.
        self._kept: OrderedDict[Hashable, tuple[ChatMessage, object]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable) -> ChatMessage | None:
        """Return a message, if it is there, and mark it as used."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def put(self, key: Hashable, message: ChatMessage, values: object) -> None:
        """Keep a message; the least recently used ones make room, but the last one always stays."""
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = (message, values)
            self.chars += len(message.content)
            while self.chars > self.max_chars and len(self._kept) > 1:
                _, (dropped, _) = self._kept.popitem(last=False)
                self.chars -= len(dropped.content)


# A dialogue prompt's system message has some 30,000 characters and changes after each fold; each open dialogue has four
# of them. With this room, 3,060 of 44,240 messages are rendered at 10M; with eight times the room, 2,700.
_SYSTEM_MESSAGES = MessageCache(max_chars=6_000_000)


class PromptRegistry:
    """The prompts of a run by id, checked when the registry is made."""

    def __init__(self, prompts: Iterable[Prompt]) -> None:
        self._prompts: dict[str, Prompt] = {}
        for prompt in prompts:
            if prompt.prompt_id in self._prompts:
                raise ValueError(f"prompt {prompt.prompt_id!r} is declared twice")
            prompt.check()
            self._prompts[prompt.prompt_id] = prompt

    def __getitem__(self, prompt_id: str) -> Prompt:
        return self._prompts[prompt_id]

    def __iter__(self) -> Iterator[Prompt]:
        return iter(self._prompts.values())

    def find_passage(self, prompt_id: str, text: str, known: Iterable[str]) -> str | None:
        """Return eight words that a reply copies from its prompt and no `known` text has; None if it copies none.

        Only replies that become part of a conversation are searched: the prompts of probes prescribe phrases.
        """
        prompt = self._prompts[prompt_id]
        if prompt.role not in _SPOKEN:
            return None
        return find_passage(text, prompt.passages, prompt.vocabulary, known)

    def find_copied(self, text: str, known: Iterable[str]) -> str | None:
        """Return a term of the examples in a text that is in none of the `known` texts; None if there is none."""
        return find_copied(text, known)

    def recognised(self, text: str) -> str | None:
        """Return the id of the prompt that a rendered request is of, by the words of its template; None for another's.

        The most words win, weighted by their share of the template: prompts of one role have parts in common.
        """
        runs = frozenset(words_in_a_row(text))
        scores = {p.prompt_id: len(p.passages & runs) ** 2 / len(p.passages) for p in self if p.passages}
        best = max(scores, key=scores.__getitem__)
        return best if scores[best] else None

    def replaced(self, prompt: Prompt) -> PromptRegistry:
        """Return a registry in which this prompt replaces the one with the same id."""
        return PromptRegistry([prompt if p.prompt_id == prompt.prompt_id else p for p in self])

    def compile(self) -> None:
        """Compile all templates that are not compiled: compiling during a call would delay the other calls."""
        for prompt in self:
            prompt.compile()

    def versions(self, prompt_ids: Sequence[str]) -> tuple[str, ...]:
        """Return `id@version` of each prompt, a part of a unit's fingerprint."""
        return tuple(f"{i}@{self._prompts[i].version_mark}" for i in prompt_ids)

    def roles(self, prompt_ids: Sequence[str]) -> tuple[Role, ...]:
        """Return the roles that answer these prompts, each once, in the order of `Role`."""
        asked = {self._prompts[i].role for i in prompt_ids}
        return tuple(role for role in Role if role in asked)
