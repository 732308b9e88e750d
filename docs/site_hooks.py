"""Pages of the site that are made from code: commands, the Python API, whole prompts, the list of design notes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from mkdocs.structure.files import File, Files
from typer.cli import get_docs_for_click

import longbeam
from longbeam.cli.entry import app

REPOSITORY = Path(__file__).resolve().parents[1]
_OUTSIDE = re.compile(r"\[([^\]]*)\]\((?:\.\./)+(?:[A-Z]+|longbeam|tests|benchmarks)\b[^)]*\)")

_FOLDER = re.compile(r"\[([^\]]*)\]\([\w/]+/\)")


def on_files(files: Files, *, config: Any) -> Files:
    """Add the generated pages."""
    for path, text in _pages():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return a page's text without links to files of the repository that the site does not hold."""
    kept = _OUTSIDE.sub(r"\1", markdown).replace("](design/)", "](reference/design.md)")
    return _FOLDER.sub(r"\1", kept)


def _pages() -> Iterator[tuple[str, str]]:
    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="longbeam")
    yield "reference/commands.md", "# Commands, from the code\n\n" + get_docs_for_click(obj=command, ctx=context)
    yield "reference/api.md", _api()
    for page in sorted((REPOSITORY / "output" / "prompts").glob("*.md")):  # where `make docs-prompts` was run
        yield f"prompts/{page.name}", page.read_text("utf-8")
    notes = sorted((REPOSITORY / "docs" / "design").glob("*.md"))
    listed = (f"- [{note.read_text('utf-8').splitlines()[0].lstrip('# ')}](../design/{note.name})" for note in notes)
    yield "reference/design.md", "# Design notes\n\n" + "\n".join(listed) + "\n"


def _api() -> str:
    parts = ["# The Python API, from the code"]
    for name in longbeam.__all__:
        found = getattr(longbeam, name)
        is_function = inspect.isfunction(found)
        signature = f"{name}{inspect.signature(found)}" if is_function else name
        members = () if is_function or not inspect.isclass(found) else vars(found).items()
        parts.append(f"## {name}\n\n```python\n{signature}\n```\n\n{inspect.getdoc(found) or ''}")
        parts += [
            f"**`{name}.{member}`** {inspect.getdoc(of) or ''}"
            for member, of in members
            if not member.startswith("_") and (inspect.isfunction(of) or isinstance(of, property))
        ]
    return "\n\n".join(parts) + "\n"
