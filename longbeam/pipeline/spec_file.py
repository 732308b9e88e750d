"""From a spec file and the command line to a `BenchmarkSpec`, or one line that says what is wrong.

Options win over the file. A seeds file is looked for beside the spec file that names it, or from the working
folder where the command line names it, and kept as an absolute path: a run may be resumed from elsewhere.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from longbeam.abilities.registry import find_ability
from longbeam.errors import SpecError
from longbeam.generators.seeds_file import domain_of
from longbeam.schemas.seeds import Domain
from longbeam.schemas.spec import BenchmarkSpec, Endpoint, EndpointLimits, Limits, Price, RoleSampling

OPTIONS: Mapping[str, str] = {
    "name": "--name",
    "seed": "--seed",
    "length": "--length",
    "strategy": "--strategy",
    "conversations": "--conversations",
    "domains": "--domain",
    "seeds_file": "--seeds",
    "models": "--model",
    "limits": "--concurrency",
}
"""The option that sets each field, for error messages."""

TABLES: Mapping[str, type[BaseModel]] = {
    "limits": Limits,
    "endpoints.*": Endpoint,
    "endpoints.*.limits": EndpointLimits,
    "endpoints.*.price": Price,
    "sampling.*": RoleSampling,
}
"""Tables of a spec that have fixed keys; `*` stands for any name."""

UNSHOWN = frozenset({"key_env", "base_url"})
"""Keys whose values an error message leaves out: somebody may have put a secret there."""


def load_spec(path: Path | None, overrides: Mapping[str, Any] | None = None) -> BenchmarkSpec:
    """Return the spec of a TOML file (None: of the defaults) with the overrides in place of its fields.

    `overrides` are fields of `BenchmarkSpec`; `models` and `limits` are merged key by key. Raises SpecError
    in one line: file or option, key, value, what is allowed, what to do.
    """
    given = dict(overrides or {})
    fields = {} if path is None else _read_toml(path)
    return _merged(_with_places(fields, path.parent if path is not None else Path()), given, path)


def _merged(fields: Mapping[str, Any], given: Mapping[str, Any], path: Path | None) -> BenchmarkSpec:
    merged = {**fields, **_with_places(given, Path())}
    for table in ("models", "limits"):
        if isinstance(fields.get(table), dict) and table in given:
            merged[table] = fields[table] | given[table]
    try:
        spec = BenchmarkSpec.model_validate(merged)
    except ValidationError as exc:
        raise SpecError(_explain(exc, path, given)) from exc
    _check_abilities(spec, path)
    return spec


def _check_abilities(spec: BenchmarkSpec, path: Path | None) -> None:
    # Imports may bring abilities that are not registered here; nothing is generated for them.
    for ability in () if spec.is_given else spec.abilities:
        try:
            find_ability(ability)
        except SpecError as exc:
            raise SpecError(f"{path or 'the spec'}: {exc}") from exc


def with_overrides(spec: BenchmarkSpec, overrides: Mapping[str, Any]) -> BenchmarkSpec:
    """Return the spec with the overrides in place of its fields; raises SpecError as `load_spec` does."""
    return _merged(spec.model_dump(mode="json"), dict(overrides), None)


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise SpecError(f"{path}: no such spec file") from None
    except UnicodeDecodeError as exc:
        raise SpecError(f"{path}: not UTF-8 text (byte {exc.start}); a spec is a TOML file") from exc
    except tomllib.TOMLDecodeError as exc:
        raise SpecError(f"{path}: not valid TOML: {exc}") from exc
    except OSError as exc:
        raise SpecError(f"{path}: cannot be read: {exc.strerror or exc}") from exc


def _with_places(fields: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The fields with an absolute seeds file and with the domains' proper names for their aliases."""
    placed = dict(fields)
    if isinstance(placed.get("seeds_file"), str) and placed["seeds_file"]:
        placed["seeds_file"] = str((folder / placed["seeds_file"]).resolve())
    if isinstance(placed.get("domains"), list | tuple):
        placed["domains"] = [domain_of(d) or d if isinstance(d, str) else d for d in placed["domains"]]
    return placed


def _explain(exc: ValidationError, path: Path | None, overrides: Mapping[str, Any]) -> str:
    errors = exc.errors(include_url=False)
    first = errors[0]
    more = f" (and {len(errors) - 1} more to mend)" if len(errors) > 1 else ""
    return f"{_where(first, path, overrides)}: {_what(first)}{more}"


def _where(error: ErrorDetails, path: Path | None, overrides: Mapping[str, Any]) -> str:
    """The option or the file that the value came from."""
    field = str(error["loc"][0]) if error["loc"] else _message(error).split(" ", 1)[0].rstrip(":")
    if field in overrides and field in OPTIONS:
        return OPTIONS[field]
    return str(path) if path is not None else "the spec"


def _what(error: ErrorDetails) -> str:
    if not error["loc"]:  # a rule over several fields; its text names the field, the value and what is allowed
        return _message(error)
    key = _key(error["loc"])
    if error["type"] == "missing":
        return f'{key} is missing; add `{key} = "..."` or give {OPTIONS.get(key, "it")}'
    if error["type"] == "extra_forbidden":
        known = ", ".join(_known_keys(error["loc"][:-1]))
        return f"unknown key {key!r}; known keys are {known}. Correct or remove it"
    if error["type"] == "enum" and "domains" in error["loc"]:
        return f"{key} = {error['input']!r}: no such domain; domains are {', '.join(Domain)}"
    message = _message(error)
    if error["loc"][-1] in UNSHOWN:
        return f"{key} {message}"
    return message if message.startswith(f"{key} ") else f"{key} = {_shown(error['input'])}: {message}"


def _message(error: ErrorDetails) -> str:
    """Pydantic's sentence, or the text of our own ValueError."""
    own = error.get("ctx", {}).get("error")
    return str(own) if isinstance(own, ValueError) else error["msg"][:1].lower() + error["msg"][1:]


def _known_keys(table: Sequence[int | str]) -> list[str]:
    names = [*map(str, table)]
    if len(names) > 1:
        names[1] = "*"
    return list(TABLES.get(".".join(names), BenchmarkSpec).model_fields)


def _key(location: Sequence[int | str]) -> str:
    """`limits.concurrency`, `domains[2]`, `endpoints."openai:small".model`."""
    text = str(location[0])
    for part in location[1:]:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if part.isidentifier() else f'."{part}"'
    return text


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
