"""Arms of an evaluation, the rows of its table: systems, floors, and fixed answers that need no reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import get_args

from longbeam.errors import SpecError
from longbeam.evaluation.fixed_answers import FIXED_ANSWERS
from longbeam.memory import FLOORS, Registered, find_system, registered, settings_of
from longbeam.schemas import Record

EVIDENCE = "evidence"
"""Arm whose reader sees the cited messages, as with perfect retrieval."""


@dataclass(frozen=True)
class Arm:
    """One row of the table."""

    name: str
    """`rag[k=10,retriever=bm25]`: the system with the settings given on the command line."""
    registered: Registered | None = None
    """None for fixed answers and for the evidence."""
    settings: Record | None = None

    @cached_property
    def version(self) -> str:
        """Version of the code of a system that is not longbeam's; empty for others."""
        return self.registered.version if self.registered else ""

    @property
    def is_fixed(self) -> bool:
        """Whether the answers need no reader."""
        return self.name in FIXED_ANSWERS


def always_there() -> tuple[Arm, ...]:
    """Return the floors, the ceilings and the answers that calibrate the judge, which every evaluation has."""
    floors = [Arm(name, found, settings_of(name, found, {})) for name, found in FLOORS.items()]
    return (*(Arm(name) for name in FIXED_ANSWERS), *floors, Arm(EVIDENCE))


def arm_of(system: str | type, values: Mapping[str, object]) -> Arm:
    """Return a system, by its name or its class, with settings; SpecError names a setting that does not fit."""
    name = system if isinstance(system, str) else system.__name__
    found = find_system(system) if isinstance(system, str) else registered(system, name)
    settings = settings_of(name, found, values)
    given = ",".join(f"{key}={value}" for key, value in sorted(values.items()))
    return Arm(f"{name}[{given}]" if given else name, found, settings)


def arms_of(systems: str, settings: Sequence[str], grid: Sequence[str]) -> list[Arm]:
    """Return the systems, each with every combination of its grid.

    `systems`: names separated by commas. `settings`: `rag.k=10`. `grid`: `rag.k=5,10`. Raises SpecError for a part that
    does not fit.
    """
    names = [name for name in (part.strip() for part in systems.split(",")) if name]
    fixed = [_parsed(text, "--set") for text in settings]
    varied = [_parsed(text, "--grid") for text in grid]
    for system, setting, _ in (*fixed, *varied):
        if system not in names:
            raise SpecError(f"{system}.{setting}: {system!r} is not among --system {systems}; add it there")
    arms = []
    for name in names:
        base = {setting: value for system, setting, value in fixed if system == name}
        axes = [[(setting, v) for v in value.split(",")] for system, setting, value in varied if system == name]
        # A value of the grid replaces the same setting of `--set`.
        arms += [arm_of(name, {**base, **dict(chosen)}) for chosen in product(*axes)]
    if doubled := [a.name for a in arms if [b.name for b in arms].count(a.name) > 1]:
        raise SpecError(f"system {doubled[0]} is asked for twice; name it once")
    return arms


def ablations(without: str, systems: str) -> list[str]:
    """Return a grid of ablations: each system whole, and without each of the named components that it has.

    `systems` and `without`: names separated by commas. Systems without components stay as they are. SpecError names a
    component that no system has.
    """
    asked = [part for part in (p.strip() for p in without.split(",")) if part]
    known = _choices("without", systems)
    for part in asked:
        if not any(part in parts for parts in known.values()):
            raise SpecError(f"--without {part}: no part of --system {systems}: {_having(known, 'parts')}")
    return [
        f"{name}.without=nothing,{','.join(own)}"
        for name, parts in known.items()
        if (own := [part for part in asked if part in parts])
    ]


def variants(variant: str, systems: str) -> list[str]:
    """Return the settings that choose a variant in each system that has it.

    `systems`: names separated by commas. SpecError names a variant that no system has.
    """
    known = _choices("variant", systems)
    having = [name for name, choices in known.items() if variant in choices]
    if variant and not having:
        raise SpecError(f"--variant {variant}: no variant of --system {systems}: {_having(known, 'variants')}")
    return [f"{name}.variant={variant}" for name in having]


def _choices(setting: str, systems: str) -> dict[str, list[str]]:
    """Return the choices of a setting for each system that has it; `nothing` is no choice."""
    known = {}
    for name in dict.fromkeys(part.strip() for part in systems.split(",") if part.strip()):
        field = find_system(name).settings.model_fields.get(setting)
        if field is not None:
            known[name] = [choice for choice in get_args(field.annotation) if choice != "nothing"]
    return known


def _having(known: Mapping[str, Sequence[str]], what: str) -> str:
    return "; ".join(f"{name} has {', '.join(choices)}" for name, choices in known.items()) or f"none has {what}"


def _parsed(text: str, option: str) -> tuple[str, str, str]:
    left, equals, value = text.partition("=")
    system, dot, setting = left.strip().rpartition(".")
    if not (equals and dot and system and setting and value):
        raise SpecError(f"{option} {text!r}: write SYSTEM.SETTING=VALUE, such as rag.k=10")
    return system, setting, value.strip()
