"""Inputs and replies of the prompts that choose and word probes."""

from __future__ import annotations

import datetime as dt

from pydantic import Field

from longbeam.schemas.base import Record
from longbeam.schemas.calls import PromptInputs, ReplyModel
from longbeam.schemas.people import Person
from longbeam.schemas.plans import Bullet, Value
from longbeam.schemas.probes import Difficulty
from longbeam.schemas.seeds import Category, Seed


class Excerpt(Record):
    """A cited message as a probe writer sees it."""

    ordinal: int
    """How the reply refers to it."""
    said_on: dt.date
    quote: str
    """Verbatim."""
    part: str
    group: int | None = None
    topic: str = ""
    subject: str = ""
    attribute: str = ""
    value: Value | None = None


class ProbeInputs(PromptInputs):
    """Write one probe; what it asks, its answer's values and its evidence are given."""

    ability: str
    difficulty: Difficulty
    variety: str
    category: Category
    title: str
    excerpts: tuple[Excerpt, ...]
    topic: str
    """What the probe is about, in a few words."""
    computed_value: str = ""
    """The answer, where code has computed it."""
    condition: str = ""
    requirement: str = ""
    items: tuple[str, ...] = ()
    """The ordered items, for event ordering."""


class NuggetDraft(ReplyModel):
    """A criterion and the excerpts that make it true."""

    text: str
    excerpts: list[int] = Field(default_factory=list)


class ProbeReply(ReplyModel):
    """Question, gold answer, rubric."""

    question: str
    gold_answer: str
    nuggets: list[NuggetDraft]


class AbstentionInputs(PromptInputs):
    """Questions that sound as if the conversation answered them, and it does not."""

    seed: Seed
    people: tuple[Person, ...]
    bullets: tuple[Bullet, ...]
    """A spread of what the conversation says."""
    count: int


class AbstentionDraft(ReplyModel):
    """One unanswerable question; `search_terms` would appear in any message that answered it."""

    question: str
    missing: str
    bullet_id: str
    """The bullet that the question is close to."""
    search_terms: list[str]
    difficulty: Difficulty
    answer: str = ""
    """That nothing was said about it, in one sentence; asked for where the conversation is not in English."""


class AbstentionReply(ReplyModel):
    """The questions."""

    items: list[AbstentionDraft]


class CandidateOption(Record):
    """A candidate that code found in the ledger, in one line."""

    candidate_id: str
    difficulty: Difficulty
    summary: str


class CandidatesInputs(PromptInputs):
    """Choose the candidates that make the best questions."""

    ability: str
    title: str
    options: tuple[CandidateOption, ...]
    count: int


class CandidatesReply(ReplyModel):
    """Ids of the chosen candidates, best first."""

    chosen: list[str]
