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
    """A bullet with what it asserts, as turn writers and repliers see it."""

    bullet: Bullet
    facts: tuple[LedgerLine, ...] = ()
    """Facts it sets, updates or denies; `value` is the asserted one."""
    old_values: tuple[Value | None, ...] = ()
    """For each fact the value before, or None."""


class BatchState(KeptJson):
    """Where a call's turns stand in their sub-plan; no prompt shows it."""

    first_ordinal: int
    """Ordinal of the first of the turns."""


class UserTurnsInputs(PromptInputs):
    """The user's questions for one batch of bullets."""

    seed: Seed
    profile: Profile
    people: tuple[Person, ...]
    stage: Stage
    batch: tuple[BulletBrief, ...]
    """Bullets to voice, each exactly once; empty when only more questions are asked for."""
    about: tuple[BulletBrief, ...] = ()
    """Bullets voiced already, that more questions may be about."""
    context: tuple[Bullet, ...] = ()
    """Bullets before the batch, newest last."""
    questions: int
    """Turns asked for."""
    asked_before: tuple[str, ...] = ()
    """The last questions, not to be repeated."""


class UserTurnDraft(ReplyModel):
    """One question; `voices` are the bullets it says, `asks_about` those it only asks about."""

    text: str
    voices: list[str] = Field(default_factory=list)
    asks_about: list[str] = Field(default_factory=list)


class UserTurnsReply(ReplyModel):
    """The turns, in the order in which they are asked."""

    turns: list[UserTurnDraft]
