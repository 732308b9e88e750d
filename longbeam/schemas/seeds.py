"""Subjects of conversations: domains, categories, seeds and their timelines."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from longbeam.schemas.base import Record


class Category(StrEnum):
    """BEAM's three families of domains; prompts and layouts differ by category."""

    GENERAL = "general"
    CODING = "coding"
    MATH = "math"


class Domain(StrEnum):
    """Built-in domains: the 19 of BEAM's Table 5, and `general` for a seed that names none."""

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


DOMAIN_PATTERN = r"^[^\W_][\w &'/-]{0,59}$"


def _built_in(name: str | None) -> str | None:
    return Domain(name) if name in set(Domain) else name


DomainName = Annotated[str, AfterValidator(_built_in)]
"""A built-in `Domain`, or the name of one of the user's own; where people write it, it fits DOMAIN_PATTERN."""
MaybeDomain = Annotated[str | None, AfterValidator(_built_in)]
"""The same, or None."""


def category_of(domain: str) -> Category:
    """Return the category of a domain; a domain of the user's own is of the general one."""
    return domain.category if isinstance(domain, Domain) else Category.GENERAL


class OwnDomain(Record):
    """A domain of the user's own: what its seeds are written for, and what planners and writers know of it."""

    name: str = Field(pattern=DOMAIN_PATTERN)
    about: str = Field(min_length=40, max_length=4_000)
    """A paragraph: what people do there, which kinds of values they name, what goes wrong, which tools they use, and
    in which tone they write."""


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

    domain: DomainName
    about: str = Field(default="", exclude_if=lambda value: not value)
    """Paragraph on a domain of the user's own; empty for a built-in one."""
    title: str = Field(min_length=1)
    theme: str
    """Empty only for imports without a theme; the same holds for `subtopics`."""
    subtopics: tuple[str, ...]
    timeline: Timeline | None = None
    """Drawn for each conversation if the seed gives none."""
    mode: str | None = None
    """`sequential` or `hierarchical` for conversations of many plans."""
    touches: MaybeDomain = None
    """Second domain of the story; set for the phases of a storyline."""
    source: str = "catalogue"
    """`catalogue`, or the name of the seeds file and the entry's id there."""

    @property
    def category(self) -> Category:
        """Category of the seed's domain."""
        return category_of(self.domain)
