"""One conversation read once, with the look-ups that the checks share.

The messages go to a temporary file when there are many: a check goes through them as often as it likes, and what is in
memory does not grow with their text; so do bullets, facts and assertions. The look-ups over them are made when a check
first asks for them, and hold places.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import TypeVar

from longbeam.schemas.conversation import ConversationHead, ConversationReader
from longbeam.schemas.dialogue import Message, MessageRole
from longbeam.schemas.plans import Assertion, Bullet, Fact, Stance, Value
from longbeam.schemas.probes import Probe
from longbeam.store.folded import FoldedTexts
from longbeam.store.lookups import Grouped, Keyed, Ordinals
from longbeam.store.spill import SpilledSequence
from longbeam.text.words import content_words

R = TypeVar("R")


@dataclass(frozen=True)
class ConversationIndex:
    """A conversation with its messages by key and order, and its ledger by bullet and fact."""

    head: ConversationHead
    messages: Sequence[Message]
    probes: tuple[Probe, ...] = ()
    """All candidates."""
    asked: Mapping[str, int] | None = None
    """Probes asked for by ability; None where nobody knows."""
    texts: FoldedTexts | None = None
    """Of the messages, where somebody else searches them, too."""

    @property
    def is_import(self) -> bool:
        """Whether somebody else made the conversation: no length was asked for, and there may be no plan."""
        return self.head.target_tokens == 0

    @cached_property
    def selected(self) -> tuple[Probe, ...]:
        """The selected probes."""
        return tuple(p for p in self.probes if p.is_selected)

    @cached_property
    def position(self) -> Ordinals:
        """Ordinal of each message by key; the first one's where a key occurs twice."""
        messages = self.messages  # without the index, which would hold itself
        return Ordinals((m.message_key for m in messages), lambda i: messages[i].message_key)

    def message(self, message_key: str) -> Message | None:
        """The message of this key."""
        at = self.position.get(message_key)
        return None if at is None else self.messages[at]

    @cached_property
    def _folded(self) -> FoldedTexts:
        return self.texts or FoldedTexts(m.content for m in self.messages)

    def holding(self, words: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield the ordinals of the messages that hold all these case-folded words, with their case-folded texts."""
        return self._folded.holding(words)

    @cached_property
    def _words(self) -> dict[str, frozenset[str]]:
        return {}

    def words(self, message: Message) -> frozenset[str]:
        """Stems of a message's content words, read once."""
        found = self._words.get(message.message_key)
        if found is None:
            found = self._words[message.message_key] = content_words(message.content)
        return found

    @cached_property
    def _user_words(self) -> tuple[Counter[str], int]:
        said = [self.words(m) for m in self.messages if self.speaks_as_user(m)]
        return Counter(chain.from_iterable(said)), len(said)

    def share_of_user(self, stem: str) -> float:
        """Share of the user's messages that have a stem."""
        counts, total = self._user_words
        return counts[stem] / max(total, 1)

    def rarity(self, stem: str) -> float:
        """How much a stem tells: the logarithm of how few of the user's messages have it, from 0."""
        counts, total = self._user_words
        return math.log((total + 1) / (counts[stem] + 1))

    def speaks_as_user(self, message: Message) -> bool:
        """Whether a person says this whom questions may be about: the user, or any of several named speakers."""
        return message.role is MessageRole.USER or message.speaker != MessageRole.ASSISTANT

    @cached_property
    def total_tokens(self) -> int:
        """Tokens of all messages, as they say."""
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
    def _told(self) -> Sequence[int]:
        """Places of the assertions in the order of the story; those of unknown bullets are left out."""
        places = (self.bullets.place.get(a.bullet_id) for a in self._assertions)
        order = array("i", (-1 if place is None else place for place in places))
        return array("I", sorted((i for i, place in enumerate(order) if place >= 0), key=order.__getitem__))

    @cached_property
    def by_fact(self) -> Grouped[Assertion]:
        """Assertions on each fact, in the order of the story; those of unknown bullets are left out."""
        made = ((self._assertions[i].fact_id, i) for i in self._told)
        return Grouped(self._assertions, made, lambda a, fact_id: a.fact_id == fact_id)

    def facts_told(self) -> Iterable[str]:
        """Ids of the facts that `by_fact` knows, in the order of the story."""
        return dict.fromkeys(self._assertions[i].fact_id for i in self._told)

    @cached_property
    def by_bullet(self) -> Grouped[Assertion]:
        """Assertions that each bullet makes."""
        made = ((a.bullet_id, i) for i, a in enumerate(self._assertions))
        return Grouped(self._assertions, made, lambda a, bullet_id: a.bullet_id == bullet_id)

    @cached_property
    def _voicing(self) -> Grouped[Message]:
        users = ((i, m) for i, m in enumerate(self.messages) if m.role is MessageRole.USER)
        said = ((bullet_id, i) for i, m in users for bullet_id in m.bullet_ids)
        return Grouped(self.messages, said, lambda m, bullet_id: bullet_id in m.bullet_ids)

    def voicing(self, bullet_id: str) -> tuple[Message, ...]:
        """User messages that voice a bullet, in order."""
        return self._voicing.of(bullet_id)

    def values_over_time(self, fact_id: str) -> tuple[Assertion, ...]:
        """Assertions that set or change a fact, in the order of the story; each has a value."""
        changes = (Stance.SETS, Stance.UPDATES)
        return tuple(a for a in self.by_fact.of(fact_id) if a.stance in changes and a.value is not None)

    def current_value(self, fact_id: str) -> Value | None:
        """The last value that a fact takes."""
        changes = self.values_over_time(fact_id)
        return changes[-1].value if changes else None

    # --- a probe and its evidence -------------------------------------------------------------------------

    def cited(self, probe: Probe) -> tuple[Message, ...]:
        """Messages that a probe cites and that exist, each once, in the order of the conversation."""
        places = {self.position.get(e.message_key) for e in probe.evidence}
        return tuple(self.messages[i] for i in sorted(i for i in places if i is not None))


def build_index(reader: ConversationReader, *, asked: Mapping[str, int] | None = None) -> ConversationIndex:
    """Return the index of a conversation: messages, probes and plans are read once, and the reader may be closed."""
    index = ConversationIndex(reader.head, SpilledSequence(reader.messages()), tuple(reader.probes()), asked)
    len(index.head.plans)  # of a sealed file they are read when something is first asked of them
    return index


def _spooled(records: Iterable[R]) -> SpilledSequence[R]:
    """Keep records of the plans: those of a plan and a half, and those read last, are in memory."""
    return SpilledSequence(records, held=32)
