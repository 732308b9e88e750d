"""Endpoints of models, as a table `[endpoints]` of a spec describes them."""

from __future__ import annotations

import re
from enum import StrEnum
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from longbeam.schemas.base import Record


class EndpointLimits(Record):
    """Limits of one endpoint. None: no limit beyond the one that is learnt from its answers."""

    concurrency: int | None = Field(default=None, ge=1, le=4096)
    """Calls in flight at most, below the run's own limit."""
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    """Prompt and output tokens together."""


class Price(Record):
    """USD per million tokens."""

    input: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Price of prompt tokens that the endpoint found in its cache; None: as `input`."""
    output: float = Field(default=0.0, ge=0, allow_inf_nan=False)
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


FORMER_KEYS = {"offline_writer": "sends_extras", "max_model_len": "context"}
"""Keys of an endpoint that specs of earlier versions write, and their present names."""


class Endpoint(Record):
    """Address and settings of a model. Holds the name of the variable with the key, never the key."""

    base_url: str | None = None
    """`http://127.0.0.1:8000/v1`; None: OpenAI's own."""
    model: str | None = None
    """The name that the endpoint knows, for `gguf:` the path of the file; None: what follows the colon."""
    key_env: str | None = None
    """Environment variable that holds the key; None: OPENAI_API_KEY at OpenAI's own address, no key elsewhere."""
    structured: Structured = Structured.AUTO
    streams: bool = True
    """Ask for replies as streams; an endpoint that refuses is asked for whole replies."""
    reasoning: bool = False
    """A reasoning model: it is sent no temperature, and `max_completion_tokens` for `max_tokens`."""
    sends_extras: bool = False
    """Send each call's extras in the request body's `longbeam` member, to a server that answers by rule."""
    price: Price | None = None
    limits: EndpointLimits = EndpointLimits()
    context: int | None = Field(default=None, ge=1)
    """Tokens of one call, prompt and reply together; None: unknown of `openai:`, the model's own of `vllm:`, of `gguf:`
    the model's own up to 16,384."""
    slots: int = Field(default=2, ge=1, le=256)
    """llama.cpp only: calls at a time; each has a context of its own in memory."""
    threads: int | None = Field(default=None, ge=1)
    """llama.cpp only: CPU threads; None: one per core."""
    gpu_layers: int | None = Field(default=None, ge=0)
    """llama.cpp only: layers on the GPU; None: as many as fit."""
    tensor_parallel: int = Field(default=1, ge=1)
    """vLLM only: GPUs that share each layer."""
    pipeline_parallel: int = Field(default=1, ge=1)
    """vLLM only: GPUs that share the stack of layers."""
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
        if parts.scheme not in {"http", "https"} or not has_host or not value.isprintable() or " " in value:
            raise ValueError("is not an address; write it as in http://127.0.0.1:8000/v1")
        if parts.username is not None or re.search(r"[?#;]|(key|token|secret|password)=", value, re.IGNORECASE):
            raise ValueError(
                "may hold no user, password or query, nor a key: it is stored. Keys are read from `key_env`"
            )
        return value.rstrip("/")

    @field_validator("key_env")
    @classmethod
    def _is_a_variable(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", value):
            raise ValueError("is the name of an environment variable, as in OPENAI_API_KEY, never the key itself")
        return value
