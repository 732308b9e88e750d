"""The shape of the house, checked on the source.

Which room may import which, what start-up may load, and that no committed file names a package registry.
Imports are read from the syntax tree, so that one inside a function or under `if TYPE_CHECKING` counts too.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "longbeam"

# From the top of the house to the ground. A room imports from rows below its own; rooms of one row do not
# import each other.
ROWS = (
    ("cli",),
    ("flows",),
    ("library",),
    ("wiring",),
    ("annotation_ui",),
    ("review", "pipeline"),
    ("evaluation",),
    ("memory", "formats", "validation", "generators"),
    ("offline", "manual"),
    ("models", "store", "prompts"),
    ("abilities",),
    ("text",),
    ("schemas",),
    ("plugins",),
)
ROW_OF_ROOM = {room: row for row, rooms in enumerate(ROWS) for room in rooms}

# Modules at the top of the package that are no room: `__main__` is a door of `cli`, `__init__` may import
# anything (lazily); every other one is a leaf: all may import it, and it imports nothing of the package.
DOORS = {"__main__": "cli"}


def find_wrong_imports(package: Path) -> list[str]:
    """Return one line for each import in `package` that the house does not allow, by file."""
    rooms = {path.name for path in package.iterdir() if any(path.glob("**/*.py"))}
    leaves = {path.stem for path in package.glob("*.py")} - {"__init__", *DOORS, *ROW_OF_ROOM}
    wrong = [f"{package.name}/{name}: no such room in the house" for name in sorted(rooms - ROW_OF_ROOM.keys())]
    for path in sorted(package.rglob("*.py")):
        module = path.relative_to(package).with_suffix("").parts
        if module == ("__init__",) or (module[0] in rooms and module[0] not in ROW_OF_ROOM):
            continue
        room = DOORS.get(module[0], module[0])
        for line, target in _imported_modules(path, package):
            if fault := _fault_of_import(room, target, leaves):
                wrong.append(f"{path.relative_to(package.parent)}:{line}: {fault}")
    return wrong


def _fault_of_import(room: str, target: str, leaves: set[str]) -> str | None:
    """Return why `room` may not import `target`, a dotted name below the package ("" for the package)."""
    imported = target.split(".")[0]
    if room in leaves:
        return f"{room} is a leaf and imports {target or 'the package'}"
    if imported in leaves or imported == "__version__" or imported == room:
        return None
    if imported not in ROW_OF_ROOM:
        return f"{room} imports {target or 'the package'}, which is neither a room nor a leaf: name the room"
    if ROW_OF_ROOM[imported] <= ROW_OF_ROOM[room]:
        direction = "beside" if ROW_OF_ROOM[imported] == ROW_OF_ROOM[room] else "above"
        return f"{room} imports {target}, a room {direction} it"
    return None


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def _imported_modules(path: Path, package: Path) -> list[tuple[int, str]]:
    """Return (line, dotted name below the package) for every import of the package in the file."""
    found = []
    package_of_file = [package.name, *path.relative_to(package).parent.parts]
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.stmt | ast.expr):
            for name in _names_of(node, package_of_file):
                head, _, below = name.partition(".")
                if head == package.name:
                    found.append((node.lineno, below))
    return found


def _names_of(node: ast.AST, package_of_file: list[str]) -> list[str]:
    """Return the absolute dotted names that a node imports; none if it is no import."""
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=module, names=names, level=level):
            # Level 1 is the file's own package, each further dot one package up.
            start = package_of_file[: len(package_of_file) - level + 1] if level else []
            return [".".join([*start, *([module] if module else []), alias.name]) for alias in names]
        case ast.Call(
            func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            return [name]
    return []


def test_rooms_import_only_downward() -> None:
    assert find_wrong_imports(PACKAGE) == []


def test_a_run_is_read_without_what_is_built_on_it() -> None:
    above = re.compile(r"pipeline\.(?:repair|cost|evaluate|distributed)\b")
    paths = sorted((PACKAGE / "pipeline" / "run").glob("*.py"))
    assert [(p.name, name) for p in paths for _, name in _imported_modules(p, PACKAGE) if above.match(name)] == []


@pytest.mark.parametrize(
    ("file", "source", "fault"),
    [
        ("schemas/planted.py", "import longbeam.store.journal", "a room above it"),
        ("schemas/planted.py", "from longbeam.pipeline import driver", "a room above it"),
        ("schemas/planted.py", "from longbeam import models", "a room above it"),
        ("schemas/planted.py", "from longbeam import cli as c", "a room above it"),
        ("models/planted.py", "from longbeam.prompts.registry import PromptSpec", "a room beside it"),
        ("store/planted.py", "from ..models import base", "a room beside it"),
        ("validation/planted.py", "from .. import generators", "a room beside it"),
        ("generators/probes/planted.py", "from ...validation import checks", "a room beside it"),
        ("annotation_ui/planted.py", "import longbeam.flows.server", "a room above it"),
        ("memory/planted.py", "def run():\n    from longbeam.evaluation import judge", "a room above it"),
        (
            "formats/planted.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from longbeam.flows import generate",
            "a room above it",
        ),
        (
            "generators/planted.py",
            "import importlib\nimportlib.import_module('longbeam.pipeline.driver')",
            "a room above it",
        ),
        ("schemas/planted.py", "__import__('longbeam.models')", "a room above it"),
        ("generators/planted.py", "import longbeam", "neither a room nor a leaf"),
        ("generators/planted.py", "from longbeam import generate", "neither a room nor a leaf"),
        ("generators/planted.py", "from longbeam import *", "neither a room nor a leaf"),
        ("errors.py", "from longbeam.schemas import base", "is a leaf"),
        ("planted_leaf.py", "from longbeam.errors import UserError", "is a leaf"),
        ("helpers/__init__.py", "", "no such room"),
    ],
)
def test_a_planted_import_is_found(tmp_path: Path, file: str, source: str, fault: str) -> None:
    (wrong,) = find_wrong_imports(plant(tmp_path, file, source))

    assert wrong.startswith(f"longbeam/{file.removesuffix('/__init__.py')}:")
    assert fault in wrong


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("schemas/a.py", "from longbeam.errors import UserError"),
        ("schemas/a.py", "from . import b\nfrom .b import c\nimport longbeam.schemas.b"),
        ("models/a.py", "from ..schemas.b import c"),
        (
            "generators/probes/a.py",
            "from ..plans import x\nfrom ...models import y\nfrom longbeam.store import z",
        ),
        ("evaluation/a.py", "import longbeam.memory.baselines\nimport longbeam.schemas.b"),
        ("cli/a.py", "from longbeam import __version__, flows\nfrom longbeam.annotation_ui import app"),
        ("__main__.py", "from longbeam.cli import main"),
        ("__init__.py", "def f():\n    from longbeam.pipeline import driver"),
        ("schemas/a.py", "import json, networkx, longbeam_tools\nfrom os import path"),
    ],
)
def test_a_downward_import_is_allowed(tmp_path: Path, file: str, source: str) -> None:
    assert find_wrong_imports(plant(tmp_path, file, source)) == []


def plant(folder: Path, file: str, source: str) -> Path:
    """Make a package `longbeam` of one file and a leaf, and return its folder."""
    package = folder / "longbeam"
    planted = package / file
    planted.parent.mkdir(parents=True)
    (package / "errors.py").write_text("", encoding="utf-8")
    planted.write_text(source + "\n", encoding="utf-8")
    return package


# Code above the writer knows it under no name: it receives models and services from `wiring`. What is left are the
# name of the default model, which is also what a spec of an earlier version says, and texts that users read.
OFFLINE_LINES = {
    "schemas/defaults.py": ('DEFAULT_MODEL = "offline"',),
    "schemas/endpoints.py": ('FORMER_KEYS = {"offline_writer": "sends_extras"',),
    "cli/app.py": ("with its probes, offline.",),
    "cli/serving.py": (
        "serve-offline, serve-memory",
        '@app.command("serve-offline", short_help="Serve the offline writer over HTTP, with faults.")',
        "def serve_offline(",
        '"""Serve the offline writer at an OpenAI-compatible address',
    ),
    "pipeline/cost/estimate.py": ("from an offline rehearsal",),
}


def work_arguments(source: str) -> tuple[list[str], list[str]]:
    """Return what a module passes as the work of a unit: functions of a module, and anything else."""
    tree = ast.parse(source)
    named = {
        name.asname or name.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names
    }
    named |= {node.name for node in tree.body if isinstance(node, ast.AsyncFunctionDef)}
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    works = [ast.unparse(word.value) for call in calls for word in call.keywords if word.arg == "work"]
    return [w for w in works if w in named], [w for w in works if w not in named]


def test_the_work_of_a_unit_is_a_function_of_a_module() -> None:
    modules = (PACKAGE / "pipeline").rglob("*.py")
    found = {path.name: work_arguments(path.read_text(encoding="utf-8")) for path in modules}
    assert sum(len(functions) for functions, _ in found.values()) > 15
    # `run_or` hands the work that it was given to `run`.
    assert {name: other for name, (_, other) in found.items() if other} == {"units.py": ["work"]}


def test_only_wiring_imports_the_offline_writer() -> None:
    importing = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for _, target in _imported_modules(path, PACKAGE)
        if target.split(".")[0] == "offline"
    }
    assert {path for path in importing if not path.startswith("offline/")} == {"wiring.py"}


def test_production_code_contains_no_word_of_the_offline_writer() -> None:
    found = [
        f"{name}:{number}: {line.strip()}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if not (name := path.relative_to(PACKAGE).as_posix()).startswith("offline/") and name != "wiring.py"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "offline" in line.casefold() and not any(text in line for text in OFFLINE_LINES.get(name, ()))
    ]
    assert found == []


OTHER_NAMES = {
    "sklearn": "scikit-learn",
    "Stemmer": "pystemmer",
    "markdown_it": "markdown-it-py",
    "mem0": "mem0ai",
    "pydantic_core": "pydantic",
    "starlette": "fastapi",
    "text_to_num": "text2num",
    "toktok": "toktok-rs",
    "yaml": "pyyaml",
}
"""Distribution of a library that is imported under another name, or that re-exports it."""


def test_every_library_that_is_imported_is_declared() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    declared = {re.split(r"[^\w.-]", line)[0].casefold().replace("_", "-") for group in groups for line in group}
    imported = {
        name.split(".")[0]
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(_tree(path))
        if not (isinstance(node, ast.ImportFrom) and node.level)
        for name in _names_of(node, [])
    }
    libraries = imported - set(sys.stdlib_module_names) - {"longbeam", "__future__"}
    assert sorted(n for n in libraries if OTHER_NAMES.get(n, n).casefold().replace("_", "-") not in declared) == []


def test_the_command_line_starts_without_the_heavy_libraries() -> None:
    code = (
        "import longbeam.cli, sys; "
        "print(*sorted({'prefect', 'openai', 'vllm', 'duckdb', 'faker', 'networkx', 'pydantic'} & sys.modules.keys()))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.stdout.split(), ran.returncode) == ([], 0), ran.stderr


def test_no_file_names_a_package_registry() -> None:
    # Joined here, so that this file passes its own check.
    hosts = [".".join(parts) for parts in (("pypi", "org"), ("files", "pythonhosted", "org"))]
    hosts += [".".join(parts) for parts in (("registry", "npmjs", "org"), ("deb", "debian", "org"))]

    found = [f"{path}: {host}" for path, text in _committed_texts() for host in hosts if host in text.casefold()]

    assert found == []


def _committed_texts() -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the text files that git has or would add; skip the test outside a checkout."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=False)
    if listed.returncode != 0:
        pytest.skip(f"not a git checkout: {listed.stderr.decode().strip()}")
    for name in sorted(set(listed.stdout.decode().split("\0")) - {""}):
        path = REPOSITORY / name
        if not path.is_file():  # deleted in the working tree, or a link to nothing
            continue
        content = path.read_bytes()
        if b"\0" not in content[:8192]:
            yield name, content.decode("utf-8", "replace")
