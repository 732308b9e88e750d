"""The code of docs/python.md and of the notebooks, run as it stands there, each in a process and folder of its own."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
NOTEBOOKS = sorted((REPOSITORY / "docs" / "notebooks").glob("*.ipynb"))
MOST_OUTPUT = 60
"""Lines of output that a notebook may keep in the repository: a page."""


def run_cells(path: str) -> None:
    """Run the code of a notebook as its kernel does: in `__main__`, which has no file, with `await` at the top."""
    namespace = sys.modules["__main__"].__dict__
    namespace.pop("__file__", None)

    cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]

    async def run() -> None:
        for cell in cells:
            if cell["cell_type"] == "code":
                code = compile("".join(cell["source"]), path, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
                # With `await` in it, the compiled cell is a coroutine.
                found = eval(code, namespace)
                if inspect.isawaitable(found):
                    await found

    asyncio.run(run())


def run_here(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    ran = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_page_runs_as_written(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "python.md").read_text(encoding="utf-8")
    (tmp_path / "page.py").write_text("\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)), encoding="utf-8")
    assert "Recent" in run_here(tmp_path, "page.py")


@pytest.mark.slow  # the page of docs/python.md runs in every `make test`
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_as_written(notebook: Path, tmp_path: Path) -> None:
    code = f"from tests.library.test_docs import run_cells; run_cells({str(notebook)!r}); print(evaluation.scores())"
    assert "'rag'" in run_here(tmp_path, "-c", code)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_keeps_at_most_a_page_of_output(notebook: Path) -> None:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    lines = [line for cell in cells for output in cell.get("outputs", ()) for line in output.get("text", ())]
    assert len(lines) <= MOST_OUTPUT
