"""From a spec file and the command line to a `BenchmarkSpec`, or one line that says what is wrong.

Options win over the file. A seeds file or a model's file is looked for beside the spec file that names it, or from the
working folder where the command line names it, and kept as an absolute path: a run may be resumed from elsewhere. A
model's path goes into its endpoint, which exports leave out; in the name `gguf:small.gguf` stays.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from longbeam.errors import SpecError
from longbeam.generators import domain_of
from longbeam.pipeline.preflight import check_abilities, check_addresses
from longbeam.plugins import load, offered, unfit
from longbeam.schemas import (
    DEFAULT_MODEL,
    Batch,
    BenchmarkSpec,
    Checks,
    Domain,
    Endpoint,
    EndpointLimits,
    Limits,
    OwnDomain,
    PeopleSettings,
    PlanSettings,
    Price,
    ProbeSettings,
    PromptSettings,
    Role,
    RoleSampling,
)

OPTIONS: Mapping[str, str] = {
    "name": "--name",
    "seed": "--seed",
    "length": "--length",
    "strategy": "--strategy",
    "conversations": "--conversations",
    "domains": "--domain",
    "seeds_file": "--seeds",
    "models": "--model",
    "probes": "--hard",
    "limits": "--concurrency",
}
"""The option that sets each field, for error messages."""

TABLES: Mapping[str, type[BaseModel]] = {
    "limits": Limits,
    "checks": Checks,
    "batch": Batch,
    "plan": PlanSettings,
    "probes": ProbeSettings,
    "prompts": PromptSettings,
    "domain": OwnDomain,
    "people": PeopleSettings,
    "endpoints.*": Endpoint,
    "endpoints.*.limits": EndpointLimits,
    "endpoints.*.price": Price,
    "sampling.*": RoleSampling,
}
"""Tables of a spec that have fixed keys; `*` stands for any name."""

DOMAIN_PLUG_INS = "longbeam.domains"
"""Group under which a package offers a domain: `name = "package.module:PATH_OF_SEEDS"`; docs/plugins.md."""

FILE_MODEL = "gguf:"
"""Provider of models that are files."""

MOST_CHARACTERS = 800
"""Longest text about one fault."""
MOST_FAULTS, LATER_CHARACTERS = 6, 160
"""Faults of a spec that one message names, and the longest text about each but the first."""

UNSHOWN = frozenset({"key_env", "base_url"})
"""Keys whose values an error message leaves out: somebody may have put a secret there."""


def load_spec(path: Path | None, overrides: Mapping[str, Any] | None = None) -> BenchmarkSpec:
    """Return the spec of a TOML file (None: of the defaults) with the overrides in place of its fields.

    `overrides` are fields of `BenchmarkSpec`; `models`, `limits` and `probes` are merged key by key. Raises SpecError
    in one line: file or option, key, value, what is allowed, what to do.
    """
    given = dict(overrides or {})
    fields = {} if path is None else _read_toml(path)
    spec = _merged(_with_places(fields, path.parent if path is not None else Path()), given, path)
    _checked(check_addresses, spec, path)
    return spec


def load_evaluation_spec(path: Path, name: str) -> BenchmarkSpec:
    """Return the spec of a TOML file that describes an evaluation of the benchmark `name`; errors as `load_spec`'s.

    Such a file needs no name, and models of only those roles that are asked: rules answer for the others, and the judge
    for a checker that is not named.
    """
    fields = {"name": name, **_read_toml(path)}
    if isinstance(models := fields.get("models"), dict) and "default" not in models:
        by_rule = {role.value: DEFAULT_MODEL for role in Role if role not in (Role.CHECKER, Role.SECOND_CHECKER)}
        fields["models"] = {**by_rule, **models}
    return _merged(_with_places(fields, path.parent), {}, path)


def with_models(spec: BenchmarkSpec, models: Mapping[str, str]) -> BenchmarkSpec:
    """Return the spec with these models by role; the file of a `gguf:` model goes into its endpoint."""
    named = with_overrides(spec, {"models": models})
    return spec.model_copy(update={"models": named.models, "endpoints": named.endpoints})


EVALUATION_FIELDS: tuple[str, ...] = ("models", "endpoints", "sampling", "limits", "batch")
"""Fields of a spec that decide how a benchmark is evaluated; of `models`, reader, judge and extractor count."""


def with_evaluation_fields(
    spec: BenchmarkSpec, given: BenchmarkSpec, fields: Sequence[str] = EVALUATION_FIELDS
) -> BenchmarkSpec:
    """Return the benchmark's spec with those of the fields that another spec sets, but with its own models.

    Each table of `given` takes the place of the benchmark's. Only the endpoints of models that `given` does not name
    are kept, because the benchmark's own models stay in its spec.
    """
    tables = {name: getattr(given, name) for name in fields if name in given.model_fields_set}
    return spec.model_copy(update={**tables, "models": spec.models, "endpoints": {**spec.endpoints, **given.endpoints}})


def _merged(fields: Mapping[str, Any], given: Mapping[str, Any], path: Path | None) -> BenchmarkSpec:
    merged = {**fields, **_with_places(given, Path())}
    for table in ("models", "limits", "probes"):
        if isinstance(fields.get(table), dict) and isinstance(merged.get(table), dict):
            merged[table] = fields[table] | merged[table]
    if isinstance(fields.get("endpoints"), dict) and isinstance(merged.get("endpoints"), dict):
        merged["endpoints"] = _endpoints_of_both(fields["endpoints"], merged["endpoints"])
    try:
        spec = BenchmarkSpec.model_validate(merged)
    except ValidationError as exc:
        raise SpecError(_explain(exc, path, given)) from exc
    _checked(check_abilities, spec, path)
    return spec


def _checked(check: Callable[[BenchmarkSpec], None], spec: BenchmarkSpec, path: Path | None) -> None:
    """Run a check of preflight; its SpecError names the file."""
    try:
        check(spec)
    except SpecError as exc:
        raise SpecError(f"{path or 'the spec'}: {_bounded(str(exc))}") from exc


def with_overrides(spec: BenchmarkSpec, overrides: Mapping[str, Any]) -> BenchmarkSpec:
    """Return the spec with the overrides in place of its fields; raises SpecError as `load_spec` does."""
    return _merged(spec.model_dump(mode="json"), dict(overrides), None)


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        hint = "" if path.suffix else f"; to name a benchmark write --name {path}, a spec file ends in .toml"
        raise SpecError(f"{path}: no such spec file{hint}") from None
    except UnicodeDecodeError as exc:
        raise SpecError(f"{path}: not UTF-8 text (byte {exc.start}); a spec is a TOML file") from exc
    except tomllib.TOMLDecodeError as exc:
        raise SpecError(f"{path}: not valid TOML: {exc}") from exc
    except RecursionError:
        raise SpecError(
            f"{path}: its lists or tables are nested too deeply to be read; a spec needs no such depth"
        ) from None
    except ValueError as exc:  # a number of thousands of digits, a path with NUL
        raise SpecError(f"{path}: cannot be read: {exc}") from exc
    except OSError as exc:
        raise SpecError(f"{path}: cannot be read: {exc.strerror or exc}") from exc


def _with_places(fields: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The fields with an absolute seeds file and with the domains' proper names for their aliases."""
    placed = _with_plug_in_domain(fields)
    if isinstance(placed.get("seeds_file"), str) and placed["seeds_file"]:
        placed["seeds_file"] = str(_resolved("seeds_file", folder, placed["seeds_file"]))
    if isinstance(placed.get("domain"), str):
        placed["domain"] = _read_domain(_resolved("domain", folder, placed["domain"]))
    if isinstance(prompts := placed.get("prompts"), dict) and isinstance(prompts.get("folder"), str):
        placed["prompts"] = {**prompts, "folder": str(_resolved("prompts.folder", folder, prompts["folder"]))}
    if isinstance(people := placed.get("people"), dict) and isinstance(people.get("table"), str):
        placed["people"] = {**people, "table": str(_resolved("people.table", folder, people["table"]))}
    if isinstance(placed.get("domains"), list | tuple):
        placed["domains"] = [domain_of(d) or d if isinstance(d, str) else d for d in placed["domains"]]
    return _with_model_files(placed, folder)


def _read_domain(path: Path) -> Any:  # Any: YAML
    """Return what a YAML file says of a domain: `name` and `about`."""
    try:
        return yaml.safe_load(path.read_bytes().decode("utf-8-sig"))
    except OSError as exc:
        raise SpecError(
            f"domain = {str(path)!r}: cannot be read: {exc.strerror}. A domain is a YAML file, or a table"
            " [domain] with name and about"
        ) from exc
    except (yaml.YAMLError, ValueError, RecursionError) as exc:
        raise SpecError(f"{path}: not YAML: {' '.join(str(exc).split())[:200]}") from exc


def _with_plug_in_domain(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with the seeds file of a domain that another package offers, in place of its name."""
    domains = fields.get("domains")
    names = [d for d in domains if isinstance(d, str)] if isinstance(domains, list | tuple) else []
    plug_ins = offered(DOMAIN_PLUG_INS, tuple(Domain)) if names else {}
    if not (chosen := [name for name in names if name in plug_ins]):
        return dict(fields)
    if len(names) > 1 or fields.get("seeds_file") is not None:
        raise SpecError(f"domains: {chosen[0]!r} is of another package; name no other domain and no seeds file with it")
    seeds = load(DOMAIN_PLUG_INS, chosen[0])
    if not isinstance(seeds, str | Path):
        raise unfit(DOMAIN_PLUG_INS, chosen[0], "path of a seeds file")
    return {**fields, "domains": (), "seeds_file": str(seeds)}


def _with_model_files(fields: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The fields with `gguf:small.gguf` for `gguf:models/small.gguf`, and the absolute path in its endpoint."""
    placed = dict(fields)
    models, endpoints = placed.get("models"), placed.get("endpoints")
    paths: dict[str, Path] = {}
    if isinstance(endpoints, dict):
        placed["endpoints"] = {_named(name, folder, paths): table for name, table in endpoints.items()}
    if isinstance(models, dict):
        placed["models"] = {role: _named(name, folder, paths) for role, name in models.items()}
    for name, path in paths.items():
        table = placed.setdefault("endpoints", {}).get(name, {})
        if isinstance(table, dict):
            own = _resolved("model", folder, table["model"]) if isinstance(table.get("model"), str) else path
            placed["endpoints"] = {**placed["endpoints"], name: {**table, "model": str(own)}}
    return placed


def _named(name: Any, folder: Path, paths: dict[str, Path]) -> Any:  # Any: what the file holds
    """Return a model's name without the folders of a `gguf:` model, whose path goes into `paths`."""
    if not isinstance(name, str) or not name.startswith(FILE_MODEL) or name == FILE_MODEL:
        return name
    path = _resolved("models", folder, name.removeprefix(FILE_MODEL))
    short = f"{FILE_MODEL}{path.name}"
    if paths.setdefault(short, path) != path:
        raise SpecError(f"{paths[short]} and {path}: two models with one file name; rename one of the files")
    return short


def _resolved(key: str, folder: Path, text: str) -> Path:
    """Return the absolute path that a key of a spec names; SpecError for what can be none."""
    try:
        return (folder / Path(text).expanduser()).resolve()
    except (OSError, ValueError, RuntimeError) as exc:  # too long, with NUL, the home of nobody
        reason = exc.strerror if isinstance(exc, OSError) else exc
        raise SpecError(f"{key} = {_shown(text)}: is no path of this machine: {reason}") from exc


def _endpoints_of_both(fields: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Tables of `fields` with the keys of `given` in place of theirs."""
    merged = {**fields, **given}
    for name in fields.keys() & given.keys():
        if isinstance(fields[name], dict) and isinstance(given[name], dict):
            merged[name] = fields[name] | given[name]
    return merged


def _explain(exc: ValidationError, path: Path | None, overrides: Mapping[str, Any]) -> str:
    """Return one line that names the faults, each with the option or file it came from where that changes."""
    errors = exc.errors(include_url=False)
    text, last = "", ""
    for error in errors[:MOST_FAULTS]:
        where = _where(error, path, overrides)
        what = _bounded(_what(error), LATER_CHARACTERS if text else MOST_CHARACTERS)
        text += f"{'; also ' if text else ''}{'' if where == last else f'{where}: '}{what}"
        last = where
    more = f" (and {len(errors) - MOST_FAULTS} more to mend)" if len(errors) > MOST_FAULTS else ""
    return f"{text}{more}"


def _bounded(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a text of a spec's fault without its middle, where a key or a value is very long."""
    return text if len(text) <= most else f"{text[: most // 2]}...{text[-most // 2 :]}"


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
    if error["type"] == "tuple_type":
        given = error["input"]
        example = json.dumps([given], ensure_ascii=False) if isinstance(given, str) else '["...", "..."]'
        return f"{key} = {_shown(given)}: write a list, {_bounded(example, 60)}"
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
