"""From the names in a spec to the models that serve them; reads the keys from the environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from longbeam.errors import SpecError
from longbeam.models.base import ChatModel
from longbeam.models.kinds import Kinds
from longbeam.models.openai_client import OpenAIModel
from longbeam.models.router import Router
from longbeam.schemas.spec import BenchmarkSpec, provider_of

OPENAI_KEY = "OPENAI_API_KEY"


def make_model(
    spec: BenchmarkSpec,
    kinds: Kinds,
    *,
    invocation_log: Path | None = None,
    notice: Callable[[str], None] | None = None,
) -> ChatModel:
    """Return the clients that answer the roles of a spec, each call by the model it names.

    `kinds` are the models that answer by rule; `invocation_log` is theirs. `notice` receives a line for each endpoint
    that refuses a kind of request; without it they go to stderr. Nothing is asked yet. Raises SpecError for a model
    that cannot be run, and for a key that is not there.
    """
    tell = notice or _tell_on_stderr
    used: dict[str, str] = {}
    for role, name in spec.models.items():
        used.setdefault(name, role)
    _refuse_two_engines(used)
    clients: dict[str, ChatModel] = {}
    for name, role in used.items():
        kind = kinds.get(name)
        clients[name] = kind.make(spec, invocation_log) if kind else _client(spec, name, role, kinds, tell)
    return Router(clients)


def _refuse_two_engines(used: Mapping[str, str]) -> None:
    engines = sorted(name for name in used if provider_of(name) == "vllm")
    if len(engines) > 1:
        raise SpecError(
            f"models.{used[engines[1]]} = {engines[1]!r}: one vLLM engine per process, and {engines[0]!r} is another;"
            " serve one of them with `vllm serve` and name it openai:NAME (docs/vllm.md)"
        )


def _client(spec: BenchmarkSpec, name: str, role: str, kinds: Kinds, notice: Callable[[str], None]) -> ChatModel:
    match provider_of(name):
        case "openai" if name.partition(":")[2]:
            endpoint = spec.endpoint_for(name)
            return OpenAIModel(name, endpoint, key=key_of(spec, name, os.environ), notice=notice)
        case "vllm" if name.partition(":")[2]:
            from longbeam.models.vllm import VllmModel, refuse_without_vllm

            refuse_without_vllm(name, role)
            return VllmModel(name, spec.endpoint_for(name))
    known = ", ".join([*kinds, "openai:NAME"])
    raise SpecError(f"models.{role} = {name!r}: no such model; write {known} or vllm:NAME")


def key_of(spec: BenchmarkSpec, name: str, environment: Mapping[str, str]) -> str:
    """Return the key of a model's endpoint, empty where it needs none; SpecError if it is not there or is no key."""
    endpoint = spec.endpoint_for(name)
    variable = endpoint.key_env or (OPENAI_KEY if endpoint.base_url is None else None)
    if variable is None:
        return ""
    key = environment.get(variable, "").strip()
    if not key:
        raise SpecError(f"{name}: its key is read from {variable}, which is not set; export it, or set key_env")
    if not key.isascii() or not key.isprintable():
        raise SpecError(f"{name}: what stands in {variable} cannot be a key; it holds characters that no header may")
    return key


def _tell_on_stderr(line: str) -> None:
    print(f"note: {line}", file=sys.stderr)
