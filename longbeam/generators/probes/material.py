"""What probes are made from: the ledger, the user messages that voice its bullets, and a search over the rest.

The conversation is read once, as a stream. Of its messages only the words are in memory, in an inverted index (a byte
or two for each message that a word is in: some 8 MB at 10M tokens); those that voice bullets go to a temporary file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from longbeam.generators.probes.histories import Histories
from longbeam.schemas.conversation import ConversationHead
from longbeam.schemas.dialogue import Message, Role
from longbeam.schemas.plans import Value
from longbeam.schemas.spec import ENGLISH
from longbeam.store.spool import Spool

Search = Callable[[Sequence[str]], list[str]]
"""Terms to the keys of the messages that may hold them all, in the order of the conversation."""

_WORD = re.compile(r"[^\W_]+")
_BREAKS = {code: " " for code in range(128) if not chr(code).isalnum()}


SKIP = 255
"""A byte of a word's postings that only says: 255 messages on."""


class Postings:
    """Ascending ordinals, each as the distance from the one before it."""

    __slots__ = ("_bytes", "_last")

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._last = -1

    def append(self, ordinal: int) -> None:
        """Add an ordinal, larger than all before it."""
        distance = ordinal - self._last
        self._last = ordinal
        if distance >= SKIP:
            skips, distance = divmod(distance, SKIP)
            self._bytes.extend(b"\xff" * skips)
        self._bytes.append(distance)

    def __iter__(self) -> Iterator[int]:
        at = -1
        for distance in self._bytes:
            at += distance
            if distance != SKIP:
                yield at


class WordIndex:
    """Finds the messages that hold all of some terms.

    A term's words match inside longer words ("opinion" finds "opinionated") and anywhere in the message, so
    the index finds at least what a substring search would: an empty answer is a proof.
    """

    def __init__(self) -> None:
        self._postings: defaultdict[str, Postings] = defaultdict(Postings)
        self._keys: list[str] = []
        self._holders: dict[str, frozenset[int]] = {}

    def add(self, message: Message) -> None:
        """Index the next message."""
        ordinal = len(self._keys)
        self._keys.append(message.message_key)
        for word in set(_words(message.content.casefold())):
            self._postings[word].append(ordinal)
        self._holders.clear()

    def search(self, terms: Sequence[str]) -> list[str]:
        """Return the keys of the messages that hold every word of every term; all of them for no words."""
        found = frozenset(range(len(self._keys)))
        for word in dict.fromkeys(w for term in terms for w in _words(term.casefold())):
            found &= self._messages_with(word)
        return [self._keys[i] for i in sorted(found)]

    def _messages_with(self, word: str) -> frozenset[int]:
        # Names and topics recur from search to search; a scan of the vocabulary takes some milliseconds.
        if word not in self._holders:
            longer = (ordinals for indexed, ordinals in self._postings.items() if word in indexed)
            self._holders[word] = frozenset(i for ordinals in longer for i in ordinals)
        return self._holders[word]


def _words(text: str) -> list[str]:
    # Cutting at blanks costs half of what a pattern costs, and most texts have no other letters.
    return text.translate(_BREAKS).split() if text.isascii() else _WORD.findall(text)


@dataclass(frozen=True)
class ProbeMaterial:
    """One conversation as probe generators see it."""

    head: ConversationHead
    messages: Sequence[Message]
    """User messages that voice bullets, in order."""
    positions: dict[str, int]
    """Ordinal of every message by key."""
    sessions: int
    """Number of sessions."""
    search: Search
    language: str = ENGLISH

    @classmethod
    def from_messages(
        cls,
        head: ConversationHead,
        messages: Iterable[Message],
        *,
        search: Search | None = None,
        language: str = ENGLISH,
    ) -> ProbeMaterial:
        """Read a conversation's messages, in order, once.

        `search` replaces the index built here, for callers that have one already.
        """
        index = WordIndex()
        positions: dict[str, int] = {}
        sessions: set[int] = set()

        def voiced() -> Iterator[Message]:
            for message in messages:
                positions[message.message_key] = len(positions)
                sessions.add(message.session)
                if search is None:
                    index.add(message)
                if message.role is Role.USER and message.bullet_ids:
                    yield message

        return cls(head, Spool(voiced()), positions, len(sessions), search or index.search, language)

    @property
    def total_messages(self) -> int:
        """Messages of the whole conversation."""
        return len(self.positions)

    @cached_property
    def histories(self) -> Histories:
        """The facts of all plans."""
        return Histories(self.head.plans)

    @cached_property
    def _voicing(self) -> dict[str, list[int]]:
        voicing: dict[str, list[int]] = {}
        for i, message in enumerate(self.messages):
            for bullet_id in message.bullet_ids:
                voicing.setdefault(bullet_id, []).append(i)
        return voicing

    @cached_property
    def quoted(self) -> dict[tuple[str, str, Value], tuple[Message, str] | None]:
        """Where a bullet gives a fact its value, and in which words, once somebody has looked: most abilities ask."""
        return {}

    def voicing(self, bullet_id: str) -> tuple[Message, ...]:
        """User messages that voice a bullet, in order."""
        return tuple(self.messages[i] for i in self._voicing.get(bullet_id, ()))

    def position(self, message: Message) -> int:
        """Ordinal of a message in the conversation."""
        return self.positions[message.message_key]
