"""The typed inputs and outputs of the prompts that model-backed checks ask, beside those of evaluation."""

from __future__ import annotations

import datetime as dt

from pydantic import Field

from longbeam.schemas.base import Record
from longbeam.schemas.calls import PromptInputs, ReplyModel


class GuessInputs(PromptInputs):
    """Answer a question on a conversation without seeing the conversation."""

    question: str


class DatedMessage(Record):
    """A message as checkers see it."""

    number: int
    said_on: dt.date
    text: str
    is_after: bool = False
    """Whether the message follows all evidence of the gold answer."""


class SupportInputs(PromptInputs):
    """Do the cited messages alone make each nugget of a rubric true?"""

    question: str
    nuggets: tuple[str, ...]
    """Nuggets, numbered from 1."""
    evidence: tuple[DatedMessage, ...]
    """Messages that the probe cites, oldest first."""


class NuggetSupport(ReplyModel):
    """Reason and verdict on one nugget."""

    nugget: int
    reason: str
    is_supported: bool


class SupportReply(ReplyModel):
    """One verdict for each nugget."""

    nuggets: list[NuggetSupport]


class CounterEvidenceInputs(PromptInputs):
    """Does a message that the gold answer does not cite change it?"""

    question: str
    gold_answer: str
    evidence: tuple[DatedMessage, ...]
    """Messages that the gold answer cites, oldest first; empty for a question without an answer."""
    others: tuple[DatedMessage, ...]
    """Other messages that share the most words, oldest first, numbered from 1."""


class CounterEvidenceReply(ReplyModel):
    """Reason, then the message that changes the answer, with a quote; None if no message does."""

    reason: str
    message: int | None = None
    quote: str = Field(default="", max_length=2_000)
