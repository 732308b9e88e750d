"""The specification of a benchmark: the TOML file that a user writes, fully typed. Unknown keys are errors."""

from __future__ import annotations

import hashlib
import re
from decimal import Decimal
from enum import StrEnum
from operator import mul
from pathlib import Path
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from longbeam.plugins import offered
from longbeam.schemas.base import Record
from longbeam.schemas.defaults import DEFAULT_MODEL
from longbeam.schemas.endpoints import Endpoint
from longbeam.schemas.people import PeopleSettings
from longbeam.schemas.plan_settings import PlanSettings, ProbeSettings
from longbeam.schemas.probes import ABILITIES
from longbeam.schemas.seeds import Domain, OwnDomain

NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
MIN_LENGTH = 16_000
MAX_SINGLE_PLAN_LENGTH = 1_000_000
DEFAULT_LANGUAGE = "English"
LANGUAGE_PROVIDERS = frozenset({"openai", "vllm", "gguf"})
"""Providers of language models: the part before the colon in a model's name."""
MODEL_PLUG_INS = "longbeam.models"
"""Group under which a package offers a provider: `name = "package.module:make"`; docs/plugins.md."""
FULL_POOL_LENGTH = 128_000
"""Length from which a plan holds candidates for any number of probes; a shorter plan is made for the number asked."""
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
    CHECKER = "checker"
    """Judges what a language model wrote while the benchmark is made, and reads the ledger of imported chats."""
    SECOND_CHECKER = "second_checker"
    """Optional second judge of the same; no other model stands in for it."""


def parse_length(value: object) -> int:
    """Return a length in tokens from `128K`, `1M`, `2.5M`, `16_000` or an integer; K is 1,000 and M 1,000,000.

    Raises ValueError with what was allowed.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        # Python writes no number of thousands of digits, not even into an error message.
        return max(-_MOST_TOKENS, min(value, _MOST_TOKENS))
    match = re.fullmatch(r"\s*(\d[\d_,]*(?:\.\d+)?)\s*([kKmM]?)\s*", str(value))
    if match is None:
        shown = repr(value) if len(str(value)) <= 60 else f"of {len(str(value))} characters"
        raise ValueError(f"length {shown} is not a number of tokens; write 128K, 1M or 128000")
    number = Decimal(match[1].replace("_", "").replace(",", "")) * {"": 1, "k": 1_000, "m": 1_000_000}[match[2].lower()]
    tokens = min(number, Decimal(_MOST_TOKENS))
    if tokens != tokens.to_integral_value():
        raise ValueError(f"length {str(value)[:60]} is not a whole number of tokens; write 128K, 2.5M or 128000")
    return int(tokens)


_MOST_TOKENS = 10**18
"""Beyond every length that a spec may ask for; larger numbers are read as this one, and refused with it."""


def parse_language(value: object) -> str:
    """Return a language's name on one line; `en`, `en-GB` and `english` are `English`.

    Raises ValueError for text that is no name, because every prompt names the language to a model.
    """
    name = " ".join(str(value).split())
    if not re.fullmatch(r"[^\W\d_][\w() -]{1,39}", name):
        raise ValueError(f"language {value!r}: write its name in English, such as German or Brazilian Portuguese")
    return DEFAULT_LANGUAGE if re.fullmatch(r"en(?:glish)?(?:[-_ ]\w+)?", name, re.IGNORECASE) else name


class Limits(Record):
    """Limits of a run over all endpoints."""

    concurrency: int = Field(default=16, ge=1, le=4096)
    """Model calls in flight."""
    timeout_s: float = Field(default=600, gt=0, le=86_400)
    """Time until a reply begins, and until it is whole where it is not streamed; the call is then asked again."""
    idle_timeout_s: float = Field(default=120, gt=0, le=86_400)
    """Longest silence within a streamed reply; the call is then asked again."""
    max_reply_mb: float | None = Field(default=None, gt=0, le=4096, allow_inf_nan=False)
    """Largest answer of an endpoint in MB, 32 times as much for a stream; None: 1 MB and 128 bytes for each token that
    the reply may have."""
    max_cost_usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """The run stops cleanly before it would have spent more; None: no cap."""
    unusable_in_a_row: int = Field(default=60, ge=0)
    """Replies of one role in a row that could not be used, whatever text they had, that stop the run; 0: no limit."""


class Checks(Record):
    """Checks of a benchmark while it is made, and the gaps that it may be sealed with."""

    model: bool | None = None
    """Whether the role `checker` judges what rules cannot; None: when language models write the benchmark."""
    gap_share: float = Field(default=0.02, ge=0, le=1)
    """Share of a conversation's units that may fail for good; with more of them it is not sealed."""
    least_accuracy: float = Field(default=0.8, ge=0, le=1)
    """Share of calibration items that a checker has to get right for its objections to count; 0: all count."""


BATCHED_STAGES = (
    "narratives",
    "persona",
    "plan",
    "user_turns",
    "repair",
    "probes",
    "checks",
    "prepare",
    "answer",
    "judge",
)
"""Stages whose calls may wait for a batch; `narratives` are the calls of that prompt in `persona` and `plan`."""


class Batch(Record):
    """Calls that are sent as batches, for half the price and an answer within a day."""

    stages: tuple[str, ...] = ()
    """Stages whose calls are sent in batches, of BATCHED_STAGES; of a dialogue each message would wait a day."""
    wait_s: float = Field(default=30, gt=0, le=86_400)
    """A batch is sent when no more calls have come for so long."""
    poll_s: float = Field(default=30, gt=0, le=86_400)
    """Time between two questions for the state of a batch."""
    most_calls: int = Field(default=10_000, ge=1, le=50_000)
    """Calls of one batch."""
    price_share: float = Field(default=0.5, ge=0, le=1, allow_inf_nan=False)
    """Price of a batched call as a share of the usual one."""

    @field_validator("stages")
    @classmethod
    def _can_wait(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := [stage for stage in value if stage not in BATCHED_STAGES]:
            raise ValueError(f"{unknown[0]!r} cannot be sent in batches; stages are {', '.join(BATCHED_STAGES)}")
        return value


class RoleSampling(Record):
    """Sampling settings of one role; None: the default of the endpoint."""

    temperature: float | None = Field(default=None, ge=0, le=2, allow_inf_nan=False)
    """Temperature of the first attempt; each further attempt at a reply that did not fit is warmer."""
    top_p: float | None = Field(default=None, gt=0, le=1, allow_inf_nan=False)
    min_p: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    presence_penalty: float | None = Field(default=None, ge=-2, le=2, allow_inf_nan=False)
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2, allow_inf_nan=False)
    """OpenAI's penalty on repetition."""
    repetition_penalty: float | None = Field(default=None, gt=0, le=10, allow_inf_nan=False)
    """The penalty of vLLM and llama.cpp; 1: none."""
    max_tokens: int | None = Field(default=None, ge=1, le=10_000_000)
    """Limit of one reply; None: derived from the form that the prompt asks for. A reply that is cut off there is asked
    for again with twice as many."""

    @property
    def identity(self) -> dict[str, float | None]:
        """Settings that replies and done units depend on: the temperature, and the others that are set.

        `max_tokens` is left out: a reply that ended by itself stays valid when the limit rises.
        """
        others = self.model_dump(exclude={"temperature", "max_tokens"}, exclude_none=True)
        return {"temperature": self.temperature, **others}


class TurnLengths(StrEnum):
    """Distribution of the lengths of the user's planned messages."""

    BEAM = "beam"
    CHAT = "chat"
    """People who chat: shorter messages, of LoCoMo's lengths."""


class TurnWriting(StrEnum):
    """When the user's planned messages get their wording."""

    BATCHED = "batched"
    """In batches, before the dialogue, as in BEAM."""
    IN_DIALOGUE = "in_dialogue"
    """When they are due: the batch gives the substance, and the writer sees the last exchange. One more call a turn."""


class OnContradiction(StrEnum):
    """Reaction of the assistant of a conversation to a contradiction of the user's."""

    IGNORE = "ignore"
    """It answers the question and lets the contradiction pass, as BEAM's does."""
    ASK = "ask"
    """It names both statements and asks which one is right; the user leaves that open."""


class PromptSettings(Record):
    """Templates of prompts."""

    folder: str | None = None
    """Folder with templates that take the place of longbeam's of the same name (`outline.j2`, `_profile.j2`)."""


def _seed_of(given: dict[str, object]) -> int:
    """Return the seed of a benchmark that is given none: 0 to 2**32 - 1, from its name."""
    return int.from_bytes(hashlib.sha256(str(given.get("name", "")).encode()).digest()[:4])


class BenchmarkSpec(Record):
    """One benchmark. Once it exists, the fields that FIXED_FIELDS names may not change."""

    name: str
    seed: int = Field(default_factory=_seed_of, ge=0, lt=2**63)
    """Of all randomness. Without one it follows from the name, so that two benchmarks have other people and days."""
    length: Annotated[int, BeforeValidator(parse_length)] = 128_000
    """Tokens of message content per conversation; beyond 1M a conversation has a plan per million."""
    strategy: Strategy | None = None
    """Strategy of conversations beyond 1M; None: the one that the seed names, else sequential."""
    conversations: int = Field(default=1, ge=1, le=10_000)
    composition: dict[int, int] = Field(default_factory=dict)
    """Conversations by length, as in BEAM's four; `length` is then their mean, and `conversations` their number."""
    domains: tuple[Domain, ...] = ()
    """Taken in turn; empty means all nineteen, or those of the seeds file."""
    domain: OwnDomain | None = None
    """Domain of the user's own, in place of `domains`; without a seeds file the planner writes its seeds."""
    seeds_file: str | None = None
    """JSON or TOML list of seeds, used in its order and again from the start when more are asked for."""
    abilities: tuple[str, ...] = ABILITIES
    probes_per_ability: int = Field(default=2, ge=1, le=8)
    language: Annotated[str, BeforeValidator(parse_language)] = DEFAULT_LANGUAGE
    """English name of the language of all messages and questions (`German`); see docs/languages.md."""
    tokenizer: str = "o200k_base"
    models: dict[str, str] = Field(default_factory=lambda: {"default": DEFAULT_MODEL})
    """Role to model (default one, `openai:NAME`, `vllm:NAME`, `gguf:PATH`); `default` serves the roles not named."""
    endpoints: dict[str, Endpoint] = Field(default_factory=dict)
    """Settings of the models, by the names that `models` uses; a model of OpenAI's own needs none."""
    sampling: dict[str, RoleSampling] = Field(default_factory=dict)
    """By role; `default` serves the settings that a role leaves out."""
    plan: PlanSettings = PlanSettings()
    probes: ProbeSettings = ProbeSettings()
    prompts: PromptSettings = PromptSettings()
    people: PeopleSettings = PeopleSettings()
    turn_lengths: TurnLengths = TurnLengths.BEAM
    turns: TurnWriting = TurnWriting.BATCHED
    on_contradiction: OnContradiction = OnContradiction.IGNORE
    """Whether the assistant of the conversations lets a contradiction pass or asks about it."""
    limits: Limits = Limits()
    batch: Batch = Batch()
    checks: Checks = Checks()
    licence: str = ""
    """Licence of the data: an SPDX identifier (`CC-BY-4.0`), stated in exports; empty: none is stated."""
    imported_from: str = ""
    """Format that an import was read from; empty for a generated benchmark. The length of an import is 0."""
    suite: str = ""
    """Suite that made the benchmark, such as `agentic`; empty for a generated or an imported one."""

    @model_validator(mode="before")
    @classmethod
    def _with_export(cls, values: object) -> object:
        """Take `licence` out of a table [export], which is where people look for it."""
        if not isinstance(values, dict) or not isinstance(values.get("export"), dict):
            return values
        table = values["export"]
        if unknown := [key for key in table if key != "licence"]:
            raise ValueError(f"export: unknown key {unknown[0]!r}; the known key is licence")
        rest = {key: value for key, value in values.items() if key != "export"}
        if rest.get("licence") not in (None, "", table.get("licence")):
            raise ValueError(
                f"licence = {rest['licence']!r} contradicts export.licence = {table['licence']!r}; keep one"
            )
        return {**rest, **table}

    @model_validator(mode="before")
    @classmethod
    def _with_composition(cls, values: object) -> object:
        """Fill in what follows from a table [composition]: the number of conversations and their mean length."""
        table = values.get("composition") if isinstance(values, dict) else None
        if not isinstance(values, dict) or not isinstance(table, dict) or not table:
            return values
        counts: dict[int, int] = {}
        for length, count in table.items():
            if type(count) is not int or count < 1:
                raise ValueError(
                    f"composition: {length!r} = {count!r}: write the number of conversations of that length, 1 or more"
                )
            counts[parse_length(length)] = counts.get(parse_length(length), 0) + count
        number = sum(counts.values())
        follows = {"conversations": number, "length": sum(map(mul, counts, counts.values())) // number}
        for name, value in follows.items():
            if values.get(name, value) != value:
                raise ValueError(
                    f"{name} = {values[name]!r} contradicts the table [composition]; leave one of them out"
                )
        return {**values, **follows, "composition": counts}

    @field_validator("sampling", mode="before")
    @classmethod
    def _is_by_role(cls, value: object) -> object:
        for name, setting in value.items() if isinstance(value, dict) else ():
            if name in RoleSampling.model_fields and not isinstance(setting, dict):
                raise ValueError(f"{name} = {setting!r} belongs to no role; write it under [sampling.default]")
        return value

    @field_validator("endpoints")
    @classmethod
    def _are_of_models(cls, value: dict[str, Endpoint]) -> dict[str, Endpoint]:
        for name, endpoint in value.items():
            if not is_language_model(name):
                allowed = "openai:NAME, vllm:NAME or gguf:PATH"
                raise ValueError(f"endpoints: {name!r} is no model with an endpoint; write {allowed}")
            if provider_of(name) == "gguf" and endpoint.base_url is not None:
                raise ValueError(
                    f"endpoints: {name!r} has a base_url, but longbeam serves gguf: models itself; "
                    "name a server that runs already openai:NAME"
                )
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not NAME_PATTERN.fullmatch(self.name):
            raise ValueError(
                f"name {self.name!r}: 1 to 64 letters, digits, '.', '_' or '-' are allowed, "
                "beginning with a letter or digit"
            )
        if self.is_given:
            return self
        for length in self.lengths:
            if length < MIN_LENGTH:
                raise ValueError(f"length {length}: at least {MIN_LENGTH} tokens (16K) are needed for ten abilities")
            if length > MAX_LENGTH:
                raise ValueError(f"length {length}: at most {MAX_LENGTH} tokens (64M) are possible")
        roles = {"default", *Role}
        if unknown := sorted(set(self.models) - roles):
            raise ValueError(f"models: unknown role {unknown[0]!r}; roles are {', '.join(sorted(roles))}")
        if "default" not in self.models and (missing := sorted(set(Role) - _STAND_IN.keys() - set(self.models))):
            raise ValueError(f"models: no model for role {missing[0]!r}; name it, or set models.default")
        if unknown := sorted(set(self.sampling) - roles):
            raise ValueError(f"sampling: unknown role {unknown[0]!r}; roles are {', '.join(sorted(roles))}")
        if unknown := [a for a in self.abilities if self.abilities.count(a) > 1]:
            raise ValueError(f"abilities: {unknown[0]!r} is listed twice")
        if self.domain is not None and self.domains:
            raise ValueError(
                f"domains = {list(self.domains)}: [domain] {self.domain.name!r} stands in their place; keep one"
            )
        if not self.abilities:
            raise ValueError(f"abilities: at least one is needed; built in are {', '.join(ABILITIES)}")
        return self

    @property
    def is_given(self) -> bool:
        """Whether the conversations come from an import or a suite, so that nothing is generated or resumed."""
        return bool(self.imported_from or self.suite)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Lengths that conversations of the benchmark have, each once."""
        return tuple(self.composition) or (self.length,)

    def of_conversation(self, index: int) -> BenchmarkSpec:
        """Return the spec with the length of one conversation; those of a composition have its order."""
        for length, count in self.composition.items():
            if index < count:
                return self.model_copy(update={"length": length})
            index -= count
        return self

    @property
    def source(self) -> str:
        """Origin of the benchmark in words; empty for a generated one."""
        if self.suite:
            return f"made by the suite {self.suite}"
        return f"imported from the {self.imported_from} format" if self.imported_from else ""

    def model_for(self, role: Role) -> str:
        """Return the model that serves a role; empty for a second checker that the spec does not name."""
        if role is Role.SECOND_CHECKER:
            return self.models.get(role, "")
        stand_in = self.models.get(_STAND_IN.get(role, ""), "")
        return self.models.get(role, self.models.get("default", stand_in))

    @property
    def models_in_use(self) -> frozenset[str]:
        """Models that serve the roles, by their names in `models`."""
        return frozenset(filter(None, map(self.model_for, Role)))

    def endpoint_for(self, model: str) -> Endpoint:
        """Return the settings of a model as `models` names it; the defaults where the spec has none."""
        return self.endpoints.get(model, Endpoint())

    def identity_of(self, model: str) -> str:
        """Return provider and the name that the endpoint knows: the model's identity, wherever it is served.

        Replies and done units belong to the identity, so an address, a port or a limit may change without paying again.
        A file may lie anywhere: for `gguf:` the provider stands here alone, and `models.asking` adds a digest.
        """
        if provider_of(model) == "gguf":
            return "gguf"
        name = self.endpoint_for(model).model
        return model if name is None else f"{provider_of(model)}:{name}"

    def path_of(self, model: str) -> Path:
        """Return the file of a `gguf:` model."""
        return Path(self.endpoint_for(model).model or model.partition(":")[2])

    def concurrency_of(self, model: str) -> int:
        """Return the number of calls that a model may have in flight."""
        endpoint = self.endpoint_for(model)
        most = [self.limits.concurrency, endpoint.limits.concurrency]
        # More calls than slots would wait in the server's queue, where their time runs out.
        most += [endpoint.slots] if provider_of(model) == "gguf" else []
        return min(number for number in most if number is not None)

    def is_batched(self, stage: str, prompt_id: str, model: str) -> bool:
        """Return whether the calls of a stage and prompt to a model are sent in batches."""
        stages = self.batch.stages
        return bool(stages) and provider_of(model) == "openai" and (stage in stages or prompt_id in stages)

    def for_any_model(self) -> BenchmarkSpec:
        """Return the same spec for a model that answers in place of its own: all calls carry extras."""
        read = {
            name: self.endpoint_for(name).model_copy(update={"sends_extras": True})
            for name in self.models.values()
            if is_language_model(name)
        }
        return self.model_copy(update={"endpoints": {**self.endpoints, **read}})

    def sampling_for(self, role: Role) -> RoleSampling:
        """Return the sampling settings of a role, with the defaults filled in."""
        common, own = self.sampling.get("default", RoleSampling()), self.sampling.get(role, RoleSampling())
        return RoleSampling(**{**common.model_dump(exclude_none=True), **own.model_dump(exclude_none=True)})


_STAND_IN = {Role.CHECKER: Role.JUDGE, Role.SECOND_CHECKER: ""}
"""Roles that a spec without a default model may leave out, and the role whose model serves them."""


def is_language_model(model: str) -> bool:
    """Return whether a model, as `models` of a spec names it, is a language model."""
    provider, colon, _ = model.partition(":")
    return provider in LANGUAGE_PROVIDERS or (bool(colon) and provider in offered(MODEL_PLUG_INS, LANGUAGE_PROVIDERS))


def provider_of(model: str) -> str:
    """Return `openai` of `openai:NAME`; a name without a provider is its own."""
    return model.partition(":")[0]


FIXED_FIELDS = (
    "seed",
    "composition",
    "length",
    "strategy",
    "domains",
    "domain",
    "seeds_file",
    "language",
    "tokenizer",
    "turns",
    "on_contradiction",
    "imported_from",
    "suite",
)
"""Fields of a spec that may not change once a benchmark exists."""
