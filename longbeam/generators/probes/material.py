"""What probes are made from: the ledger, the user messages that voice its bullets, and a search over the rest.

The conversation is read as a stream. Where it is long, neither its messages nor their words stay in memory: those that
voice bullets go to a temporary file, and so do the texts that are searched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from longbeam.generators.probes.histories import Histories
from longbeam.generators.probes.told import FactsTold, facts_told
from longbeam.generators.probes.voices import Voices
from longbeam.schemas.conversation import ConversationHead
from longbeam.schemas.dialogue import Message
from longbeam.schemas.spec import ENGLISH
from longbeam.store.folded import FoldedTexts

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


@dataclass(frozen=True)
class ProbeMaterial:
    """One conversation as probe generators see it."""

    head: ConversationHead
    voices: Voices
    total_messages: int
    """Messages of the whole conversation."""
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
        search = MessageSearch(messages, texts or FoldedTexts(m.content for m in messages)).search
        return cls(head, Voices.of(messages), len(messages), search, language)

    @cached_property
    def histories(self) -> Histories:
        """What the plans make of facts."""
        return Histories(self.head.plans)

    @cached_property
    def told(self) -> FactsTold:
        """The facts of all plans, where they are said."""
        return facts_told(self.histories, self.voices)
