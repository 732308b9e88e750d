"""Faces of packages: the names that others import from `longbeam.PACKAGE`, listed in `__init__.pyi`, loaded lazily.

`make faces` makes every import from outside a package go through its face, and writes the faces anew from what
is imported. A name that two modules of a package define has no place on a face; it is imported by module.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOTS = ("longbeam", "tests", "benchmarks", "docs")
NO_FACE = {"longbeam", "longbeam.cli"}
"""Packages whose face is written by hand: the Python library, and the list of commands."""
LOADER = "import lazy_loader\n\n__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)\n"


@dataclass(frozen=True)
class Use:
    """One statement outside a package that imports names of the package or of one of its modules."""

    path: Path
    node: ast.ImportFrom
    package: str
    module: str | None
    """Module that the statement names; None when it names the package."""


@dataclass
class House:
    """The modules of a checkout, what they define, and who imports it from outside their package."""

    root: Path

    @cached_property
    def modules(self) -> dict[str, Path]:
        """Every module and package of longbeam by its dotted name."""
        return {_dotted(path, self.root): path for path in sorted((self.root / "longbeam").rglob("*.py"))}

    def is_package(self, name: str) -> bool:
        return name in self.modules and self.modules[name].name == "__init__.py"

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """Imports of names from outside their top-level package; tests and benchmarks are outside of all."""
        return tuple(self._read_uses())

    def _read_uses(self) -> Iterator[Use]:
        library = self.root / "longbeam" / "__init__.pyi"
        sources = sorted(p for root in ROOTS for p in (self.root / root).rglob("*.py"))
        for path in [*sources, *([library] if library.exists() else [])]:
            importer = _dotted(path, self.root)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.ImportFrom):
                    continue
                if node.level:
                    if path != library:
                        continue
                    node.module = f"longbeam.{node.module}"
                if node.module not in self.modules:
                    continue
                is_face = self.is_package(node.module)
                package = node.module if is_face else node.module.rpartition(".")[0]
                if package not in NO_FACE and not _is_inside(importer, package):
                    yield Use(path, node, package, None if is_face else node.module)

    def home(self, package: str, name: str) -> str | None:
        """Return the module of a package that defines a name; "" for a module itself; None if none or several do."""
        if homes := self._homes[package].get(name):
            return homes[0] if len(homes) == 1 else None
        whole = f"{package}.{name}"
        return "" if whole in self.modules and not self.is_package(whole) else None

    @cached_property
    def _homes(self) -> dict[str, dict[str, list[str]]]:
        """Modules that define a name, by package and name."""
        homes: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for module, path in self.modules.items():
            package, _, stem = module.rpartition(".")
            if not self.is_package(module):
                for name in set(_defined_names(ast.parse(path.read_text(encoding="utf-8")).body)):
                    homes[package][name].append(stem)
        return homes


def misplaced_imports(house: House) -> list[str]:
    """Return one line for each import that names a module although the name stands on a face."""
    return [
        f"{use.path.relative_to(house.root)}:{use.node.lineno}: {alias.name} of {use.module} is {use.package}'s"
        for use in house.uses
        if use.module
        for alias in use.node.names
        if not alias.name.startswith("_") and house.home(use.package, alias.name)
    ]


def written_faces(house: House) -> dict[Path, str]:
    """Return the stub of each package: the names that are imported from outside, by their modules."""
    names: dict[str, set[str]] = defaultdict(set)
    for use in house.uses:
        names[use.package].update(a.name for a in use.node.names if not a.name.startswith("_"))
    faces = {}
    for package, used in names.items():
        lines: dict[str, list[str]] = defaultdict(list)
        for name in sorted(used):
            if (module := house.home(package, name)) is not None:
                lines[module].append(f"{name} as {name}")
        text = "".join(f"from .{module} import {', '.join(lines[module])}\n" for module in sorted(lines))
        faces[house.modules[package].with_suffix(".pyi")] = text
    return faces


def _defined_names(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.If(body=inner, orelse=other):
                yield from _defined_names([*inner, *other])
            case ast.Try(body=inner, handlers=handlers):
                yield from _defined_names([*inner, *(n for h in handlers for n in h.body)])


def _dotted(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _is_inside(importer: str, package: str) -> bool:
    """Return whether a module belongs to the top-level package of a package, whose parts know each other."""
    return importer.split(".")[:2] == package.split(".")[:2]


def _redirect(house: House) -> None:
    """Make each import from outside name the face."""
    edits: dict[Path, list[Use]] = defaultdict(list)
    for use in house.uses:
        if use.module:
            edits[use.path].append(use)
    for path, uses in edits.items():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        for use in sorted(uses, key=lambda u: -u.node.lineno):
            statement = "".join(lines[use.node.lineno - 1 : use.node.end_lineno])
            indent = statement[: len(statement) - len(statement.lstrip())]
            note = re.search(r"  # noqa.*$", statement, re.M)
            parts: dict[str, list[str]] = {}
            for alias in use.node.names:
                on_face = not alias.name.startswith("_") and house.home(use.package, alias.name)
                source = use.package if on_face else use.module or use.package
                parts.setdefault(source, []).append(alias.name + (f" as {alias.asname}" if alias.asname else ""))
            lines[use.node.lineno - 1 : use.node.end_lineno] = [
                f"{indent}from {source} import {', '.join(names)}{note.group(0) if note else ''}\n"
                for source, names in parts.items()
            ]
        path.write_text("".join(lines), encoding="utf-8")


def main() -> None:
    """Redirect imports to faces and write the faces; ruff puts both in order afterwards."""
    root = Path(__file__).resolve().parents[1]
    _redirect(House(root))
    house = House(root)
    for stub, text in written_faces(house).items():
        stub.write_text(text, encoding="utf-8")
        init = stub.with_suffix(".py")
        source = init.read_text(encoding="utf-8")
        if "attach_stub" not in source:
            doc = ast.get_docstring(ast.parse(source), clean=False) or f"Package `{_dotted(init, root)}`."
            init.write_text(f'"""{doc}"""\n\n{LOADER}', encoding="utf-8")


if __name__ == "__main__":
    main()
