"""Probe candidates, the choice of a varied pool of them, and the interface of an ability's generator.

A candidate holds everything that its probe needs except the wording: values, evidence, difficulty. It is a record,
because it is stored between the unit that finds it and the unit that words it.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from longbeam.generators.probes.evidence import Quote
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.generators.tuning import PROBING
from longbeam.keys import AdviceId, ProbeId, plan_index_of
from longbeam.models import Asker
from longbeam.prompts.calls import Excerpt, ProbeReply
from longbeam.schemas import Difficulty, EvidencePart, ProbeDetails, Record, Value
from longbeam.text import ENGLISH, Language, language_of, says

T = TypeVar("T")
G = TypeVar("G")


def _language(value: object) -> object:
    return language_of(value) if isinstance(value, str) else value


_StoredByName = Annotated[Language, BeforeValidator(_language), PlainSerializer(attrgetter("name"), return_type=str)]


class Payload(Record):
    """Material of one kind of probe for its wording, beside evidence and values; of most kinds there is none."""


class WishPayload(Payload):
    """A wish of the user's that an answer has to respect."""

    condition: str = ""
    requirement: str = ""
    known: tuple[str, ...] = ()
    """What is known of the user, as the request to be written is one that anybody could make."""


class MomentPayload(Payload):
    """A day or a side of a day that the question names and the answer does not."""

    condition: str


class OrderPayload(Payload):
    """The order in which the question lists things that the answer puts in order."""

    listed_as: tuple[int, ...]


class ItemsPayload(Payload):
    """Items of a list of the assistant's, or the people of a log."""

    items: tuple[str, ...]


class SummaryPayload(Payload):
    """Further points told of the things of a summary, which are no part of its answer."""

    beside: tuple[str, ...]


class WordedPayload(WishPayload):
    """A question that code has worded whole, or that the model words where it chooses (abstention)."""

    question: str
    gold_answer: str = ""
    """The answer in languages other than English; in English code writes that of an abstention."""
    nugget: str = ""
    """The one point; empty for an abstention."""


PAYLOADS = (MomentPayload, WishPayload, OrderPayload, ItemsPayload, SummaryPayload, WordedPayload)
"""Kinds of payload; a stored candidate has the first one whose fields include those that it has."""
P = TypeVar("P", bound=Payload)


class ProbeCandidate(Record):
    """A probe without its wording."""

    candidate_id: str = ""
    """`<ability>.<ordinal in the pool>`; the probe takes it as its id."""
    ability: str
    language: _StoredByName = ENGLISH
    """Language of the conversation: some checks of the wording know English only."""
    difficulty: Difficulty
    variety: str = ""
    topic: str
    summary: str
    """One line that the model chooses by."""
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
    """Values that the gold answer and the nuggets must say and the question must not."""
    context_values: tuple[Value, ...] = ()
    """Values that the gold answer must say and the question must not; a nugget may say them."""
    stale: tuple[Value, ...] = ()
    """Superseded values: no nugget may assert one."""
    can_spare: bool = False
    """Whether the answer still follows without one of the messages; such a candidate is taken last."""
    payload: Payload = Field(default_factory=Payload)
    purpose: str = ""
    """What the user wants to know it for at the end, as the model that chose it says."""
    wishes: tuple[str, ...] = ()
    """The user's wishes that hold at the end and may apply to the question."""
    details: ProbeDetails = Field(default_factory=ProbeDetails)
    rank: int = 0
    """Place in the model's choice, from 0, the best."""

    @model_validator(mode="before")
    @classmethod
    def _with_payload(cls, stored: Any) -> Any:  # Any: pydantic's input
        if not isinstance(stored, dict) or "payload" in stored:
            return stored
        told = {name: stored[name] for name in _FLAT if stored.get(name)}
        kind = next((p for p in PAYLOADS if told.keys() <= p.model_fields.keys()), WordedPayload) if told else Payload
        return {**{n: v for n, v in stored.items() if n not in _FLAT}, "payload": kind.model_validate(told)}

    @model_serializer(mode="wrap")
    def _flat(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:  # Any: pydantic's output
        """Return the payload's fields beside the others, as they are stored: the digest is part of units' keys."""
        fields = handler(self)
        told = {**_FLAT, **{name: getattr(self.payload, name) for name in type(self.payload).model_fields}}
        names = (n for name in fields if name != "payload" for n in (name, *_BEHIND.get(name, ())))
        return {name: told[name] if name in told else fields[name] for name in names}

    def given(self, kind: type[P]) -> P:
        """Return the payload, which is of this kind."""
        if not isinstance(self.payload, kind):
            raise TypeError(f"{self.candidate_id}: the payload is a {type(self.payload).__name__}, no {kind.__name__}")
        return self.payload

    @property
    def needs_reply(self) -> bool:
        """Whether a message of the assistant's is among the evidence."""
        return needs_reply(self.bullet_ids)


_FLAT: Mapping[str, Any] = {  # Any: a text or a tuple
    **dict.fromkeys(("condition", "requirement", "question", "gold_answer", "nugget"), ""),
    **dict.fromkeys(("items", "listed_as", "known", "beside"), ()),
}
"""Fields of payloads, empty."""
_BEHIND: Mapping[str, Sequence[str]] = {
    "can_spare": ("condition", "requirement", "items", "listed_as"),
    "purpose": ("known", "beside"),
    "details": ("question", "gold_answer", "nugget"),
}
"""Fields of payloads by the field behind which they are stored."""


def needs_reply(bullet_ids: Iterable[str]) -> bool:
    """Return whether a probe on these bullets and pieces of advice needs a message of the assistant's."""
    return any(map(AdviceId.names, bullet_ids))


Draft = Callable[[Asker, ProbeMaterial, int], Awaitable[list[ProbeCandidate]]]


@dataclass(frozen=True)
class AbilityGenerator:
    """Code that generates an ability's probes; the ability's record names it."""

    candidates: Callable[[ProbeMaterial], list[ProbeCandidate]]
    """Returns every candidate that the material gives, best first; none for an ability with `draft`."""
    check: Callable[[ProbeCandidate, ProbeReply], Sequence[str]]
    """Returns what is wrong with a reply, in a sentence that the model can act on; None when nothing is."""
    draft: Draft | None = None
    """Replaces `candidates`: asks the model for questions and proves each. The ability's prompt is the one it asks."""
    word: Callable[[ProbeCandidate], ProbeReply] | None = None
    """Words a candidate without a model; None: the ability's prompt words it."""


class Cited(NamedTuple):
    """Evidence of a candidate, in the order of the conversation."""

    said: tuple[tuple[Quote, str], ...]
    """Quotes, each with the part that it plays."""
    grouped: bool
    """Whether each quote is an item of its own, numbered in order."""
    fact_ids: tuple[str, ...]


def cite(
    said: Sequence[Quote],
    parts: Sequence[str] = (),
    *,
    grouped: bool = False,
    fact_ids: tuple[str, ...] | None = None,
) -> Cited:
    """Return evidence in the order of the conversation.

    `parts[i]` is the part of `said[i]`: without parts, an item where `grouped`, else support. Without `fact_ids`, the
    facts are those of the quotes.
    """
    roles = parts or [EvidencePart.ITEM if grouped else EvidencePart.SUPPORT] * len(said)
    ordered = sorted(zip(said, roles, strict=True), key=lambda pair: pair[0].position)
    facts = dict.fromkeys([s.fact_id for s, _ in ordered if s.fact_id])
    return Cited(tuple(ordered), grouped, tuple(facts) if fact_ids is None else fact_ids)


class Sketch(NamedTuple):
    """A candidate whose record is not made yet: a long conversation gives thousands, and the pool takes a few."""

    ability: str
    evidence: Cited
    difficulty: Difficulty
    topic: str
    can_spare: bool
    bullet_ids: tuple[str, ...]
    positions: tuple[int, ...]
    fields: Mapping[str, Any]  # Any: further fields of ProbeCandidate, validated there
    is_proved: Callable[[], bool] = lambda: True
    """Searches the conversation for what would make the answer wrong; asked only where the candidate is to be taken."""

    @classmethod
    def of(
        cls,
        ability: str,
        evidence: Cited,
        *,
        difficulty: Difficulty,
        topic: str,
        can_spare: bool = False,
        **fields: Any,  # Any: further fields of ProbeCandidate, validated there
    ) -> Sketch:
        """Return a candidate that rests on this evidence."""
        said = [quote for quote, _ in evidence.said]
        return cls(
            ability=ability,
            evidence=evidence,
            difficulty=difficulty,
            topic=topic,
            can_spare=can_spare,
            bullet_ids=tuple(dict.fromkeys([s.bullet_id for s in said])),
            positions=tuple([s.position for s in said]),
            fields=fields,
        )

    def candidate(self, ordinal: int) -> ProbeCandidate:
        """Return the candidate's record; `ordinal` is its place in the pool."""
        said, grouped, fact_ids = self.evidence
        excerpts = (s.excerpt(i, part, i if grouped else None) for i, (s, part) in enumerate(said))
        return ProbeCandidate(
            candidate_id=str(ProbeId(self.ability, str(ordinal))),
            ability=self.ability,
            difficulty=self.difficulty,
            topic=self.topic,
            excerpts=tuple(excerpts),
            message_keys=tuple(s.message_key for s, _ in said),
            positions=self.positions,
            bullet_ids=self.bullet_ids,
            fact_ids=fact_ids,
            can_spare=self.can_spare,
            **{"cited": tuple(range(len(said))), **self.fields},
        )

    @property
    def subjects(self) -> tuple[str, ...]:
        """Ids of the facts and bullets that the candidate is about."""
        return (*self.evidence.fact_ids, *self.bullet_ids)

    @property
    def asked(self) -> frozenset[str]:
        """Facts of the answer, and facts that only describe the thing: candidates with the same ones ask the same."""
        return frozenset(f"{part}/{s.fact_id or s.bullet_id}" for s, part in self.evidence.said)

    @property
    def plans(self) -> set[int]:
        """Plans of its bullets."""
        return {plan_index_of(bullet_id) for bullet_id in self.bullet_ids}

    def gives_itself_away(self) -> bool:
        """Whether no question can name the subject without saying an answer."""
        names = {self.topic, *(name for s, _ in self.evidence.said for name in (s.subject, s.attribute))}
        values = (v for kind in ("answers", "context_values", "stale") for v in self.fields.get(kind, ()))
        return any(says(name, value) for value in values for name in names)


def sessions_of(said: Iterable[Quote]) -> int:
    """Return the number of sessions that the evidence is from."""
    return len({s.session for s in said})


def difficulty_by_sessions(sessions: int) -> Difficulty:
    """Return BEAM's level for evidence that must be put together: up to two sessions, three, four and more."""
    if sessions <= 2:
        return Difficulty.EASY
    return Difficulty.MEDIUM if sessions == 3 else Difficulty.HARD


def difficulty_by_gap(first: Quote, second: Quote) -> Difficulty:
    """Return the level for two messages: in neighbouring sessions, with one or two sessions between, with more."""
    gap = abs(second.session - first.session)
    if gap <= 1:
        return Difficulty.EASY
    return Difficulty.MEDIUM if gap <= 3 else Difficulty.HARD


def difficulty_by_items(items: int) -> Difficulty:
    """Return BEAM's level of event ordering: 4-5, 6-7, 8-10 items."""
    if items <= 5:
        return Difficulty.EASY
    return Difficulty.MEDIUM if items <= 7 else Difficulty.HARD


def is_narrow(bullet_ids: Sequence[str]) -> bool:
    """Return whether evidence of several bullets lies within one plan."""
    return len(bullet_ids) > 1 and len(set(map(plan_index_of, bullet_ids))) == 1


def thin_out(
    groups: Iterable[G],
    sketch: Callable[[G], Sketch | None],
    total_messages: int,
    limit: int = PROBING.pool,
    first: int = 0,
) -> list[ProbeCandidate]:
    """Return up to `limit` candidates, spread over facts, levels and the deciles of the conversation.

    They are numbered from `first`.

    `sketch` makes a candidate of a group of evidence, or None. It must be cheap and pure: a long conversation has
    groups by the ten thousand, so sketches are dropped and made again when they are needed.

    The choice is greedy and deterministic. One set of facts makes one candidate: who finds the values for their sum
    has found them for their difference. Candidates that need all their messages come first; then, in a conversation
    of many plans, those whose evidence is of several; of equally good ones, the earlier. Left out are candidates
    whose subject cannot be named without an answer ("the version 2 rollout" has version 2), and those that a search of
    the conversation refutes; these are checked only for those that are about to be taken, because it is slow.
    """
    pool = _CandidatePool(groups, sketch, total_messages)
    taken: list[ProbeCandidate] = []
    known: set[frozenset[str]] = set()
    while len(taken) < limit and (best := pool.take_best()) is not None:
        if best.asked not in known and not best.gives_itself_away() and best.is_proved():
            pool.count(best)
            known.add(best.asked)
            taken.append(best.candidate(first + len(taken)))
    return taken


def with_advice(own: list[ProbeCandidate], sketches: Iterable[Sketch], total_messages: int) -> list[ProbeCandidate]:
    """Return an ability's candidates on what the user said, and behind them those on what the assistant brought in."""
    return [*own, *thin_out(list(sketches), _itself, total_messages, PROBING.advice_pool, len(own))]


def with_kind(before: list[ProbeCandidate], sketches: Iterable[Sketch], total_messages: int) -> list[ProbeCandidate]:
    """Return an ability's candidates, and behind them those of a kind of question."""
    return [*before, *thin_out(list(sketches), _itself, total_messages, PROBING.kind_pool, len(before))]


def _itself(sketch: Sketch) -> Sketch:
    return sketch


class _CostKey(NamedTuple):
    """Everything that the cost of a candidate depends on, except the facts and bullets it shares with those taken."""

    can_spare: bool
    is_narrow: bool
    difficulty: Difficulty
    deciles: tuple[int, ...]

    @classmethod
    def of(cls, sketch: Sketch, total_messages: int) -> _CostKey:
        deciles = deciles_of(sketch.positions, total_messages)
        return cls(sketch.can_spare, is_narrow(sketch.bullet_ids), sketch.difficulty, deciles)


@dataclass
class _Queue:
    """Candidates with one cost key, by their ordinals in the pool."""

    ordinals: array[int] = field(default_factory=lambda: array("L"))
    """Ascending. An array, because a long conversation has candidates by the ten thousand."""
    at: int = 0
    """Index of the first candidate that is neither taken nor in `sharing`."""
    head: Sketch | None = None
    """Sketch of that candidate, once it was needed."""
    sharing: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    """Ordinal and subjects of the candidates that share a subject with one that was taken."""

    def advance(self) -> None:
        """Go to the next candidate."""
        self.at, self.head = self.at + 1, None


class _CandidatePool(Generic[G]):
    """Candidates in queues by cost key, so that finding the best one does not look at all of them.

    The cost is, in this order: whether a message can be spared, the overlap (how often the candidate's subjects were
    used by those taken), whether the evidence is narrow, how many of its level were taken, and how
    full its deciles are. Only the overlap differs within a queue. While it is 0, the first of a queue is the best of
    the queue. Overlap never shrinks, so a candidate that has some moves to `sharing` for good.
    """

    def __init__(self, groups: Iterable[G], sketch: Callable[[G], Sketch | None], total_messages: int) -> None:
        self._groups: list[G] = []
        self._sketch, self._total = sketch, total_messages
        self._queues: dict[_CostKey, _Queue] = {}
        self._uses = Counter[str]()
        self._levels = Counter[Difficulty]()
        self._deciles = Counter[int]()
        self._plans: set[int] = set()
        """Plans of candidates that may be taken, collected up to two: whether evidence is narrow counts only then."""
        for group in groups:
            if (made := sketch(group)) is not None:
                self._add(group, made)

    def _add(self, group: G, made: Sketch) -> None:
        self._queues.setdefault(_CostKey.of(made, self._total), _Queue()).ordinals.append(len(self._groups))
        self._groups.append(group)
        # Cheap conditions first: the last one reads all values and names of the candidate.
        if len(self._plans) < 2 and not made.plans <= self._plans and not made.gives_itself_away():
            self._plans |= made.plans

    def count(self, taken: Sketch) -> None:
        """Count a candidate as taken."""
        self._uses.update(taken.subjects)
        self._levels[taken.difficulty] += 1
        self._deciles.update(deciles_of(taken.positions, self._total))

    def take_best(self) -> Sketch | None:
        """Remove and return the best candidate that is left; None if nothing is left.

        It is not counted yet: the caller may reject it.
        """
        # A probe whose evidence can be spared proves nothing, so it is a last resort.
        for can_spare in (False, True):
            queues = {key: queue for key, queue in self._queues.items() if key.can_spare is can_spare}
            best = self._take_unshared(queues) or self._take_sharing(queues)
            if best is not None:
                return best
        return None

    def _take_unshared(self, queues: Mapping[_CostKey, _Queue]) -> Sketch | None:
        """Take the best candidate without overlap: the best head of all queues."""
        heads = [
            (self._crowding(key), queue.ordinals[queue.at], queue)
            for key, queue in queues.items()
            if self._has_unshared(queue)
        ]
        if not heads:
            return None
        # Ordinals differ, so two queues are never compared.
        *_, queue = min(heads, key=lambda head: head[:2])
        best = queue.head
        queue.advance()
        return best

    def _has_unshared(self, queue: _Queue) -> bool:
        """Advance the queue to a candidate without overlap; return whether it has one."""
        while queue.at < len(queue.ordinals):
            queue.head = queue.head or self._sketch(self._groups[queue.ordinals[queue.at]])
            assert queue.head is not None  # `sketch` is pure, and made one when the candidate was added
            if not self._overlap(queue.head.subjects):
                return True
            queue.sharing.append((queue.ordinals[queue.at], queue.head.subjects))
            queue.advance()
        return False

    def _take_sharing(self, queues: Mapping[_CostKey, _Queue]) -> Sketch | None:
        """Take the candidate with the least overlap. All of them are looked at, since each overlap may have grown."""
        offers = [
            ((self._overlap(subjects), *self._crowding(key)), ordinal, subjects, queue)
            for key, queue in queues.items()
            for ordinal, subjects in queue.sharing
        ]
        if not offers:
            return None
        _, ordinal, subjects, queue = min(offers, key=lambda offer: offer[:2])
        queue.sharing.remove((ordinal, subjects))
        return self._sketch(self._groups[ordinal])

    def _overlap(self, subjects: Sequence[str]) -> float:
        """Mean number of candidates taken on each of these facts and bullets."""
        return sum([self._uses[s] for s in subjects]) / (len(subjects) or 1)

    def _crowding(self, key: _CostKey) -> tuple[bool, int, float]:
        is_narrow = key.is_narrow and len(self._plans) > 1
        return is_narrow, self._levels[key.difficulty], _crowd(key.deciles, self._deciles)


def deciles_of(positions: Iterable[int], total_messages: int) -> tuple[int, ...]:
    """Return the deciles of the conversation, 0 to 9, in which positions lie, each once, ascending."""
    return tuple(sorted({min(p * 10 // max(total_messages, 1), 9) for p in positions}))


def crowd_of(positions: Iterable[int], deciles: Counter[int], total_messages: int) -> float:
    """Return the mean number of probes that are already in the deciles of these positions; 0 without positions."""
    return _crowd(deciles_of(positions, total_messages), deciles)


def _crowd(here: Sequence[int], deciles: Mapping[int, int]) -> float:
    return sum([deciles[d] for d in here]) / len(here) if here else 0.0
