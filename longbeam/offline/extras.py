"""Extras of a call for the offline writer, in this process or behind an endpoint.

The writer cannot read prose: it answers from the typed inputs, and where they do not say enough, from the state that
the call is made from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from longbeam.models import ModelCall
from longbeam.prompts.calls import StoryGraph, TurnsSoFar, TurnState
from longbeam.schemas import KeptJson, PromptInputs

STATES: Mapping[str, type[KeptJson]] = {
    "sub_plan": StoryGraph,
    "user_turns": TurnsSoFar,
    "more_turns": TurnsSoFar,
    "assistant_reply": TurnState,
    "user_answer": TurnState,
    "user_follow_up": TurnState,
}
"""The state that calls of a prompt are made from; the other prompts' inputs say all."""


@dataclass(frozen=True)
class WriterExtras:
    """The typed inputs of a call, and the state it is made from."""

    inputs: PromptInputs
    state: KeptJson | None = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of both."""
        if self.state is None:
            return self.inputs.digest
        return hashlib.sha256(f"{self.inputs.digest}/{self.state.digest}".encode()).hexdigest()

    @cached_property
    def json(self) -> bytes:
        """Both as a JSON object."""
        state = b"null" if self.state is None else self.state.kept_json
        return b'{"inputs":%s,"state":%s}' % (self.inputs.kept_json, state)


def inputs_of(call: ModelCall) -> PromptInputs:
    """Return the inputs of a call with the faults that a retry names, which the call's own inputs do not have."""
    return call.extras.inputs if isinstance(call.extras, WriterExtras) else call.inputs


def state_of(call: ModelCall) -> KeptJson:
    """Return the state that a call is made from; raises TypeError where the call carries none."""
    state = call.extras.state if isinstance(call.extras, WriterExtras) else None
    if state is None:
        raise TypeError(
            f"prompt {call.prompt.prompt_id!r}: the offline writer needs the state that a call is made from"
        )
    return state
