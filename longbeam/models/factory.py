"""From the names in a spec to the models that serve them, each call by the model that it names.

Reads the keys of endpoints from the environment.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from longbeam.errors import SpecError
from longbeam.models.base import ChatModel, ModelCall, close_model
from longbeam.models.batching import BatchApi, BatchingModel, BatchLog
from longbeam.models.kinds import Kinds
from longbeam.models.openai_client import OpenAIModel
from longbeam.plugins import load, offered
from longbeam.schemas import MODEL_PLUG_INS, BenchmarkSpec, Endpoint, ModelReply, is_language_model, provider_of


class Router:
    """A ChatModel that asks the client of `call.model`."""

    def __init__(self, makers: Mapping[str, Callable[[], ChatModel]]) -> None:
        """`makers` of the clients, by the name that the spec gives each model."""
        self._makers = makers
        self._clients: dict[str, ChatModel] = {}

    def client(self, model: str) -> ChatModel:
        """Return the client of a model, made when it is first asked for; KeyError if the spec did not name it."""
        if model not in self._clients:
            self._clients[model] = self._makers[model]()
        return self._clients[model]

    async def complete(self, call: ModelCall) -> ModelReply:
        """Return the reply of the call's model; KeyError if the spec did not name it, SpecError if it is no reply."""
        reply = await self.client(call.model).complete(call)
        if not isinstance(reply, ModelReply):  # a package's model may answer with anything
            raise SpecError(f"models: {call.model!r} answers with {type(reply).__name__}, not with a ModelReply")
        return reply

    async def aclose(self) -> None:
        """Close the clients that hold connections."""
        for client in self._clients.values():
            await close_model(client)


OPENAI_KEY = "OPENAI_API_KEY"


def _tell_on_stderr(line: str) -> None:
    print(f"note: {line}", file=sys.stderr)


@dataclass(frozen=True)
class Surroundings:
    """Places where the models of a run leave their records, and receivers of their reports."""

    logs: Path | None = None
    """Folder into which servers that longbeam starts write their logs."""
    batches: BatchLog | None = None
    """Record of the batches on their way; a spec with batched stages needs one."""
    notice: Callable[[str], None] = _tell_on_stderr
    """Receives a line for each kind of request that an endpoint refuses, and for each batch."""


def make_model(
    spec: BenchmarkSpec,
    kinds: Kinds,
    *,
    invocation_log: Path | None = None,
    around: Surroundings | None = None,
    roles: Collection[str] | None = None,
) -> ChatModel:
    """Return the clients that answer the roles of a spec, each call by the model it names.

    `kinds` are the models that answer by rule; `invocation_log` is theirs. Nothing is asked yet. Raises SpecError for
    a model of `roles` (None: of all) that cannot be run, and for a key that is not there; clients of other roles are
    made when they are asked.
    """
    check_models(spec, kinds)
    around = around or Surroundings()
    used: dict[str, str] = {}
    for role, name in spec.models.items():
        used.setdefault(name, role)
    _refuse_two_engines(used)

    def make(name: str, role: str) -> ChatModel:
        kind = kinds.get(name)
        return kind.make(spec, invocation_log) if kind else _client(spec, name, role, kinds, around)

    router = Router({name: partial(make, name, role) for name, role in used.items()})
    for role, name in spec.models.items():
        if roles is None or role in roles:
            router.client(name)
    return router


def check_models(spec: BenchmarkSpec, kinds: Kinds) -> None:
    """Raise SpecError for a name in `models` of a spec that is no model, or none that can serve its role.

    Neither keys nor files are looked for, because an estimate needs none.
    """
    for role, name in spec.models.items():
        kind = kinds.get(name)
        if kind is None and not (is_language_model(name) and name.partition(":")[2]):
            by_rule = [known for known, kind in kinds.items() if kind.can_serve(role)]
            language = ["openai:NAME", "vllm:NAME", *(f"{provider}:NAME" for provider in offered(MODEL_PLUG_INS))]
            known = ", ".join([*by_rule, *language])
            raise SpecError(f"models.{role} = {name!r}: no such model; write {known} or gguf:PATH")
        if kind is not None and not kind.can_serve(role):
            roles = ", ".join(sorted(kind.roles))
            raise SpecError(f"models.{role} = {name!r}: this model serves only as {roles}; name another one")


def _refuse_two_engines(used: Mapping[str, str]) -> None:
    engines = sorted(name for name in used if provider_of(name) == "vllm")
    if len(engines) > 1:
        raise SpecError(
            f"models.{used[engines[1]]} = {engines[1]!r}: one vLLM engine per process, and {engines[0]!r} is another;"
            " serve one of them with `vllm serve` and name it openai:NAME (docs/vllm.md)"
        )


def _client(spec: BenchmarkSpec, name: str, role: str, kinds: Kinds, around: Surroundings) -> ChatModel:
    endpoint = spec.endpoint_for(name)
    match provider_of(name):
        case "openai":
            key = key_of(spec, name, os.environ)
            client = OpenAIModel(name, endpoint, key=key, notice=around.notice, limits=spec.limits)
            return _batching(spec, client, around) if spec.batch.stages else client
        case "vllm":
            from longbeam.models.vllm import VllmModel, refuse_without_vllm

            refuse_without_vllm(name, role)
            return VllmModel(name, endpoint)
        case "gguf":
            from longbeam.models.gguf import GgufModel, check_gguf

            check_gguf(name, role, spec.path_of(name), endpoint)
            return GgufModel(name, spec.path_of(name), endpoint, logs=around.logs, notice=around.notice)
        case plug_in:
            make: Callable[[str, Endpoint], ChatModel] = load(MODEL_PLUG_INS, plug_in)
            return make(name, endpoint)


def _batching(spec: BenchmarkSpec, client: OpenAIModel, around: Surroundings) -> ChatModel:
    if around.batches is None:
        raise SpecError("batch.stages: this command keeps no record of batches; leave the stages out of its spec")
    return BatchingModel(client, spec, BatchApi(client.client, client.where), around.batches, around.notice)


def key_of(spec: BenchmarkSpec, name: str, environment: Mapping[str, str]) -> str:
    """Return the key of a model's endpoint, empty where it needs none; SpecError if it is not there or is no key."""
    endpoint = spec.endpoint_for(name)
    variable = endpoint.key_env or (OPENAI_KEY if endpoint.base_url is None else None)
    if variable is None:
        return ""
    key = environment.get(variable, "").strip()
    if not key:
        own = "" if endpoint.base_url else "; a server of your own needs its base_url in a spec file (docs/models.md)"
        raise SpecError(f"{name}: its key is read from {variable}, which is not set; export it, or set key_env{own}")
    if not key.isascii() or not key.isprintable():
        raise SpecError(f"{name}: what stands in {variable} cannot be a key; it holds characters that no header may")
    return key
