"""The user of a conversation and the people around them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field

from longbeam.schemas.base import Record


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
