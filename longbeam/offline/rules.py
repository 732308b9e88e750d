"""Version of the offline models' rules: replies that were made by other rules are out of date."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

from longbeam.store import read_text

_OFFLINE = Path(__file__).parent
_FOLDERS = (_OFFLINE, _OFFLINE.parent / "text")
"""Code and data of the offline models, and the words, values and sentences that they work on."""
_SUFFIXES = frozenset({".py", ".yaml", ".json", ".tsv", ".gz"})


@cache
def rules_digest() -> str:
    """Return a digest of the code and data that decide how the offline models answer."""
    digest = hashlib.sha256()
    for folder in _FOLDERS:
        for path in rule_files(folder):
            text = read_text(path)
            rules = code_of(text) if path.suffix == ".py" else text
            digest.update(f"{path.relative_to(folder).as_posix().removesuffix('.gz')}\0{rules}\0".encode())
    return digest.hexdigest()


def rule_files(folder: Path) -> list[Path]:
    """Return the files of a folder that hold code or data of rules, by path."""
    return sorted(p for p in folder.rglob("*") if p.suffix in _SUFFIXES)


def code_of(source: str) -> str:
    """Return what a Python module does, as text: without comments, docstrings and layout."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            body[:] = [statement for statement in body if not _is_docstring(statement)]
    return ast.dump(tree)


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
