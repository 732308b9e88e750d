"""The people around a user, as a graph.

Kinds, counts and probabilities are near BEAM's. The rules of ages and names hold by construction: bounds are
computed before an age is drawn, and names are dealt from a shuffled deck.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Sequence
from typing import Any

import networkx as nx

from longbeam.generators.profiles import first_names
from longbeam.schemas.people import Gender, Person, Profile, Relation, RelationshipGraph

ADULT = 18
OLDEST = 99
PARENT_GAP = (18, 45)
"""Least and most years between a parent and a child."""
PARTNER_GAP = 10
FRIEND_GAP = 12
LARGEST_SIZE = 12
"""Largest `size`: beyond it, the names of so many friends and acquaintances would run out."""
CORE = frozenset({Relation.PARENT, Relation.PARTNER, Relation.CHILD})
"""Relations of people who are in every plan."""
RETURNING = 2
"""Number of friends and acquaintances of earlier plans who return in each later plan."""


def draw_relationships(spec_seed: int, index: int, profile: Profile, size: int = 1) -> RelationshipGraph:
    """Return the people around the user of conversation `index`: the same for the same arguments.

    Parents, partner and children may be missing; there are always 2-5 friends and 3-6 acquaintances per
    `size` (1 for one plan; more for conversations of many plans, which keep the smaller graph's people).
    First names are distinct, differ from the user's, and no two begin with the same four letters.
    Raises ValueError for a size outside 1..12.
    """
    if not 1 <= size <= LARGEST_SIZE:
        raise ValueError(f"size {size} is outside 1..{LARGEST_SIZE}")
    names = _NameDealer(random.Random(f"{spec_seed}/relationships/{index}/names"), profile.first_name)
    core = _draw_core(random.Random(f"{spec_seed}/relationships/{index}/core"), profile)
    people = [(relation, gender, age, names.deal(gender)) for relation, gender, age in core]
    circles: list[tuple[Relation, Gender, int, str]] = []
    for block in range(size):
        circles += [
            (r, gender, age, names.deal(gender)) for r, gender, age in _circle(spec_seed, index, block, profile)
        ]
    circles.sort(key=lambda person: person[0] is Relation.ACQUAINTANCE)  # stable: friends first, blocks in order
    persons = tuple(
        Person(person_id=f"n{n}", first_name=name, gender=gender, age=age, relation=relation)
        for n, (relation, gender, age, name) in enumerate(people + circles, start=1)
    )
    return RelationshipGraph(people=persons, node_link=_node_link(profile, persons))


def circles_of(spec_seed: int, index: int, profile: Profile, size: int) -> tuple[tuple[Person, ...], ...]:
    """Return the friends and acquaintances that each plan introduces, from the graph of this size, friends first.

    Ages are those of the first day; `person_id`s are those of the graph.
    """
    graph = draw_relationships(spec_seed, index, profile, size)
    waiting = {r: iter(graph.of(r)) for r in (Relation.FRIEND, Relation.ACQUAINTANCE)}
    blocks = (_circle(spec_seed, index, block, profile) for block in range(size))
    return tuple(tuple(next(waiting[relation]) for relation, _, _ in block) for block in blocks)


def people_of_plan(
    graph: RelationshipGraph, circles: Sequence[Sequence[Person]], plan_index: int, rng_key: str
) -> tuple[tuple[Person, ...], tuple[Person, ...]]:
    """Return the people of one plan, and the people among them whom it introduces.

    The core is in every plan; each plan introduces a circle of its own, and some people of earlier circles return.
    """
    new = tuple(circles[plan_index]) if plan_index < len(circles) else ()
    met = [p for circle in circles[:plan_index] for p in circle]
    back = random.Random(f"{rng_key}/returning/{plan_index}").sample(met, min(len(met), RETURNING))
    if plan_index >= len(circles):
        back = list(circles[plan_index % len(circles)])  # nobody is left to introduce: an earlier circle returns
    wanted = {p.person_id for p in (*new, *back)}
    people = tuple(p for p in graph.people if p.relation in CORE or p.person_id in wanted)
    introduced = tuple(p for p in people if p in new or (plan_index == 0 and p.relation in CORE))
    return people, introduced


def aged(person: Person, first: dt.date, now: dt.date, rng_key: str) -> Person:
    """Return the person with their age on a later day; `rng_key` determines their birthday."""
    return person.model_copy(
        update={"age": min(OLDEST, person.age + birthdays(first, now, f"{rng_key}/{person.person_id}"))}
    )


def birthdays(first: dt.date, now: dt.date, rng_key: str) -> int:
    """Return the number of birthdays after `first` and up to `now`."""
    offset = random.Random(f"{rng_key}/birthday").randrange(365)
    return ((now - first).days + offset) // 365


_Drawn = tuple[Relation, Gender, int]


def _circle(spec_seed: int, index: int, block: int, profile: Profile) -> list[_Drawn]:
    return _draw_circle(random.Random(f"{spec_seed}/relationships/{index}/circle/{block}"), profile)


class _NameDealer:
    """Deals first names: each at most once, and none that is easily confused with another."""

    def __init__(self, draw: random.Random, taken: str) -> None:
        self._used = {taken[:4].casefold()}
        self._decks: dict[Gender, Iterator[str]] = {}
        for gender in Gender:
            deck = first_names(gender)
            self._decks[gender] = iter(draw.sample(deck, len(deck)))

    def deal(self, gender: Gender) -> str:
        """Return the next name of this gender."""
        for name in self._decks[gender]:
            head = name[:4].casefold()
            if head not in self._used:
                self._used.add(head)
                return name
        raise ValueError(f"no {gender} first name is left")


def _draw_core(draw: random.Random, profile: Profile) -> list[_Drawn]:
    parents = _draw_parents(draw, profile.age)
    partner = _draw_partner(draw, profile)
    youngest_parent = min([profile.age, *(age for _, _, age in partner)])
    return parents + partner + _draw_children(draw, profile.age, youngest_parent)


def _draw_parents(draw: random.Random, age: int) -> list[_Drawn]:
    # BEAM's 0.85 whatever the age; beyond 45 it falls, because so do the numbers of living parents.
    if draw.random() >= _interpolate(age, (45, 0.85), (70, 0.25)):
        return []
    least, most = PARENT_GAP[0], min(PARENT_GAP[1], OLDEST - age)
    mother = round(draw.triangular(least, most, min(28, most)))
    drawn = [(Relation.PARENT, Gender.FEMALE, age + mother)]
    if draw.random() < _interpolate(age, (35, 0.75), (70, 0.25)):
        father = draw.randint(max(least, mother - 4), min(most, mother + 8))
        drawn.append((Relation.PARENT, Gender.MALE, age + father))
    return drawn


def _draw_partner(draw: random.Random, profile: Profile) -> list[_Drawn]:
    if draw.random() >= (0.6 if profile.age < 30 else 0.8):
        return []
    other = Gender.MALE if profile.gender is Gender.FEMALE else Gender.FEMALE
    gender = profile.gender if draw.random() < 0.05 else other
    low, high = max(ADULT, profile.age - PARTNER_GAP), profile.age + PARTNER_GAP
    return [(Relation.PARTNER, gender, round(draw.triangular(low, high, profile.age)))]


def _draw_children(draw: random.Random, age: int, youngest_parent: int) -> list[_Drawn]:
    """Return up to three children; the user (`age`) and the partner are old enough to be their parents."""
    at_birth = youngest_parent - age  # added to the user's age then: the younger one's
    if draw.random() >= _interpolate(age, (25, 0.0), (45, 0.8)):
        return []
    earliest = max(PARENT_GAP[0], 20 - at_birth)
    latest = min(age, 36 - at_birth, 42)
    drawn: list[_Drawn] = []
    if earliest > latest:
        return drawn
    born = draw.randint(earliest, latest)  # the user's age at the birth
    for _ in range(draw.choice((1, 1, 2, 2, 2, 3))):
        if born > min(age, PARENT_GAP[1]):
            break
        drawn.append((Relation.CHILD, draw.choice((Gender.FEMALE, Gender.MALE)), age - born))
        born += draw.randint(2, 5)
    return drawn


def _draw_circle(draw: random.Random, profile: Profile) -> list[_Drawn]:
    genders = (Gender.FEMALE, Gender.MALE)
    low, high = max(ADULT, profile.age - FRIEND_GAP), min(OLDEST, profile.age + FRIEND_GAP)
    friends = [
        (Relation.FRIEND, draw.choice(genders), round(draw.triangular(low, high, profile.age)))
        for _ in range(draw.randint(2, 5))
    ]
    acquaintances = [
        (Relation.ACQUAINTANCE, draw.choice(genders), draw.randint(20, 72)) for _ in range(draw.randint(3, 6))
    ]
    return friends + acquaintances


def _interpolate(x: float, start: tuple[float, float], end: tuple[float, float]) -> float:
    """Return the value on the line from start to end; beyond them it is constant."""
    share = min(1.0, max(0.0, (x - start[0]) / (end[0] - start[0])))
    return start[1] + share * (end[1] - start[1])


def _node_link(profile: Profile, people: tuple[Person, ...]) -> dict[str, Any]:
    # Directed: an edge reads "the user has this person as a parent"; undirected, it could be read either way.
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_node("user", first_name=profile.first_name, gender=profile.gender.value, age=profile.age)
    for person in people:
        graph.add_node(person.person_id, first_name=person.first_name, gender=person.gender.value, age=person.age)
        graph.add_edge("user", person.person_id, relation=person.relation.value)
    data: dict[str, Any] = nx.node_link_data(graph, edges="edges")
    return data
