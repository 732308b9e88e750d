"""The version of the offline rules: what changes it, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

import longbeam
from longbeam.offline import rule_files
from longbeam.offline.rules import code_of

SOURCE = '''"""Module."""

LIMIT = 3
"""Replies."""


def reply(text: str) -> str:
    """Return it."""
    return text + "!"  # loudly
'''


@pytest.mark.parametrize(("before", "after"), [("Module", "A module"), ("Replies", "At most"), ("loudly", "why")])
def test_docstrings_and_comments_are_no_rules(before: str, after: str) -> None:
    assert before in SOURCE
    assert code_of(SOURCE.replace(before, after)) == code_of(SOURCE)


@pytest.mark.parametrize(("before", "after"), [("3", "4"), ('"!"', '"?"'), ("text + ", "")])
def test_code_is(before: str, after: str) -> None:
    assert before in SOURCE
    assert code_of(SOURCE.replace(before, after)) != code_of(SOURCE)


@pytest.mark.parametrize("name", ["offline", "text"])
def test_every_file_of_code_or_data_counts(name: str) -> None:
    folder = Path(longbeam.__file__).parent / name
    given = {path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert {path.name for path in given.difference(rule_files(folder))} <= {"__init__.pyi"}
