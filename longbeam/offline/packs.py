"""Domain packs: the data files that the offline writer tells its stories from.

A pack is one YAML file for one flavour of a domain. It holds threads of a story (each can be lived through with
several *things*), the beats of each thread with the values that they set, knowledge for replies, and the user's
instructions and preferences. `docs/packs.md` explains how to write a pack; `tests/offline/pack_rules.py` holds each
pack to rules beyond these records.
"""

from __future__ import annotations

import re
import string
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import Field, ValidationError, model_validator

from longbeam.errors import UserError
from longbeam.offline.arithmetic import form_of
from longbeam.schemas.base import Record
from longbeam.schemas.plans import ValueKind
from longbeam.schemas.seeds import Domain, Seed

PACKS = Path(__file__).parent / "packs"
WISHES = Path(__file__).parent / "data" / "wishes.yaml"
AMOUNTS = frozenset({ValueKind.NUMBER, ValueKind.MONEY, ValueKind.DURATION, ValueKind.RATIO})
BROADEST = frozenset({"everyday", "web_app"})
"""The packs taken where the words of a seed speak for none, or for several alike."""
WHO = ("friend", "acquaintance", "partner", "parent", "child", "someone")
COMMON_FIELDS = frozenset({"it", "who", "day", "weekday"})
"""Fields every template may use: the thing, the person, the day of the beat."""


class Slot(Record):
    """A typed value of a thread; one fact per thing."""

    attribute: str
    """`target date`: read after the thing, `the target date of the login page`."""
    type: ValueKind
    unit: str = ""
    currency: str = "USD"
    in_days: tuple[int, int] | None = None
    """Dates: days after the beat's day (negative: before it)."""
    ahead: bool = False
    """Dates: the day that all is made for (the departure); it lies between the last beats and the story's end."""
    told_by: str = ""
    """Dates: the beat that tells how that day went; the day lies before it."""
    range: tuple[float, float] | None = None
    """Numbers, money, durations, ratios (in percent): lowest and highest."""
    step: float = 1
    trend: Literal["falls", "rises", "either"] | None = None
    """Amounts and versions that may change: which way. A debt falls, hours spent rise, a price may do either."""
    choose: tuple[str, ...] = ()
    """Names, versions, texts, expressions: the pool, at least four; versions oldest first."""
    moved: tuple[str, ...] = ()
    """How the user tells a changed value: templates with {it} and {new}, without the old one."""
    misremember: tuple[str, ...] = ()
    """How a forgetful user states another value of a fixed slot: templates with {it} and {other}."""

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


class Ask(Record):
    """A question that follows from a beat, and the card that answers it."""

    q: str
    card: str


class Beat(Record):
    """One step of a thread; it becomes one bullet, and one turn of the user."""

    beat: str
    tell: tuple[str, ...] = Field(min_length=2)
    """First-person statements, one or two sentences, every value of `sets`, `fixed`, `updates` said in each."""
    sets: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    """Slots that happened once: they can be denied or misremembered, never updated."""
    updates: tuple[str, ...] = ()
    """Slots set by an earlier beat of this thread that change here in the normal course of things."""
    recalls: tuple[str, ...] = ()
    """Slots set by an earlier beat whose value is said again; nothing changes them after that."""
    after: str = ""
    """People only: the beat this one reports on, told once its day has passed."""
    credit: str = ""
    """People only: what {it} is thanked for in the end, a phrase behind "for"."""
    who: str | None = None
    ask: tuple[Ask, ...] = Field(min_length=2)
    deny: tuple[str, ...] = ()
    """Flat denials of what this beat tells ("I have never ..."), for a completed act only."""
    not_yet: tuple[str, ...] = ()
    """Statements that it has not happened yet ("I still have not ...")."""
    show: Literal["", "snippet", "problem"] = ""
    """Coding and math: the user shows code or work in progress with this beat."""


class Point(Record):
    """One piece of advice: `do` is an imperative clause, `why` can follow "because", `how` is a sentence."""

    do: str
    why: str
    how: str


class Card(Record):
    """What there is to know on one question."""

    card: str
    about: str
    """A noun phrase: `splitting the form into steps`."""
    ask: tuple[str, ...] = Field(min_length=3)
    """Questions this card answers, for turns that only ask; with {it}."""
    points: tuple[Point, ...] = Field(min_length=4)
    watch: tuple[str, ...] = Field(min_length=2)
    """What goes wrong: whole sentences."""
    check: tuple[str, ...] = Field(min_length=2)
    """How one knows that it worked: whole sentences."""


class AskBack(Record):
    """A question the assistant asks, and what the user may answer."""

    q: str
    a: tuple[str, ...] = Field(min_length=3)


class Option(Record):
    """One way among several, for comparisons."""

    name: str
    good: str
    bad: str
    fits: str
    """`if ...`: when it is the right one."""


class Thread(Record):
    """A strand of the story that can be lived through with each of its things."""

    thread: str
    narrative: str
    about: str
    sub_labels: tuple[str, ...] = Field(min_length=3, max_length=5)
    things: tuple[str, ...] = ()
    """Noun phrases with article or possessive (`the login page`); empty: the seed's subtopics."""
    slots: dict[str, Slot]
    beats: tuple[Beat, ...] = Field(min_length=4)
    cards: tuple[Card, ...] = Field(min_length=3)
    outcome: tuple[str, ...] = ()
    """How the thread came out, told near the end of the story; may say values of its slots again."""
    ask_back: tuple[AskBack, ...] = Field(min_length=3)
    options: tuple[Option, ...] = Field(min_length=2)


class Standing(Record):
    """An instruction or a preference."""

    tell: tuple[str, ...] = Field(min_length=2)
    """How the user says it in passing; holds both the condition and the requirement."""
    topic: str
    condition: str
    """`when I ask about costs`: begins with `when`."""
    requirement: str
    """`gives a total at the end`: what a compliant answer does, third person, checkable."""
    probe: tuple[str, ...] = Field(min_length=2)
    """Questions under the condition that say nothing of the requirement."""
    honour: tuple[str, ...] = Field(min_length=2)
    """Sentences with which a reply honours it; may use {it}."""


class Preference(Standing):
    """A preference, perhaps one that changes."""

    later: Standing | None = None
    """What it becomes, for preferences that evolve; same topic and condition."""


class Snippet(Record):
    """Code that really has the fault described, and the code that has not."""

    snippet: str
    kind: Literal["bug", "slow", "wanted"]
    lang: str
    fault: str
    """What the user sees, a clause: `the last page never shows up`."""
    code: str = ""
    """Uses {ident}; empty for `wanted`."""
    fixed: str
    why: str
    """What was wrong and why this is right, two or three sentences."""
    thread: str = ""
    """Where it belongs; empty: anywhere."""


class Problem(Record):
    """A worked problem: parameters are drawn, results computed from them."""

    problem: str
    let: dict[str, str]
    """Parameters in order: `2..9` draws an integer, `bag | box | jar` a word; anything else is an expression over those
    before. Words make two uses of a problem read differently; the text has to name each of them."""
    text: str
    """The problem as the user states it, with {parameters}."""
    attempt: str
    """The user's work in progress, with a real mistake or a real stop."""
    mistake: str
    """What is wrong with the attempt."""
    steps: tuple[str, ...] = Field(min_length=3)
    answer: str
    confirm: str = ""
    """A Python expression over the parameters that is True when the answer is right."""

    @cached_property
    def forms(self) -> tuple[tuple[str, str], ...]:
        """Of each drawn parameter, by name, the pattern of how a text shows it."""
        return tuple((name, form) for name, rule in self.let.items() if (form := form_of(rule)))

    thread: str = ""


class Pack(Record):
    """One flavour of a domain."""

    pack: str
    domain: Domain
    match: tuple[str, ...] = Field(min_length=1)
    """Lower-case words; of the packs of a domain the one with most hits in the seed is taken."""
    intro: tuple[str, ...] = Field(min_length=3)
    """Introduction bullets: {name}, {age}, {profession}, {city}, {theme}."""
    intro_ask: tuple[Ask, ...] = Field(min_length=2)
    """Cards are named `thread/card`."""
    ending: tuple[str, ...] = Field(min_length=2)
    """The user's last message: how the whole came out and what was learnt; no field."""
    threads: tuple[Thread, ...] = Field(min_length=5)
    instructions: tuple[Standing, ...] = Field(min_length=12)
    preferences: tuple[Preference, ...] = Field(min_length=12)
    snippets: tuple[Snippet, ...] = ()
    problems: tuple[Problem, ...] = ()

    def thread(self, name: str) -> Thread:
        """The thread with this id; KeyError if there is none."""
        return next(t for t in self.threads if t.thread == name)


class Wishes(Record):
    """Instructions and preferences: those of `data/wishes.yaml` fit any domain."""

    instructions: tuple[Standing, ...]
    preferences: tuple[Preference, ...]


@lru_cache(maxsize=1)
def common_wishes() -> Wishes:
    """Those of `data/wishes.yaml`."""
    return Wishes.model_validate(read_yaml(WISHES))


def wishes(pack: Pack) -> Wishes:
    """What a user of this domain may ask for: the pack's own wishes, then the common ones, one per condition."""
    common = common_wishes()
    taken = {s.condition for s in (*pack.instructions, *pack.preferences)}
    return Wishes(
        instructions=(*pack.instructions, *(s for s in common.instructions if s.condition not in taken)),
        preferences=(*pack.preferences, *(p for p in common.preferences if p.condition not in taken)),
    )


def fields_of(template: str) -> frozenset[str]:
    """The {fields} of a template."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(template) if name)


@lru_cache(maxsize=64)
def load_pack(path: Path) -> Pack:
    """Read one pack; raises UserError with the file and the first thing that is wrong."""
    try:
        return Pack.model_validate(read_yaml(path))
    except (yaml.YAMLError, ValidationError) as exc:
        raise UserError(f"domain pack {path.name}: {' '.join(str(exc).split())[:300]}") from exc


def read_yaml(path: Path) -> Any:  # Any: YAML
    """Return what a file holds, read by the parser in C where there is one."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@lru_cache(maxsize=4)
def pack_paths(directory: Path = PACKS) -> tuple[Path, ...]:
    """The pack files, by name."""
    return tuple(sorted(directory.glob("*.yaml")))


@lru_cache(maxsize=256)
def pack_for(seed: Seed) -> Pack:
    """The pack that tells this seed's story; where the seed touches another side of life, with that one's threads.

    Of the packs of a domain, the one whose `match` words occur most in title, theme and subtopics; for a domain
    without a pack, of all packs of its category.
    """
    base = _best_pack(seed, seed.domain)
    other = base if seed.touches is None else _best_pack(seed, seed.touches)
    return base if other is base else _merged(base, other)


def _best_pack(seed: Seed, domain: Domain) -> Pack:
    packs = [load_pack(p) for p in pack_paths()]
    text = " ".join([seed.title, seed.theme, *seed.subtopics]).casefold()
    words = set(re.findall(r"[a-z0-9+#.]+", text))
    candidates = [p for p in packs if p.domain is domain] or [p for p in packs if p.domain.category is domain.category]
    return max(
        candidates, key=lambda p: (sum(w in words or (" " in w and w in text) for w in p.match), p.pack in BROADEST)
    )


MERGED_THREADS = 16
"""Of two packs at most: a story has 20 narratives, and people, beginning, wishes and ending take one each."""


def _merged(base: Pack, other: Pack) -> Pack:
    """A pack with threads of another beside its own, as far as there is room, and the other's standing wishes first."""
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
    """The threads of all packs by narrative: what a plan looks back to may come from another pack."""
    return {t.narrative: t for path in reversed(pack_paths()) for t in load_pack(path).threads}


@lru_cache(maxsize=1)
def changed_preferences() -> tuple[Preference, ...]:
    """The preferences of all packs that become something else."""
    return tuple(p for path in pack_paths() for p in load_pack(path).preferences if p.later)
