"""Each file and module that the documentation, a docstring or a comment names is in the repository."""

from __future__ import annotations

import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = sorted([*REPOSITORY.glob("docs/**/*.md"), REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md"])
MODULES = sorted(REPOSITORY.glob("longbeam/**/*.py"))

_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s#]+)(?:#[^)]*)?\)")
_MODULE = re.compile(r"(?<![\w./-])longbeam((?:\.[A-Za-z_]\w*)+)(?![\w/])")
# A path begins with a folder of the repository or ends like a source file. `<name>`, `NAME`, `*` stand for any name.
_PATH = re.compile(
    r"(?<![\w./<>*:-])((?:longbeam|docs|design|tests|benchmarks)/[\w./<>*-]+|(?:\.\./)*[\w/<>*-]+\.(?:py|md|j2))(?![\w*])"
)
_ANY_NAME = re.compile(r"<\w+>|\*|(?<![A-Z])(?:NAME|NNNN)(?![A-Z])")

READERS_OWN = frozenset(
    {
        "graphrag_memory.py",
        "notes.py",
        *(f"example_{kind}.py" for kind in ("check", "domain", "embedder", "format", "memory", "model")),
        "example_reranker.py",
        "example_retriever.py",
    }
)
"""Files that a page tells its reader to write."""
OF_OTHERS = frozenset(
    {
        "answer_generation.py",
        "download_dataset.py",
        "evaluate_gpts.py",
        "evaluate_qa.py",
        "eval_utils.py",
        "evaluation_stats.py",
        "print_qa_metrics.py",
        "run_evaluation.py",
        "run_retrieval.py",
    }
)
"""Scripts of other projects that read our exports; docs/official-scripts.md says where they are."""


@cache
def _names() -> str:
    """Files of the repository and their folders, one a line."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=False)
    if listed.returncode != 0:
        pytest.skip(f"not a git checkout: {listed.stderr.decode().strip()}")
    files = {PurePosixPath(name) for name in listed.stdout.decode().split("\0") if (REPOSITORY / name).is_file()}
    return "\n".join(sorted(str(path) for file in files for path in (file, *file.parents)))


@cache
def _strings() -> frozenset[str]:
    """Dotted names in quotes in the package: groups of entry points, loggers."""
    return frozenset(
        name for module in MODULES for name in re.findall(r'"(longbeam\.[\w.]+)"', module.read_text("utf-8"))
    )


def find_missing(text: str, file: Path) -> list[str]:
    """Return the paths and module names in a text of `file` that name nothing in the repository."""
    links = (
        {link for link in _LINK.findall(text) if not (file.parent / link).exists()} if file.suffix == ".md" else set()
    )
    paths = {path.rstrip("./") for path in _PATH.findall(_LINK.sub("]", text))} - READERS_OWN
    names = {f"longbeam{names}" for names in _MODULE.findall(text)} - _strings()
    paths = {path for path in paths if PurePosixPath(path).name not in OF_OTHERS}
    missing = {path for path in paths if not (_is_path(path) or (file.parent / path).exists())}
    missing |= {name for name in names if not _is_module(name.split(".")[1:])}
    return sorted(links | missing)


@cache
def _is_path(path: str) -> bool:
    """Whether a file or a folder of the repository has this path, or a path that ends with it."""
    pattern = "[^/\n]*".join(map(re.escape, _ANY_NAME.split(path)))
    if re.fullmatch(r".*design/\d{4}", path):  # a design note may be called by its number
        pattern += "-.*"
    return re.search(rf"^(?:.*/)?{pattern}$", _names(), re.MULTILINE) is not None


def _is_module(names: list[str]) -> bool:
    """Whether the dotted name below the package is a module, a package, or something that one of them defines."""
    folder = REPOSITORY / "longbeam"
    for i, name in enumerate(names):
        if (folder / name).is_dir():
            folder /= name
            continue
        module = folder / f"{name}.py"
        rest = names[i + 1 :] if module.is_file() else names[i:]
        files = [module] if module.is_file() else sorted(folder.glob("__init__.py*"))
        source = "".join(path.read_text(encoding="utf-8") for path in files)
        return all(re.search(rf"\b{name}\b", source) for name in rest)
    return True


def _prose_of(source: str) -> Iterator[str]:
    """Yield the comments and the docstrings (strings that are a statement) of a module."""
    previous = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
            continue
        if token.type == tokenize.STRING and previous in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            yield token.string
        if token.type != tokenize.NL:
            previous = token.type


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(REPOSITORY)))
def test_a_page_names_files_that_exist(page: Path) -> None:
    assert find_missing(page.read_text(encoding="utf-8"), page) == []


def test_docstrings_and_comments_name_files_that_exist() -> None:
    found = {
        str(module.relative_to(REPOSITORY)): missing
        for module in MODULES
        if (missing := find_missing("\n".join(_prose_of(module.read_text(encoding="utf-8"))), module))
    }
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        "see [notes](../docs/gone.md)",
        "`longbeam/gone.py`",
        "docs/gone.md says it",
        "(design/9999)",
        "`pipeline/gone/units.py`",
        "tests/gone/test_x.py",
        "gone.py",
        "longbeam.gone",
        "longbeam.keys.GoneKey",
        "reference/gone.md",
    ],
)
def test_a_missing_file_is_found(text: str) -> None:
    assert find_missing(text, REPOSITORY / "docs" / "page.md") != []


@pytest.mark.parametrize(
    "text",
    [
        "[lengths](lengths.md#times), [home](../README.md), [there](https://example.org/gone.md)",
        "`longbeam/keys.py`, `prompts/registry.py`, `environment.py`, docs/design/0003",
        "design/0003, `longbeam/prompts/calls/<stage>.py`, `templates/*.j2`, `longbeam/offline/`",
        "longbeam.keys.MessageKey, `python -m longbeam.prompts.lock`, longbeam.prompts",
    ],
)
def test_a_file_that_exists_is_not_missing(text: str) -> None:
    assert find_missing(text, REPOSITORY / "docs" / "page.md") == []
