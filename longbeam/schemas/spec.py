"""The specification of a benchmark: the TOML file that a user writes, fully typed. Unknown keys are errors."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, field_validator, model_validator

from longbeam.schemas.base import Record
from longbeam.schemas.defaults import DEFAULT_MODEL
from longbeam.schemas.probes import ABILITIES
from longbeam.schemas.seeds import Domain

NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
MIN_LENGTH = 16_000
MAX_SINGLE_PLAN_LENGTH = 1_000_000
ENGLISH = "English"
LANGUAGE_PROVIDERS = frozenset({"openai", "vllm"})
"""Providers of language models: the part before the colon in a model's name."""
MAX_LENGTH = 64_000_000
"""64 plans: beyond, a story of at most seven years has no days left for its stages."""


class Strategy(StrEnum):
    """The relation between the plans of a conversation that has several."""

    SEQUENTIAL = "sequential"
    """Each plan is a later stage of the person's life, with a topic of its own."""
    HIERARCHICAL = "hierarchical"
    """One storyline, cut into phases."""


class Role(StrEnum):
    """The part that a model plays in a call; each role may have a model of its own."""

    PLANNER = "planner"
    WRITER = "writer"
    ASSISTANT = "assistant"
    USER = "user"
    DETECTOR = "detector"
    PROBER = "prober"
    JUDGE = "judge"
    EXTRACTOR = "extractor"
    READER = "reader"


def parse_length(value: object) -> int:
    """Return a length in tokens from `128K`, `1M`, `2.5M`, `16_000` or an integer; K is 1,000 and M 1,000,000.

    Raises ValueError with what was allowed.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = re.fullmatch(r"\s*(\d[\d_,]*(?:\.\d+)?)\s*([kKmM]?)\s*", str(value))
    if match is None:
        raise ValueError(f"length {value!r} is not a number of tokens; write 128K, 1M or 128000")
    number = float(match[1].replace("_", "").replace(",", ""))
    return round(number * {"": 1, "k": 1_000, "m": 1_000_000}[match[2].lower()])


def parse_language(value: object) -> str:
    """Return a language's name on one line; `en`, `en-GB` and `english` are `English`.

    Raises ValueError for text that is no name, because every prompt names the language to a model.
    """
    name = " ".join(str(value).split())
    if not re.fullmatch(r"[^\W\d_][\w() -]{1,39}", name):
        raise ValueError(f"language {value!r}: write its name in English, such as German or Brazilian Portuguese")
    return ENGLISH if re.fullmatch(r"en(?:glish)?(?:[-_ ]\w+)?", name, re.IGNORECASE) else name


class Limits(Record):
    """Limits of a run over all endpoints."""

    concurrency: int = Field(default=16, ge=1, le=4096)
    """Model calls in flight."""
    timeout_s: float = Field(default=600, gt=0, le=86_400)
    """Time-out of one call; the call is then asked again."""
    max_cost_usd: float | None = Field(default=None, gt=0)
    """The run stops cleanly before it would have spent more; None: no cap."""


class EndpointLimits(Record):
    """Limits of one endpoint. None: no limit beyond the one that is learnt from its answers."""

    concurrency: int | None = Field(default=None, ge=1, le=4096)
    """Calls in flight at most, below the run's own limit."""
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    """Prompt and output tokens together."""


class Price(Record):
    """USD per million tokens."""

    input: float = Field(default=0.0, ge=0)
    cached: float | None = Field(default=None, ge=0)
    """Price of prompt tokens that the endpoint found in its cache; None: as `input`."""
    output: float = Field(default=0.0, ge=0)
    """Reasoning tokens are output tokens."""


class Structured(StrEnum):
    """The form in which an endpoint receives the JSON schema of a reply."""

    AUTO = "auto"
    """The first of the others, in their order, that the endpoint accepts."""
    JSON_SCHEMA = "json_schema"
    """`response_format` with the schema: the endpoint lets nothing else through."""
    JSON_OBJECT = "json_object"
    """`response_format` that asks for any JSON object; the schema stands in the prompt."""
    PROMPT = "prompt"
    """The prompt alone; the JSON is taken out of the text."""


FORMER_KEYS = {"offline_writer": "sends_extras"}
"""Keys of an endpoint that specs of earlier versions write, and their present names."""


class Endpoint(Record):
    """Address and settings of a model. Holds the name of the variable with the key, never the key."""

    base_url: str | None = None
    """`http://127.0.0.1:8000/v1`; None: OpenAI's own."""
    model: str | None = None
    """The name that the endpoint knows; None: what follows `openai:` or `vllm:`."""
    key_env: str | None = None
    """Environment variable that holds the key; None: OPENAI_API_KEY at OpenAI's own address, no key elsewhere."""
    structured: Structured = Structured.AUTO
    reasoning: bool = False
    """A reasoning model: it is sent no temperature, and `max_completion_tokens` for `max_tokens`."""
    sends_extras: bool = False
    """Send each call's extras in the request body's `longbeam` member, to a server that answers by rule."""
    price: Price | None = None
    limits: EndpointLimits = EndpointLimits()
    tensor_parallel: int = Field(default=1, ge=1)
    """vLLM only: GPUs that share each layer."""
    pipeline_parallel: int = Field(default=1, ge=1)
    """vLLM only: GPUs that share the stack of layers."""
    max_model_len: int | None = Field(default=None, ge=1)
    """vLLM only: context length in tokens; None: the model's own."""
    gpu_memory_utilization: float = Field(default=0.9, gt=0, le=1)
    """vLLM only: share of the GPU's memory."""

    @model_validator(mode="before")
    @classmethod
    def _with_present_keys(cls, values: object) -> object:
        if not isinstance(values, dict):
            return values
        present = dict(values)
        for former, key in FORMER_KEYS.items():
            if former not in present:
                continue
            value = present.pop(former)
            if present.setdefault(key, value) != value:
                raise ValueError(
                    f"{former} = {value!r} contradicts {key} = {present[key]!r}; "
                    f"{former} is the former name of {key}: keep one"
                )
        return present

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            parts = urlsplit(value)
            has_host = bool(parts.hostname) and parts.port != 0
        except ValueError:  # a port that is no number, brackets that do not close
            parts, has_host = urlsplit(""), False
        if parts.scheme not in {"http", "https"} or not has_host or re.search(r"\s", value):
            raise ValueError("is not an address; write it as in http://127.0.0.1:8000/v1")
        if parts.username is not None or parts.query or parts.fragment:
            raise ValueError("may hold no user, password or query: it is stored. Keys are read from `key_env`")
        return value.rstrip("/")

    @field_validator("key_env")
    @classmethod
    def _is_a_variable(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", value):
            raise ValueError("is the name of an environment variable, as in OPENAI_API_KEY, never the key itself")
        return value


class RoleSampling(Record):
    """Sampling settings of one role; None: the default of the endpoint."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    """Limit of one reply. A reply that is cut off there is asked for again with twice as many."""


class BenchmarkSpec(Record):
    """One benchmark. Once it exists, the fields that FIXED_FIELDS names may not change."""

    name: str
    seed: int = Field(default=0, ge=0)
    length: Annotated[int, BeforeValidator(parse_length)] = 128_000
    """Tokens of message content per conversation; beyond 1M a conversation has a plan per million."""
    strategy: Strategy | None = None
    """Strategy of conversations beyond 1M; None: the one that the seed names, else sequential."""
    conversations: int = Field(default=1, ge=1, le=10_000)
    domains: tuple[Domain, ...] = ()
    """Taken in turn; empty means all nineteen, or those of the seeds file."""
    seeds_file: str | None = None
    """JSON list of seeds, used in its order and again from the start when more are asked for."""
    abilities: tuple[str, ...] = ABILITIES
    probes_per_ability: int = Field(default=2, ge=1, le=8)
    language: Annotated[str, BeforeValidator(parse_language)] = ENGLISH
    """English name of the language of all messages and questions (`German`); see docs/languages.md."""
    tokenizer: str = "o200k_base"
    models: dict[str, str] = Field(default_factory=lambda: {"default": DEFAULT_MODEL})
    """Role to model (the default one, `openai:NAME`, `vllm:NAME`); `default` serves the roles not named."""
    endpoints: dict[str, Endpoint] = Field(default_factory=dict)
    """Settings of the models, by the names that `models` uses; a model of OpenAI's own needs none."""
    sampling: dict[str, RoleSampling] = Field(default_factory=dict)
    """By role; `default` serves the settings that a role leaves out."""
    limits: Limits = Limits()
    licence: str = ""
    """Licence of the data: an SPDX identifier (`CC-BY-4.0`), stated in exports; empty: none is stated."""
    imported_from: str = ""
    """Format that an import was read from; empty for a generated benchmark. The length of an import is 0."""
    suite: str = ""
    """Suite that made the benchmark, such as `agentic`; empty for a generated or an imported one."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not NAME_PATTERN.fullmatch(self.name):
            raise ValueError(
                f"name {self.name!r}: 1 to 64 letters, digits, '.', '_' or '-' are allowed, "
                "beginning with a letter or digit"
            )
        if self.is_given:
            return self
        if self.length < MIN_LENGTH:
            raise ValueError(f"length {self.length}: at least {MIN_LENGTH} tokens (16K) are needed for ten abilities")
        if self.length > MAX_LENGTH:
            raise ValueError(f"length {self.length}: at most {MAX_LENGTH} tokens (64M) are possible")
        roles = {"default", *Role}
        if unknown := sorted(set(self.models) - roles):
            raise ValueError(f"models: unknown role {unknown[0]!r}; roles are {', '.join(sorted(roles))}")
        if "default" not in self.models and (missing := sorted(set(Role) - set(self.models))):
            raise ValueError(f"models: no model for role {missing[0]!r}; name it, or set models.default")
        if unknown := sorted(set(self.sampling) - roles):
            raise ValueError(f"sampling: unknown role {unknown[0]!r}; roles are {', '.join(sorted(roles))}")
        for name in self.endpoints:
            if provider_of(name) not in LANGUAGE_PROVIDERS:
                raise ValueError(f"endpoints: {name!r} is no model with an endpoint; write openai:NAME or vllm:NAME")
        if unknown := [a for a in self.abilities if self.abilities.count(a) > 1]:
            raise ValueError(f"abilities: {unknown[0]!r} is listed twice")
        if not self.abilities:
            raise ValueError(f"abilities: at least one is needed; built in are {', '.join(ABILITIES)}")
        return self

    @property
    def is_given(self) -> bool:
        """Whether the conversations come from an import or a suite, so that nothing is generated or resumed."""
        return bool(self.imported_from or self.suite)

    @property
    def source(self) -> str:
        """Origin of the benchmark in words; empty for a generated one."""
        if self.suite:
            return f"made by the suite {self.suite}"
        return f"imported from the {self.imported_from} format" if self.imported_from else ""

    def model_for(self, role: Role) -> str:
        """Return the model that serves a role."""
        return self.models.get(role, self.models.get("default", ""))

    def endpoint_for(self, model: str) -> Endpoint:
        """Return the settings of a model as `models` names it; the defaults where the spec has none."""
        return self.endpoints.get(model, Endpoint())

    def identity_of(self, model: str) -> str:
        """Return provider and the name that the endpoint knows: the model's identity, wherever it is served.

        Replies and done units belong to the identity, so an address, a port or a limit may change without paying again.
        """
        name = self.endpoint_for(model).model
        return model if name is None else f"{provider_of(model)}:{name}"

    def for_any_model(self) -> BenchmarkSpec:
        """Return the same spec for a model that answers in place of its own: all calls carry extras."""
        read = {
            name: self.endpoint_for(name).model_copy(update={"sends_extras": True})
            for name in self.models.values()
            if provider_of(name) in LANGUAGE_PROVIDERS
        }
        return self.model_copy(update={"endpoints": {**self.endpoints, **read}})

    def sampling_for(self, role: Role) -> RoleSampling:
        """Return the sampling settings of a role, with the defaults filled in."""
        common, own = self.sampling.get("default", RoleSampling()), self.sampling.get(role, RoleSampling())
        return RoleSampling(
            temperature=common.temperature if own.temperature is None else own.temperature,
            max_tokens=common.max_tokens if own.max_tokens is None else own.max_tokens,
        )


def provider_of(model: str) -> str:
    """Return `openai` of `openai:NAME`; a name without a provider is its own."""
    return model.partition(":")[0]


FIXED_FIELDS = (
    "seed",
    "length",
    "strategy",
    "domains",
    "seeds_file",
    "language",
    "tokenizer",
    "imported_from",
    "suite",
)
"""Fields of a spec that may not change once a benchmark exists."""
