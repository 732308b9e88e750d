"""Plug-ins: objects that installed packages offer through entry points, one group for each kind.

    longbeam.abilities    an `Ability`                                       longbeam/abilities/record.py
    longbeam.checks       a `Check`                                          longbeam/validation/base.py
    longbeam.domains      the path of a seeds file                           docs/seeds.md
    longbeam.formats      a `Format`                                         longbeam/formats/registry.py
    longbeam.memory       a `Registered`, or a class with `add` and `search` longbeam/memory/registry.py
    longbeam.models       a function from a model's name to a `ChatModel`    longbeam/models/base.py
    longbeam.rerankers    a function that makes a `Reranker`                 longbeam/memory/cogcanvas/searching.py

An entry point's name is what a spec or the command line says. Nothing is loaded before it is asked for by its name,
but checks, which all run. Names are looked up once for each `sys.path`.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from longbeam.errors import SpecError
from longbeam.terminal import printable


def offered(group: str, built_in: Collection[str] = ()) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by name, sorted; `built_in` are the names that longbeam has itself.

    Raises SpecError for a name that is built in, and for one that two packages offer.
    """
    found = _offered(group)
    if taken := sorted(found.keys() & set(built_in)):
        name = taken[0]
        raise SpecError(f"{_kind(group)}: {name!r} is built in, and {found[name].value} registers it again; rename it")
    return found


def load(group: str, name: str) -> Any:  # Any: each group has its own kind of object
    """Return the object that a package offers under a name; SpecError if it cannot be loaded."""
    point = _offered(group)[name]
    try:
        return point.load()
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # a package may do anything when it is imported, and end with SystemExit
        raise SpecError(f"{_kind(group)}: {name!r} ({point.value}) cannot be loaded: {failure_of(exc)}") from exc


def failure_of(exc: BaseException) -> str:
    """Return what a package's code failed with, on one line."""
    try:
        said = str(exc)
    except BaseException:  # noqa: BLE001 - the text of the exception is the package's code, too
        said = ""
    said = printable(" ".join(said.split()))[:300]
    return f"{type(exc).__name__}: {said}" if said else type(exc).__name__


def unfit(group: str, name: str, wanted: str) -> SpecError:
    """Return the error for an object that is not of its group's kind."""
    return SpecError(f"{_kind(group)}: {_offered(group)[name].value} is no {wanted}")


def _offered(group: str) -> Mapping[str, EntryPoint]:
    return _found_on(tuple(sys.path), group)


@cache
def _found_on(_path: tuple[str, ...], group: str) -> Mapping[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        if point.name in found:
            other = found[point.name].value
            raise SpecError(
                f"{_kind(group)}: {point.name!r} is registered twice, by {other} and {point.value}; remove one"
            )
        found[point.name] = point
    return found


def _kind(group: str) -> str:
    return group.rpartition(".")[2]
