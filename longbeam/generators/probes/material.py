"""What probes are made from: the ledger, the user messages that voice its bullets, and a search over the rest.

The conversation is read as a stream. Where it is long, neither its messages nor their words stay in memory: those that
voice bullets go to a temporary file, and so do the texts that are searched.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from longbeam.generators.probes.histories import Histories
from longbeam.schemas.conversation import ConversationHead
from longbeam.schemas.dialogue import Message, Role
from longbeam.schemas.plans import Value
from longbeam.schemas.spec import ENGLISH
from longbeam.store.folded import FoldedTexts
from longbeam.store.spool import Spool

if TYPE_CHECKING:
    from longbeam.generators.probes.evidence import FactSaid

Search = Callable[[Sequence[str]], Iterator[str]]
"""Terms to the keys of the messages that may hold them all, in the order of the conversation, each as it is found."""

_WORD = re.compile(r"[^\W_]+")


class MessageSearch:
    """Finds the messages that hold all of some terms.

    A term's words match inside longer words ("opinion" finds "opinionated") and anywhere in the message, so it finds at
    least what a search for the terms would: an empty answer is a proof.
    """

    def __init__(self, messages: Sequence[Message], texts: FoldedTexts) -> None:
        self._messages = messages
        self._texts = texts

    def search(self, terms: Sequence[str]) -> Iterator[str]:
        """Yield the keys of the messages that hold every word of every term; all of them for no words."""
        words = list(dict.fromkeys(w for term in terms for w in _WORD.findall(term.casefold())))
        found = (i for i, _ in self._texts.holding(words)) if words else range(len(self._messages))
        return (self._messages[i].message_key for i in found)


class Place(NamedTuple):
    """Where a message stands. Evidence is held by the thousand: with its message each would take ten times as much."""

    message_key: str
    position: int
    """Ordinal in the conversation."""
    session: int
    said_on: dt.date


@dataclass(frozen=True)
class ProbeMaterial:
    """One conversation as probe generators see it."""

    head: ConversationHead
    messages: Sequence[Message]
    """User messages that voice bullets, in order."""
    positions: dict[str, int]
    """Their ordinals among all messages, by key."""
    total_messages: int
    """Messages of the whole conversation."""
    sessions: int
    """Number of sessions."""
    search: Search
    language: str = ENGLISH

    @classmethod
    def from_messages(
        cls,
        head: ConversationHead,
        messages: Sequence[Message],
        *,
        texts: FoldedTexts | None = None,
        language: str = ENGLISH,
    ) -> ProbeMaterial:
        """Read a conversation's messages, in order, once; `texts` are theirs, where others search them, too."""
        positions: dict[str, int] = {}
        sessions: set[int] = set()

        def voiced() -> Iterator[Message]:
            for i, message in enumerate(messages):
                sessions.add(message.session)
                if message.bullet_ids and message.role is Role.USER:
                    positions[message.message_key] = i
                    yield message

        kept = Spool(voiced())
        search = MessageSearch(messages, texts or FoldedTexts(m.content for m in messages)).search
        return cls(head, kept, positions, len(messages), len(sessions), search, language)

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
    def said(self) -> dict[tuple[str, str, Value], FactSaid | None]:
        """Where a bullet gives a fact its value, and in which words, once somebody has looked: most abilities ask."""
        return {}

    def voicing(self, bullet_id: str) -> tuple[Message, ...]:
        """User messages that voice a bullet, in order."""
        return tuple(self.messages[i] for i in self._voicing.get(bullet_id, ()))

    def place(self, message: Message) -> Place:
        """Where a message stands."""
        position = self.positions[message.message_key]
        return Place(message.message_key, position, message.session, message.sent_at.date())
