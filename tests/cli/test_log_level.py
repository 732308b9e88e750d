"""`--log-level`: the log lines of libraries on stderr."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import logging, sys
from longbeam.cli.entry import run
code = run(sys.argv[1:])
for level in ("debug", "info", "warning"):
    getattr(logging.getLogger("library"), level)(f"says {level}")
sys.exit(code)
"""


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ([], ["warning"]),
        (["--log-level", "debug"], ["debug", "info", "warning"]),
        (["--log-level", "info"], ["info", "warning"]),
        (["--log-level", "error"], []),
    ],
    ids=lambda value: "-".join(value),
)
def test_lines_of_libraries_are_shown_from_the_level_that_is_named(
    options: list[str], shown: list[str], tmp_path: Path
) -> None:
    command = [sys.executable, "-c", CODE, *options, "list", "--out", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert [line.split()[-1] for line in ran.stderr.splitlines() if "says" in line] == shown
