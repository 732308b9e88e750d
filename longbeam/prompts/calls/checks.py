"""The typed inputs and outputs of the prompts that model-backed checks ask, beside those of evaluation."""

from __future__ import annotations

import datetime as dt

from pydantic import Field

from longbeam.schemas.base import Record
from longbeam.schemas.calls import PromptInputs, ReplyModel


class GuessInputs(PromptInputs):
    """Answer a question on a conversation that nobody shows."""

    question: str


class DatedMessage(Record):
    """A message as a checker sees it."""

    number: int
    said_on: dt.date
    text: str
    is_after: bool = False
    """Whether it was said after everything that the gold answer rests on."""


class SupportInputs(PromptInputs):
    """Do the cited messages alone make each criterion of a rubric true?"""

    question: str
    nuggets: tuple[str, ...]
    """Numbered from 1."""
    evidence: tuple[DatedMessage, ...]
    """What the probe cites, oldest first."""


class NuggetSupport(ReplyModel):
    """Reason first, then the verdict on one criterion."""

    nugget: int
    reason: str
    is_supported: bool


class SupportReply(ReplyModel):
    """One verdict for each criterion."""

    nuggets: list[NuggetSupport]


class CounterEvidenceInputs(PromptInputs):
    """Does a message that the gold answer does not cite change it?"""

    question: str
    gold_answer: str
    evidence: tuple[DatedMessage, ...]
    """What it cites, oldest first; empty for a question without an answer."""
    others: tuple[DatedMessage, ...]
    """Nearest in words, oldest first, numbered from 1."""


class CounterEvidenceReply(ReplyModel):
    """Reason first, then the message that changes the answer, with its own words; None where none does."""

    reason: str
    message: int | None = None
    quote: str = Field(default="", max_length=2_000)
