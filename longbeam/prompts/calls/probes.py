"""Inputs and replies of the prompts that choose and word probes."""

from __future__ import annotations

import datetime as dt

from pydantic import Field

from longbeam.schemas import (
    Bullet,
    Category,
    Difficulty,
    MessageRole,
    Person,
    PromptInputs,
    Record,
    ReplyModel,
    Seed,
    Value,
)


class Excerpt(Record):
    """A cited message as probe writers see it."""

    ordinal: int
    """Number of the excerpt in the reply."""
    said_on: dt.date
    quote: str
    """Verbatim words of the message."""
    speaker: MessageRole = MessageRole.USER
    part: str
    group: int | None = None
    topic: str = ""
    subject: str = ""
    attribute: str = ""
    value: Value | None = None
    past: tuple[str, ...] = ()
    """Values that the fact had before, oldest first."""
    is_plan: bool = False
    """Whether the words tell what was planned, and not what came of it."""


class ProbeInputs(PromptInputs):
    """Write one probe; its subject, the values of its answer and its evidence are given."""

    ability: str
    difficulty: Difficulty
    variety: str
    category: Category
    title: str
    excerpts: tuple[Excerpt, ...]
    topic: str
    """Subject of the probe, in a few words."""
    computed_value: str = ""
    """The answer, if code has computed it."""
    condition: str = ""
    requirement: str = ""
    items: tuple[str, ...] = ()
    """The items of a list of the assistant's, or the people of a side story."""
    listed_as: tuple[int, ...] = ()
    """Event ordering: the excerpts in the order in which the question lists them."""
    known: tuple[str, ...] = ()
    """What is known of the user, for requests that anybody could make."""
    purpose: str = ""
    """What the user wants to know it for."""
    beside: tuple[str, ...] = ()
    """What else was told of the things of a summary, and is no part of its answer."""
    wishes: tuple[str, ...] = ()
    """The user's wishes that hold at the end, for answers of every kind."""


MAX_NUGGETS = 12
"""Nuggets of a rubric that has not more excerpts."""


class NuggetDraft(ReplyModel):
    """A nugget and the excerpts that make it true."""

    text: str
    excerpts: list[int] = Field(default_factory=list)


class ProbeReply(ReplyModel):
    """Question, gold answer, rubric."""

    question: str
    gold_answer: str
    nuggets: list[NuggetDraft]


class OrderReply(ProbeReply):
    """Question, gold answer, rubric, and the things to be put in order, each as question and answer name it."""

    items: list[str]


class AbstentionInputs(PromptInputs):
    """Write questions that sound as if the conversation answered them, although it does not."""

    seed: Seed
    people: tuple[Person, ...]
    bullets: tuple[Bullet, ...]
    """Bullets spread over the conversation."""
    count: int


class AbstentionDraft(ReplyModel):
    """One unanswerable question; any message that answered it would have one of the `search_terms`."""

    question: str
    missing: str
    bullet_id: str
    """The bullet that the question is close to."""
    search_terms: list[str]
    difficulty: Difficulty
    answer: str = ""
    """Statement that nothing was said on it, in one sentence; requested for conversations not in English."""


class AbstentionReply(ReplyModel):
    """The questions."""

    items: list[AbstentionDraft]


class CandidateOption(Record):
    """A candidate from the ledger, in one line."""

    candidate_id: str
    difficulty: Difficulty
    summary: str
    said: tuple[str, ...] = ()
    """Words of the first messages that it would cite."""


class CandidatesInputs(PromptInputs):
    """Choose the candidates that make the best questions."""

    ability: str
    title: str
    situation: tuple[str, ...] = ()
    """The user's last statements, oldest first."""
    options: tuple[CandidateOption, ...]
    count: int
    """Most options to choose; all may be bad."""


class CandidatesReply(ReplyModel):
    """Ids of the chosen candidates, best first, and what the user wants each for."""

    chosen: list[str]
    purposes: list[str] = Field(default_factory=list)
