"""The material of probes: the ledger, the user messages that voice its bullets, and a search over all messages.

The conversation is read as a stream. Messages that voice bullets, and the texts that are searched, are kept in
temporary files, because those of a long conversation do not fit in memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from longbeam.generators.probes.given_advice import GivenAdvice, find_given_advice
from longbeam.generators.probes.histories import Histories
from longbeam.generators.probes.stated_facts import StatedFacts, find_stated_facts
from longbeam.generators.probes.voices import Voices
from longbeam.schemas.conversation import ConversationHead
from longbeam.schemas.dialogue import Message
from longbeam.schemas.spec import ENGLISH, OnContradiction
from longbeam.store.folded import FoldedTexts

Search = Callable[[Sequence[str]], Iterator[str]]
"""Takes terms, and yields the keys of the messages that may hold them all, in the order of the conversation."""

_WORD = re.compile(r"[^\W_]+")


class MessageSearch:
    """Search for the messages that hold all of some terms.

    The words of a term match inside longer words ("opinion" finds "opinionated") and anywhere in the message. So the
    search finds at least every message that has the terms, and an empty result proves that there is none.
    """

    def __init__(self, messages: Sequence[Message], texts: FoldedTexts) -> None:
        self._messages = messages
        self._texts = texts

    def search(self, terms: Sequence[str]) -> Iterator[str]:
        """Yield the keys of the messages that hold every word of every term; all of them for no words."""
        words = list(dict.fromkeys(w for term in terms for w in _WORD.findall(term.casefold())))
        found = (i for i, _ in self._texts.holding(words)) if words else range(len(self._messages))
        return (self._messages[i].message_key for i in found)


@dataclass(frozen=True)
class ProbeMaterial:
    """One conversation as the generators of probes see it."""

    head: ConversationHead
    voices: Voices
    total_messages: int
    """Messages of the whole conversation."""
    search: Search
    language: str = ENGLISH
    on_contradiction: OnContradiction = OnContradiction.IGNORE

    @classmethod
    def from_messages(
        cls,
        head: ConversationHead,
        messages: Sequence[Message],
        *,
        texts: FoldedTexts | None = None,
        language: str = ENGLISH,
        on_contradiction: OnContradiction = OnContradiction.IGNORE,
    ) -> ProbeMaterial:
        """Return the material of a conversation, whose messages are read once, in order.

        `texts` are the texts of the messages, where the caller has them for a search of its own.
        """
        search = MessageSearch(messages, texts or FoldedTexts(m.content for m in messages)).search
        return cls(head, Voices.of(messages), len(messages), search, language, on_contradiction)

    @cached_property
    def histories(self) -> Histories:
        """The values of each fact over time."""
        return Histories(self.head.plans)

    @cached_property
    def stated(self) -> StatedFacts:
        """The facts of all plans, with the messages that state them."""
        return find_stated_facts(self.histories, self.voices)

    @cached_property
    def advice(self) -> GivenAdvice:
        """Advice that the assistant gave, with the replies that give it."""
        return find_given_advice(self.head.plans, self.voices)
