"""Index of the things that a story's bullets speak of: which bullets are about a thing or name it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from longbeam.generators.ledger import Ledger
from longbeam.schemas import Bullet
from longbeam.text import content_words, words_of

ENDED = re.compile(
    r"\b(?:sold|withdrawn|withdrew|cancell?ed|called (?:\w+ ){0,4}off|over and done|is over|was over|finished|"
    r"done with|gave up|gave it up|given up|sent back|handed back|thrown (?:out|away)|threw|burnt|lost for good|"
    r"used up|no longer|moved out|closed down|scrapped|abandoned|backed out|dropped out|pulled out|fell through|"
    r"fallen through|resigned|disbanded)\b",
    re.IGNORECASE,
)
"""Words that end a thing: its values change no more, and nothing more is planned for it."""
DECIDED = re.compile(
    r"\b(?:bought|buy|booked|ordered|signed|settled on|went with|decided (?:on|for)|chose|chosen|paid for)\b",
    re.IGNORECASE,
)
"""Words after which nobody chooses any more."""


@dataclass(frozen=True)
class Mentions:
    """Bullets of a ledger by the words of their texts."""

    ledger: Ledger

    @cached_property
    def _bullets_with(self) -> dict[str, set[int]]:
        found: dict[str, set[int]] = {}
        for position, bullet in enumerate(self.ledger.bullets):
            for word in _names(bullet.text):
                found.setdefault(word, set()).add(position)
        return found

    def of(self, thing: str) -> tuple[Bullet, ...]:
        """Return the bullets whose topic is a thing, or whose text has all words of its name, in order."""
        positions = {self.ledger.position[b.bullet_id] for b in self.ledger.by_topic.get(thing, ())}
        if words := _names(thing):
            positions |= set.intersection(*(self._bullets_with.get(word, set()) for word in words))
        return tuple(self.ledger.bullets[i] for i in sorted(positions))

    @cached_property
    def _endings(self) -> tuple[tuple[int, frozenset[int]], ...]:
        """Positions of the bullets that end a thing, and for each the positions of the bullets that speak of it."""
        found = ((i, b) for i, b in enumerate(self.ledger.bullets) if ENDED.search(b.text))
        return tuple((i, frozenset(self.ledger.position[o.bullet_id] for o in self.of(b.topic))) for i, b in found)

    def has_ended(self, bullet: Bullet, by: int) -> bool:
        """Return whether a bullet up to position `by` ends the thing of an earlier bullet, or a thing that it names.

        A coach for the choir is given up with the choir.
        """
        told = self.ledger.position[bullet.bullet_id]
        later = [(end, named) for end, named in self._endings if told < end <= by]
        own = {self.ledger.position[o.bullet_id] for o in self.of(bullet.topic)} if later else set()
        return any(end in own or told in named for end, named in later)


def _names(text: str) -> frozenset[str]:
    """Return the words that name things; `file 18` and `file 19` are two things."""
    return content_words(text) | {word for word in words_of(text) if word.isdigit()}
