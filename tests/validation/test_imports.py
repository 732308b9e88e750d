"""Checks of imports, whose conversations were planned without a ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

from longbeam.formats import import_beam
from longbeam.validation import check_conversation
from tests.formats.sources import beam_folder, read


def checks_of(folder: Path) -> set[str]:
    (reader,) = read(import_beam, folder)
    return {finding.check for finding in check_conversation(reader)}


def test_plans_of_imports_need_no_ledger(tmp_path: Path) -> None:
    found = checks_of(beam_folder(tmp_path))
    assert "ledger.target" not in found
    assert "voicing.special_not_voiced" in found  # what the plan says and nobody does is still found


@pytest.mark.parametrize("is_there", [True, False])
def test_nobody_need_answer_where_there_is_no_chat(tmp_path: Path, is_there: bool) -> None:
    folder = beam_folder(tmp_path, change=None if is_there else lambda files: files.pop("chat.json"))
    assert not {check for check in checks_of(folder) if check.startswith("roles.")}
