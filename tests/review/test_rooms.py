"""The review domain knows neither a web framework nor HTML."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import longbeam.review

WEB = {"fastapi", "starlette", "uvicorn", "jinja2", "markupsafe", "markdown_it", "nh3", "html"}


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_the_review_domain_imports_no_web_framework() -> None:
    modules = sorted(Path(longbeam.review.__path__[0]).rglob("*.py"))
    assert len(modules) > 10
    assert [(path.name, name) for path in modules for name in imports_of(path) if name in WEB] == []
