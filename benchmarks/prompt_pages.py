"""Pages that show every prompt as a model gets it, rendered from the inputs of one call of a run.

`make docs-prompts` builds them (`benchmarks.prompt_docs`); they are not kept in git. Only the table of prompts is:
`docs/prompts/README.md`.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from longbeam.keys import UnitKey
from longbeam.prompts import PROMPTS, Prompt
from longbeam.schemas import Category, Domain, PromptInputs, Record

COMMAND = "make docs-prompts"
_TEMPLATES = "../../longbeam/prompts/templates"
_PLAIN_LIST = re.compile(r'\[(?:\s*(?:"(?:[^"\\]|\\.)*"|[-\d.]+|null),?)+\s*\]')
_OTHER = {Category.CODING: Domain.CODING, Category.MATH: Domain.MATH}


@dataclass(frozen=True)
class Captured:
    """One call of a run, and figures of all calls of the run that ask the same prompt."""

    unit_key: UnitKey
    """Conversation, stage, unit and place of the call."""
    inputs: PromptInputs
    calls: int
    """Number of calls."""
    system_tokens: int
    """Tokens of the system messages of a call, on average."""
    other_tokens: int
    """Tokens of all other messages of a call, on average."""


def pages_of(captured: Mapping[str, Captured]) -> dict[str, str]:
    """Return the text of each prompt's page by file name. `captured` has one call of every prompt, by prompt id."""
    return {f"{p.prompt_id}.md": _page(p, captured[p.prompt_id]) for p in PROMPTS}


def table_of(captured: Mapping[str, Captured]) -> str:
    """Return the text of `docs/prompts/README.md`: a table of all prompts, with links to their templates."""
    lines = [
        "# Prompts",
        "",
        f"Written by `{COMMAND}`; do not edit. The command also writes a page for each prompt into `output/prompts`:",
        "the prompt as a model gets it, rendered from the inputs of a call of an offline run (a general domain).",
        "[listings.md](listings.md) compares the prompts with BEAM's.",
        "",
        "Calls and prompt tokens (o200k_base, on average per call) are those of that run. The system message is the",
        "same for many calls, and a dialogue's other messages are those of the call before with some added, so a",
        "server's prefix cache holds most of both.",
        "",
        "| prompt | version | role | asked in | calls | system | other messages |",
        "|---|---|---|---|---|---|---|",
    ]
    for prompt in PROMPTS:
        one = captured[prompt.prompt_id]
        lines.append(
            f"| [{prompt.prompt_id}]({_TEMPLATES}/{prompt.prompt_id}.j2) | {prompt.version} | {prompt.role.value} "
            f"| {one.unit_key.stage} | {one.calls} | {one.system_tokens:,} | {one.other_tokens:,} |"
        )
    return "\n".join(lines) + "\n"


def _page(prompt: Prompt, captured: Captured) -> str:
    inputs = captured.inputs
    reply = "prose" if prompt.output is None else "JSON by the schema below"
    parts = [
        f"# {prompt.prompt_id}",
        f"{prompt.inputs.__doc__}".strip(),
        f"Version {prompt.version} · role `{prompt.role.value}` · stage `{captured.unit_key.stage}` · reply: {reply}",
        f"Rendered from the call `{captured.unit_key}` by `{COMMAND}`.",
        *(f"## {i}. {m.role}\n\n{_fenced(m.content)}" for i, m in enumerate(prompt.render(inputs), 1)),
        *_variants(prompt, inputs),
    ]
    if (schema := prompt.schema(inputs)) is not None:
        # What an endpoint with structured output gets; others read its form at the end of the system message.
        parts.append(f"## Schema of this call's reply\n\n{_fenced(_short_json(schema), 'json')}")
    return "\n\n".join(parts) + "\n"


def _variants(prompt: Prompt, inputs: PromptInputs) -> Iterator[str]:
    """Yield a section for each category of domains, and for another language, where the prompt says more."""
    changed = {f"In a {c.value} domain": _in_domain(inputs, d, c) for c, d in _OTHER.items()}
    changed["In another language"] = inputs.model_copy(update={"language": "German"})
    before = [m.content for m in prompt.render(inputs)]
    for title, other in changed.items():
        added = [line for a, b in zip(before, prompt.render(other), strict=True) for line in _added(a, b.content)]
        if added:
            yield f"## {title}\n\nAdded, or in the place of other lines:\n\n" + _fenced("\n".join(added))


def _added(before: str, after: str) -> list[str]:
    diff = difflib.ndiff(before.split("\n"), after.split("\n"))
    return [line[2:] for line in diff if line.startswith("+ ") and line[2:].strip()]


def _in_domain(value: Any, domain: Domain, category: Category) -> Any:  # Any: a record, or what its fields hold
    """Return the same inputs as if the seed were of another domain."""
    if isinstance(value, tuple):
        return tuple(_in_domain(v, domain, category) for v in value)
    if not isinstance(value, Record):
        return category if isinstance(value, Category) else domain if isinstance(value, Domain) else value
    fields = {name: getattr(value, name) for name in type(value).model_fields}
    return value.model_copy(update={k: _in_domain(v, domain, category) for k, v in fields.items()})


def _short_json(tree: object) -> str:
    """Return JSON with one line for each key and for each list of plain values."""
    return _PLAIN_LIST.sub(lambda match: " ".join(match.group().split()), json.dumps(tree, indent=1))


def _fenced(text: str, language: str = "text") -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
