"""Commands in a process in which packages of a test's own are installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).parents[2]
CODE = """
import contextlib, io, json, sys
from longbeam.cli import run
told = []
for command in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = run(command)
    told.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(told))
"""


class Ran(NamedTuple):
    """The exit code of a command, and what it printed."""

    code: int
    out: str
    err: str


def run_with(folders: list[Path], *commands: list[str], cwd: Path | None = None) -> list[Ran]:
    """Run commands one after another in one process, in which the packages in these folders are installed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [REPOSITORY, *folders]))}
    line = [sys.executable, "-c", CODE, json.dumps(commands)]
    ran = subprocess.run(line, cwd=cwd, env=environment, capture_output=True, text=True, check=True)
    return [Ran(*told) for told in json.loads(ran.stdout)]
