"""Kinds of models: what a model's name says about it, and how a spec names kinds beyond language models.

`openai:NAME`, `vllm:NAME` and `gguf:PATH` are language models. Every other name is a kind of its own that answers by
rule, such as the default model; `Services.kinds` of `pipeline.services` holds those that a process can make.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from longbeam.errors import SpecError
from longbeam.models.base import ChatModel
from longbeam.models.weights import default_context, weights_digest
from longbeam.schemas import DEFAULT_MODEL, BenchmarkSpec, Role, is_language_model, provider_of

BILLED_PROVIDERS = frozenset({"openai"})
"""Providers that are asked over a network: a model in this process costs nothing by the token."""


WRITING_ROLES = (Role.PLANNER, Role.WRITER, Role.ASSISTANT, Role.USER, Role.PROBER)
"""Roles whose replies become part of a benchmark."""


@dataclass(frozen=True)
class ModelKind:
    """A kind of model that answers by rule."""

    make: Callable[[BenchmarkSpec, Path | None], ChatModel]
    """Makes the model for a spec. It appends the key of each call it answers to the file, if one is given."""
    version: Callable[[], str]
    """Digest of the rules: replies made by other rules are out of date."""
    roles: frozenset[Role] = frozenset(Role)
    """Roles that the model can serve."""

    def can_serve(self, role: str) -> bool:
        """Return whether the model can serve a role of `models` in a spec; `default` stands for every role."""
        return role in self.roles or self.roles == frozenset(Role)


Kinds = Mapping[str, ModelKind]
"""Kinds by the name that a spec gives the model."""


def is_rule_writer(name: str) -> bool:
    """Return whether replies stored under this name were written by rule.

    An endpoint stores replies under the name that its server answers with, which has no provider. So a name is
    compared with the known one: an unknown name is a language model's.
    """
    return name == DEFAULT_MODEL


def model_context(spec: BenchmarkSpec, model: str) -> int | None:
    """Return the tokens of one call of a model, prompt and reply together; None where nobody says so."""
    endpoint = spec.endpoint_for(model)
    if endpoint.context is not None or provider_of(model) != "gguf":
        return endpoint.context
    try:
        return default_context(spec.path_of(model))
    except SpecError:  # an estimate needs no weights
        return None


def answers_by_rule(spec: BenchmarkSpec, model: str) -> bool:
    """Return whether a model answers by rule, in this process or behind an endpoint."""
    return not is_language_model(model) or spec.endpoint_for(model).sends_extras


def has_model_checks(spec: BenchmarkSpec) -> bool:
    """Return whether the role `checker` is asked while a benchmark is made.

    Where the spec does not say, it is asked when a language model writes: rules need no judge.
    """
    if spec.checks.model is not None:
        return spec.checks.model
    return any(not answers_by_rule(spec, spec.model_for(role)) for role in WRITING_ROLES)


def is_spoken_by_rule(spec: BenchmarkSpec) -> bool:
    """Return whether rules plan and speak as the assistant: they bring in what they are told to and nothing else."""
    return all(answers_by_rule(spec, spec.model_for(role)) for role in (Role.PLANNER, Role.ASSISTANT))


def is_free(spec: BenchmarkSpec, model: str) -> bool:
    """Return whether a model without a price in the spec costs nothing."""
    return provider_of(model) not in BILLED_PROVIDERS or answers_by_rule(spec, model)


def describe_rules(model: str, version: str) -> str:
    """Return a phrase that says what a model is that answers by rule; it is never presented as a language model."""
    return f"the {model} writer of longbeam {version}: rules, templates and data, not a language model"


def identity_of(spec: BenchmarkSpec, model: str, version_of: Callable[[str], str]) -> str:
    """Return what a model is, wherever it is served, with the version of its rules if it answers by rule.

    The weights of a `gguf:` model are its version. Replies and done units belong to this identity, so neither outlives
    the rules or the weights that it was made by.
    """
    is_file = provider_of(model) == "gguf" and not answers_by_rule(spec, model)
    version = weights_digest(spec.path_of(model)) if is_file else version_of(model)
    return f"{spec.identity_of(model)}@{version}" if version else spec.identity_of(model)
