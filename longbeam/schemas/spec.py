"""What a user asks for: the TOML file, fully typed; unknown keys are errors."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from longbeam.schemas.base import Record
from longbeam.schemas.probes import ABILITIES
from longbeam.schemas.seeds import Domain

NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
MIN_LENGTH = 16_000
MAX_SINGLE_PLAN_LENGTH = 1_000_000


class Role(StrEnum):
    """Who a model call is made as; each role may have a model of its own."""

    PLANNER = "planner"
    WRITER = "writer"
    ASSISTANT = "assistant"
    USER = "user"
    DETECTOR = "detector"
    PROBER = "prober"
    JUDGE = "judge"
    EXTRACTOR = "extractor"


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


class Limits(Record):
    """What a run may use at the same time."""

    concurrency: int = Field(default=16, ge=1, le=4096)
    """Model calls in flight."""


class BenchmarkSpec(Record):
    """One benchmark. `seed`, `length`, `domains`, `seeds_file`, `language` and `tokenizer` may not change later."""

    name: str
    seed: int = Field(default=0, ge=0)
    length: Annotated[int, BeforeValidator(parse_length)] = 128_000
    """Tokens of message content per conversation."""
    conversations: int = Field(default=1, ge=1, le=10_000)
    domains: tuple[Domain, ...] = ()
    """Taken in turn; empty means all nineteen, or those of the seeds file."""
    seeds_file: str | None = None
    """JSON list of seeds, used in its order and again from the start when more are asked for."""
    abilities: tuple[str, ...] = ABILITIES
    probes_per_ability: int = Field(default=2, ge=1, le=8)
    language: str = "English"
    tokenizer: str = "o200k_base"
    models: dict[str, str] = Field(default_factory=lambda: {"default": "offline"})
    """Role to model (`offline`, `openai:NAME`, `vllm:NAME`); `default` serves the roles not named."""
    limits: Limits = Limits()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not NAME_PATTERN.fullmatch(self.name):
            raise ValueError(
                f"name {self.name!r}: 1 to 64 letters, digits, '.', '_' or '-' are allowed, "
                "beginning with a letter or digit"
            )
        if self.length < MIN_LENGTH:
            raise ValueError(f"length {self.length}: at least {MIN_LENGTH} tokens (16K) are needed for ten abilities")
        if self.length > MAX_SINGLE_PLAN_LENGTH:
            raise ValueError(
                f"length {self.length}: at most {MAX_SINGLE_PLAN_LENGTH} tokens (1M) for now; "
                "longer conversations need many plans"
            )
        roles = {"default", *Role}
        if unknown := sorted(set(self.models) - roles):
            raise ValueError(f"models: unknown role {unknown[0]!r}; roles are {', '.join(sorted(roles))}")
        if "default" not in self.models and (missing := sorted(set(Role) - set(self.models))):
            raise ValueError(f"models: no model for role {missing[0]!r}; name it, or set models.default")
        if unknown := [a for a in self.abilities if self.abilities.count(a) > 1]:
            raise ValueError(f"abilities: {unknown[0]!r} is listed twice")
        if not self.abilities:
            raise ValueError(f"abilities: at least one is needed; built in are {', '.join(ABILITIES)}")
        return self

    def model_for(self, role: Role) -> str:
        """The model that serves a role."""
        return self.models.get(role, self.models.get("default", ""))


FIXED_FIELDS = ("seed", "length", "domains", "seeds_file", "language", "tokenizer")
"""Fields of a spec that may not change once a benchmark exists."""
