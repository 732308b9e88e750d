"""The material of probes: the ledger, the user messages that voice its bullets, and a search over all messages.

The conversation is read as a stream. Messages that voice bullets, and the texts that are searched, are kept in
temporary files, because those of a long conversation do not fit in memory.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from longbeam.generators.probes.given_advice import GivenAdvice, find_given_advice
from longbeam.generators.probes.histories import Histories
from longbeam.generators.probes.stated_facts import StatedFacts, find_stated_facts
from longbeam.generators.probes.voices import Voices
from longbeam.generators.probes.wishes import HeldWish, held_wishes
from longbeam.generators.tuning import PROBING
from longbeam.schemas import BulletKind, ConversationHead, Message, MessageRole, OnContradiction
from longbeam.store import FoldedTexts
from longbeam.text import ENGLISH, Language, stand_together

TELLING = (BulletKind.EVENT, BulletKind.RELATIONSHIP, BulletKind.UPDATE)
"""Kinds of bullets that tell the user's story."""
_WORD = re.compile(r"[^\W_]+")


class MessageSearch:
    """Search for the messages that hold all words of some terms.

    A word matches inside longer words ("opinion" finds "opinionated"), so an empty result proves that there is none.
    """

    def __init__(self, messages: Sequence[Message], texts: FoldedTexts) -> None:
        self._messages = messages
        self._texts = texts

    def close_together(self, terms: Sequence[str]) -> Iterator[Message]:
        """Yield the messages that hold all words close enough together to belong to one statement.

        All messages hold no words.
        """
        words = _words_of(terms)
        held = (i for i, text in self._texts.holding(words) if stand_together(text, words))
        return (self._messages[i] for i in (held if words else range(len(self._messages))))

    def with_all_of(self, items: Sequence[str]) -> Iterator[Message]:
        """Yield the messages that have all of some items, word for word."""
        wanted = [item.casefold() for item in items]
        return (m for m in self.close_together(items[:1]) if all(item in m.content.casefold() for item in wanted))

    def by_user(self, terms: Sequence[str], before: int) -> Iterator[tuple[int, Message]]:
        """Yield the user's messages with all words, with their ordinals, as far as these are below `before`."""
        words = _words_of(terms)
        for ordinal, _ in self._texts.holding(words) if words else ():
            if ordinal >= before:
                return
            if self._messages[ordinal].role is MessageRole.USER:
                yield ordinal, self._messages[ordinal]


def _words_of(terms: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(w for term in terms for w in _WORD.findall(term.casefold())))


@dataclass(frozen=True)
class ProbeMaterial:
    """One conversation as the generators of probes see it."""

    head: ConversationHead
    voices: Voices
    total_messages: int
    """Messages of the whole conversation."""
    search: MessageSearch
    language: Language = ENGLISH
    on_contradiction: OnContradiction = OnContradiction.IGNORE

    @classmethod
    def from_messages(
        cls,
        head: ConversationHead,
        messages: Sequence[Message],
        *,
        texts: FoldedTexts | None = None,
        language: Language = ENGLISH,
        on_contradiction: OnContradiction = OnContradiction.IGNORE,
    ) -> ProbeMaterial:
        """Return the material of a conversation, whose messages are read once, in order.

        `texts` are the texts of the messages, where the caller has them for a search of its own.
        """
        search = MessageSearch(messages, texts or FoldedTexts(m.content for m in messages))
        return cls(head, Voices.of(messages), len(messages), search, language, on_contradiction)

    @cached_property
    def histories(self) -> Histories:
        """The values of each fact over time."""
        return Histories(self.head.plans)

    @cached_property
    def wishes(self) -> tuple[HeldWish, ...]:
        """The user's wishes that hold at the end."""
        return held_wishes(self.histories)

    @cached_property
    def stated(self) -> StatedFacts:
        """The facts of all plans, with the messages that state them."""
        return find_stated_facts(self.histories, self.voices)

    @cached_property
    def known(self) -> tuple[str, ...]:
        """Who the user is, and facts that hold at the end, spread over the conversation."""
        profile, current = self.head.profile, self.stated.current
        count = min(len(current), PROBING.most_known)
        told = (current[i * len(current) // count] for i in range(count))
        who = (
            [f"{profile.first_name}, {profile.age}, {profile.profession}, {profile.city}, {profile.country}"]
            if profile is not None
            else []
        )
        return (*who, *(f"{said.subject}, {said.attribute}: {said.value.text}" for said in told))

    @cached_property
    def situation(self) -> tuple[str, ...]:
        """The user's last statements, oldest first: where they stand when the questions are asked."""
        told = deque((b.text for b in self.histories.bullets() if b.kind in TELLING), maxlen=PROBING.most_of_the_end)
        return tuple(told)

    @cached_property
    def advice(self) -> GivenAdvice:
        """Advice that the assistant gave, with the replies that give it."""
        return find_given_advice(self.histories, self.voices)
