"""Each command in README and docs has the options that it is shown with; the first commands are run as written."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from longbeam.cli.entry import app

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = sorted([*REPOSITORY.glob("docs/*.md"), REPOSITORY / "README.md"])
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.M | re.S)
_COMMAND = re.compile(r"^(?:\$ )?(?:\.venv/bin/)?longbeam (?!=)(.*)$", re.M)


def blocks(page: Path, language: str) -> list[str]:
    """Return the fenced blocks of a page in a language."""
    return [text for name, text in _FENCE.findall(page.read_text("utf-8")) if name == language]


def commands(page: Path) -> Iterator[str]:
    """Yield the commands in the fenced blocks of a page, without `longbeam`; continued lines are joined."""
    for language in ("", "sh", "text", "console"):
        for block in blocks(page, language):
            yield from _COMMAND.findall(block.replace("\\\n", " "))


def unknown_part(line: str) -> str:
    """Return the command or option of a line that does not exist; empty if all do."""
    at: Any = typer.main.get_command(app)
    words = shlex.split(re.split(r"\s#|[|>&;]", line)[0])
    for before, word in zip(["", *words], words, strict=False):
        if word.startswith("--"):
            if word.split("=")[0] not in {o for p in at.params for o in (*p.opts, *p.secondary_opts)} | {"--help"}:
                return word
        elif not before.startswith("--") and (subcommands := getattr(at, "commands", None)):
            if word not in subcommands:
                return word
            at = subcommands[word]
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_exists_with_its_options(page: Path) -> None:
    wrong = {line: part for line in commands(page) if (part := unknown_part(line))}
    assert wrong == {}


def in_a_fresh_shell(script: str, folder: Path) -> str:
    """Run a script as a new user's shell would, with the environment active; return stdout."""
    bin_folder = Path(sys.executable).parent
    env = {"HOME": str(folder), "PATH": f"{bin_folder}:/usr/bin:/bin", "LANG": "C.UTF-8"}
    if "PYTHONPATH" in os.environ:  # another working tree than the installed one
        env["PYTHONPATH"] = os.environ["PYTHONPATH"]
    shell = ["bash", "-e", "-c", script]
    ran = subprocess.run(shell, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_first_commands_of_the_readme_run_as_written(tmp_path: Path) -> None:
    (script,) = blocks(REPOSITORY / "README.md", "sh")
    shown = in_a_fresh_shell(script, tmp_path)
    assert "1 of 1 conversation finished" in shown
    assert "knowledge_update." in shown
    assert "evidence" in shown


def test_the_python_of_the_readme_runs_as_written(tmp_path: Path) -> None:
    (code,) = blocks(REPOSITORY / "README.md", "python")
    (tmp_path / "second.py").write_text(code)
    shown = in_a_fresh_shell("python second.py", tmp_path)
    assert " -> " in shown
    assert "bm25" in shown


def test_a_memory_system_in_the_current_folder_is_found_as_the_page_says(tmp_path: Path) -> None:
    page = REPOSITORY / "docs" / "memory-systems.md"
    (code,) = [block for block in blocks(page, "python") if block.startswith("# people.py")]
    (tmp_path / "people.py").write_text(code)
    shown = in_a_fresh_shell(
        "longbeam suite canvas_standard --name planted && longbeam evaluate planted --system people:PEOPLE", tmp_path
    )
    assert "people:PEOPLE" in shown


@pytest.mark.slow
def test_the_tutorial_runs_as_written(tmp_path: Path) -> None:
    shown = in_a_fresh_shell("\n".join(blocks(REPOSITORY / "docs" / "tutorial.md", "sh")), tmp_path)
    assert "1 of 1 conversation finished" in shown
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "exported" / "README.md").exists()
