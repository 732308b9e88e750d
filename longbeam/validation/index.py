"""Index of one conversation: read once, with the look-ups that the checks share.

Many messages, bullets, facts and assertions are kept in temporary files. A check may read them as often as it likes,
and memory does not grow with their text. Look-ups hold positions in these files, and are built on first use.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import TypeVar

from longbeam.schemas import (
    Advice,
    Assertion,
    Bullet,
    BulletKind,
    ConversationHead,
    ConversationReader,
    Evidence,
    Fact,
    Message,
    MessageRole,
    Probe,
    Profile,
    Seed,
    Stance,
)
from longbeam.store import FoldedTexts, Grouped, Keyed, Ordinals, SpilledSequence
from longbeam.text import Postings, content_words, spell_out

R = TypeVar("R")


@dataclass(frozen=True)
class ConversationIndex:
    """A conversation with its messages by key and order, and its ledger by bullet and fact."""

    head: ConversationHead
    messages: Sequence[Message]
    probes: tuple[Probe, ...] = ()
    """All candidates."""
    asked: Mapping[str, int] | None = None
    """Number of probes that each ability should have; None where that is unknown."""
    texts: FoldedTexts | None = None
    """Folded texts of the messages, where the caller searches them, too."""

    @property
    def is_import(self) -> bool:
        """Whether the conversation was imported: it has no target length, and may have no plan."""
        return self.head.target_tokens == 0

    @cached_property
    def selected(self) -> tuple[Probe, ...]:
        """The selected probes."""
        return tuple(p for p in self.probes if p.is_selected)

    @cached_property
    def position(self) -> Ordinals:
        """Ordinal of each message by key; the first ordinal where a key occurs twice."""
        messages = self.messages  # a closure over `self` would make the index hold itself
        return Ordinals((m.message_key for m in messages), lambda i: messages[i].message_key)

    def message(self, message_key: str) -> Message | None:
        """Return the message of this key; None if there is none."""
        at = self.position.get(message_key)
        return None if at is None else self.messages[at]

    @cached_property
    def _folded(self) -> FoldedTexts:
        return self.texts or FoldedTexts(m.content for m in self.messages)

    def holding(self, words: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield ordinal and case-folded text of each message that holds all these case-folded words."""
        return self._folded.holding(words)

    @cached_property
    def _words(self) -> dict[str, frozenset[str]]:
        return {}

    def words(self, message: Message) -> frozenset[str]:
        """Return the stems of a message's content words, read once."""
        found = self._words.get(message.message_key)
        if found is None:
            found = self._words[message.message_key] = content_words(message.content)
        return found

    @cached_property
    def said_by_user(self) -> Postings:
        """The user's messages by their stems, without pasted documents."""
        return self._postings(of_user=True)

    @cached_property
    def _said_beside(self) -> Postings:
        """All other messages by their stems."""
        return self._postings(of_user=False)

    def _postings(self, *, of_user: bool) -> Postings:
        postings = Postings()
        for ordinal, message in enumerate(self.messages):
            if (self.speaks_as_user(message) and not self.is_pasted(message)) is of_user:
                postings.add(ordinal, message.content)
        return postings

    def user_messages_with(self, weights: Mapping[str, float], least: float) -> Iterator[tuple[int, Message]]:
        """Yield the user's messages whose stems weigh at least this much together, with their ordinals, in order."""
        for ordinal in self.said_by_user.with_words(weights, least):
            yield ordinal, self.messages[ordinal]

    def replies_with(self, weights: Mapping[str, float], least: float) -> Iterator[Message]:
        """Yield the messages of the assistant whose stems weigh at least this much together, in order."""
        found = (self.messages[ordinal] for ordinal in self._said_beside.with_words(weights, least))
        return (m for m in found if not self.speaks_as_user(m))

    def places_with(self, weights: Mapping[str, float], least: float = 0.0) -> dict[int, float]:
        """Return the weight of each message whose stems weigh at least this much together, by its ordinal."""
        both = self.said_by_user.with_words(weights, least) | self._said_beside.with_words(weights, least)
        return dict(sorted(both.items()))

    def speaks_as_user(self, message: Message) -> bool:
        """Return whether the speaker can be the subject of questions: the user, or one of several named speakers."""
        return message.role is MessageRole.USER or message.speaker.casefold() != MessageRole.ASSISTANT

    def is_pasted(self, message: Message) -> bool:
        """Return whether a message pastes a document of somebody else, whose claims are not the user's."""
        told = (self.bullets.get(i) for i in message.bullet_ids)
        return any(b is not None and b.kind is BulletKind.PASTED for b in told)

    @cached_property
    def speakers(self) -> frozenset[str]:
        """Case-folded names of the speakers."""
        return frozenset(m.speaker.casefold() for m in self.messages)

    @cached_property
    def total_tokens(self) -> int:
        """Sum of the token counts that the messages carry."""
        return sum(m.tokens for m in self.messages)

    # --- the ledger ---------------------------------------------------------------------------------------

    @cached_property
    def bullets(self) -> Keyed[Bullet]:
        """Bullets by id, in the order of the story."""
        return Keyed(_spooled(b for plan in self.head.plans for b in plan.bullets()), attrgetter("bullet_id"))

    @cached_property
    def by_topic(self) -> Grouped[Bullet]:
        """Bullets about each topic, in the order of the story."""
        bullets = self.bullets.records
        return Grouped(bullets, ((b.topic, i) for i, b in enumerate(bullets)), lambda b, topic: b.topic == topic)

    @cached_property
    def facts(self) -> Keyed[Fact]:
        """Facts by id."""
        return Keyed(_spooled(f for plan in self.head.plans for f in plan.facts), attrgetter("fact_id"))

    @cached_property
    def _assertions(self) -> Sequence[Assertion]:
        return _spooled(a for plan in self.head.plans for a in plan.assertions)

    @cached_property
    def _story_order(self) -> Sequence[int]:
        """Places of the assertions in the order of the story; those of unknown bullets are left out."""
        places = (self.bullets.place.get(a.bullet_id) for a in self._assertions)
        order = array("i", (-1 if place is None else place for place in places))
        return array("I", sorted((i for i, place in enumerate(order) if place >= 0), key=order.__getitem__))

    @cached_property
    def by_fact(self) -> Grouped[Assertion]:
        """Assertions on each fact, in the order of the story; those of unknown bullets are left out."""
        made = ((self._assertions[i].fact_id, i) for i in self._story_order)
        return Grouped(self._assertions, made, lambda a, fact_id: a.fact_id == fact_id)

    def facts_in_order(self) -> Iterable[str]:
        """Return the ids of the facts that `by_fact` knows, in the order of the story."""
        return dict.fromkeys(self._assertions[i].fact_id for i in self._story_order)

    @cached_property
    def by_bullet(self) -> Grouped[Assertion]:
        """Assertions that each bullet makes."""
        made = ((a.bullet_id, i) for i, a in enumerate(self._assertions))
        return Grouped(self._assertions, made, lambda a, bullet_id: a.bullet_id == bullet_id)

    @cached_property
    def advice(self) -> Mapping[str, Advice]:
        """Advice of the assistant, by id."""
        return {a.advice_id: a for plan in self.head.plans for a in plan.advice}

    @cached_property
    def _voicing(self) -> Grouped[Message]:
        # In imported chats the assistant brings facts in, too.
        by = ((i, m) for i, m in enumerate(self.messages) if self.is_import or m.role is MessageRole.USER)
        said = ((bullet_id, i) for i, m in by for bullet_id in m.bullet_ids)
        return Grouped(self.messages, said, lambda m, bullet_id: bullet_id in m.bullet_ids)

    def voicing(self, bullet_id: str) -> tuple[Message, ...]:
        """Return the messages that voice a bullet, in order; the user's alone, except in imports."""
        return self._voicing.of(bullet_id)

    def values_over_time(self, fact_id: str) -> tuple[Assertion, ...]:
        """Return the assertions that set or change a fact, in the order of the story; each has a value."""
        changes = (Stance.SETS, Stance.UPDATES)
        return tuple(a for a in self.by_fact.of(fact_id) if a.stance in changes and a.value is not None)

    # --- a probe and its evidence -------------------------------------------------------------------------

    def cited(self, probe: Probe) -> tuple[Message, ...]:
        """Return the existing messages that a probe cites, each once, in the order of the conversation."""
        places = {self.position.get(e.message_key) for e in probe.evidence}
        return tuple(self.messages[i] for i in sorted(i for i in places if i is not None))

    def quotes(self, evidence: Iterable[Evidence]) -> str:
        """Return the quotes of evidence, each also with its days as dates, by the day of its message."""
        texts = []
        for e in evidence:
            place = self.position.get(e.message_key)
            texts.append(e.quote)
            if place is not None and (full := spell_out(e.quote, self.messages[place].sent_at.date())) != e.quote:
                texts.append(full)
        return "\n".join(texts)


def build_index(reader: ConversationReader, *, asked: Mapping[str, int] | None = None) -> ConversationIndex:
    """Read messages, probes and plans of a conversation; the reader may be closed afterwards."""
    index = ConversationIndex(reader.head, SpilledSequence(reader.messages()), tuple(reader.probes()), asked)
    len(index.head.plans)  # the plans of a sealed file are read on first use: read them before the reader is closed
    return index


def _spooled(records: Iterable[R]) -> SpilledSequence[R]:
    """Return records of the plans in a spool that holds few of them in memory."""
    return SpilledSequence(records, held=32)


@dataclass(frozen=True, slots=True)
class ProbeDigest:
    """Question and gold answer of a selected probe."""

    probe_id: str
    question: str
    gold_answer: str


@dataclass(frozen=True, slots=True)
class ConversationDigest:
    """Seed, persona and selected probes of a conversation."""

    conversation_id: str
    seed: Seed
    profile: Profile | None
    probes: tuple[ProbeDigest, ...]


def digest_conversation(reader: ConversationReader) -> ConversationDigest:
    """Return the digest of a conversation; its messages are not read."""
    head = reader.head
    probes = (p for p in reader.probes() if p.is_selected)
    return ConversationDigest(
        conversation_id=head.conversation_id,
        seed=head.seed,
        profile=head.profile,
        probes=tuple(ProbeDigest(p.probe_id, p.question, p.gold_answer) for p in probes),
    )
