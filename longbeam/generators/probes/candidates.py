"""What a probe candidate is, how a pool of them is thinned out, and what an ability's generator provides.

A candidate holds everything its probe needs but the wording: values, evidence, difficulty. It is a record, so
that it can be stored between the unit that finds it and the unit that words it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from typing import Any, NamedTuple, TypeVar

from pydantic import Field

from longbeam.generators.probes.evidence import Said
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.models.asking import Asker
from longbeam.schemas.base import Record
from longbeam.schemas.calls import Excerpt, ProbeReply
from longbeam.schemas.plans import Value
from longbeam.schemas.probes import Difficulty, EvidencePart, ProbeDetails
from longbeam.schemas.spec import ENGLISH
from longbeam.schemas.values import says

T = TypeVar("T")
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
    """One ability: how its candidates are found, and what a worded probe must fulfil."""

    ability: str
    prompt_id: str
    """Of the prompt that words a probe, or that drafts candidates and questions at once."""
    candidates: Callable[[ProbeMaterial], list[ProbeCandidate]]
    """Pure: every candidate that the material gives, best first; empty for an ability with `draft`."""
    check: Callable[[ProbeCandidate, ProbeReply], str | None]
    """What is wrong with a reply, in a sentence the model can act on; None when nothing is."""
    draft: Draft | None = None
    """Instead of `candidates`: asks the model for questions and proves each."""
    word: Callable[[ProbeCandidate], ProbeReply] | None = None
    """Words a candidate without a call, where `draft` has its question already."""


class Sketch(NamedTuple):
    """A candidate whose record is not made yet: long conversations give hundreds, of which a pool takes some."""

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
            candidate_id=f"{self.ability}.{ordinal}",
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
    def plans(self) -> set[str]:
        """The plans that its bullets are of."""
        return {b.partition(".")[0] for b in self.bullet_ids}

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


def thin_out(sketches: Sequence[Sketch], total_messages: int, limit: int = POOL) -> list[ProbeCandidate]:
    """Return up to `limit` candidates, numbered: spread over facts, difficulties and the conversation's deciles.

    Those that need all their messages come first, then, in a conversation of many plans, those whose evidence spans a
    fifth of it. Greedy and deterministic; of equally good ones the earlier is taken. Crowding only grows, so what it
    was when last looked at tells which candidates need not be looked at again. A candidate is left out when a question
    could not name what it is about without saying an answer ("the version 2 rollout" has version 2); only those whose
    turn comes are asked.
    """
    of_many = _is_of_many_plans(sketches)
    offers = [_Offer.of(s, total_messages, of_many) for s in sketches]
    taken: list[ProbeCandidate] = []
    uses = dict.fromkeys((s for offer in offers for s in offer.subjects), 0)
    levels = dict.fromkeys(Difficulty, 0)
    deciles = dict.fromkeys(range(10), 0)
    waiting = [(offer.crowding(uses, levels, deciles), i) for i, offer in enumerate(offers)]
    heapify(waiting)
    while waiting and len(taken) < limit:
        i = waiting[0][1]
        best = offers[i]
        now = best.crowding(uses, levels, deciles), i
        if now != waiting[0]:
            heapreplace(waiting, now)
            continue
        heappop(waiting)
        if best.sketch.gives_itself_away():
            continue
        for subject in best.subjects:
            uses[subject] += 1
        for decile in best.deciles:
            deciles[decile] += 1
        levels[best.sketch.difficulty] += 1
        taken.append(best.sketch.candidate(len(taken)))
    return taken


def _is_of_many_plans(sketches: Iterable[Sketch]) -> bool:
    """Whether those that may be taken touch more than one plan."""
    found: set[str] = set()
    for one in sketches:
        if not one.plans <= found and not one.gives_itself_away():
            found |= one.plans
            if len(found) > 1:
                return True
    return False


class _Offer(NamedTuple):
    """A candidate with what its crowding is reckoned from, which is asked for whenever another one is taken."""

    sketch: Sketch
    subjects: tuple[str, ...]
    is_narrow: bool
    deciles: tuple[int, ...]

    @classmethod
    def of(cls, sketch: Sketch, total_messages: int, of_many: bool) -> _Offer:
        return cls(
            sketch,
            (*sketch.fact_ids, *sketch.bullet_ids),
            of_many and is_narrow(sketch.positions, total_messages),
            deciles_of(sketch.positions, total_messages),
        )

    def crowding(
        self, uses: Mapping[str, int], levels: Mapping[Difficulty, int], deciles: Mapping[int, int]
    ) -> tuple[bool, float, bool, int, float]:
        overlap = sum([uses[s] for s in self.subjects]) / (len(self.subjects) or 1)
        return (
            self.sketch.can_spare,
            overlap,
            self.is_narrow,
            levels[self.sketch.difficulty],
            _crowd(self.deciles, deciles),
        )


def deciles_of(positions: Iterable[int], total_messages: int) -> tuple[int, ...]:
    """Deciles of the conversation, 0 to 9, that positions lie in, each once."""
    return tuple(sorted({min(p * 10 // max(total_messages, 1), 9) for p in positions}))


def crowd_of(positions: Iterable[int], deciles: Counter[int], total_messages: int) -> float:
    """Mean number of probes already in the deciles of these positions; 0 for none."""
    return _crowd(deciles_of(positions, total_messages), deciles)


def _crowd(here: Sequence[int], deciles: Mapping[int, int]) -> float:
    return sum([deciles[d] for d in here]) / len(here) if here else 0.0
