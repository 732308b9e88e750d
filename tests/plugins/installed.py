"""Commands in a process in which packages of a test's own are installed."""

from __future__ import annotations

import json
import os
import re
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


EXAMPLES = (REPOSITORY / "docs" / "plugins.md").read_text(encoding="utf-8")


def write_examples(folder: Path, *groups: str) -> None:
    """Write the modules of docs/plugins.md and their entry points in these groups, as one installed package."""
    for name, code in re.findall(r"```python\n# (\w+)\.py\n(.*?)```", EXAMPLES, re.DOTALL):
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
    (seeds,) = re.findall(r"```json\n(.*?)```", EXAMPLES, re.DOTALL)
    (folder / "beekeeping.json").write_text(seeds, encoding="utf-8")
    info = folder / "longbeam_example-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: longbeam-example\nVersion: 1.0\n")
    points = re.findall(r'\[project\.entry-points\."([\w.]+)"\]\n(\w+) = "([\w:]+)"', EXAMPLES)
    lines = [f"[{group}]\n{name} = {value}\n" for group, name, value in points if group in groups]
    (info / "entry_points.txt").write_text("".join(lines))


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
