"""Index of the messages that voice bullets or bring advice in: evidence is searched in these only.

Where there are many messages, they are in a temporary file, and the index holds twelve bytes per voiced bullet.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from longbeam.schemas import Message
from longbeam.store import Grouped, SpilledSequence


@dataclass(frozen=True)
class Voices:
    """Messages that voice bullets or bring advice in, in the order of the conversation."""

    messages: Sequence[Message]
    positions: Sequence[int]
    """Ordinal of each among all messages."""
    by_bullet: Grouped[Message]
    """The messages that voice each bullet, or bring each piece of advice in."""

    @classmethod
    def of(cls, messages: Iterable[Message]) -> Voices:
        """Return the index of a conversation's messages, which are read once, in order."""
        kept, positions = SpilledSequence[Message](), array("L")

        def said() -> Iterator[tuple[str, int]]:
            for position, message in enumerate(messages):
                if message.bullet_ids:
                    yield from ((bullet_id, len(positions)) for bullet_id in message.bullet_ids)
                    kept.append(message)
                    positions.append(position)

        return cls(kept, positions, Grouped(kept, said(), lambda message, bullet_id: bullet_id in message.bullet_ids))

    def of_bullet(self, bullet_id: str) -> Iterator[tuple[int, Message]]:
        """Yield the messages with a bullet or a piece of advice, in order, with their ordinals among all messages."""
        for place, message in self.by_bullet.placed(bullet_id):
            yield self.positions[place], message

    def places_of(self, message_keys: Collection[str]) -> dict[str, int]:
        """Return the ordinals of these messages by key; those that voice no bullet are left out."""
        places = zip(self.positions, self.messages, strict=True)
        return {message.message_key: position for position, message in places if message.message_key in message_keys}
