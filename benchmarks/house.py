"""The size and shape of the package at one commit or several: files, lines, single importers, constants, comments.

`python -m benchmarks.house a1b8cb07 HEAD` prints a table with a column for each commit; the working tree is not read.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tarfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from statistics import median

PACKAGE = "longbeam"


@dataclass(frozen=True)
class House:
    """The Python sources of the package at one commit."""

    sources: Mapping[str, str]
    """Text by module (`longbeam.text.words`)."""
    faces: Mapping[str, str]
    """Text of the stubs by package, which say where a package's names come from."""

    @classmethod
    def at(cls, commit: str) -> House:
        """Return the package at a commit of this repository."""
        packed = subprocess.run(["git", "archive", commit, PACKAGE], check=True, capture_output=True).stdout
        sources, faces = dict[str, str](), dict[str, str]()
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            for member in archive:
                path = PurePosixPath(member.name)
                if (file := archive.extractfile(member)) is None or path.suffix not in {".py", ".pyi"}:
                    continue
                module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
                (sources if path.suffix == ".py" else faces)[module] = file.read().decode()
        return cls(sources, faces)

    @cached_property
    def trees(self) -> Mapping[str, ast.Module]:
        """Parsed sources by module."""
        return {module: ast.parse(text) for module, text in self.sources.items()}

    @cached_property
    def lines(self) -> Mapping[str, int]:
        """Lines by module."""
        return {module: len(text.splitlines()) for module, text in self.sources.items()}

    def lines_by_package(self) -> Mapping[str, int]:
        """Return the lines of each top-level package; modules beside them count as `(top)`."""
        found = Counter[str]()
        packages = {module.split(".")[1] for module in self.sources if module.count(".") > 1}
        for module, count in self.lines.items():
            name = module.split(".")[1] if "." in module else ""
            found[name if name in packages else "(top)"] += count
        return found

    def single_importers(self) -> int:
        """Return the number of modules that one other module imports, in the same folder."""
        importers: dict[str, set[str]] = defaultdict(set)
        for module, tree in self.trees.items():
            for target in self._imported(tree):
                importers[target].add(module)
        folders = {module: module.rpartition(".")[0] for module in self.sources}
        return sum(
            len(by := importers[module] - {module, folders[module]}) == 1 and folders[next(iter(by))] == folders[module]
            for module in self.sources
        )

    def _imported(self, tree: ast.Module) -> Iterator[str]:
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(PACKAGE):
                for alias in node.names:
                    beneath = f"{node.module}.{alias.name}"
                    yield beneath if beneath in self.sources else self._origin(node.module, alias.name)

    def _origin(self, package: str, name: str) -> str:
        return self._origins.get((package, name), package)

    @cached_property
    def _origins(self) -> Mapping[tuple[str, str], str]:
        """Module of each name that a package's face offers."""
        return {
            (package, alias.name): f"{package}.{node.module}"
            for package, text in self.faces.items()
            for node in ast.parse(text).body
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }

    def constants(self) -> int:
        """Return the number of names at module level that are given a number."""
        return sum(
            isinstance(node, ast.Assign | ast.AnnAssign) and _is_number(node.value)
            for tree in self.trees.values()
            for node in tree.body
        )

    def comments_per_hundred(self) -> float:
        """Return the comments per hundred lines, without those that only talk to a tool."""
        found = sum(
            token.type == tokenize.COMMENT and not token.string.startswith(("# noqa", "# type:", "# fmt:"))
            for text in self.sources.values()
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
        )
        return 100 * found / sum(self.lines.values())

    def clashes(self) -> int:
        """Return the number of class names that two modules or more give to a class."""
        names = Counter(n.name for t in self.trees.values() for n in t.body if isinstance(n, ast.ClassDef))
        return sum(count > 1 for count in names.values())

    def figures(self) -> Mapping[str, str]:
        """Return the rows of the table."""
        sizes = self.lines.values()
        return {
            "files": f"{len(sizes)}",
            "lines": f"{sum(sizes):,}",
            "median lines a file": f"{median(sizes):g}",
            "files over 600 lines": f"{sum(size > 600 for size in sizes)}",
            "modules with a single importer": f"{self.single_importers()}",
            "numeric constants at module level": f"{self.constants()}",
            "comments per hundred lines": f"{self.comments_per_hundred():.1f}",
            "class names with two classes": f"{self.clashes()}",
            **{f"lines of `{name}`": f"{count:,}" for name, count in sorted(self.lines_by_package().items())},
        }


def _is_number(node: ast.expr | None) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def table(commits: list[str]) -> str:
    """Return a Markdown table with a column for each commit."""
    columns = [House.at(commit).figures() for commit in commits]
    rows = dict.fromkeys(name for column in columns for name in column)
    return "\n".join(
        (
            f"| | {' | '.join(commits)} |",
            f"|---|{'---|' * len(commits)}",
            *(f"| {name} | {' | '.join(column.get(name, '–') for column in columns)} |" for name in rows),
        )
    )


if __name__ == "__main__":
    print(table(sys.argv[1:] or ["HEAD"]))
