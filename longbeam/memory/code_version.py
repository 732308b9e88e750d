"""Version of the code of a memory system that is not part of longbeam: its sources, and its package's version.

Answers are stored with this version, so that an edited system is asked again. Systems of longbeam have a version that
its developers raise (`EVALUATION_VERSION`).
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Iterator
from functools import partial
from importlib.metadata import packages_distributions, version
from pathlib import Path
from types import CodeType, ModuleType

_OWN = __name__.partition(".")[0]


def code_version(made_by: object) -> str:
    """Return the digest of the sources and packages of a class or function; empty where all of them are longbeam's.

    Sources are the modules of the class and of its bases: all Python files of a package, or the one file of a module.
    Of a class that a notebook defines, the compiled code counts.
    """
    names = set(_modules_of(made_by))
    tops = sorted(top for name in names if (top := name.partition(".")[0]) not in {_OWN, *sys.stdlib_module_names})
    if not tops:
        return ""
    digest = hashlib.sha256()
    for top in tops:
        for package in packages_distributions().get(top, ()):
            digest.update(f"{package} {version(package)}\0".encode())
        for path in _sources(sys.modules[top]):
            digest.update(path.read_bytes() + b"\0")
    if "__main__" in tops and not getattr(sys.modules["__main__"], "__file__", None):
        digest.update(repr(list(_instructions(made_by))).encode())
    return digest.hexdigest()[:16]


def _modules_of(made_by: object) -> Iterator[str]:
    """Yield the names of the modules of a class with its bases, of a function, or of all parts of a partial one."""
    if isinstance(made_by, partial):
        for part in (made_by.func, *made_by.args):
            yield from _modules_of(part)
    elif inspect.isclass(made_by):
        yield from (base.__module__ for base in inspect.getmro(made_by))
    elif callable(made_by):
        yield made_by.__module__


def _sources(module: ModuleType) -> Iterator[Path]:
    if folders := getattr(module, "__path__", None):
        for folder in folders:
            yield from sorted(Path(folder).rglob("*.py"))
    elif file := getattr(module, "__file__", None):
        yield Path(file)


def _instructions(made_by: object) -> Iterator[object]:
    """Yield the compiled code of the functions of a class, or of a function: a notebook's cells have no file."""
    if isinstance(made_by, partial):
        for part in (made_by.func, *made_by.args):
            yield from _instructions(part)
    elif inspect.isclass(made_by):
        for base in inspect.getmro(made_by):
            if base.__module__ == "__main__":
                for member in vars(base).values():
                    yield from _instructions(member)
    elif inspect.isfunction(made_by):
        yield from _of_code(made_by.__code__)


def _of_code(code: CodeType) -> Iterator[object]:
    yield code.co_code
    yield code.co_names
    for constant in code.co_consts:
        yield from _of_code(constant) if isinstance(constant, CodeType) else [constant]
