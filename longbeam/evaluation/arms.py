"""Arms of an evaluation, the rows of its table: systems, floors, and fixed answers that need no reader.

The name of a row says what ran: the system, its mode, and every setting that is not the default, the embedding model
and the retriever among them. `--system` reads such names, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import get_args

from longbeam.errors import SpecError
from longbeam.evaluation.fixed_answers import FIXED_ANSWERS, WRITTEN_ANSWERS
from longbeam.memory import FLOORS, Registered, find_system, registered, settings_of
from longbeam.prompts import default_registry
from longbeam.schemas import EvaluationSettings, Record, Role

EVIDENCE = "evidence"
"""Arm whose reader sees the cited messages, as with perfect retrieval."""
_BETWEEN = re.compile(r",(?![^\[\]]*\])")
"""A comma outside of brackets."""
_LABEL = re.compile(r"^([\w .-]+)=")
"""Name of a row, before its system."""


@dataclass(frozen=True)
class Arm:
    """One row of the table."""

    name: str
    """`rag[k=10,retriever=bm25]`, or the name that an evaluation file gives it."""
    registered: Registered | None = None
    """None for fixed answers and for the evidence."""
    settings: Record | None = None
    system: str = ""
    """System without its settings, which its calls of preparation share; empty: the name up to its bracket."""
    given: Mapping[str, object] = field(default_factory=dict)
    """Settings as they were given."""
    embedder: str = ""
    """Embedding model of the evaluation that the system uses; empty for none."""
    budget: int | None = None
    """Tokens of context; None for the evaluation's."""

    @cached_property
    def version(self) -> str:
        """Version of the code of a system that is not longbeam's; empty for others."""
        return self.registered.version if self.registered else ""

    @property
    def base(self) -> str:
        """The system without its settings."""
        return self.system or self.name.partition("[")[0]

    @property
    def mode(self) -> str:
        """Mode in which a product works; empty for a system that has one only."""
        return self.registered.mode_of(self.settings) if self.registered and self.settings is not None else ""

    @property
    def is_fixed(self) -> bool:
        """Whether the answers need no reader."""
        return self.name in FIXED_ANSWERS

    @property
    def reads_budget(self) -> bool:
        """Whether it reads as much as the budget allows, and not the whole window."""
        return self.registered is not None and not self.registered.reads_everything

    @property
    def learns(self) -> bool:
        """Whether it learns on the other conversations of a benchmark."""
        return self.registered is not None and self.registered.learns

    @property
    def asks_extractor(self) -> bool:
        """Whether its system may ask the extractor, as far as it says."""
        if self.registered is None or self.mode in self.registered.model_modes:
            return self.registered is not None
        prompts = default_registry()
        return any(prompts[name].role is Role.EXTRACTOR for name in self.registered.prompts or ())

    def budget_in(self, settings: EvaluationSettings) -> int:
        """Return the tokens of context that it is allowed."""
        return (self.budget or settings.budget) if self.reads_budget else settings.window

    def changed(self) -> dict[str, str]:
        """Return the settings that make it another system than the default one, as text, without its mode's."""
        if self.registered is None or self.settings is None:
            return {}
        modes = self.registered.modes.get(self.mode, {})
        found = {
            key: _text_of(getattr(self.settings, key))
            for key in self.given
            if key not in modes and self._makes_a_difference(key)
        }
        if self.embedder:
            found["embedder"] = self.embedder
            if "retriever" not in modes and (used := self.registered.retriever_of(self.settings, self.embedder)):
                found["retriever"] = used
        if self.budget is not None:
            found["budget"] = str(self.budget)
        return dict(sorted(found.items()))

    def _makes_a_difference(self, key: str) -> bool:
        assert self.registered is not None
        others = {name: value for name, value in self.given.items() if name != key}
        try:
            return settings_of(self.base, self.registered, others) != self.settings
        except SpecError:  # a setting without a default
            return True


def _text_of(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _named(arm: Arm) -> Arm:
    parts = [*filter(None, [arm.mode]), *(f"{key}={value}" for key, value in arm.changed().items())]
    return replace(arm, name=f"{arm.base}[{','.join(parts)}]" if parts else arm.base)


def always_there(*, has_model: bool = False) -> tuple[Arm, ...]:
    """Return the floors, the ceilings and the answers that calibrate the judge, which every evaluation has.

    `has_model`: whether a language model judges or reads, which then writes some of these answers.
    """
    floors = [Arm(name, found, settings_of(name, found, {})) for name, found in FLOORS.items()]
    written = WRITTEN_ANSWERS if has_model else ()
    return (*(Arm(name) for name in (*FIXED_ANSWERS, *written)), *floors, Arm(EVIDENCE))


def arm_of(system: str | type, values: Mapping[str, object], label: str = "") -> Arm:
    """Return a system, by its name or its class, with settings; SpecError names a setting that does not fit.

    `system` may have settings in brackets, as the name of a row has: `mem0[infer]`, `rag[k=10]`. `label`: the name of
    the row in place of the one that says the settings.
    """
    name, inside = (system, "") if isinstance(system, str) else (system.__name__, "")
    if isinstance(system, str) and (match := re.fullmatch(r"(.+?)\[(.*)\]", system)):
        name, inside = match.groups()
    found = find_system(name) if isinstance(system, str) else registered(system, name)
    values = {**_bracketed(name, inside, found), **values}
    arm = Arm(name, found, settings_of(name, found, values), system=name, given=values)
    return replace(arm, name=label) if label else _named(arm)


def _bracketed(name: str, inside: str, found: Registered) -> dict[str, object]:
    """Return the settings that stand in brackets behind a system's name; SpecError for a part that is none."""
    values: dict[str, object] = {}
    for part in filter(None, (p.strip() for p in inside.split(","))):
        key, equals, value = part.partition("=")
        if equals:
            values[key.strip()] = value.strip()
        elif part in found.modes:
            values.update(found.modes[part])
        else:
            modes = f"one of its modes, {', '.join(found.modes)}, or " if found.modes else ""
            raise SpecError(f"{name}[{inside}]: {part!r} is no setting of {name}; write {modes}SETTING=VALUE")
    return values


def arms_of(systems: str, settings: Sequence[str], grid: Sequence[str]) -> list[Arm]:
    """Return the systems, each with every combination of its grid.

    `systems`: names separated by commas, with settings in brackets or without; `Acme=package.module:Memory` has the
    name Acme in tables. `settings`: `rag.k=10`. `grid`:
    `rag.k=5,10`. Raises SpecError for a part that does not fit.
    """
    names = names_in(systems)
    labels = [_LABEL.match(part) for part in _parts_of(systems)]
    fixed = [_parsed(text, "--set") for text in settings]
    varied = [_parsed(text, "--grid") for text in grid]
    known = {name.partition("[")[0] for name in names}
    for system, setting, _ in (*fixed, *varied):
        if system not in known:
            raise SpecError(f"{system}.{setting}: {system!r} is not among --system {systems}; add it there")
    arms = []
    for name, label in zip(names, labels, strict=True):
        own = name.partition("[")[0]
        base = {setting: value for system, setting, value in fixed if system == own}
        axes = [[(setting, v) for v in value.split(",")] for system, setting, value in varied if system == own]
        # A value of the grid replaces the same setting of `--set`.
        arms += [arm_of(name, {**base, **dict(chosen)}, label[1] if label else "") for chosen in product(*axes)]
    refuse_doubled(arms)
    return arms


def names_in(systems: str) -> list[str]:
    """Return the systems that stand between commas, without labels; a comma in brackets parts settings."""
    return [_LABEL.sub("", part) for part in _parts_of(systems)]


def _parts_of(systems: str) -> list[str]:
    return [part.strip() for part in _BETWEEN.split(systems) if part.strip()]


def refuse_doubled(arms: Iterable[Arm]) -> None:
    """Raise SpecError if two rows would have one name."""
    names = [arm.name for arm in arms]
    if doubled := [name for name in names if names.count(name) > 1]:
        raise SpecError(f"system {doubled[0]} is asked for twice; name it once")


def with_embedder(arm: Arm, embedder: str) -> Arm:
    """Return an arm of an evaluation with this embedding model; its name says so where the system uses it."""
    if arm.registered is None or arm.settings is None:
        return arm
    used = arm.registered.embedder_of(arm.settings, embedder)
    changed = replace(arm, embedder=used)
    return _named(changed) if used and arm.name == _named(arm).name else changed


def at_budgets(arms: Iterable[Arm], budgets: Sequence[int]) -> list[Arm]:
    """Return the arms, those that read a budget once with each of several budgets, which their names say."""
    found = []
    for arm in arms:
        several = arm.reads_budget and len(budgets) > 1
        has_label = arm.name != _named(arm).name
        for budget in budgets if several else ():
            changed = replace(arm, budget=budget)
            found.append(replace(changed, name=f"{arm.name} {budget}") if has_label else _named(changed))
        if not several:
            found.append(arm)
    return found


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
    for name in dict.fromkeys(name.partition("[")[0] for name in names_in(systems)):
        field_of = find_system(name).settings.model_fields.get(setting)
        if field_of is not None:
            known[name] = [choice for choice in get_args(field_of.annotation) if choice != "nothing"]
    return known


def _having(known: Mapping[str, Sequence[str]], what: str) -> str:
    return "; ".join(f"{name} has {', '.join(choices)}" for name, choices in known.items()) or f"none has {what}"


def _parsed(text: str, option: str) -> tuple[str, str, str]:
    left, equals, value = text.partition("=")
    system, dot, setting = left.strip().rpartition(".")
    if not (equals and dot and system and setting and value):
        raise SpecError(f"{option} {text!r}: write SYSTEM.SETTING=VALUE, such as rag.k=10")
    return system, setting, value.strip()
