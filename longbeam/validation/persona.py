"""Plausible people: ages fit the relations, and no two people share a first name."""

from __future__ import annotations

from collections.abc import Iterator

from longbeam.schemas import Person, Profile, Relation
from longbeam.validation.base import ERROR, WARNING, Check, Problem
from longbeam.validation.index import ConversationIndex

ADULT = 18
PARENT_GAP = (18, 45)
FRIEND_GAP = 12


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield implausible ages, shared first names, and people that the graph lacks."""
    profile, people = index.head.profile, index.head.relationships.people
    if profile is None:
        return
    names = {profile.first_name.casefold(): "the user"}
    for person in people:
        if fault := age_fault(profile, person):
            yield Problem("age", person.person_id, f"{person.first_name} ({person.relation.value}): {fault}")
        other = names.setdefault(person.first_name.casefold(), person.person_id)
        if other != person.person_id:
            text = f"{person.person_id} and {other} are both called {person.first_name}"
            yield Problem("same_name", person.person_id, text)
    nodes = {str(n.get("id")) for n in index.head.relationships.node_link.get("nodes", [])}
    if missing := [p.person_id for p in people if nodes and p.person_id not in nodes]:
        yield Problem("graph", "profile", f"people are missing in the graph: {', '.join(missing)}")
    if len(set(profile.mbti)) < len(profile.mbti):
        yield Problem("mbti", "profile", f"a type occurs twice: {', '.join(profile.mbti)}")


def age_fault(profile: Profile, person: Person) -> str | None:
    """Return why a person's age does not fit the relation to the user, or None.

    Parents are 18 to 45 years older than their children; friends differ by at most 12 years; partners and
    friends are adults. The record of a user allows only adults.
    """
    gap = person.age - profile.age
    if person.relation is Relation.PARENT and not PARENT_GAP[0] <= gap <= PARENT_GAP[1]:
        return f"is {person.age}, and the user {profile.age}"
    if person.relation is Relation.CHILD and not PARENT_GAP[0] <= -gap <= PARENT_GAP[1]:
        return f"is {person.age}, and the user {profile.age}"
    if person.relation is Relation.FRIEND and abs(gap) > FRIEND_GAP:
        return f"is {person.age}, and the user {profile.age}"
    if person.relation in (Relation.FRIEND, Relation.PARTNER) and person.age < ADULT:
        return f"is {person.age}, not an adult"
    return None


CHECK = Check(
    name="persona",
    doc="Ages fit the relations, first names are distinct, the graph is of these people.",
    severities={"age": ERROR, "same_name": ERROR, "graph": WARNING, "mbti": WARNING},
    on_conversation=find_problems,
)
