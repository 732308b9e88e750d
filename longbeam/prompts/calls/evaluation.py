"""The typed inputs and outputs of the prompts that evaluation asks: reader, judge, aligner."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from longbeam.schemas.calls import PromptInputs, ReplyModel


class AnswerInputs(PromptInputs):
    """Answer a question from a memory's context alone."""

    context: str
    """What the memory system gives; may be empty."""
    question: str
    asked_on: dt.date


class JudgeInputs(PromptInputs):
    """Does an answer fulfil one nugget?"""

    question: str
    nugget: str
    answer: str
    is_strict: bool = True
    """Strict: what is not said is not there, and hedging between two values earns half at most."""


class JudgeReply(ReplyModel):
    """Reason first, then the verdict."""

    reason: str
    verdict: Literal["met", "partly met", "not met"]


class AlignInputs(PromptInputs):
    """Which of the reference events is this item of an answer the same as?"""

    item: str
    events: tuple[str, ...]
    """Those that no earlier item was the same as."""


class AlignReply(ReplyModel):
    """Reason first, then the place of the event in the list; None when it is none of them."""

    reason: str
    event: int | None = None
