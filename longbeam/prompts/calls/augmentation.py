"""Inputs and replies of the prompt that words a stage's updates, contradictions and wishes."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum

from pydantic import model_validator

from longbeam.prompts.calls.plans import DraftedValue, LedgerLine, Stage
from longbeam.schemas import (
    Bullet,
    BulletKind,
    Person,
    Profile,
    PromptInputs,
    Record,
    ReplyModel,
    Seed,
)


class ContradictionKind(StrEnum):
    """Kind of statement that people misremember, so that a contradiction of it is a slip and no loss of memory."""

    DAY = "day"
    LENGTH = "length of time"
    """How long something took, or how old it was."""
    COUNT = "count"
    """How many there were, or how often it was done."""
    PRICE = "price"
    SHARE = "share"
    NAME = "name"
    """Who did it, or which one it was."""
    ONCE = "tried once"
    """Whether something small was done at all."""

    @property
    def variety(self) -> str:
        """Variety of the contradiction: `never_statement` or `other_value`."""
        return "never_statement" if self is ContradictionKind.ONCE else "other_value"


class Place(Record):
    """Place of a special bullet, drawn before it is worded."""

    after: str
    """Id of the bullet of the plan that it follows."""
    day: dt.date
    """Day on which it is told."""


class UpdateTarget(Record):
    """A fact to change in this stage, and the bullet that set it."""

    target_id: str
    """`u0`, `u1`, ...: name of the target in the reply."""
    fact: LedgerLine
    bullet: Bullet
    place: Place
    related: tuple[Bullet, ...] = ()
    """Other bullets about the same thing, outside of the stage."""


class ContradictionTarget(Record):
    """A statement that the user misremembers in this stage."""

    target_id: str
    slip: ContradictionKind
    fact: LedgerLine | None
    bullet: Bullet
    place: Place
    related: tuple[Bullet, ...] = ()
    """Other bullets about the same thing, outside of the stage."""


class WishTarget(Record):
    """A standing wish to write: an instruction or a preference, with later events that meet it."""

    target_id: str
    kind: BulletKind
    aspect: str
    """What it is about: the label of a narrative, a thing, or somebody's first name."""
    narrative: str
    place: Place
    uses: tuple[str, ...]
    """Later events that meet its condition, oldest first."""
    unlike: str = ""
    """A later event that does not."""
    moments: tuple[str, ...] = ()
    """Bullets of the stage right after which it may be said: behind each of them it is used twice at least."""
    lines: tuple[int, ...] = (1,)
    """Numbers of these bullets in the request."""


class StoryLine(Record):
    """A bullet of the stage as the writer of its special bullets sees it."""

    bullet: Bullet
    then: tuple[str, ...] = ()
    """Ids of the targets that are said right after it."""


class AugmentInputs(PromptInputs):
    """Write the wording of the special bullets of one stage, whose subjects and places code has chosen."""

    seed: Seed
    profile: Profile
    stage: Stage
    people: tuple[Person, ...]
    """The cast of the stage."""
    changed: tuple[LedgerLine, ...]
    """Values that were changed before the stage, as they are now."""
    lines: tuple[StoryLine, ...]
    """The bullets of the stage, in order."""
    updates: tuple[UpdateTarget, ...]
    contradictions: tuple[ContradictionTarget, ...]
    wishes: tuple[WishTarget, ...]
    replaceable: tuple[Bullet, ...] = ()
    """Preferences in force for some time, of which a new preference may replace one."""
    taken_conditions: tuple[str, ...] = ()
    """Conditions of the user's other wishes so far."""
    put_before: tuple[str, ...] = ()
    """How the user put them."""


UNSAID = "unsaid"
"""Text of an update or a contradiction that its writer declines: nobody would say it there."""


class UpdateDraft(ReplyModel):
    """A changed value and the user's statement of it."""

    target_id: str
    value: DraftedValue
    text: str


class ContradictionDraft(ReplyModel):
    """A statement that contradicts its target; `value` only for `other_value`, empty for the others."""

    target_id: str
    text: str
    value: DraftedValue = ""


class WishDraft(ReplyModel):
    """A standing wish. A preference with the condition of one that it may replace does replace it."""

    target_id: str
    condition: str
    requirement: str
    text: str
    topic: str
    line: int = 0
    """Number of the line right after which it is said."""


class AugmentReply(ReplyModel):
    """One draft for each target."""

    updates: list[UpdateDraft]
    contradictions: list[ContradictionDraft]
    wishes: list[WishDraft]

    @model_validator(mode="before")
    @classmethod
    def _with_every_list(cls, reply: object) -> object:
        """Add the lists that a reply lacks: it broke off before them, or nothing was asked for there."""
        lists: dict[str, object] = {"updates": [], "contradictions": [], "wishes": []}
        return {**lists, **reply} if isinstance(reply, dict) else reply
