"""Inputs and replies of the prompts that write the user's planned turns."""

from __future__ import annotations

from pydantic import Field

from longbeam.prompts.calls.plans import LedgerLine, Stage
from longbeam.schemas.base import KeptJson, Record
from longbeam.schemas.calls import PromptInputs, ReplyModel
from longbeam.schemas.people import Person, Profile
from longbeam.schemas.plans import Bullet, Value
from longbeam.schemas.seeds import Seed


class BulletBrief(Record):
    """A bullet with its assertions, as the writers of turns and replies see it."""

    bullet: Bullet
    facts: tuple[LedgerLine, ...] = ()
    """Facts that the bullet sets, updates or denies; `value` is the asserted value."""
    old_values: tuple[Value | None, ...] = ()
    """Previous value of each fact, or None."""


class BatchState(KeptJson):
    """Position of a call's turns in their sub-plan; no prompt shows it."""

    first_ordinal: int
    """Ordinal of the first of the turns."""


class UserTurnsInputs(PromptInputs):
    """Write the user's questions for one batch of bullets."""

    seed: Seed
    profile: Profile
    people: tuple[Person, ...]
    stage: Stage
    batch: tuple[BulletBrief, ...]
    """Bullets to voice, each exactly once; empty if the call asks for further questions only."""
    about: tuple[BulletBrief, ...] = ()
    """Bullets already voiced, for further questions."""
    context: tuple[Bullet, ...] = ()
    """Bullets before the batch, newest last."""
    questions: int
    """Number of turns."""
    asked_before: tuple[str, ...] = ()
    """The last questions, which the reply must not repeat."""


class UserTurnDraft(ReplyModel):
    """One question; `voices` are the bullets that it states, `asks_about` those that it only asks about."""

    text: str
    voices: list[str] = Field(default_factory=list)
    asks_about: list[str] = Field(default_factory=list)


class UserTurnsReply(ReplyModel):
    """The turns, in order."""

    turns: list[UserTurnDraft]
