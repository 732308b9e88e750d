"""The user messages that voice bullets, and where they stand: what evidence is found in.

The messages lie in a temporary file where there are many; bullets are looked up by the ordinals of theirs.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from longbeam.schemas.dialogue import Message, Role
from longbeam.store.spool import Spool


@dataclass(frozen=True)
class Voices:
    """User messages that voice bullets, in the order of the conversation."""

    messages: Sequence[Message]
    positions: Sequence[int]
    """Their ordinals among all messages."""
    by_bullet: dict[str, tuple[int, ...]]
    """Ordinals in `messages` of those that voice a bullet."""

    @classmethod
    def of(cls, messages: Iterable[Message]) -> Voices:
        """Read a conversation's messages, in order, once."""
        kept, positions = Spool[Message](), array("L")
        by_bullet: dict[str, tuple[int, ...]] = {}
        for position, message in enumerate(messages):
            if message.bullet_ids and message.role is Role.USER:
                for bullet_id in message.bullet_ids:
                    by_bullet[bullet_id] = (*by_bullet.get(bullet_id, ()), len(kept))
                kept.append(message)
                positions.append(position)
        return cls(kept, positions, by_bullet)

    def of_bullet(self, bullet_id: str) -> Iterator[tuple[int, Message]]:
        """Yield the messages that voice a bullet, in order, with their ordinals among all messages."""
        return ((self.positions[i], self.messages[i]) for i in self.by_bullet.get(bullet_id, ()))

    def positions_of(self, bullet_id: str) -> list[int]:
        """Ordinals among all messages of those that voice a bullet."""
        return [self.positions[i] for i in self.by_bullet.get(bullet_id, ())]

    def places_of(self, message_keys: Collection[str]) -> dict[str, int]:
        """Ordinals among all messages of those of these that voice a bullet, by key."""
        places = zip(self.positions, self.messages, strict=True)
        return {message.message_key: position for position, message in places if message.message_key in message_keys}
