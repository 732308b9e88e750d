"""The typed inputs and outputs of the prompts that evaluation asks: reader, judge, aligner."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from longbeam.schemas import PromptInputs, ReplyModel


class AnswerInputs(PromptInputs):
    """Answer a question from a memory's context alone."""

    context: str
    """Text from the memory system; may be empty."""
    question: str
    asked_on: dt.date


class JudgeInputs(PromptInputs):
    """Does an answer fulfil one nugget?"""

    question: str
    nugget: str
    answer: str
    is_strict: bool = True
    """Strict: unsaid content does not count, and hedging between two values earns half at most."""


class JudgeReply(ReplyModel):
    """Reason and verdict."""

    reason: str
    verdict: Literal["met", "partly met", "not met"]


class AlignInputs(PromptInputs):
    """Asks which of the reference events is the same as this item of an answer."""

    item: str
    events: tuple[str, ...]
    """Events that no earlier item has matched."""


class AlignReply(ReplyModel):
    """Reason, then the place of the event in the list; None if it is none of them."""

    reason: str
    event: int | None = None
