"""Inputs and replies of the prompts for new seeds, personality and narratives."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from longbeam.schemas import DomainName, Narrative, Person, Profile, PromptInputs, ReplyModel, Seed


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
