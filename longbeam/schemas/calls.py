"""The typed inputs and outputs of every prompt: the contract between generators, templates and models.

An input field is a variable of the prompt's template, with three exceptions: `history` fields, which become
messages of their own; `feedback`, which says why a text is asked for anew; and fields that only other prompts with the
same inputs show.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from functools import cache, cached_property
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, PrivateAttr
from pydantic_core import to_json

from longbeam.schemas.base import KeptJson, Record, message_hash
from longbeam.schemas.spec import DEFAULT_LANGUAGE


class ChatMessage(KeptJson):
    """One message of a request to a model."""

    role: Literal["system", "user", "assistant"]
    content: str

    @cached_property
    def hash(self) -> bytes:
        """Hash under which a work log keeps the message."""
        return message_hash(self.role, self.content)

    @property
    def digest(self) -> str:
        """`hash` in hexadecimal."""
        return self.hash.hex()


class Tool(Record):
    """A tool that a model may call instead of a text reply."""

    name: str
    purpose: str
    """Description of the tool for the model, in one sentence."""
    arguments: tuple[str, ...]
    """Fields of the reply's schema that are its arguments."""
    otherwise: str
    """Field of the reply that holds the text if the model did not call the tool."""


class ModelReply(Record):
    """The raw reply of a model, before parsing."""

    text: str
    finish_reason: str = "stop"
    """`stop`, `length`, `content_filter`, ..."""
    refusal: str = ""
    """Text of the model's refusal; empty if it did not refuse."""
    model: str = ""
    """Name of the model that answered, as the endpoint gives it."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Prompt tokens that the endpoint had in its cache."""
    output_tokens: int = 0
    reasoning_tokens: int = 0
    """Output tokens spent on reasoning."""
    _text_field: str = PrivateAttr(default="")

    @property
    def text_field(self) -> str:
        """Field of the message that held a text where `text` is empty: `reasoning_content`, ...; it is not stored."""
        return self._text_field

    def with_text_in(self, field: str) -> ModelReply:
        """Return the reply with the field that held a text in place of `text`."""
        copied = self.model_copy()
        copied._text_field = field
        return copied


class Retry(Record):
    """The part of a repeated request that says why it is repeated; the request before it stays the same."""

    faults: tuple[str, ...]
    """Everything that is wrong with the last reply, each a sentence that a model can act on."""
    reply: str = ""
    """The last reply; empty where seeing it would not help, such as a refusal."""
    kept: tuple[str, ...] = ()
    """Items of earlier replies that are kept, one line each; the new reply holds none of them."""

    @property
    def text(self) -> str:
        """The faults as one text."""
        return "\n".join(self.faults)


class PromptInputs(KeptJson):
    """Base of every prompt's typed inputs."""

    feedback: str = ""
    """Fault of a text that is asked for anew; rendered after the prompt, never part of a template."""
    language: str = DEFAULT_LANGUAGE
    """Language of the conversation. The asker sets it from the spec; `system` blocks may use it undeclared."""

    usual_tokens: ClassVar[int] = 700
    """Expected length of a prose reply where `asked_tokens` names none."""

    @property
    def asked_tokens(self) -> int | None:
        """Length in tokens that the prompt asks of a prose reply; None if it asks for none."""
        return None

    @cached_property
    def kept_json(self) -> bytes:
        """JSON of the inputs, joined from parts that many calls share, such as the messages of a dialogue."""
        parts: list[bytes] = []
        values = self.__dict__
        for name, opening in _openings(type(self)):
            parts += (opening, _json_of(values[name]))
        parts.append(b"}")
        return b"".join(parts)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the fields' JSON, in which parts that many calls share are replaced by their digests.

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
    """Return the field names of inputs, each with the JSON text that precedes its value."""
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
        value = str(value)  # Reading an enum's `value` runs Python code, which costs a tenth as much as the JSON.
    return to_json(value)


class ReplyModel(BaseModel):
    """Base of structured replies: unknown keys are ignored, because models add some."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class NeutralInputs(PromptInputs):
    """Tell texts in neutral words, because a content filter withheld a request that holds them."""

    texts: tuple[str, ...]


class NeutralText(ReplyModel):
    """A text in neutral words."""

    number: int
    text: str


class NeutralReply(ReplyModel):
    """Every text once, in order."""

    texts: list[NeutralText]
