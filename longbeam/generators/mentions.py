"""Index of the things that a story's bullets speak of: which bullets are about a thing or name it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from longbeam.generators.ledger import Ledger
from longbeam.schemas.plans import Bullet
from longbeam.text.words import content_words, words_of


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

    @cached_property
    def words(self) -> dict[str, frozenset[str]]:
        """Words of each bullet's text, by its id."""
        return {b.bullet_id: content_words(b.text) for b in self.ledger.bullets}

    @cached_property
    def own_words(self) -> dict[str, frozenset[str]]:
        """Words of each bullet's text beside those of its topic, by its id."""
        of_topic = {topic: content_words(topic) for topic in self.ledger.by_topic}
        return {b.bullet_id: self.words[b.bullet_id] - of_topic[b.topic] for b in self.ledger.bullets}

    def of(self, thing: str) -> tuple[Bullet, ...]:
        """Return the bullets whose topic is a thing, or whose text has all words of its name, in order."""
        positions = {self.ledger.position[b.bullet_id] for b in self.ledger.by_topic.get(thing, ())}
        if words := _names(thing):
            positions |= set.intersection(*(self._bullets_with.get(word, set()) for word in words))
        return tuple(self.ledger.bullets[i] for i in sorted(positions))


def _names(text: str) -> frozenset[str]:
    """Return the words that name things; `file 18` and `file 19` are two things."""
    return content_words(text) | {word for word in words_of(text) if word.isdigit()}
