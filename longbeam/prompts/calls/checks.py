"""The typed inputs and outputs of the prompts that model-backed checks ask, beside those of evaluation."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from pydantic import Field

from longbeam.schemas import PromptInputs, Record, ReplyModel


class DatedMessage(Record):
    """A passage of a conversation as checkers see it."""

    number: int
    said_on: dt.date
    speaker: str = "user"
    """`user` or `assistant`."""
    text: str


class AskedQuestion(Record):
    """A question, and the numbers of the passages from which it is to be answered."""

    number: int
    question: str
    passages: tuple[int, ...] = ()


class ReadInputs(PromptInputs):
    """Answer questions on a conversation, each from its own passages alone."""

    passages: tuple[DatedMessage, ...]
    questions: tuple[AskedQuestion, ...]
    is_brief: bool = False
    """Whether answers are to have as few words as a right one can have."""


class ReadAnswer(ReplyModel):
    """The passages that give an answer, then the answer."""

    question: int
    passages: list[int]
    answer: str


class ReadReply(ReplyModel):
    """One answer for each question."""

    answers: list[ReadAnswer]


class GuessInputs(PromptInputs):
    """Bet on the answers to questions on a conversation of which nothing is shown."""

    questions: tuple[AskedQuestion, ...]


class GuessedAnswer(ReplyModel):
    """How many answers a question leaves to choose from (0: it is open), then a guess."""

    question: int
    choices: int
    answer: str


class GuessReply(ReplyModel):
    """One guess for each question."""

    answers: list[GuessedAnswer]


class JudgedProbe(Record):
    """A probe as its critic sees it."""

    number: int
    ability: str
    question: str
    gold_answer: str
    nuggets: tuple[str, ...]
    cited: tuple[int, ...]
    """Numbers of the passages that the probe cites."""
    passages: tuple[int, ...]
    """Numbers of all passages on its subject."""


class CriticInputs(PromptInputs):
    """Read probes against everything that was said on their subjects."""

    passages: tuple[DatedMessage, ...]
    probes: tuple[JudgedProbe, ...]
    wishes: tuple[str, ...] = ()
    """The user's wishes that hold at the end."""


class RewordedNugget(ReplyModel):
    """A criterion, and the passages that make it true."""

    text: str
    passages: list[int]


class Critique(ReplyModel):
    """Reason and verdict on one probe, the new words where it is to be reworded, and two answers to try its rubric."""

    probe: int
    reason: str
    verdict: Literal["fine", "reword", "refuse"]
    question: str = ""
    gold_answer: str = ""
    nuggets: list[RewordedNugget] = Field(default_factory=list)
    right: str = ""
    """A right answer in other words than the reference answer, as short as people answer."""
    wrong: str = ""
    """The likeliest wrong answer, in the form of a right one."""


class CriticReply(ReplyModel):
    """One critique for each probe."""

    critiques: list[Critique]


class MarkedProbe(Record):
    """A question with its rubric and answers to mark."""

    number: int
    question: str
    nuggets: tuple[str, ...]
    answers: tuple[str, ...]


class MarkInputs(PromptInputs):
    """Say which criteria each answer meets."""

    probes: tuple[MarkedProbe, ...]


class Mark(ReplyModel):
    """The criteria that one answer meets."""

    probe: int
    answer: int
    met: list[int]


class MarkReply(ReplyModel):
    """One mark for each answer of each probe."""

    marks: list[Mark]


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
