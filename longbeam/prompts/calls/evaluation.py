"""The typed inputs and outputs of the prompts that evaluation asks: reader, judge, aligner."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from longbeam.schemas import PromptInputs, ReplyModel

TrialForm = Literal["right", "denied", "other subject", "candidates", "two values"]
"""Forms of an answer by which a judge is tried; the last four are wrong."""


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
    """Strict: unsaid content does not count."""


class JudgeReply(ReplyModel):
    """Reason and verdict."""

    reason: str
    verdict: Literal["met", "partly met", "not met"]


class TrialAnswerInputs(PromptInputs):
    """Write an answer that is known to be right or wrong, by which a judge is tried."""

    question: str
    gold_answer: str
    criteria: tuple[str, ...]
    """Texts of the nuggets by which answers are judged."""
    form: TrialForm


class AlignInputs(PromptInputs):
    """Asks which of the reference events is the same as this item of an answer."""

    item: str
    events: tuple[str, ...]
    """Events that no earlier item has matched."""


class AlignReply(ReplyModel):
    """Reason, then the place of the event in the list; None if it is none of them."""

    reason: str
    event: int | None = None
