"""The user of a conversation, the people around them, and the settings that say who they are."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from longbeam.schemas.base import Record

ADULT = 18
"""Years from which somebody is grown: comes along, is kept from knowing, is a partner or a friend of the user's."""


class Gender(StrEnum):
    """Genders of BEAM's personas."""

    FEMALE = "female"
    MALE = "male"


class Relation(StrEnum):
    """Relation of a person to the user."""

    PARENT = "parent"
    PARTNER = "partner"
    CHILD = "child"
    FRIEND = "friend"
    ACQUAINTANCE = "acquaintance"
    COLLEAGUE = "colleague"
    CUSTOMER = "customer"
    VENDOR = "vendor"


class Person(Record):
    """A person whom the user knows. `person_id` is stable within a conversation (`n1`, `n2`, ...)."""

    person_id: str
    first_name: str
    gender: Gender
    age: int = Field(ge=0, lt=130)
    """Age in years on the first day of the timeline; below 100 if generated."""
    relation: Relation


FAMILY = frozenset({Relation.PARENT, Relation.PARTNER, Relation.CHILD})


class ProfileTrait(Record):
    """Remark of a benchmark's makers on a user beyond the fields of a profile: `plan tier: Enterprise`."""

    name: str
    value: str


class Profile(Record):
    """The user: a pure function of the benchmark's seed and the conversation's index."""

    name: str
    first_name: str
    gender: Gender
    age: int = Field(ge=0, lt=130)
    """Age in years; 18 to 99 if generated."""
    city: str
    country: str
    profession: str
    employer: str = Field(default="", exclude_if=lambda value: not value)
    """Company that the user works for or runs; empty in stories of before 2026-11-28 and in imports."""
    traits: tuple[ProfileTrait, ...] = Field(default=(), exclude_if=lambda value: not value)
    """What the benchmark's makers say of the user; writers are told it."""
    mbti: tuple[str, ...] = Field(default=(), max_length=6)
    """Six of the sixteen Myers-Briggs types, sorted (BEAM: C(16,6) = 8,008 composites); none in imports."""
    personality: str = ""
    """A third-person paragraph written from `mbti`; empty until that unit has run."""

    @property
    def home(self) -> str:
        """City and country: `Helsinki, Finland`."""
        return f"{self.city}, {self.country}"


class RelationshipGraph(Record):
    """People around the user, by relation, and the same graph as NetworkX node-link data."""

    people: tuple[Person, ...]
    node_link: dict[str, Any]
    """`networkx.node_link_data` of the graph: the user is node `user`; edges carry `relation`."""

    def of(self, relation: Relation) -> tuple[Person, ...]:
        """Return the people with this relation, in the graph's order."""
        return tuple(p for p in self.people if p.relation is relation)


def people_graph(people: tuple[Person, ...]) -> RelationshipGraph:
    """Return people around a user as a graph with an edge from the user to each."""
    return RelationshipGraph(
        people=people,
        node_link={
            "directed": False,
            "multigraph": False,
            "graph": {},
            "nodes": [{"id": "user"}, *({"id": p.person_id} for p in people)],
            "edges": [{"source": "user", "target": p.person_id, "relation": p.relation.value} for p in people],
        },
    )


ADULT_AGES = (18, 99)
"""Youngest and oldest user."""


class NumberSpan(Record):
    """Whole numbers of which one is drawn: `{from = 50, to = 500}`."""

    model_config = ConfigDict(validate_by_alias=True, validate_by_name=True, serialize_by_alias=True)

    least: int = Field(alias="from")
    most: int = Field(alias="to")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.most < self.least:
            raise ValueError(f"from = {self.least} is above to = {self.most}")
        return self


class PeopleGroup(Record):
    """A share of the users, and what they have in common."""

    share: float = Field(gt=0, le=1)
    traits: dict[str, str | int | tuple[str | int, ...] | NumberSpan]
    """By name (`profession`, `employer`, `plan tier`): a value, a list of which one is drawn, or a span of numbers."""

    @field_validator("traits")
    @classmethod
    def _are_usable(cls, value: dict[str, str | int | tuple[str | int, ...] | NumberSpan]) -> object:
        for name, drawn in value.items():
            values = (
                drawn
                if isinstance(drawn, tuple)
                else (drawn.least, drawn.most)
                if isinstance(drawn, NumberSpan)
                else (drawn,)
            )
            if not values or "" in values:
                raise ValueError(f"{name!r} has no value, or an empty one")
            if name == "age" and not all(
                str(v).isdecimal() and ADULT_AGES[0] <= int(v) <= ADULT_AGES[1] for v in values
            ):
                raise ValueError(f"age = {values}: whole numbers from {ADULT_AGES[0]} to {ADULT_AGES[1]} are needed")
            if name == "gender" and not {*values} <= {"female", "male"}:
                raise ValueError(f"gender = {values}: female or male is needed")
        return value


class Circle(StrEnum):
    """Kind of people around a user."""

    FAMILY = "family"
    FRIENDS = "friends"
    COLLEAGUES = "colleagues"
    CUSTOMERS = "customers"
    VENDORS = "vendors"


class PeopleSettings(Record):
    """Who the users are, and who is around them."""

    table: str | None = None
    """CSV file with a user a row, taken in turn; its columns are those of a profile, or traits."""
    groups: tuple[PeopleGroup, ...] = ()
    """Shares of the users; who belongs to none is drawn."""
    countries: tuple[str, ...] = ()
    """Countries of drawn users; empty: all."""
    around: tuple[Circle, ...] = (Circle.FAMILY, Circle.FRIENDS)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.table is not None and self.groups:
            raise ValueError("people: table and groups both say who the users are; keep one")
        if (total := sum(group.share for group in self.groups)) > 1 + 1e-9:
            raise ValueError(f"people.groups: the shares add up to {total:g}; at most 1 is possible")
        if not self.around:
            raise ValueError(f"people.around: at least one is needed of {', '.join(Circle)}")
        return self
