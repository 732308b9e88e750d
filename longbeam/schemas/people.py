"""The user of a conversation and the people around them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field

from longbeam.schemas.base import Record


class Gender(StrEnum):
    """As BEAM's personas have it."""

    FEMALE = "female"
    MALE = "male"


class Relation(StrEnum):
    """What a person is to the user."""

    PARENT = "parent"
    PARTNER = "partner"
    CHILD = "child"
    FRIEND = "friend"
    ACQUAINTANCE = "acquaintance"


class Person(Record):
    """Somebody the user knows. `person_id` is stable within a conversation (`n1`, `n2`, ...)."""

    person_id: str
    first_name: str
    gender: Gender
    age: int = Field(ge=0, lt=130)
    """Age in years on the first day of the timeline; below 100 in what is generated."""
    relation: Relation


class Profile(Record):
    """The user: a pure function of the benchmark's seed and the conversation's index."""

    name: str
    first_name: str
    gender: Gender
    age: int = Field(ge=0, lt=130)
    """18 to 99 in what is generated."""
    city: str
    country: str
    profession: str
    mbti: tuple[str, ...] = Field(default=(), max_length=6)
    """Six of the sixteen Myers-Briggs types, sorted (BEAM: C(16,6) = 8,008 composites); none in imports."""
    personality: str = ""
    """A third-person paragraph written from `mbti`; empty until that unit has run."""


class RelationshipGraph(Record):
    """People around the user, oldest relation kinds first, and the same as NetworkX node-link data."""

    people: tuple[Person, ...]
    node_link: dict[str, Any]
    """`networkx.node_link_data` of the graph: the user is node `user`; edges carry `relation`."""

    def of(self, relation: Relation) -> tuple[Person, ...]:
        """People with this relation, in the graph's order."""
        return tuple(p for p in self.people if p.relation is relation)


def people_graph(people: tuple[Person, ...]) -> RelationshipGraph:
    """Return people around a user as a graph: the user is tied to each."""
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
