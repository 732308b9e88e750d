"""What a probe candidate is, how a pool of them is thinned out, and what an ability's generator provides.

A candidate holds everything its probe needs but the wording: values, evidence, difficulty. It is a record, so
that it can be stored between the unit that finds it and the unit that words it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import Field

from longbeam.generators.probes.evidence import Said
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.keys import ProbeId, plan_index_of
from longbeam.models.asking import Asker
from longbeam.prompts.calls.probes import Excerpt, ProbeReply
from longbeam.schemas.base import Record
from longbeam.schemas.plans import Value
from longbeam.schemas.probes import Difficulty, EvidencePart, ProbeDetails
from longbeam.schemas.spec import ENGLISH
from longbeam.text.matching import says

T = TypeVar("T")
G = TypeVar("G")
POOL = 24
"""Candidates of one ability that are offered to the model; about twice what is kept."""


class ProbeCandidate(Record):
    """A probe but for its words."""

    candidate_id: str = ""
    """`<ability>.<ordinal in the pool>`; the probe takes it as its id."""
    ability: str
    language: str = ENGLISH
    """Of the conversation: checks of wording know English only."""
    difficulty: Difficulty
    variety: str = ""
    topic: str
    summary: str
    """One line, from which the model chooses."""
    excerpts: tuple[Excerpt, ...] = ()
    """Evidence in the order of the conversation."""
    message_keys: tuple[str, ...] = ()
    """Message of each excerpt."""
    positions: tuple[int, ...] = ()
    """Ordinal in the conversation of each excerpt's message."""
    cited: tuple[int, ...] = ()
    """Ordinals of excerpts that at least one nugget must name."""
    bullet_ids: tuple[str, ...] = ()
    fact_ids: tuple[str, ...] = ()
    answers: tuple[Value, ...] = ()
    """Values that the gold answer and the nuggets say, and the question does not."""
    context_values: tuple[Value, ...] = ()
    """Values that the gold answer says and the question does not; nuggets are free to."""
    stale: tuple[Value, ...] = ()
    """Superseded values: a nugget may not assert one."""
    can_spare: bool = False
    """Whether the ledger gives the answer without one of the messages, too: such a candidate only fills a pool."""
    condition: str = ""
    requirement: str = ""
    items: tuple[str, ...] = ()
    details: ProbeDetails = Field(default_factory=ProbeDetails)
    question: str = ""
    """Only where choosing and wording are one call (abstention): then nothing is left to ask."""
    gold_answer: str = ""
    """Beside such a question, in languages of which code knows no sentence."""
    rank: int = 0
    """Place in the model's choice, 0 best."""


Draft = Callable[[Asker, ProbeMaterial, int], Awaitable[list[ProbeCandidate]]]


@dataclass(frozen=True)
class AbilityGenerator:
    """Code that generates an ability's probes; the ability's record names it."""

    candidates: Callable[[ProbeMaterial], list[ProbeCandidate]]
    """Pure: every candidate that the material gives, best first; empty for an ability with `draft`."""
    check: Callable[[ProbeCandidate, ProbeReply], str | None]
    """Returns what is wrong with a reply, in a sentence that the model can act on; None when nothing is."""
    draft: Draft | None = None
    """Replaces `candidates`: asks the model for questions and proves each. The ability's prompt is the one it asks."""
    word: Callable[[ProbeCandidate], ProbeReply] | None = None
    """Words a candidate without a model; None: the ability's prompt words it."""


class Sketch(NamedTuple):
    """A candidate whose record is not made yet: long conversations give thousands, of which a pool takes some."""

    ability: str
    said: tuple[tuple[Said, str], ...]
    """Evidence with its part, in the order of the conversation."""
    grouped: bool
    difficulty: Difficulty
    topic: str
    can_spare: bool
    fact_ids: tuple[str, ...]
    bullet_ids: tuple[str, ...]
    positions: tuple[int, ...]
    fields: Mapping[str, Any]  # Any: further fields of ProbeCandidate, validated there

    @classmethod
    def of(
        cls,
        ability: str,
        said: Sequence[Said],
        *,
        difficulty: Difficulty,
        topic: str,
        parts: Sequence[str] = (),
        grouped: bool = False,
        can_spare: bool = False,
        fact_ids: tuple[str, ...] | None = None,
        **fields: Any,  # Any: further fields of ProbeCandidate, validated there
    ) -> Sketch:
        """Return a candidate on this evidence, put in the order of the conversation.

        `parts[i]` is the part of `said[i]`; `grouped` numbers the items in order. `fact_ids` are those of the evidence
        unless they are given.
        """
        roles = parts or [EvidencePart.ITEM if grouped else EvidencePart.SUPPORT] * len(said)
        ordered = sorted(zip(said, roles, strict=True), key=lambda pair: pair[0].position)
        facts = [s.fact_id for s, _ in ordered if s.fact_id]
        return cls(
            ability=ability,
            said=tuple(ordered),
            grouped=grouped,
            difficulty=difficulty,
            topic=topic,
            can_spare=can_spare,
            fact_ids=tuple(dict.fromkeys(facts)) if fact_ids is None else fact_ids,
            bullet_ids=tuple(dict.fromkeys([s.bullet_id for s, _ in ordered])),
            positions=tuple([s.position for s, _ in ordered]),
            fields=fields,
        )

    def candidate(self, ordinal: int) -> ProbeCandidate:
        """Return its record, with a place in the pool."""
        excerpts = (s.excerpt(i, part, i if self.grouped else None) for i, (s, part) in enumerate(self.said))
        return ProbeCandidate(
            candidate_id=str(ProbeId(self.ability, str(ordinal))),
            ability=self.ability,
            difficulty=self.difficulty,
            topic=self.topic,
            excerpts=tuple(excerpts),
            message_keys=tuple(s.message_key for s, _ in self.said),
            positions=self.positions,
            bullet_ids=self.bullet_ids,
            fact_ids=self.fact_ids,
            can_spare=self.can_spare,
            **{"cited": tuple(range(len(self.said))), **self.fields},
        )

    @property
    def subjects(self) -> tuple[str, ...]:
        """What it is about: its facts and bullets."""
        return (*self.fact_ids, *self.bullet_ids)

    @property
    def plans(self) -> set[int]:
        """Plans of its bullets."""
        return {plan_index_of(bullet_id) for bullet_id in self.bullet_ids}

    def gives_itself_away(self) -> bool:
        """Whether a question could not name what it is about without saying an answer."""
        names = {self.topic, *(name for s, _ in self.said for name in (s.subject, s.attribute))}
        values = (v for kind in ("answers", "context_values", "stale") for v in self.fields.get(kind, ()))
        return any(says(name, value) for value in values for name in names)


def sessions_of(said: Iterable[Said]) -> int:
    """How many sessions the evidence spans."""
    return len({s.session for s in said})


def difficulty_by_sessions(sessions: int) -> Difficulty:
    """BEAM's levels where evidence must be put together: up to two sessions, three, four and more."""
    if sessions <= 2:
        return Difficulty.EASY
    return Difficulty.MEDIUM if sessions == 3 else Difficulty.HARD


def difficulty_by_gap(first: Said, second: Said) -> Difficulty:
    """Levels for two messages: neighbouring sessions, one or two sessions between, more."""
    gap = abs(second.session - first.session)
    if gap <= 1:
        return Difficulty.EASY
    return Difficulty.MEDIUM if gap <= 3 else Difficulty.HARD


def difficulty_by_items(items: int) -> Difficulty:
    """BEAM's levels of event ordering: 4-5, 6-7, 8-10 items."""
    if items <= 5:
        return Difficulty.EASY
    return Difficulty.MEDIUM if items <= 7 else Difficulty.HARD


WIDE = 0.2
"""Share of a conversation of many plans that evidence of several messages should span (BEAM's spans under 2 %)."""


def is_narrow(positions: Sequence[int], total_messages: int) -> bool:
    """Whether evidence of several messages lies together within a fifth of the conversation."""
    return len(set(positions)) > 1 and max(positions) - min(positions) < WIDE * total_messages


def far_apart(said: Sequence[T], total_messages: int, place: Callable[[T], int]) -> Iterator[tuple[T, T]]:
    """Yield pairs at least a fifth and mostly under a half of the conversation apart, two for each item at most.

    `said` is in the order of `place`. The work grows with the items, not with their square.
    """
    places = [place(s) for s in said]
    for i, first in enumerate(said):
        for share in (0.25, 0.4):
            j = bisect_left(places, places[i] + share * total_messages)
            if j < len(said):
                yield first, said[j]


def thin_out(
    groups: Iterable[G], sketch: Callable[[G], Sketch | None], total_messages: int, limit: int = POOL
) -> list[ProbeCandidate]:
    """Return up to `limit` candidates, numbered: spread over facts, difficulties and the conversation's deciles.

    `sketch` makes a candidate of a group of evidence, or None. Long conversations have groups by the ten thousand, so
    sketches are let go, and made again when their turn comes.

    Those that need all their messages come first, then, in a conversation of many plans, those whose evidence spans a
    fifth of it. Greedy and deterministic; of equally good ones the earlier is taken. A candidate is left out when a
    question could not name what it is about without saying an answer ("the version 2 rollout" has version 2); only
    those whose turn comes are asked.
    """
    pool = _Pool(groups, sketch, total_messages)
    taken: list[ProbeCandidate] = []
    while len(taken) < limit and (best := pool.take_best()) is not None:
        if not best.gives_itself_away():
            pool.count(best)
            taken.append(best.candidate(len(taken)))
    return taken


class _Likeness(NamedTuple):
    """What is the same of candidates that are equally good as long as none of their facts and bullets is used."""

    can_spare: bool
    is_narrow: bool
    difficulty: Difficulty
    deciles: tuple[int, ...]

    @classmethod
    def of(cls, sketch: Sketch, total_messages: int) -> _Likeness:
        narrow = is_narrow(sketch.positions, total_messages)
        return cls(sketch.can_spare, narrow, sketch.difficulty, deciles_of(sketch.positions, total_messages))


@dataclass
class _Alike:
    """Candidates of one likeness, by their ordinals in the pool."""

    ordinals: array[int] = field(default_factory=lambda: array("L"))
    at: int = 0
    """The first that was not found to share a fact or bullet with one that was taken."""
    head: Sketch | None = None
    """That one, once it was looked at."""
    sharing: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    """Those before it that were not taken, with their facts and bullets."""

    def pass_on(self) -> None:
        """Go on to the next."""
        self.at, self.head = self.at + 1, None


class _Pool(Generic[G]):
    """Groups that make candidates, and what those taken so far use up."""

    def __init__(self, groups: Iterable[G], sketch: Callable[[G], Sketch | None], total_messages: int) -> None:
        self._groups: list[G] = []
        self._sketch, self._total = sketch, total_messages
        self._alike: dict[_Likeness, _Alike] = {}
        self._uses = Counter[str]()
        self._levels = Counter[Difficulty]()
        self._deciles = Counter[int]()
        self._plans: set[int] = set()
        """Two or more plans that candidates which may be taken touch; fewer if there are no two."""
        for group in groups:
            if (made := sketch(group)) is not None:
                self._add(group, made)

    def _add(self, group: G, made: Sketch) -> None:
        likeness = _Likeness.of(made, self._total)
        self._alike.setdefault(likeness, _Alike()).ordinals.append(len(self._groups))
        self._groups.append(group)
        if len(self._plans) < 2 and not made.plans <= self._plans and not made.gives_itself_away():
            self._plans |= made.plans

    def count(self, taken: Sketch) -> None:
        """Count one in."""
        self._uses.update(taken.subjects)
        self._levels[taken.difficulty] += 1
        self._deciles.update(deciles_of(taken.positions, self._total))

    def take_best(self) -> Sketch | None:
        """Return the best that is left, and leave it out from now on; None if nothing is left."""
        for can_spare in (False, True):
            alike = {likeness: a for likeness, a in self._alike.items() if likeness.can_spare is can_spare}
            best = self._best_unshared(alike) or self._best_sharing(alike)
            if best is not None:
                return best
        return None

    def _best_unshared(self, alike: Mapping[_Likeness, _Alike]) -> Sketch | None:
        ready = [
            (self._crowding(likeness), a.ordinals[a.at], a) for likeness, a in alike.items() if self._has_unshared(a)
        ]
        if not ready:
            return None
        *_, a = min(ready, key=lambda offer: offer[:2])
        best = a.head
        a.pass_on()
        return best

    def _has_unshared(self, alike: _Alike) -> bool:
        while alike.at < len(alike.ordinals):
            alike.head = alike.head or self._sketch(self._groups[alike.ordinals[alike.at]])
            assert alike.head is not None  # it was one when it was added
            if not self._overlap(alike.head.subjects):
                return True
            alike.sharing.append((alike.ordinals[alike.at], alike.head.subjects))
            alike.pass_on()
        return False

    def _best_sharing(self, alike: Mapping[_Likeness, _Alike]) -> Sketch | None:
        offers = [
            ((self._overlap(subjects), *self._crowding(likeness)), ordinal, subjects, a)
            for likeness, a in alike.items()
            for ordinal, subjects in a.sharing
        ]
        if not offers:
            return None
        _, ordinal, subjects, a = min(offers, key=lambda offer: offer[:2])
        a.sharing.remove((ordinal, subjects))
        return self._sketch(self._groups[ordinal])

    def _overlap(self, subjects: Sequence[str]) -> float:
        return sum([self._uses[s] for s in subjects]) / (len(subjects) or 1)

    def _crowding(self, likeness: _Likeness) -> tuple[bool, int, float]:
        is_narrow = likeness.is_narrow and len(self._plans) > 1
        return is_narrow, self._levels[likeness.difficulty], _crowd(likeness.deciles, self._deciles)


def deciles_of(positions: Iterable[int], total_messages: int) -> tuple[int, ...]:
    """Deciles of the conversation, 0 to 9, that positions lie in, each once."""
    return tuple(sorted({min(p * 10 // max(total_messages, 1), 9) for p in positions}))


def crowd_of(positions: Iterable[int], deciles: Counter[int], total_messages: int) -> float:
    """Mean number of probes already in the deciles of these positions; 0 for none."""
    return _crowd(deciles_of(positions, total_messages), deciles)


def _crowd(here: Sequence[int], deciles: Mapping[int, int]) -> float:
    return sum([deciles[d] for d in here]) / len(here) if here else 0.0
