"""Inputs and replies of what a rule-based writer is asked to bring in, and of the user's choices from it."""

from __future__ import annotations

import datetime as dt

from pydantic import Field

from longbeam.prompts.calls.plans import LedgerLine, Stage
from longbeam.schemas import Advice, AdviceKind, Bullet, PromptInputs, Record, ReplyModel, Seed, Value

MOST_ITEM_WORDS = 14
"""Words of an option, a step or what an amount is for."""


class AdviceLine(Record):
    """Something for the assistant to bring in: where, what, and its value; the words are the writer's."""

    line_id: str
    """`a0`, `a1`, ..."""
    kind: AdviceKind
    bullet: Bullet
    """The user's statement that the assistant answers."""
    topic: str
    attribute: str
    """Name of what is given."""
    base: LedgerLine | None = None
    """The user's amount that a figure or the amount of a use is worked out from."""
    value: Value | None = None
    """Value of a figure, a day or a correction, and the amount of a use."""
    count: int = 0
    """Number of options or steps; a use has one thing that the amount is for."""
    former: Advice | None = None
    """Advice that a correction replaces."""


class ChoiceLine(Record):
    """A statement of the user's that says which of the assistant's options they took, without its name."""

    line_id: str
    """`c0`, `c1`, ..."""
    after: str
    """Id of the bullet that it follows."""
    day: dt.date
    options: Advice
    ordinal: int
    """Place of the option that was taken, from 1."""


class AdviceInputs(PromptInputs):
    """Word what the assistant brings in during one stage."""

    seed: Seed
    stage: Stage
    advice: tuple[AdviceLine, ...]
    choices: tuple[ChoiceLine, ...]
    uses_before: tuple[str, ...] = ()
    """What the amounts of earlier stages are for: none of it comes again."""


class AdviceDraft(ReplyModel):
    """A statement of the assistant's; `items` are the options, the steps, or what the amount of a use is for."""

    line_id: str
    items: list[str] = Field(default_factory=list)
    text: str


class ChoiceDraft(ReplyModel):
    """A statement of the user's on what they took."""

    line_id: str
    text: str


class AdviceReply(ReplyModel):
    """A draft for each line."""

    advice: list[AdviceDraft]
    choices: list[ChoiceDraft] = Field(default_factory=list)
