"""Evaluation files: an evaluation with its systems, models and budgets as TOML, `longbeam evaluate EVAL.toml`.

benchmarks = ["demo"]
title = "Our memory, November"
reader = "openai:gpt-5-mini"
budgets = [1000, 4000]

`readers = [...]` in place of `reader` asks several, and puts readers, systems and benchmarks into one table. `judges`
in place of `judge` has each of several judge the same answers, and adds their agreement, two by two.

[[systems]]
system = "rag"
name = "rag, ten passages"
settings = { k = 10 }
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from longbeam.errors import UserError
from longbeam.evaluation import Arm, arm_of, refuse_doubled
from longbeam.library.measuring import MeasuringOptions
from longbeam.store import write_atomically


class _System(BaseModel):
    """One system of an evaluation file."""

    model_config = ConfigDict(extra="forbid")

    system: str
    name: str = ""
    """Name of its row; empty for the one that says its settings."""
    settings: dict[str, Any] = Field(default_factory=dict)


class _EvaluationFile(BaseModel):
    """The fields of an evaluation file; those that are left out are those of the command line."""

    model_config = ConfigDict(extra="forbid")

    benchmarks: list[str] = Field(min_length=1)
    systems: list[_System] = Field(min_length=1)
    name: str | None = None
    title: str | None = None
    spec: str | None = None
    reader: str | None = None
    readers: list[str] | None = Field(default=None, min_length=1)
    """Several readers; each benchmark is evaluated with each of them, and one table has all."""
    judge: str | None = None
    judges: list[str] | None = Field(default=None, min_length=1)
    extractor: str | None = None
    embedder: str | None = None
    budgets: list[int] | None = Field(default=None, min_length=1)
    window: int | None = Field(default=None, ge=1_000)
    lenient: bool | None = None
    control: str | None = None
    parallel: int | None = Field(default=None, ge=1)
    max_cost: float | None = Field(default=None, gt=0)
    limit: int | None = Field(default=None, ge=1)


_OPTIONS = {"budgets": "budget", "lenient": "is_lenient", "max_cost": "max_cost_usd"}
"""Options that the file calls otherwise."""


@dataclass(frozen=True)
class NamedEvaluation:
    """One benchmark of an evaluation file."""

    benchmark: str
    arms: Sequence[Arm]
    options: MeasuringOptions


def read_evaluation(path: Path) -> list[NamedEvaluation]:
    """Return the evaluations of a file, one for each benchmark, reader and judge; UserError names what does not fit.

    A spec file that it names is found beside it.
    """
    try:
        read = _EvaluationFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as exc:
        raise UserError(f"{path}: {exc.strerror}; write one with `longbeam evaluate NAME --save {path}`") from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise UserError(f"{path}: is no TOML: {exc}") from exc
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        where = ".".join(str(part) for part in error["loc"])
        fields = ", ".join(_EvaluationFile.model_fields)
        raise UserError(f"{path}: {where} = {error['input']!r}: {error['msg']}; fields are {fields}") from exc
    arms = [arm_of(one.system, one.settings, one.name) for one in read.systems]
    refuse_doubled(arms)
    given = read.model_dump(exclude_none=True, exclude={"benchmarks", "systems", "spec", "readers", "judges"})
    options: MeasuringOptions = {_OPTIONS.get(key, key): value for key, value in given.items()}  # type: ignore[assignment]
    if read.spec is not None:
        options["spec"] = path.parent / read.spec
    named = {"reader": read.readers, "judge": read.judges}
    models = product(*([(key, model) for model in of] for key, of in named.items() if of is not None))
    each = [MeasuringOptions(**{**options, **dict(of)}) for of in models]  # type: ignore[typeddict-item]
    return [NamedEvaluation(name, arms, of) for name in read.benchmarks for of in each]


def write_evaluation(path: Path, benchmark: str, arms: Sequence[Arm], options: MeasuringOptions) -> None:
    """Write an evaluation of the command line as a file that asks for the same."""
    file_names = {option: key for key, option in _OPTIONS.items()}
    given: Mapping[str, object] = options
    lines = [f"benchmarks = {_toml([benchmark])}"]
    for option, value in given.items():
        key = file_names.get(option, option)
        if key in _EvaluationFile.model_fields and value not in (None, "", False):
            lines.append(f"{key} = {_toml(str(value) if isinstance(value, Path) else value)}")
    for arm in arms:
        lines += ["", "[[systems]]", f"system = {_toml(arm.base)}"]
        if arm.given:
            pairs = ", ".join(f"{key} = {_toml(value)}" for key, value in arm.given.items())
            lines.append(f"settings = {{ {pairs} }}")
    write_atomically(path, "\n".join(lines) + "\n")


def _toml(value: object) -> str:
    """Return a text, number, truth value or list as TOML, whose strings are those of JSON."""
    import json

    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool | int | float):
        return str(value).lower()
    return json.dumps(str(value), ensure_ascii=False)
