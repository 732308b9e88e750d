"""Inputs and replies of the prompts for new seeds, plan seeds, personality and narratives."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from longbeam.schemas import (
    Domain,
    DomainName,
    Narrative,
    Person,
    Profile,
    PromptInputs,
    ReplyModel,
    Seed,
    Strategy,
    Timeline,
)


class SeedsInputs(PromptInputs):
    """Write new subjects for conversations of one domain."""

    domain: DomainName
    subject: str
    """The domain's name in words."""
    about: str = ""
    """Paragraph on a domain of the user's own; empty for a built-in one."""
    count: int
    taken: tuple[str, ...]
    """Existing titles."""


class SeedDraft(ReplyModel):
    """A subject; code draws the year and the day of its beginning."""

    title: str = Field(min_length=1, max_length=120)
    theme: str = Field(min_length=1, max_length=300)
    subtopics: list[Annotated[str, Field(min_length=1, max_length=60)]] = Field(min_length=4, max_length=12)
    start_month: int = Field(ge=1, le=12)
    months: int = Field(ge=3, le=24)


class SeedsReply(ReplyModel):
    """Subjects; fewer than requested, or none, if there are no more."""

    seeds: list[SeedDraft]


class PlanSeedsInputs(PromptInputs):
    """Write the subject and the bounds of each plan of a conversation of many plans."""

    seed: Seed
    """Seed of the conversation, with its whole timeline."""
    profile: Profile
    people: tuple[Person, ...]
    strategy: Strategy
    spans: tuple[Timeline, ...]
    """Timeline of each plan."""
    ideas: tuple[Seed, ...]
    """One subject for each plan, the conversation's own first; the reply may use them or better ones."""


class PlanSeedDraft(ReplyModel):
    """One plan; code sets its days."""

    domain: Domain
    touches: Domain | None = None
    topic: str
    theme: str
    subtopics: list[str] = Field(min_length=3)
    phase: str
    tense: str
    can_mention: list[str] = Field(min_length=1)
    cannot_mention: list[str] = Field(default_factory=list)


class PlanSeedsReply(ReplyModel):
    """One draft for each plan, in the order of time."""

    plans: list[PlanSeedDraft]


class PersonalityInputs(PromptInputs):
    """Write a paragraph on the character of six personality types, without name, age or job."""

    usual_tokens = 250
    gender: str
    traits: tuple[str, ...]
    """Description of each MBTI type."""


class NarrativesInputs(PromptInputs):
    """Write the evolving aspects of a story."""

    seed: Seed
    profile: Profile
    people: tuple[Person, ...]
    at_least: int
    at_most: int


class NarrativesReply(ReplyModel):
    """The narratives, most central first."""

    narratives: list[Narrative]
