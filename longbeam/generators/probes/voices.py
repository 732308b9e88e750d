"""The user messages that voice bullets, and where they stand: what evidence is found in.

The messages lie in a temporary file where there are many; of which bullets they voice eight bytes each are held.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

from longbeam.schemas.dialogue import Message, Role
from longbeam.store.spool import Spool

_BITS = 32
"""Of a checksum, and of an ordinal."""


@dataclass(frozen=True)
class Voices:
    """User messages that voice bullets, in the order of the conversation."""

    messages: Sequence[Message]
    positions: Sequence[int]
    """Their ordinals among all messages."""
    voicing: Sequence[int]
    """For each bullet that a message voices its checksum and the ordinal of the message, as one number, in order."""

    @classmethod
    def of(cls, messages: Iterable[Message]) -> Voices:
        """Read a conversation's messages, in order, once."""
        kept, positions, voicing = Spool[Message](), array("L"), array("Q")
        for position, message in enumerate(messages):
            if message.bullet_ids and message.role is Role.USER:
                voicing.extend(_checksum(bullet_id) | len(kept) for bullet_id in message.bullet_ids)
                kept.append(message)
                positions.append(position)
        return cls(kept, positions, array("Q", sorted(voicing)))

    def of_bullet(self, bullet_id: str) -> Iterator[tuple[int, Message]]:
        """Yield the messages that voice a bullet, in order, with their ordinals among all messages."""
        checksum = _checksum(bullet_id)
        for at in range(bisect_left(self.voicing, checksum), len(self.voicing)):
            ordinal = self.voicing[at] ^ checksum
            if ordinal >> _BITS:
                break
            # Two bullets may have one checksum.
            if bullet_id in (message := self.messages[ordinal]).bullet_ids:
                yield self.positions[ordinal], message

    def places_of(self, message_keys: Collection[str]) -> dict[str, int]:
        """Ordinals among all messages of those of these that voice a bullet, by key."""
        places = zip(self.positions, self.messages, strict=True)
        return {message.message_key: position for position, message in places if message.message_key in message_keys}


def _checksum(bullet_id: str) -> int:
    return crc32(bullet_id.encode()) << _BITS
