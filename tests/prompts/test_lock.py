from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from longbeam.prompts import PROMPTS, Prompt, lock
from longbeam.prompts.calls import PersonalityInputs
from longbeam.schemas import Role


def make_prompt(directory: Path, text: str, version: int = 1) -> Prompt:
    directory.mkdir()
    (directory / "sample.j2").write_text(f"{{% block system %}}{text}{{% endblock %}}", encoding="utf-8")
    return Prompt("sample", version, Role.WRITER, PersonalityInputs, directory=directory)


def test_no_prompt_changed_under_its_version() -> None:
    unraised = lock.find_unraised(PROMPTS, lock.read_locked())
    assert unraised == []


def test_versions_json_is_up_to_date() -> None:
    assert lock.read_locked() == lock.entries_of(PROMPTS), f"run `{lock.COMMAND}`"


def test_a_changed_prompt_needs_a_higher_version_and_is_told_how(tmp_path: Path) -> None:
    path = tmp_path / "versions.json"
    assert lock.write_locked([make_prompt(tmp_path / "a", "x")], path) == ["sample"]
    before = path.read_text(encoding="utf-8")

    with pytest.raises(ValueError, match=r"set it to 2 in declarations.py, then run `python -m longbeam.prompts.lock`"):
        lock.write_locked([make_prompt(tmp_path / "b", "y")], path)

    assert path.read_text(encoding="utf-8") == before


def test_a_raised_version_is_written(tmp_path: Path) -> None:
    path = tmp_path / "versions.json"
    lock.write_locked([make_prompt(tmp_path / "a", "x")], path)
    raised = make_prompt(tmp_path / "b", "y", version=2)

    assert lock.write_locked([raised], path) == ["sample"]
    assert lock.read_locked(path) == lock.entries_of([raised])
    assert lock.write_locked([raised], path) == []


def test_a_version_never_falls(tmp_path: Path) -> None:
    path = tmp_path / "versions.json"
    prompt = make_prompt(tmp_path / "a", "x", version=3)
    lock.write_locked([prompt], path)

    with pytest.raises(ValueError, match="version 2 is lower than the locked 3"):
        lock.write_locked([replace(prompt, version=2)], path)


def test_a_prompt_that_is_gone_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "versions.json"
    lock.write_locked([make_prompt(tmp_path / "a", "x")], path)

    assert lock.write_locked([], path) == ["sample"]
    assert lock.read_locked(path) == {}
