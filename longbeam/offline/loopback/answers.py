"""From a request's extras to the offline writer's reply, scaled as the settings ask."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from longbeam.models.base import ModelCall, PromptDeclaration, Sampling
from longbeam.models.openai_client import EXTRA_FIELD
from longbeam.offline.extras import STATES, WriterExtras, state_of
from longbeam.offline.loopback.settings import ServerSettings
from longbeam.offline.writer import OfflineWriter, text_of
from longbeam.prompts.calls.dialogue import (
    AssistantReplyInputs,
    QuestionDetectorReply,
)
from longbeam.schemas.calls import PromptInputs
from longbeam.schemas.spec import Role

ASKS_USER_RATE = 0.2
"""Share of the offline writer's replies that ask the user something; a factor above 1 is relative to this share."""


class UnknownRequest(Exception):
    """A request that cannot be answered; the message says what it lacks."""


class TypedPrompt(PromptDeclaration, Protocol):
    """A declaration that knows the type of its inputs; `prompts.registry.Prompt` is one."""

    @property
    def inputs(self) -> type[PromptInputs]:
        """Type of the inputs."""


class Prompts(Protocol):
    """A source of declarations; `prompts.registry.PromptRegistry` is one."""

    def __getitem__(self, prompt_id: str) -> TypedPrompt:
        """The declaration with this id; KeyError if there is none."""


def call_of(body: Mapping[str, Any], prompts: Prompts) -> ModelCall:
    """Return the model call that a request was made from. Raises UnknownRequest with what is wrong with it."""
    extra = body.get(EXTRA_FIELD)
    if not isinstance(extra, dict):
        raise UnknownRequest(
            f"the request has no {EXTRA_FIELD!r} member with extras: this server is the offline writer, which "
            "cannot read prose. Set `sends_extras = true` for this endpoint in the spec, or start the server with "
            "fixed_reply_tokens=N"
        )
    try:
        prompt = prompts[extra["prompt_id"]]
        if extra["prompt_version"] != prompt.version:
            raise UnknownRequest(
                f"prompt {prompt.prompt_id!r} has version {prompt.version} here and {extra['prompt_version']} in the "
                "request: server and client are different versions of longbeam"
            )
        inputs = prompt.inputs.model_validate(extra["extras"]["inputs"])
        state = extra["extras"]["state"]
        return ModelCall(
            prompt=prompt,
            inputs=inputs,
            role=Role(extra["role"]),
            model=str(body.get("model", "")),
            benchmark_seed=int(extra["benchmark_seed"]),
            unit_key=str(extra["unit_key"]),
            generation=int(extra["generation"]),
            sampling=Sampling(temperature=body.get("temperature")),
            extras=WriterExtras(inputs, state and STATES[prompt.prompt_id].model_validate(state)),
        )
    except KeyError as exc:
        raise UnknownRequest(f"{EXTRA_FIELD}: {exc.args[0]!r} is missing, or no prompt of that name") from exc
    except (ValidationError, ValueError) as exc:
        raise UnknownRequest(f"{EXTRA_FIELD}: {' '.join(str(exc).split())[:300]}") from exc


def answer(writer: OfflineWriter, call: ModelCall, settings: ServerSettings) -> str:
    """Return the offline writer's reply to a call."""
    inputs = call.inputs
    if settings.reply_factor != 1 and isinstance(inputs, AssistantReplyInputs):
        target = max(1, round(inputs.target_tokens * settings.reply_factor))
        extras = WriterExtras(inputs.model_copy(update={"target_tokens": target}), state_of(call))
        return text_of(writer.answer(replace(call, extras=extras)))
    found = writer.answer(call)
    if settings.detector_factor != 1:
        found = _scaled_verdict(found, call, settings.detector_factor)
    return text_of(found)


def _scaled_verdict(found: BaseModel | str, call: ModelCall, factor: float) -> BaseModel | str:
    if isinstance(found, QuestionDetectorReply):
        return found.model_copy(update={"asks_user": _scaled(found.asks_user, ASKS_USER_RATE, factor, call.key)})
    return found


def _scaled(verdict: bool, rate: float, factor: float, key: str) -> bool:
    drawn = random.Random(f"{key}/verdict").random()
    if verdict:
        return drawn < factor
    # Of the noes so many become yes that in all `rate * factor` are.
    return drawn < (min(1.0, rate * factor) - rate) / (1 - rate)
