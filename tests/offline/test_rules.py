"""The version of the offline rules: what changes it, and what does not."""

from __future__ import annotations

import pytest

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
