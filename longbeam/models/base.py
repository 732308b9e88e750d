"""The seam between a prompt and text: `ModelCall` in, `ModelReply` out.

A language model reads the messages that a call renders. A model that answers by rule cannot read prose: its calls also
carry `extras`, which an injected function makes and nobody else looks into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from pydantic import BaseModel

from longbeam.keys import UnitKey
from longbeam.schemas import (
    ChatMessage,
    KeptJson,
    ModelReply,
    PromptInputs,
    Retry,
    Role,
    RoleSampling,
    Seed,
    Tool,
    digest_of,
    request_hash,
)


class Sampling(RoleSampling):
    """Sampling parameters of one call; all but `max_tokens` are part of the journal's key."""

    @cached_property
    def key_part(self) -> object:
        """The part of the journal's key: the temperature alone where nothing else is set."""
        identity = self.identity
        return identity["temperature"] if len(identity) == 1 else identity


class CallProgress:
    """State of one call below the limits: held back, or on its way with signs of life of its reply."""

    __slots__ = ("heard_at", "is_held", "is_replayed")

    def __init__(self) -> None:
        self.heard_at: float | None = None
        """Time of the event loop at which a piece of the reply came last; None: nothing came yet."""
        self.is_held = False
        """Whether a model waits for something before it sends the call."""
        self.is_replayed = False
        """Whether the reply came from the journal."""

    @contextmanager
    def held(self) -> Iterator[None]:
        """Mark the call as held back while the block lasts: a run that is stopped meanwhile does not send it."""
        self.is_held = True
        try:
            yield
        finally:
            self.is_held = False


class PromptDeclaration(Protocol):
    """The part of a prompt that a call needs; `prompts.registry.Prompt` is one."""

    @property
    def prompt_id(self) -> str:
        """Stable name of the prompt."""

    @property
    def version(self) -> int:
        """Version; raised whenever the prompt asks for something else."""

    @property
    def role(self) -> Role:
        """Role of the model that answers the prompt."""

    @property
    def output(self) -> type[BaseModel] | None:
        """Schema of the reply; None for prose."""

    @property
    def tool(self) -> Tool | None:
        """The tool that a reply may call; None for most prompts."""

    def schema(self, inputs: PromptInputs | None = None) -> dict[str, Any] | None:
        """Return the JSON schema of the reply, narrowed to a call whose inputs are given. Do not edit it."""

    def render(self, inputs: PromptInputs, retry: Retry | None = None) -> tuple[ChatMessage, ...]:
        """Return the request as chat messages; a retry adds its messages behind those of the first attempt."""


class Extras(Protocol):
    """The part of a call that a model reads which answers by rule; opaque to everything else."""

    @property
    def digest(self) -> str:
        """Hash that is equal for extras that lead to the same reply."""

    @property
    def json(self) -> bytes:
        """The extras as a JSON value, for a model behind an endpoint."""


StateOf = Callable[[], KeptJson]
"""Describes the state that a call is made from. It is computed only for a model that takes extras."""
ExtrasOf = Callable[[str, PromptInputs, StateOf | None], Extras]
"""Makes the extras of a call from its prompt id, its inputs and its state."""


@dataclass(frozen=True)
class ModelCall:
    """One question to a model."""

    prompt: PromptDeclaration
    inputs: PromptInputs
    role: Role
    model: str
    """As the spec names it: `openai:small`."""
    benchmark_seed: int
    unit_key: str
    """Conversation, stage, unit and the call's place in it: `c000/dialogue/p0.s2/t5.n1`."""
    generation: int = 0
    """Content attempts so far; transport faults do not count."""
    sampling: Sampling = Sampling()
    identity: str = ""
    """Identity of the model, wherever it is served: `openai:Qwen/Qwen3-8B`; empty: that is `model`."""
    retry: Retry | None = None
    """Faults of the last reply; None for a first attempt."""
    extras: Extras | None = None
    """Read in place of the messages by a model that answers by rule; None for a language model."""
    progress: CallProgress = field(default_factory=CallProgress, init=False, repr=False, compare=False)
    """Set by models that stream or hold calls back, read by the limits above them."""

    @property
    def stage(self) -> str:
        """Stage of the unit that asks; raises ValueError for a unit key that names none."""
        return UnitKey.parse(self.unit_key).stage

    @cached_property
    def key(self) -> str:
        """Key of the journal: equal for calls that would be paid for twice."""
        asked = request_hash(m.hash for m in self.messages()).hex() if self.extras is None else self.extras.digest
        return digest_of(
            self.prompt.prompt_id,
            self.prompt.version,
            asked,
            self.identity or self.model,
            self.sampling.key_part,
            self.benchmark_seed,
            self.unit_key,
            self.generation,
        )

    def messages(self) -> Sequence[ChatMessage]:
        """Return the request as chat messages, rendered once."""
        return self._rendered

    @cached_property
    def _rendered(self) -> tuple[ChatMessage, ...]:
        return self.prompt.render(self.inputs, self.retry)


class ChatModel(Protocol):
    """Anything that answers model calls."""

    async def complete(self, call: ModelCall) -> ModelReply:
        """Return the reply; raise `ProviderError` when there is none."""


def no_version(model: str) -> str:
    """Return an empty version: all models are language models."""
    return ""


@dataclass(frozen=True)
class Models:
    """The models of a run: who answers its calls, and what is known about the models that its spec names."""

    chat: ChatModel
    version_of: Callable[[str], str] = no_version
    """Version of the rules by which a model answers, by its name in the spec; empty for a language model."""
    extras_of: ExtrasOf | None = None
    """Makes the extras of calls to models that answer by rule; None: no such model is asked."""
    tells: Callable[[Seed], bool] | None = None
    """Whether models that answer by rule can tell a story about a seed's subject; None: no such model is asked."""
    unusable_in_a_row: dict[tuple[str, Role], tuple[int, str]] = field(default_factory=dict, compare=False, repr=False)
    """Replies in a row that could not be used, and what was wrong with the last, by model and role; shared."""


async def close_model(model: ChatModel) -> None:
    """Close the connections of a model, if it holds some."""
    close = getattr(model, "aclose", None)
    if close is not None:
        await close()
