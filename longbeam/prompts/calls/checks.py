"""The typed inputs and outputs of the prompts that model-backed checks ask, beside those of evaluation."""

from __future__ import annotations

import datetime as dt

from pydantic import Field

from longbeam.schemas import PromptInputs, Record, ReplyModel


class GuessInputs(PromptInputs):
    """Answer a question on a conversation without seeing the conversation."""

    question: str


class DatedMessage(Record):
    """A message as checkers see it."""

    number: int
    said_on: dt.date
    speaker: str = "user"
    """`user` or `assistant`."""
    text: str
    is_after: bool = False
    """Whether the message follows all evidence of the gold answer."""
    before: int = 0
    """Number of the first cited message that it precedes, where the answer is an order; 0 elsewhere and for none."""


class SupportInputs(PromptInputs):
    """Do the cited messages alone make each nugget of a rubric true?"""

    question: str
    nuggets: tuple[str, ...]
    """Nuggets, numbered from 1."""
    evidence: tuple[DatedMessage, ...]
    """Messages that the probe cites, oldest first."""
    gold_answer: str = ""
    has_one_answer: bool = False
    """Whether the answer is a value, so that the messages may allow another one."""


class NuggetSupport(ReplyModel):
    """Reason and verdict on one nugget."""

    nugget: int
    reason: str
    is_supported: bool


class SupportReply(ReplyModel):
    """One verdict for each nugget, and another answer that the messages allow; empty for none."""

    nuggets: list[NuggetSupport]
    other_answer: str = Field(default="", max_length=2_000)


class CounterEvidenceInputs(PromptInputs):
    """Does a message that the gold answer does not cite change it?"""

    question: str
    gold_answer: str
    evidence: tuple[DatedMessage, ...]
    """Messages that the gold answer cites, oldest first; empty for a question without an answer."""
    others: tuple[DatedMessage, ...]
    """Other messages that share the most words, oldest first, numbered from 1."""
    is_contradiction: bool = False
    """Whether the answer says that two cited messages disagree."""
    is_order: bool = False
    """Whether the answer is the order in which things came up, one cited message for each."""


class CounterEvidenceReply(ReplyModel):
    """Reason, then the message that changes the answer, with a quote; None if no message does."""

    reason: str
    message: int | None = None
    quote: str = Field(default="", max_length=2_000)


class EntailmentInputs(PromptInputs):
    """Does a message say each of these claims?"""

    message: str
    claims: tuple[str, ...]
    """Claims, numbered from 1."""


class ClaimVerdict(ReplyModel):
    """Reason and verdict on one claim."""

    claim: int
    reason: str = Field(max_length=400)
    is_said: bool


class EntailmentReply(ReplyModel):
    """One verdict for each claim."""

    verdicts: list[ClaimVerdict]


class ToldRemark(Record):
    """A remark of the user's, and the day on which they made it."""

    text: str
    day: dt.date


class ContradictionInputs(PromptInputs):
    """Can two remarks of one person both be true, and is the later one a slip that people make?"""

    earlier: ToldRemark
    later: ToldRemark


class ContradictionReply(ReplyModel):
    """Reason, then whether both can be true, and whether somebody may well misremember it."""

    reason: str = Field(max_length=400)
    can_both_be_true: bool
    is_plausible: bool = True
