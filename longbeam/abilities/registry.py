"""Abilities by name: BEAM's ten, and those of installed packages.

A package offers an ability through an entry point of the group `longbeam.abilities`; the entry point's name is the
ability's name, and it names an `Ability`. A record is loaded when its ability is first asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Any

from longbeam.abilities.beam import BEAM_ABILITIES
from longbeam.abilities.record import Ability
from longbeam.errors import SpecError
from longbeam.plugins import failure_of, load, offered, unfit

ENTRY_POINTS = "longbeam.abilities"
"""Group under which a package offers an `Ability`: `name = "package.module:ABILITY"`."""

_BUILT_IN = {ability.name: ability for ability in BEAM_ABILITIES}


def ability_names() -> tuple[str, ...]:
    """Return the names of all abilities: BEAM's in its order, then those of installed packages by name."""
    return (*_BUILT_IN, *_plug_ins())


def abilities() -> tuple[Ability, ...]:
    """Return the records of all abilities, in the order of `ability_names`."""
    return tuple(find_ability(name) for name in ability_names())


def find_ability(name: str) -> Ability:
    """Return the record of an ability; raises SpecError for a name that nobody registered."""
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    if name not in _plug_ins():
        raise SpecError(f"abilities: {name!r} is unknown; there are {', '.join(ability_names())}")
    return _load(name)


@cache
def ability_of(name: str) -> Ability:
    """Return the record of a probe's ability; one without traits for a name that nobody registered.

    Imports bring abilities that are not registered here: their probes are checked and scored by the general rules.
    """
    return find_ability(name) if name in _BUILT_IN or name in _plug_ins() else Ability(name=name)


def ability_named(category: str) -> str:
    """Return the name that an ability of an import gets, whose source calls it `category` and which is not registered.

    Ability names stand in probe ids and in paths: they are of letters, digits and `_`.
    """
    return re.sub(r"\W+", "_", category.casefold()).strip("_") or "unnamed"


def resolve(name: str) -> Any:  # Any: whatever a record names
    """Return what `module:attribute` names; raises SpecError if it cannot be imported."""
    module, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # a package may do anything when it is imported, and end with SystemExit
        raise SpecError(f"abilities: {name!r} cannot be loaded: {failure_of(exc)}") from exc


@cache
def _plug_ins() -> Mapping[str, EntryPoint]:
    """Return the entry points of installed packages by ability; SpecError for a name that cannot be used."""
    found = offered(ENTRY_POINTS, _BUILT_IN)
    if unnamed := [name for name in found if name != ability_named(name)]:
        raise SpecError(f"abilities: {unnamed[0]!r} is no name; use lower-case letters, digits and _")
    return found


@cache
def _load(name: str) -> Ability:
    ability = load(ENTRY_POINTS, name)
    if not isinstance(ability, Ability) or ability.name != name:
        raise unfit(ENTRY_POINTS, name, f"Ability of the name {name!r}")
    return ability
