"""Inputs and replies of the prompts for personality and narratives."""

from __future__ import annotations

from longbeam.schemas.calls import PromptInputs, ReplyModel
from longbeam.schemas.people import Person, Profile
from longbeam.schemas.plans import Narrative
from longbeam.schemas.seeds import Seed


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
