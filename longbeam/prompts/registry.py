"""Prompts as files: a Jinja2 template, typed inputs, an output schema, a version.

One template holds two blocks, `system` and `user`. What is fixed for a sub-plan stands in `system`; the
declaration may name a `history` field, whose messages go between the two, so that a server's prefix cache
serves the next call. Text that longbeam did not write must pass the `fenced` or `inline` filter: a plain
string in a template is refused when it is rendered, because it could end its slot and speak as the prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, meta, nodes
from pydantic import BaseModel

from longbeam.schemas.calls import ChatMessage, PromptInputs

TEMPLATES = Path(__file__).parent / "templates"


class Trusted(str):
    """Text that may stand in a prompt as it is."""


def fenced(text: object, name: str = "text") -> Trusted:
    """Return text between fences that it cannot close: longer than any run of `~` inside it."""
    body = text if isinstance(text, str) else json.dumps(_plain(text), ensure_ascii=False, indent=1)
    longest = max((len(run) for run in re.findall(r"~+", body)), default=0)
    fence = "~" * max(3, longest + 1)
    return Trusted(f"{fence}{name}\n{body}\n{fence}")


def inline(text: object) -> Trusted:
    """Return a short text on one line, without control characters, so that it cannot begin a line of its own."""
    return Trusted(re.sub(r"\s+", " ", "".join(c if c.isprintable() else " " for c in str(text))).strip())


def _plain(value: object) -> Any:  # Any: a JSON tree
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_defaults=True)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value


def _finalize(value: object) -> object:
    if isinstance(value, str) and not isinstance(value, Trusted):
        raise TypeError(f"unfenced text in a prompt: {value[:40]!r}; use the fenced or inline filter")
    return value


@lru_cache(maxsize=8)
def _environment(directory: Path) -> Environment:
    # The output is a prompt, not HTML: what must be kept apart is kept apart by `fenced` and `inline`.
    environment = Environment(
        loader=FileSystemLoader(directory),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
        autoescape=False,  # noqa: S701
    )
    environment.filters |= {"fenced": fenced, "inline": inline}
    return environment


@dataclass(frozen=True)
class Prompt:
    """One prompt's declaration."""

    prompt_id: str
    """Also the template's file name, without `.j2`."""
    version: int
    inputs: type[PromptInputs]
    output: type[BaseModel] | None = None
    """Schema of the reply; None for prose."""
    history: str | None = None
    """Name of the input field that holds the dialogue so far, a tuple of `ChatMessage`."""
    offline_fields: frozenset[str] = frozenset()
    """Input fields that only the offline writer reads."""
    directory: Path = TEMPLATES

    @property
    def variables(self) -> frozenset[str]:
        """Input fields that the template is given."""
        return frozenset(self.inputs.model_fields) - {self.history, "feedback"} - self.offline_fields

    @cached_property
    def source(self) -> str:
        """The template's text."""
        return (self.directory / f"{self.prompt_id}.j2").read_text(encoding="utf-8")

    def check(self) -> None:
        """Raise ValueError unless the template's variables are exactly the declared inputs."""
        environment = _environment(self.directory)
        tree = environment.parse(self.source)
        used = meta.find_undeclared_variables(tree)
        if used != self.variables:
            raise ValueError(
                f"prompt {self.prompt_id!r}: template and inputs differ: "
                f"only in the template {sorted(used - self.variables)}, only declared {sorted(self.variables - used)}"
            )
        blocks = {block.name for block in tree.find_all(nodes.Block)}
        if not {"system", "user"} >= blocks >= {"system"}:
            raise ValueError(f"prompt {self.prompt_id!r}: blocks are {sorted(blocks)}; `system` and `user` are allowed")

    def render(self, inputs: PromptInputs) -> tuple[ChatMessage, ...]:
        """Return the request: system, then the history if there is one, then user if there is such a block."""
        template = _environment(self.directory).get_template(f"{self.prompt_id}.j2")
        values = {name: getattr(inputs, name) for name in self.variables}

        def block(name: str) -> str:
            if name not in template.blocks:
                return ""
            return "".join(template.blocks[name](template.new_context(values))).strip()

        parts = [ChatMessage(role="system", content=block("system"))]
        if self.history:
            parts.extend(getattr(inputs, self.history))
        last = block("user")
        if inputs.feedback:
            last += "\n\nYour last reply could not be used:\n" + fenced(inputs.feedback, "reason")
        if last:
            _append_user_text(parts, last)
        return tuple(parts)

    def schema(self) -> dict[str, Any] | None:
        """JSON schema of the reply, or None for prose."""
        return None if self.output is None else self.output.model_json_schema()


def _append_user_text(parts: list[ChatMessage], text: str) -> None:
    # Chat templates that insist on alternating roles refuse two user messages in a row.
    if parts[-1].role == "user":
        parts[-1] = ChatMessage(role="user", content=f"{parts[-1].content}\n\n{text}")
    else:
        parts.append(ChatMessage(role="user", content=text))


class PromptRegistry:
    """The prompts of a run by id; checked when it is made."""

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

    def replaced(self, prompt: Prompt) -> PromptRegistry:
        """Return a registry with this prompt in the place of the one of the same id."""
        return PromptRegistry([prompt if p.prompt_id == prompt.prompt_id else p for p in self])

    def versions(self, prompt_ids: Sequence[str]) -> tuple[str, ...]:
        """`id@version` of each; part of a unit's fingerprint."""
        return tuple(f"{i}@{self._prompts[i].version}" for i in prompt_ids)

