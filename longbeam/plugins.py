"""Plug-ins: objects that installed packages offer through entry points, one group for each kind.

    longbeam.abilities    an `Ability`                                       longbeam/abilities/record.py
    longbeam.checks       a `Check`                                          longbeam/validation/base.py
    longbeam.domains      the path of a seeds file                           docs/seeds.md
    longbeam.formats      a `Format`                                         longbeam/formats/registry.py
    longbeam.memory       a `Registered`, or a class with `add` and `search` longbeam/memory/registry.py
    longbeam.models       a function from a model's name to a `ChatModel`    longbeam/models/base.py
    longbeam.retrievers   a function that makes a `TextRetriever`            longbeam/memory/index.py
    longbeam.rerankers    a function that makes a `Reranker`                 longbeam/memory/cogcanvas/searching.py

An entry point's name is what a spec or the command line says. Nothing is loaded before it is asked for by its name,
but checks, which all run. Names are looked up once for each `sys.path`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from longbeam.errors import SpecError
from longbeam.terminal import printable, whole_text

_loaded: dict[str, str] = {}
"""Plug-ins that were loaded, as an error names them, by their module."""


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
    _loaded[point.module] = f"{_kind(group)}: {name!r} ({point.value})"
    try:
        return point.load()
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # a package may do anything when it is imported, and end with SystemExit
        raise SpecError(f"{_kind(group)}: {name!r} ({point.value}) cannot be loaded: {failure_of(exc)}") from exc


def culprit(exc: BaseException) -> str:
    """Return the plug-in in whose code an exception was raised, and what it failed with, on one line; else empty."""
    for failure in _chain_of(exc):
        trace, found = failure.__traceback__, ""
        while trace is not None:
            found = _plug_in_of(trace.tb_frame.f_globals.get("__name__", "")) or found
            trace = trace.tb_next
        if found:
            return f"{found} failed: {failure_of(failure)}"
    return ""


def _chain_of(exc: BaseException) -> Iterator[BaseException]:
    """Yield an exception, the parts of a group, and what it was raised from."""
    yield exc
    for part in exc.exceptions if isinstance(exc, BaseExceptionGroup) else ():
        yield from _chain_of(part)
    if exc.__cause__ is not None:
        yield from _chain_of(exc.__cause__)


def _plug_in_of(module: str) -> str:
    """Return the plug-in whose module or package holds a module; empty if none does."""
    if module in _loaded:
        return _loaded[module]
    package = module.partition(".")[0]
    return next((told for name, told in _loaded.items() if name.partition(".")[0] == package), "")


def failure_of(exc: BaseException) -> str:
    """Return what a package's code failed with, on one line."""
    try:
        said = f"{type(exc).__name__}: {exc}"
    except BaseException:  # noqa: BLE001 - the text of the exception is the package's code, too
        said = type(exc).__name__
    return printable(whole_text(" ".join(said[:2_000].split())))[:300].removesuffix(":")


def require_returned(found: object, fits: Callable[[Any], bool], where: str, allowed: str) -> None:
    """Raise SpecError if a package's function returned a value of another kind; `where` names the function."""
    try:
        is_fit = fits(found)
    except Exception:  # noqa: BLE001 - a value of another kind may raise at anything
        is_fit = False
    if not is_fit:
        raise SpecError(f"{where} returned {type(found).__name__}; it must return {allowed}")


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
