"""Subjects of conversations: domains, categories, seeds and their timelines."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from longbeam.schemas.base import Record


class Category(StrEnum):
    """BEAM's three families of domains; prompts and layouts differ by category."""

    GENERAL = "general"
    CODING = "coding"
    MATH = "math"


class Domain(StrEnum):
    """The 19 domains of BEAM's Table 5, and `general` for a seed whose category is none of them."""

    CODING = "coding"
    MATH = "math"
    WRITING = "writing_assistant_learning"
    THERAPY = "therapy_emotional_support"
    CAREER = "career_professional_development"
    INVESTMENT = "financial_investment"
    HEALTH = "health_wellness"
    RELATIONSHIP = "relationship_family"
    EDUCATION = "education_learning"
    HOME = "home_real_estate"
    LIFESTYLE = "lifestyle"
    COOKING = "cooking"
    BUSINESS = "business_entrepreneurship"
    TRIP = "trip_planning"
    SPORT = "sport"
    EVENT = "event_planning"
    RECOMMENDATION = "asking_recommendation"
    LEGAL = "legal_administrative"
    PHILOSOPHY = "philosophical_ethical_discussion"
    GENERAL = "general"

    @property
    def category(self) -> Category:
        """Category whose prompts and layout the domain uses."""
        if self is Domain.CODING:
            return Category.CODING
        return Category.MATH if self is Domain.MATH else Category.GENERAL


class Timeline(Record):
    """First and last day of the story, both included."""

    start: date
    end: date

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.end <= self.start:
            raise ValueError(f"timeline ends ({self.end}) before it has begun ({self.start})")
        return self

    @property
    def days(self) -> int:
        """Days from start to end."""
        return (self.end - self.start).days


class Seed(Record):
    """Subject of a conversation, as it is before any model call."""

    domain: Domain
    title: str = Field(min_length=1)
    theme: str
    """Empty only for imports without a theme; the same holds for `subtopics`."""
    subtopics: tuple[str, ...]
    timeline: Timeline | None = None
    """Drawn for each conversation if the seed gives none."""
    mode: str | None = None
    """`sequential` or `hierarchical` for conversations of many plans."""
    touches: Domain | None = None
    """Second domain of the story; set for the phases of a storyline."""
    source: str = "catalogue"
    """`catalogue`, or the name of the seeds file and the entry's id there."""

    @property
    def category(self) -> Category:
        """Category of the seed's domain."""
        return self.domain.category
