"""`--huge-pages` runs a command again with huge pages; without it, and where users chose otherwise, nothing changes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from longbeam.cli import USER_ERROR, run
from longbeam.cli.huge_pages import OFFERED, SETTINGS, begin_with_huge_pages

needs_offer = pytest.mark.skipif(
    not (OFFERED.exists() and "[madvise]" in OFFERED.read_text()), reason="this kernel does not offer huge pages"
)
UNSET = {name: value for name, value in os.environ.items() if name not in SETTINGS}


@contextmanager
def serving(environment: dict[str, str], *options: str) -> Iterator[dict[str, str]]:
    """The environment of a server that is ready, as the kernel knows it."""
    command = [sys.executable, "-m", "longbeam", *options, "serve-offline", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            assert "http://127.0.0.1:" in process.stdout.readline()
            entries = Path(f"/proc/{process.pid}/environ").read_text().split("\0")
            yield dict(entry.split("=", 1) for entry in entries if entry)
        finally:
            process.terminate()


@needs_offer
def test_a_command_runs_under_the_same_id_with_huge_pages() -> None:
    with serving(UNSET, "--huge-pages") as environment:
        assert environment.items() >= SETTINGS.items()
        assert environment["PATH"] == os.environ["PATH"]


def test_a_choice_of_the_user_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    # A command that began again would not come back here.
    monkeypatch.setenv("PYTHONMALLOC", "pymalloc")
    begin_with_huge_pages()
    assert "GLIBC_TUNABLES" not in os.environ


def test_huge_pages_are_off_by_default_and_a_code_is_that_of_the_command(tmp_path: Path) -> None:
    # The memory of the tests' own process stays as it is, so a command begins again by the option alone.
    assert run(["status", "no such benchmark", "--out", str(tmp_path)]) == USER_ERROR
    command = [sys.executable, "-m", "longbeam", "--huge-pages", "status", "no such benchmark", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=UNSET, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (USER_ERROR, 1)
    assert "no such benchmark" in done.stderr
