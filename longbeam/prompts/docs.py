"""Writes `docs/prompts/`: every prompt as a model gets it, rendered from the inputs of one call of a real run.

    python -m longbeam.prompts.docs

The inputs lie beside the pages (`docs/prompts/inputs/`), so that the pages change with the prompts and with nothing
else; `python -m longbeam.pipeline.capture` takes them anew from an offline run. A test fails while pages are stale.
"""

from __future__ import annotations

import difflib
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from longbeam.prompts.declarations import PROMPTS
from longbeam.prompts.registry import Prompt
from longbeam.schemas.base import Record
from longbeam.schemas.calls import PromptInputs
from longbeam.schemas.seeds import Category, Domain

PAGES = Path(__file__).parents[2] / "docs" / "prompts"
COMMAND = "python -m longbeam.prompts.docs"
CAPTURE = "python -m longbeam.pipeline.capture"
_PLAIN_LIST = re.compile(r'\[(?:\s*(?:"(?:[^"\\]|\\.)*"|[-\d.]+|null),?)+\s*\]')
_OTHER = {Category.CODING: Domain.CODING, Category.MATH: Domain.MATH}


class Captured(Record):
    """One call of a run: `inputs/<prompt_id>.json`."""

    prompt_id: str
    role: str
    unit_key: str
    """Conversation, stage, unit and place of the call."""
    calls: int
    """How often the run asked this prompt."""
    system_tokens: int
    """Of its system messages, on average."""
    other_tokens: int
    """Of all other messages of a call, on average."""
    inputs: dict[str, Any]

    @property
    def stage(self) -> str:
        """The stage that asks."""
        return self.unit_key.split("/")[1]


def read_captured(folder: Path) -> dict[str, Captured]:
    """Return the captured calls by prompt id."""
    files = sorted((folder / "inputs").glob("*.json"))
    captured = (Captured.model_validate_json(f.read_text(encoding="utf-8")) for f in files)
    return {c.prompt_id: c for c in captured}


def pages_of(captured: Mapping[str, Captured]) -> dict[str, str]:
    """Return the text of each page by file name; raises ValueError for a prompt whose inputs are missing or old."""
    inputs = {p.prompt_id: _inputs_of(p, captured) for p in PROMPTS}
    pages = {f"{p.prompt_id}.md": _page(p, captured[p.prompt_id], inputs[p.prompt_id]) for p in PROMPTS}
    return {**pages, "README.md": _index(captured)}


def _inputs_of(prompt: Prompt, captured: Mapping[str, Captured]) -> PromptInputs:
    try:
        return prompt.inputs.model_validate(captured[prompt.prompt_id].inputs)
    except (KeyError, ValueError) as exc:
        raise ValueError(f"prompt {prompt.prompt_id!r} has no inputs that fit it; run `{CAPTURE}`: {exc}") from exc


def _index(captured: Mapping[str, Captured]) -> str:
    lines = [
        "# Prompts",
        "",
        f"Written by `{COMMAND}`; do not edit. Each page shows one prompt as a model gets it, rendered from",
        "the inputs of a call of an offline run (a general domain). [listings.md](listings.md) sets",
        "them beside BEAM's.",
        "",
        "Calls and prompt tokens (o200k_base, on average per call) are of that run. The system message is the same for",
        "many calls, and a dialogue's other messages are those of the call before with some added, so that a server's",
        "prefix cache holds most of both.",
        "",
        "| prompt | version | role | asked in | calls | system | other messages |",
        "|---|---|---|---|---|---|---|",
    ]
    for prompt in PROMPTS:
        one = captured[prompt.prompt_id]
        lines.append(
            f"| [{prompt.prompt_id}]({prompt.prompt_id}.md) | {prompt.version} | {one.role} | {one.stage} "
            f"| {one.calls} | {one.system_tokens:,} | {one.other_tokens:,} |"
        )
    return "\n".join(lines) + "\n"


def _page(prompt: Prompt, captured: Captured, inputs: PromptInputs) -> str:
    reply = "prose" if prompt.output is None else "JSON by the schema below"
    parts = [
        f"# {prompt.prompt_id}",
        f"{prompt.inputs.__doc__}".strip(),
        f"Version {prompt.version} · role `{captured.role}` · stage `{captured.stage}` · reply: {reply} · "
        f"[all prompts](README.md)",
        f"Rendered from the call `{captured.unit_key}`; written by `{COMMAND}`, do not edit.",
        *(f"## {i}. {m.role}\n\n{_fenced(m.content)}" for i, m in enumerate(prompt.render(inputs), 1)),
        *_variants(prompt, inputs),
    ]
    if (schema := prompt.schema(inputs)) is not None:
        # What an endpoint with structured output gets; others read its form at the end of the system message.
        parts.append(f"## Schema of this call's reply\n\n{_fenced(_short_json(schema), 'json')}")
    return "\n\n".join(parts) + "\n"


def _variants(prompt: Prompt, inputs: PromptInputs) -> Iterator[str]:
    """Yield what is added in other categories of domains and in another language."""
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
    """JSON with a line a key, but lists of plain values on one line."""
    return _PLAIN_LIST.sub(lambda match: " ".join(match.group().split()), json.dumps(tree, indent=1))


def _fenced(text: str, language: str = "text") -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def find_stale(folder: Path = PAGES) -> list[str]:
    """Return the names of pages that are not as they would be written now, missing and left-over ones included."""
    pages = pages_of(read_captured(folder))
    there = {f.name: f.read_text(encoding="utf-8") for f in folder.glob("*.md") if f.name != "listings.md"}
    return sorted(name for name in pages.keys() | there.keys() if pages.get(name) != there.get(name))


def write_pages(folder: Path = PAGES) -> list[str]:
    """Write the pages and return the names of those that changed."""
    pages, stale = pages_of(read_captured(folder)), find_stale(folder)
    for name in stale:
        if name in pages:
            (folder / name).write_text(pages[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    return stale


def main() -> int:
    """Write the pages; return 1 when inputs are missing."""
    try:
        changed = write_pages()
    except ValueError as exc:
        print(exc, file=sys.stderr)
        return 1
    print(f"{PAGES}: {len(changed)} of {len(PROMPTS) + 1} pages changed {' '.join(changed)}".rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
