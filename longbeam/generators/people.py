"""The user of each conversation, and the people around them as a graph."""

from __future__ import annotations

import datetime as dt
import json
import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from pathlib import Path
from typing import Any, TypeVar

import networkx as nx
from faker.providers.job.en_US import Provider as Jobs

from longbeam.generators.names import Names
from longbeam.generators.tuning import PLANNING
from longbeam.schemas import ADULT, FAMILY, Circle, Gender, Person, Profile, Relation, RelationshipGraph

_T = TypeVar("_T")


MBTI_TRAITS: dict[str, str] = {
    "ISTJ": "Keeps promises to the letter, trusts records more than "
    "recollection, and finishes one thing before beginning another.",
    "ISFJ": "Remembers what other people need, works quietly in the "
    "background, and finds it hard to ask for help in return.",
    "INFJ": "Looks for the meaning behind events, listens longer than "
    "most, and holds firmly to a few private convictions.",
    "INTJ": "Thinks several steps ahead, prefers a sound plan to a popular "
    "one, and grows impatient with loose reasoning.",
    "ISTP": "Takes things apart to see how they work, stays calm when something "
    "breaks, and says little until there is something to fix.",
    "ISFP": "Lives by feel and by eye, dislikes being hurried or labelled, "
    "and shows care through small practical kindnesses.",
    "INFP": "Measures choices against an inner sense of what is right, daydreams "
    "freely, and defends the underdog with surprising force.",
    "INTP": "Enjoys an idea for its own sake, questions every definition, "
    "and often leaves the last ten percent for later.",
    "ESTP": "Acts first and adjusts quickly, reads a room well, and would rather try something than discuss it.",
    "ESFP": "Brings warmth and humour into company, notices the pleasures of the "
    "moment, and avoids long spells alone with paperwork.",
    "ENFP": "Sees possibilities everywhere, starts conversations with "
    "strangers, and needs a deadline to choose among enthusiasms.",
    "ENTP": "Argues for the fun of it, connects far-apart ideas, and loses interest once a problem has become routine.",
    "ESTJ": "Takes charge when nobody else does, values clear rules and "
    "punctuality, and says plainly what is expected.",
    "ESFJ": "Holds groups together, keeps track of birthdays and "
    "obligations, and takes criticism more to heart than it seems.",
    "ENFJ": "Encourages others towards what they could become, persuades "
    "easily, and carries too many people's worries.",
    "ENTJ": "Sets ambitious goals, organises people and resources around "
    "them, and treats setbacks as faults in the method.",
}
"""One sentence on each of the sixteen types, in our own words."""

_CITIES = Path(__file__).parent / "data" / "cities.json"

# Faker's jobs that are no job by themselves, too grand for most stories, or stray halves of hyphenated ones.
_ODD_JOBS = frozenset(
    {
        "Administrator",
        "Air broker",
        "Ambulance person",
        "Best boy",
        "Civil Service fast streamer",
        "Contractor",
        "Copy",
        "Dealer",
        "Gaffer",
        "Homeopath",
        "Information officer",
        "Land",
        "Lobbyist",
        "Make",
        "Mudlogger",
        "Phytotherapist",
        "Press sub",
        "Professor Emeritus",
        "Publishing copy",
        "Race relations officer",
        "Sub",
    }
)
_SENIOR_JOBS = re.compile(
    r"architect|attorney|barrister|consultant|curator|dentist|director|doctor|economist|lawyer|lecturer|manager|"
    r"oncolog|ophthalmolog|patholog|pilot|producer|professor|psychiatr|psycholog|psychother|scientist|secretary$|"
    r"solicitor|statistician|surgeon|haematolog|immunolog|toxicolog|treasurer|controller"
)
_TRAINED_JOBS = re.compile(
    r"accountant|adviser|analyst|biologist|chemist|counsellor|designer|developer|ecologist|editor|engineer|executive|"
    r"geologist|geoscientist|inspector|journalist|librarian|logist|nurse|officer|planner|physi|pharmac|practitioner|"
    r"researcher|surveyor|teacher|therapist|translator|worker|actuary|midwife|optometrist|archivist|dietitian"
)
_STRENUOUS_JOBS = re.compile(
    r"air traffic|airline pilot|barista|cabin crew|dancer|firefighter|holiday rep|paramedic|police|"
    r"prison officer|sports coach|tree surgeon"
)
_PROPER_JOBS = re.compile(r"^(?:IT|TEFL|English|Civil Service|Diplomatic)\b")


@dataclass(frozen=True)
class _Pools:
    """The pools of one benchmark, each in its own shuffled order."""

    cities: tuple[tuple[str, str], ...]
    professions: tuple[str, ...]


def draw_profile(spec_seed: int, index: int) -> Profile:
    """Return persona `index` of the benchmark with this seed; its `personality` is still empty.

    Faker draws the name and the employer in a locale of the country. No two of the first 50,000 share a name or a
    (city, profession); the first 160 share no city and no profession. Ages fit the profession and lie in 20..70.
    """
    draw = random.Random(f"{spec_seed}/profile/{index}")
    gender, (city, country), profession = _circumstances(spec_seed, index)
    first_name, last_name, employer = _named(spec_seed).name_of(index)
    youngest, oldest = age_bounds(profession)
    return Profile(
        name=f"{first_name} {last_name}",
        first_name=first_name,
        gender=gender,
        age=draw.randint(youngest, oldest),
        city=city,
        country=country,
        profession=profession,
        employer=employer,
        mbti=tuple(sorted(draw.sample(sorted(MBTI_TRAITS), 6))),
    )


def _circumstances(spec_seed: int, index: int) -> tuple[Gender, tuple[str, str], str]:
    """Return the gender, the place and the profession of a persona."""
    pools = _pools(spec_seed)
    gender = random.Random(f"{spec_seed}/gender/{index}").choice((Gender.FEMALE, Gender.MALE))
    city_place, profession = _walk(index, len(pools.cities), pools.professions)
    return gender, pools.cities[city_place], profession


class _Named:
    """Names of the personas of one benchmark, in their order: each draws until its name differs from all before.

    A persona's name therefore depends on the benchmark's seed and its own index alone.
    """

    def __init__(self, spec_seed: int) -> None:
        self._seed = spec_seed
        self._names: list[tuple[str, str, str]] = []
        self._family_names: dict[str, set[str]] = defaultdict(set)

    def name_of(self, index: int) -> tuple[str, str, str]:
        """Return the first name, the family name and the employer of a persona."""
        while len(self._names) <= index:
            position = len(self._names)
            gender, (_, country), _ = _circumstances(self._seed, position)
            names = Names(country, f"{self._seed}/names/{position}")
            recent = {part for first, last, _ in self._names[-PLANNING.recent_personas :] for part in (first, last)}
            avoided = recent | _city_names()
            first = next(name for name in names.first_names(gender) if name not in avoided)
            taken = recent | self._family_names[first]
            last = next(name for name in names.last_names(gender) if name not in taken)
            self._family_names[first].add(last)
            self._names.append((first, last, names.company()))
        return self._names[index]


@lru_cache(maxsize=2)
def _named(spec_seed: int) -> _Named:
    return _Named(spec_seed)


@lru_cache(maxsize=1)
def _city_names() -> frozenset[str]:
    return frozenset(city for city, _ in cities())


@lru_cache(maxsize=1)
def cities() -> tuple[tuple[str, str], ...]:
    """Return (city, country) of real cities where a story in English is plausible; each city once."""
    return tuple((city, country) for city, country in json.loads(_CITIES.read_text(encoding="utf-8")))


@lru_cache(maxsize=1)
def professions() -> tuple[str, ...]:
    """Return professions as they stand within a sentence, sorted."""
    # "Engineer, mining" and "Warden/ranger" come again in the table under a plain name, or are too narrow.
    plain = {job for job in Jobs.jobs if re.fullmatch(r"[A-Za-z '-]+", job)} - _ODD_JOBS
    kept = (job for job in plain if not job.startswith(("Chief ", "Chartered ")))
    return tuple(sorted(job if _PROPER_JOBS.match(job) else job.lower() for job in kept))


@lru_cache(maxsize=8)
def _pools(spec_seed: int) -> _Pools:
    def shuffled(name: str, items: tuple[_T, ...]) -> tuple[_T, ...]:
        return tuple(random.Random(f"{spec_seed}/profiles/{name}").sample(items, len(items)))

    return _Pools(
        cities=shuffled("cities", cities()),
        professions=shuffled("professions", professions()),
    )


def _walk(index: int, places: int, pool: tuple[str, ...]) -> tuple[int, str]:
    """Return a place and a member of the pool; no pair repeats within places x len(pool) indexes.

    A place repeats after `places` steps, with the next member of the pool. Within a round, members are taken with a
    stride that is coprime with their number, so neighbours differ in both.
    """
    turn, place = divmod(index, places)
    return place, pool[(turn + _stride(len(pool)) * place) % len(pool)]


@lru_cache(maxsize=64)
def _stride(size: int) -> int:
    stride = max(1, size * 618 // 1000)
    while gcd(stride, size) != 1:
        stride += 1
    return stride


def age_bounds(profession: str) -> tuple[int, int]:
    """Return the youngest and the oldest age that fit a profession."""
    if _SENIOR_JOBS.search(profession):
        youngest = 30
    else:
        youngest = 24 if _TRAINED_JOBS.search(profession) else PLANNING.youngest
    return youngest, 58 if _STRENUOUS_JOBS.search(profession) else PLANNING.oldest


AROUND = (Circle.FAMILY, Circle.FRIENDS)
"""Circles of people around a user where the spec names none."""
WORK: Mapping[Circle, tuple[Relation, int, int]] = {
    Circle.COLLEAGUES: (Relation.COLLEAGUE, 2, 4),
    Circle.CUSTOMERS: (Relation.CUSTOMER, 1, 3),
    Circle.VENDORS: (Relation.VENDOR, 1, 2),
}
"""Relation of each circle of work, with the least and the most people."""
CORE = FAMILY | {relation for relation, _, _ in WORK.values()}
"""Relations of people who are in every plan."""


def draw_relationships(
    spec_seed: int, index: int, profile: Profile, size: int = 1, around: Sequence[Circle] = AROUND
) -> RelationshipGraph:
    """Return the people around the user of conversation `index`: the same for the same arguments.

    Of the circles `around`: parents, partner and children may be missing; there are 2-5 friends and 3-6 acquaintances
    per `size` (1 for one plan; more for conversations of many plans, which keep the smaller graph's people).
    First names are distinct, differ from the user's, and no two begin with the same four letters.
    Raises ValueError for a size outside 1..12.
    """
    if not 1 <= size <= PLANNING.largest_size:
        raise ValueError(f"size {size} is outside 1..{PLANNING.largest_size}")
    names = _NameDealer(Names(profile.country, f"{spec_seed}/relationships/{index}/names"), profile.first_name)
    core = _draw_core(random.Random(f"{spec_seed}/relationships/{index}/core"), profile)
    core = (core if Circle.FAMILY in around else []) + _draw_work(f"{spec_seed}/relationships/{index}", around)
    people = [(relation, gender, age, names.deal(gender)) for relation, gender, age in core]
    circles: list[tuple[Relation, Gender, int, str]] = []
    for block in range(size if Circle.FRIENDS in around else 0):
        circles += [
            (r, gender, age, names.deal(gender)) for r, gender, age in _circle(spec_seed, index, block, profile)
        ]
    circles.sort(key=lambda person: person[0] is Relation.ACQUAINTANCE)  # stable: friends first, blocks in order
    persons = tuple(
        Person(person_id=f"n{n}", first_name=name, gender=gender, age=age, relation=relation)
        for n, (relation, gender, age, name) in enumerate(people + circles, start=1)
    )
    return RelationshipGraph(people=persons, node_link=_node_link(profile, persons))


def circles_of(
    spec_seed: int, index: int, profile: Profile, size: int, around: Sequence[Circle] = AROUND
) -> tuple[tuple[Person, ...], ...]:
    """Return the friends and acquaintances that each plan introduces, from the graph of this size, friends first.

    Ages are those of the first day; `person_id`s are those of the graph.
    """
    if Circle.FRIENDS not in around:
        return ((),) * size
    graph = draw_relationships(spec_seed, index, profile, size, around)
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
    back = random.Random(f"{rng_key}/returning/{plan_index}").sample(met, min(len(met), PLANNING.returning))
    if plan_index >= len(circles):
        back = list(circles[plan_index % len(circles)])  # nobody is left to introduce: an earlier circle returns
    wanted = {p.person_id for p in (*new, *back)}
    people = tuple(p for p in graph.people if p.relation in CORE or p.person_id in wanted)
    introduced = tuple(p for p in people if p in new or (plan_index == 0 and p.relation in CORE))
    return people, introduced


def aged(person: Person, first: dt.date, now: dt.date, rng_key: str) -> Person:
    """Return the person with their age on a later day; `rng_key` determines their birthday."""
    return person.model_copy(
        update={
            "age": min(PLANNING.oldest_relative, person.age + birthdays(first, now, f"{rng_key}/{person.person_id}"))
        }
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

    def __init__(self, names: Names, taken: str) -> None:
        self._names = names
        self._heads = {taken[:4].casefold()}

    def deal(self, gender: Gender) -> str:
        """Return the next name of this gender."""
        avoided = _city_names()
        for name in self._names.first_names(gender):
            if name not in avoided and name[:4].casefold() not in self._heads:
                self._heads.add(name[:4].casefold())
                return name
        raise ValueError(f"no {gender} first name is left")


def _draw_core(draw: random.Random, profile: Profile) -> list[_Drawn]:
    parents = _draw_parents(draw, profile.age)
    partner = _draw_partner(draw, profile)
    youngest_parent = min([profile.age, *(age for _, _, age in partner)])
    return parents + partner + _draw_children(draw, profile.age, youngest_parent)


def _draw_work(key: str, around: Sequence[Circle]) -> list[_Drawn]:
    """Return adults of working age for each circle of work that is asked for."""
    drawn: list[_Drawn] = []
    for circle in (circle for circle in WORK if circle in around):
        relation, least, most = WORK[circle]
        draw = random.Random(f"{key}/{circle}")
        for _ in range(draw.randint(least, most)):
            drawn.append((relation, draw.choice((Gender.FEMALE, Gender.MALE)), draw.randint(22, 64)))
    return drawn


def _draw_parents(draw: random.Random, age: int) -> list[_Drawn]:
    # BEAM's 0.85 whatever the age; beyond 45 it falls, because so do the numbers of living parents.
    if draw.random() >= _interpolate(age, (45, 0.85), (70, 0.25)):
        return []
    least, most = PLANNING.parent_gap[0], min(PLANNING.parent_gap[1], PLANNING.oldest_relative - age)
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
    low, high = max(ADULT, profile.age - PLANNING.partner_gap), profile.age + PLANNING.partner_gap
    return [(Relation.PARTNER, gender, round(draw.triangular(low, high, profile.age)))]


def _draw_children(draw: random.Random, age: int, youngest_parent: int) -> list[_Drawn]:
    """Return up to three children; the user (`age`) and the partner are old enough to be their parents."""
    at_birth = youngest_parent - age  # added to the user's age then: the younger one's
    if draw.random() >= _interpolate(age, (25, 0.0), (45, 0.8)):
        return []
    earliest = max(PLANNING.parent_gap[0], 20 - at_birth)
    latest = min(age, 36 - at_birth, 42)
    drawn: list[_Drawn] = []
    if earliest > latest:
        return drawn
    born = draw.randint(earliest, latest)  # the user's age at the birth
    for _ in range(draw.choice((1, 1, 2, 2, 2, 3))):
        if born > min(age, PLANNING.parent_gap[1]):
            break
        drawn.append((Relation.CHILD, draw.choice((Gender.FEMALE, Gender.MALE)), age - born))
        born += draw.randint(2, 5)
    return drawn


def _draw_circle(draw: random.Random, profile: Profile) -> list[_Drawn]:
    genders = (Gender.FEMALE, Gender.MALE)
    low, high = (
        max(ADULT, profile.age - PLANNING.friend_gap),
        min(PLANNING.oldest_relative, profile.age + PLANNING.friend_gap),
    )
    friends = [
        (Relation.FRIEND, draw.choice(genders), round(draw.triangular(low, high, profile.age)))
        for _ in range(draw.randint(2, 5))
    ]
    acquaintances = [
        # Up to an old neighbour, of whom some subjects tell.
        (Relation.ACQUAINTANCE, draw.choice(genders), draw.randint(20, 88))
        for _ in range(draw.randint(3, 6))
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
