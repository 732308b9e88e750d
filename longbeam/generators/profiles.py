"""Personas: the user of each conversation.

Persona i is a pure function of (benchmark seed, i). Names, cities and professions come from pools (Faker's
tables and our own table of cities) that are shuffled once per benchmark and walked with a stride, so that no
two conversations share a name or a (city, profession) by construction. Faker's own `name()` and `job()` draw
with replacement, so avoiding repeats would need a record of everybody drawn before.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from pathlib import Path
from typing import TypeVar

from longbeam.schemas.people import Gender, Profile
from longbeam.text.name_tables import jobs, names_of

_T = TypeVar("_T")

YOUNGEST = 20
OLDEST = 70
"""Bounds of a user's age in years."""

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

# First names that are also everyday words: "Mark" or "Grant" at the head of a sentence misleads every text check.
_WORD_NAMES = frozenset(  # as one text, because a list would be formatted to ninety lines
    """April Amber Angel Autumn Bill Brandy Brooke Carol Chase Cheyenne Christian Crystal Daisy Dakota Dale Dawn
    Dean Destiny Diamond Don Drew Earl Faith Frank Gene Grace Grant Guy Harry Heather Holly Hope Hunter Jack Jade
    Jasmine Jay Jean Jesus Jo Joy Kent Lance Levi Logan Marina Mark Mason Max May Melody Mercedes Mercy Misty
    Norm Norma Parker Pat Patty Penny Peggy Ray Raven Rich Rick Robin Rob Rose Roy Ruby Sandy Savannah Sierra
    Spencer Star Sue Summer Tanner Tom Tony Virginia Wade Ward Warren Will Woody""".split()  # noqa: SIM905
)
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
    last_names: tuple[str, ...]
    first_names: dict[Gender, tuple[str, ...]]


def draw_profile(spec_seed: int, index: int) -> Profile:
    """Return persona `index` of the benchmark with this seed; its `personality` is still empty.

    No two of the first 50,000 share a name or a (city, profession). The first 160 share no city, no
    profession, no first name and no last name either. Ages fit the profession and lie in 20..70.
    """
    pools = _pools(spec_seed)
    draw = random.Random(f"{spec_seed}/profile/{index}")
    gender = draw.choice((Gender.FEMALE, Gender.MALE))
    city_place, profession = _walk(index, len(pools.cities), pools.professions)
    city, country = pools.cities[city_place]
    last_place, first_name = _walk(index, len(pools.last_names), pools.first_names[gender])
    youngest, oldest = _age_bounds(profession)
    return Profile(
        name=f"{first_name} {pools.last_names[last_place]}",
        first_name=first_name,
        gender=gender,
        age=draw.randint(youngest, oldest),
        city=city,
        country=country,
        profession=profession,
        mbti=tuple(sorted(draw.sample(sorted(MBTI_TRAITS), 6))),
    )


@lru_cache(maxsize=2)
def first_names(gender: Gender) -> tuple[str, ...]:
    """Return first names of one gender, sorted: none of the other gender's, no everyday words, no cities."""
    names = names_of("en_US")
    own, other = names.first_names_female, names.first_names_male
    if gender is Gender.MALE:
        own, other = other, own
    excluded = {*other, *_WORD_NAMES, *(city for city, _ in cities())}
    return tuple(sorted({*own} - excluded))


@lru_cache(maxsize=1)
def cities() -> tuple[tuple[str, str], ...]:
    """Return (city, country) of real cities where a story in English is plausible; each city once."""
    return tuple((city, country) for city, country in json.loads(_CITIES.read_text(encoding="utf-8")))


@lru_cache(maxsize=1)
def professions() -> tuple[str, ...]:
    """Return professions as they stand within a sentence, sorted."""
    # "Engineer, mining" and "Warden/ranger" come again in the table under a plain name, or are too narrow.
    plain = {job for job in jobs() if re.fullmatch(r"[A-Za-z '-]+", job)} - _ODD_JOBS
    kept = (job for job in plain if not job.startswith(("Chief ", "Chartered ")))
    return tuple(sorted(job if _PROPER_JOBS.match(job) else job.lower() for job in kept))


def _last_names() -> tuple[str, ...]:
    # Faker writes Mcdonald.
    found = names_of("en_US").last_names
    return tuple(sorted({re.sub(r"^Mc[a-z]", lambda m: "Mc" + m[0][2].upper(), name) for name in found}))


@lru_cache(maxsize=8)
def _pools(spec_seed: int) -> _Pools:
    def shuffled(name: str, items: tuple[_T, ...]) -> tuple[_T, ...]:
        return tuple(random.Random(f"{spec_seed}/profiles/{name}").sample(items, len(items)))

    return _Pools(
        cities=shuffled("cities", cities()),
        professions=shuffled("professions", professions()),
        last_names=shuffled("last_names", _last_names()),
        first_names={gender: shuffled(gender.value, first_names(gender)) for gender in Gender},
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


def _age_bounds(profession: str) -> tuple[int, int]:
    if _SENIOR_JOBS.search(profession):
        youngest = 30
    else:
        youngest = 24 if _TRAINED_JOBS.search(profession) else YOUNGEST
    return youngest, 58 if _STRENUOUS_JOBS.search(profession) else OLDEST
