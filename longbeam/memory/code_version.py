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
from types import ModuleType

_OWN = __name__.partition(".")[0]


def code_version(made_by: object) -> str:
    """Return the digest of the sources and packages of a class or function; empty where all of them are longbeam's.

    Sources are the modules of the class and of its bases: all Python files of a package, or the one file of a module.
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
    elif module.__file__:
        yield Path(module.__file__)
