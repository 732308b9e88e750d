"""One conversation read once, with the look-ups that the checks share.

The messages go to a temporary file when there are many: a check goes through them as often as it likes, and what is in
memory does not grow with their text. The look-ups over the ledger are made when a check first asks for them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TypeVar

from longbeam.schemas.conversation import ConversationHead, ConversationReader
from longbeam.schemas.dialogue import Message, Role
from longbeam.schemas.plans import Assertion, Bullet, Fact, Stance, Value
from longbeam.schemas.probes import Probe
from longbeam.store.folded import FoldedTexts
from longbeam.store.spool import Spool
from longbeam.validation.wording import about

T = TypeVar("T")


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
    def position(self) -> dict[str, int]:
        """Ordinal of each message by key; the first one's where a key occurs twice."""
        position: dict[str, int] = {}
        for i, message in enumerate(self.messages):
            position.setdefault(message.message_key, i)
        return position

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
            found = self._words[message.message_key] = about(message.content)
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
        return message.role is Role.USER or message.speaker != Role.ASSISTANT

    @cached_property
    def total_tokens(self) -> int:
        """Tokens of all messages, as they say."""
        return sum(m.tokens for m in self.messages)

    # --- the ledger ---------------------------------------------------------------------------------------

    @cached_property
    def bullets(self) -> dict[str, Bullet]:
        """Bullets by id, in the order of the story."""
        return {b.bullet_id: b for plan in self.head.plans for b in plan.bullets()}

    @cached_property
    def by_topic(self) -> dict[str, tuple[Bullet, ...]]:
        """Bullets about each topic, in the order of the story."""
        return _grouped((b.topic, b) for b in self.bullets.values())

    @cached_property
    def bullet_order(self) -> dict[str, int]:
        """Ordinal in the story of each bullet."""
        return {bullet_id: i for i, bullet_id in enumerate(self.bullets)}

    @cached_property
    def facts(self) -> dict[str, Fact]:
        """Facts by id."""
        return {f.fact_id: f for plan in self.head.plans for f in plan.facts}

    @cached_property
    def by_fact(self) -> dict[str, tuple[Assertion, ...]]:
        """Assertions on each fact, in the order of the story; those of unknown bullets are left out."""
        known = [a for plan in self.head.plans for a in plan.assertions if a.bullet_id in self.bullet_order]
        known.sort(key=lambda a: self.bullet_order[a.bullet_id])
        return _grouped((a.fact_id, a) for a in known)

    @cached_property
    def by_bullet(self) -> dict[str, tuple[Assertion, ...]]:
        """Assertions that each bullet makes."""
        return _grouped((a.bullet_id, a) for plan in self.head.plans for a in plan.assertions)

    @cached_property
    def _voicing(self) -> dict[str, tuple[int, ...]]:
        users = ((i, m) for i, m in enumerate(self.messages) if m.role is Role.USER)
        return _grouped((bullet_id, i) for i, m in users for bullet_id in m.bullet_ids)

    def voicing(self, bullet_id: str) -> tuple[Message, ...]:
        """User messages that voice a bullet, in order."""
        return tuple(self.messages[i] for i in self._voicing.get(bullet_id, ()))

    def values_over_time(self, fact_id: str) -> tuple[Assertion, ...]:
        """Assertions that set or change a fact, in the order of the story; each has a value."""
        changes = (Stance.SETS, Stance.UPDATES)
        return tuple(a for a in self.by_fact.get(fact_id, ()) if a.stance in changes and a.value is not None)

    def current_value(self, fact_id: str) -> Value | None:
        """The last value that a fact takes."""
        changes = self.values_over_time(fact_id)
        return changes[-1].value if changes else None

    # --- a probe and its evidence -------------------------------------------------------------------------

    def cited(self, probe: Probe) -> tuple[Message, ...]:
        """Messages that a probe cites and that exist, each once, in the order of the conversation."""
        at = sorted({self.position[e.message_key] for e in probe.evidence if e.message_key in self.position})
        return tuple(self.messages[i] for i in at)


def build_index(reader: ConversationReader, *, asked: Mapping[str, int] | None = None) -> ConversationIndex:
    """Return the index of a conversation, reading its messages and probes once."""
    return ConversationIndex(reader.head, Spool(reader.messages()), tuple(reader.probes()), asked)


def _grouped(pairs: Iterable[tuple[str, T]]) -> dict[str, tuple[T, ...]]:
    groups: dict[str, list[T]] = {}
    for key, item in pairs:
        groups.setdefault(key, []).append(item)
    return {key: tuple(items) for key, items in groups.items()}
