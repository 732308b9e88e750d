"""Domain packs: the data files that the offline writer tells its stories from.

A pack is one YAML file for one flavour of a domain. It holds threads of a story (each can be lived through with
several *things*), the beats of each thread with the values that they set, knowledge for replies, and the user's
instructions and preferences. `docs/packs.md` explains how to write a pack; `tests/offline/pack_rules.py` holds each
pack to rules beyond these records.
"""

from __future__ import annotations

import re
import string
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import Field, ValidationError, model_validator

from longbeam.errors import UserError
from longbeam.offline.arithmetic import form_of
from longbeam.schemas import Domain, Record, Seed, ValueKind, category_of
from longbeam.store import read_text

PACKS = Path(__file__).parent / "packs"
WISHES = Path(__file__).parent / "data" / "wishes.yaml"
AMOUNTS = frozenset({ValueKind.NUMBER, ValueKind.MONEY, ValueKind.DURATION, ValueKind.RATIO})
BROADEST = frozenset({"everyday", "web_app"})
"""Packs that win a tie: the words of a seed match no pack of its domain, or several alike."""


class PackSlot(Record):
    """A typed value of a thread; one fact per thing."""

    attribute: str
    """A noun phrase, said before the thing: `target date` as in `the target date of the login page`."""
    type: ValueKind
    unit: str = ""
    currency: str = "USD"
    in_days: tuple[int, int] | None = None
    """Dates: days after the beat's day (negative: before it)."""
    ahead: bool = False
    """Dates: the event that the story prepares (the departure); it lies between the last beats and the story's end."""
    told_by: str = ""
    """Dates: the beat that tells how the day went; the date lies before that beat."""
    range: tuple[float, float] | None = None
    """Numbers, money, durations, ratios (in percent): lowest and highest value."""
    step: float = 1
    trend: Literal["falls", "rises", "either"] | None = None
    """Direction of amounts and versions that may change: a debt falls, hours spent rise, a price may do either."""
    choose: tuple[str, ...] = ()
    """Names, versions, texts, expressions: the possible values, at least four; versions oldest first."""
    moved: tuple[str, ...] = ()
    """Templates with {it} and {new} by which the user tells a changed value, without naming the old one."""
    misremember: tuple[str, ...] = ()
    """Templates with {it} and {other} by which a forgetful user states another value of a fixed slot."""

    @model_validator(mode="after")
    def _has_source(self) -> Self:
        if self.type is ValueKind.DATE:
            if self.in_days is None:
                raise ValueError(f"slot {self.attribute!r}: a date needs in_days")
        elif self.type in {ValueKind.NAME, ValueKind.VERSION, ValueKind.TEXT, ValueKind.EXPRESSION}:
            if len(self.choose) < 4:
                raise ValueError(f"slot {self.attribute!r}: {self.type.value} needs choose with at least four")
        elif self.range is None:
            raise ValueError(f"slot {self.attribute!r}: {self.type.value} needs range")
        return self


class PackQuestion(Record):
    """A question that follows from a beat, and the card that answers it."""

    q: str
    card: str


class Beat(Record):
    """One step of a thread; it becomes one bullet, and one turn of the user."""

    beat: str
    tell: tuple[str, ...] = Field(min_length=2)
    """First-person statements of one or two sentences; each says every value of `sets`, `fixed` and `updates`."""
    sets: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    """Slots of events that happened once: the user can deny or misremember them, never update them."""
    updates: tuple[str, ...] = ()
    """Slots of an earlier beat of this thread whose values change here."""
    recalls: tuple[str, ...] = ()
    """Slots of an earlier beat whose values are said again; they do not change after that."""
    after: str = ""
    """People only: the beat that this beat reports on, once its day has passed."""
    credit: str = ""
    """People only: the reason for thanking {it} at the end, a phrase that follows "for"."""
    who: str | None = None
    ask: tuple[PackQuestion, ...] = Field(min_length=2)
    deny: tuple[str, ...] = ()
    """Flat denials of the beat ("I have never ..."); for a completed act only."""
    not_yet: tuple[str, ...] = ()
    """Statements that the beat has not happened yet ("I still have not ...")."""
    show: Literal["", "snippet", "problem"] = ""
    """Coding and math: the user shows code or work in progress with this beat."""


class Point(Record):
    """One piece of advice: `do` is an imperative clause, `why` can follow "because", `how` is a sentence."""

    do: str
    why: str
    how: str


class Card(Record):
    """Knowledge on one question."""

    card: str
    about: str
    """A noun phrase: `splitting the form into steps`."""
    ask: tuple[str, ...] = Field(min_length=3)
    """Questions with {it} that this card answers, for turns that only ask."""
    points: tuple[Point, ...] = Field(min_length=4)
    watch: tuple[str, ...] = Field(min_length=2)
    """Common mistakes, in whole sentences."""
    check: tuple[str, ...] = Field(min_length=2)
    """Signs of success, in whole sentences."""


class AskBack(Record):
    """A question of the assistant's, and possible answers of the user's."""

    q: str
    a: tuple[str, ...] = Field(min_length=3)


class Option(Record):
    """One of several options, for comparisons."""

    name: str
    good: str
    bad: str
    fits: str
    """A clause that begins with `if`: when the option is the right one."""


class Thread(Record):
    """A strand of the story, which can be told with each of its things."""

    thread: str
    narrative: str
    about: str
    sub_labels: tuple[str, ...] = Field(min_length=3, max_length=5)
    things: tuple[str, ...] = ()
    """Noun phrases with article or possessive (`the login page`); empty: the seed's subtopics."""
    slots: dict[str, PackSlot]
    beats: tuple[Beat, ...] = Field(min_length=4)
    cards: tuple[Card, ...] = Field(min_length=3)
    outcome: tuple[str, ...] = ()
    """Statements of how the thread came out, near the end of the story; they may repeat values of its slots."""
    ask_back: tuple[AskBack, ...] = Field(min_length=3)
    options: tuple[Option, ...] = Field(min_length=2)


class Standing(Record):
    """An instruction or a preference."""

    tell: tuple[str, ...] = Field(min_length=2)
    """Statements in passing, each with the condition and the requirement."""
    topic: str
    condition: str
    """A clause that begins with `when`: `when I ask about costs`."""
    requirement: str
    """Behaviour of a compliant answer, in the third person and checkable: `gives a total at the end`."""
    probe: tuple[str, ...] = Field(min_length=2)
    """Questions that meet the condition and do not mention the requirement."""
    honour: tuple[str, ...] = Field(min_length=2)
    """Sentences by which a reply complies; they may use {it}."""


class Preference(Standing):
    """A preference, perhaps one that changes."""

    later: Standing | None = None
    """Later form of a preference that evolves; its topic and condition stay the same."""


class Snippet(Record):
    """Code that really has the described fault, and the corrected code."""

    snippet: str
    kind: Literal["bug", "slow", "wanted"]
    lang: str
    fault: str
    """The symptom as a clause: `the last page never shows up`."""
    code: str = ""
    """The faulty code, with {ident}; empty for `wanted`."""
    fixed: str
    why: str
    """Explanation of the fault and of the correction, in two or three sentences."""
    thread: str = ""
    """Thread that may show it; empty: any."""


class WorkedProblem(Record):
    """A worked problem: parameters are drawn, results computed from them."""

    problem: str
    let: dict[str, str]
    """Parameters in order: `2..9` draws an integer, `bag | box | jar` a word; anything else is an expression over the
    parameters before it. Words make two uses of a problem read differently; the text has to name each of them."""
    text: str
    """The problem as the user states it, with {parameters}."""
    attempt: str
    """The user's work in progress, with a real mistake or a real stop."""
    mistake: str
    """The error in the attempt."""
    steps: tuple[str, ...] = Field(min_length=3)
    answer: str
    confirm: str = ""
    """A Python expression over the parameters that is True when the answer is right."""

    @cached_property
    def forms(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a drawn parameter's name and the pattern that its value has in a text."""
        return tuple((name, form) for name, rule in self.let.items() if (form := form_of(rule)))

    thread: str = ""


class Pack(Record):
    """One flavour of a domain."""

    pack: str
    domain: Domain
    match: tuple[str, ...] = Field(min_length=1)
    """Lower-case words; the seed's story is told from the pack of its domain that has most words in the seed."""
    intro: tuple[str, ...] = Field(min_length=3)
    """Introduction bullets, with {name}, {age}, {profession}, {city}, {theme}."""
    intro_ask: tuple[PackQuestion, ...] = Field(min_length=2)
    """Cards are named `thread/card`."""
    ending: tuple[str, ...] = Field(min_length=2)
    """Variants of the user's last message, without fields: how the whole came out and what was learnt."""
    threads: tuple[Thread, ...] = Field(min_length=5)
    instructions: tuple[Standing, ...] = Field(min_length=12)
    preferences: tuple[Preference, ...] = Field(min_length=12)
    snippets: tuple[Snippet, ...] = ()
    problems: tuple[WorkedProblem, ...] = ()

    def thread(self, name: str) -> Thread:
        """Return the thread with this id."""
        return next(t for t in self.threads if t.thread == name)


class Wishes(Record):
    """Instructions and preferences: those of `data/wishes.yaml` fit any domain."""

    instructions: tuple[Standing, ...]
    preferences: tuple[Preference, ...]


@lru_cache(maxsize=1)
def common_wishes() -> Wishes:
    """Return the instructions and preferences that fit any domain."""
    return Wishes.model_validate(read_yaml(WISHES))


def wishes(pack: Pack) -> Wishes:
    """Return a pack's instructions and preferences, followed by the common ones under other conditions."""
    common = common_wishes()
    taken = {s.condition for s in (*pack.instructions, *pack.preferences)}
    return Wishes(
        instructions=(*pack.instructions, *(s for s in common.instructions if s.condition not in taken)),
        preferences=(*pack.preferences, *(p for p in common.preferences if p.condition not in taken)),
    )


@cache
def fields_of(template: str) -> frozenset[str]:
    """Return the names of a template's {fields}."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(template) if name)


@cache
def fixed_words_of(template: str) -> str:
    """Return the longest part of a template that no field fills, case-folded."""
    return max((text for text, *_ in string.Formatter().parse(template)), key=len).casefold()


@lru_cache(maxsize=64)
def load_pack(path: Path) -> Pack:
    """Read one pack; raises UserError with the file and the first thing that is wrong."""
    try:
        return Pack.model_validate(read_yaml(path))
    except (yaml.YAMLError, ValidationError) as exc:
        raise UserError(f"domain pack {path.name}: {' '.join(str(exc).split())[:300]}") from exc


def read_yaml(path: Path) -> Any:  # Any: YAML
    """Return the content of a YAML file, compressed as in a wheel or not, by the parser in C where it is installed."""
    return yaml.load(read_text(path), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@lru_cache(maxsize=4)
def pack_paths(directory: Path = PACKS) -> tuple[Path, ...]:
    """Return the pack files, sorted by name."""
    return tuple(sorted(directory.glob("*.yaml*")))


@lru_cache(maxsize=256)
def pack_for(seed: Seed) -> Pack:
    """Return the pack that tells this seed's story, merged with another if the seed touches a second domain.

    The pack of a domain is the one whose `match` words occur most in title, theme and subtopics. A domain without
    packs takes those of its category.
    """
    base = _best_pack(seed, seed.domain)
    other = base if seed.touches is None else _best_pack(seed, seed.touches)
    return base if other is base else _merged(base, other)


def tells(seed: Seed) -> bool:
    """Return whether a pack is about the seed's subject; the story of another seed is about something else."""
    if seed.source == "catalogue":
        return True
    own = [p for p in map(load_pack, pack_paths()) if p.domain == seed.domain]
    return any(_matches(seed, pack) for pack in own)


def _best_pack(seed: Seed, domain: str) -> Pack:
    packs = [load_pack(p) for p in pack_paths()]
    candidates = [p for p in packs if p.domain == domain] or [
        p for p in packs if p.domain.category is category_of(domain)
    ]
    return max(candidates, key=lambda p: (_matches(seed, p), p.pack in BROADEST))


def _matches(seed: Seed, pack: Pack) -> int:
    """Return how many words of a pack stand in title, theme and subtopics of a seed."""
    text = " ".join([seed.title, seed.theme, *seed.subtopics]).casefold()
    words = set(re.findall(r"[a-z0-9+#.]+", text))
    return sum(w in words or (" " in w and w in text) for w in pack.match)


MERGED_THREADS = 16
"""Threads of two packs, at most: a story has 20 narratives; people, beginning, wishes and ending take one each."""


def _merged(base: Pack, other: Pack) -> Pack:
    """Return the base pack with as many threads of the other as fit, and with the other's wishes before its own."""
    labels, names = {t.narrative for t in base.threads}, {t.thread for t in base.threads}
    more = tuple(t for t in other.threads if t.narrative not in labels and t.thread not in names)
    return base.model_copy(
        update={
            "threads": (base.threads + more)[:MERGED_THREADS],
            "instructions": other.instructions + base.instructions,
            "preferences": other.preferences + base.preferences,
        }
    )


@lru_cache(maxsize=1)
def threads_elsewhere() -> dict[str, Thread]:
    """Return the threads of all packs by narrative; a plan may refer back to a plan told from another pack."""
    return {t.narrative: t for path in reversed(pack_paths()) for t in load_pack(path).threads}
