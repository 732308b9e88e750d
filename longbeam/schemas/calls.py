"""The typed inputs and outputs of every prompt: the contract between generators, templates and models.

An input field is a variable of the prompt's template, but for three kinds: `history` fields, which become
messages of their own; `feedback`, which says what was wrong with the last attempt; and the fields that a
prompt declares as `unshown`, because only other prompts with the same inputs show them.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from functools import cache, cached_property
from typing import Literal

from pydantic import BaseModel, ConfigDict
from pydantic_core import to_json

from longbeam.schemas.base import KeptJson, Record
from longbeam.schemas.hashing import message_hash
from longbeam.schemas.spec import ENGLISH


class ChatMessage(KeptJson):
    """One message of a request to a model."""

    role: Literal["system", "user", "assistant"]
    content: str

    @cached_property
    def hash(self) -> bytes:
        """Under which a work log keeps the message."""
        return message_hash(self.role, self.content)

    @property
    def digest(self) -> str:
        """The same in hexadecimal."""
        return self.hash.hex()


class Tool(Record):
    """A tool that a reply may call instead of saying something."""

    name: str
    purpose: str
    """What it does, in a sentence for the model."""
    arguments: tuple[str, ...]
    """Fields of the reply's schema that are its arguments."""
    otherwise: str
    """Field that holds what was said where the tool was not called."""


class ModelReply(Record):
    """What came back from a model, before anything is made of it."""

    text: str
    finish_reason: str = "stop"
    """`stop`, `length`, `content_filter`, ..."""
    refusal: str = ""
    """What the model said in place of a reply; empty: it did not refuse."""
    model: str = ""
    """As the endpoint names the one that answered."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Of the prompt tokens, those that the endpoint had in its cache."""
    output_tokens: int = 0
    reasoning_tokens: int = 0
    """Of the output tokens, those thought and not said."""


class PromptInputs(KeptJson):
    """Base of every prompt's typed inputs."""

    feedback: str = ""
    """What was wrong with the last attempt; rendered after the prompt, never part of a template."""
    language: str = ENGLISH
    """Of the conversation. Set by the asker from the spec; `system` blocks may use it without declaring it."""

    @property
    def asked_tokens(self) -> int | None:
        """Tokens that the prompt asks a prose reply to have; None where it asks for no length."""
        return None

    @cached_property
    def kept_json(self) -> bytes:
        """Put together of the parts that many calls share, such as a sub-plan's context and a dialogue's messages."""
        parts: list[bytes] = []
        values = self.__dict__
        for name, opening in _openings(type(self)):
            parts += (opening, _json_of(values[name]))
        parts.append(b"}")
        return b"".join(parts)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the fields' JSON, where parts that many calls share stand as their own digests.

        A request of a dialogue holds 60 KB of such parts, and only its last message is new.
        """
        whole = hashlib.sha256()
        values = self.__dict__
        for name, opening in _openings(type(self)):
            whole.update(opening)
            whole.update(_digest_or_json_of(values[name]))
        return whole.hexdigest()


@cache
def _openings(inputs: type[PromptInputs]) -> tuple[tuple[str, bytes], ...]:
    """The fields of inputs, each with what stands before its value in their JSON."""
    return tuple(
        (name, b'%s"%s":' % (b"," if i else b"{", name.encode())) for i, name in enumerate(inputs.model_fields)
    )


def _digest_or_json_of(value: object) -> bytes:
    if isinstance(value, KeptJson):
        return value.digest.encode()
    if isinstance(value, tuple) and value and isinstance(value[0], KeptJson):
        return ",".join([part.digest for part in value]).encode()
    return _json_of(value)


def _json_of(value: object) -> bytes:
    if isinstance(value, KeptJson):
        return value.kept_json
    if isinstance(value, tuple) and value and isinstance(value[0], KeptJson):
        return b"[" + b",".join(part.kept_json for part in value) + b"]"
    if isinstance(value, StrEnum):
        value = str(value)  # reading an enum's `value` runs Python, for a tenth of what the JSON costs
    return to_json(value)


class ReplyModel(BaseModel):
    """Base of structured replies: unknown keys are ignored, because models add some."""

    model_config = ConfigDict(frozen=True, extra="ignore")
