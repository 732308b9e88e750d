"""What was said in one sub-plan so far, in little memory: dozens of dialogues wait for their calls at a time.

A line is a few references; its text is soon compressed together with others. Messages are made of the lines when the
dialogue is over. A `Message` for each line would take three times as much as lines with their text:
its fields, which of them were set, and the text twice, because a string that was once counted or stored may keep its
UTF-8 beside itself.
"""

from __future__ import annotations

import datetime as dt
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from longbeam.generators.clock import sent_times
from longbeam.schemas.dialogue import Message, MessageKind, MessageRole
from longbeam.schemas.plans import SubPlan

MOST_OF_A_TURN = 8
"""Messages that a turn has at most: a question, two answers or follow-ups, and a reply to each."""
PACKED_TOGETHER = 16
"""Lines whose texts are compressed to a third, for 0.02 ms of CPU a line; alone they would take half, for 0.04 ms."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message as a dialogue holds it."""

    role: MessageRole
    kind: MessageKind
    turn_index: int
    ordinal: int
    """In its turn."""
    day: dt.date
    tokens: int
    bullet_ids: tuple[str, ...]
    size: int
    """Of its text, in bytes of UTF-8."""


class Transcript:
    """The lines of one sub-plan, in order."""

    def __init__(self, sub_plan: SubPlan, session: int, said: Sequence[Message] = ()) -> None:
        self.lines: list[Line] = []
        self._packed: list[bytes] = []
        """Texts of PACKED_TOGETHER lines each."""
        self._newest: list[bytes] = []
        """Texts of the lines behind those."""
        self._sub_plan = sub_plan
        self._session = session
        self._hashes: set[int] = set()
        """Python's hashes of the texts: what has none of them was not said."""
        for m in said:
            self.add(m.role, m.kind, m.turn_index or 0, m.content, m.sent_at.date(), m.tokens, m.bullet_ids)

    def add(
        self,
        role: MessageRole,
        kind: MessageKind,
        turn_index: int,
        text: str,
        day: dt.date,
        tokens: int,
        bullet_ids: tuple[str, ...] = (),
    ) -> None:
        """Append what was said."""
        utf8 = text.encode()
        self.lines.append(Line(role, kind, turn_index, len(self.turn(turn_index)), day, tokens, bullet_ids, len(utf8)))
        self._hashes.add(hash(text))
        self._newest.append(utf8)
        if len(self._newest) > PACKED_TOGETHER:
            self._packed.append(zlib.compress(b"".join(self._newest[:-1]), level=1))
            del self._newest[:-1]

    def turn(self, turn_index: int) -> list[Line]:
        """The lines of the newest turn, if that is its index."""
        return [line for line in self.lines[-MOST_OF_A_TURN:] if line.turn_index == turn_index]

    @property
    def last_text(self) -> str:
        """What was said last."""
        return self._newest[-1].decode()

    def has(self, text: str) -> bool:
        """Whether somebody said exactly this."""
        return hash(text) in self._hashes and text in self._texts()

    def _texts(self) -> Iterator[str]:
        """What was said, in order."""
        for i, packed in enumerate(self._packed):
            utf8, end = zlib.decompress(packed), 0
            for line in self.lines[i * PACKED_TOGETHER :][:PACKED_TOGETHER]:
                begin, end = end, end + line.size
                yield utf8[begin:end].decode()
        yield from (utf8.decode() for utf8 in self._newest)

    def messages(self, rng_key: str) -> tuple[Message, ...]:
        """The messages with their times: within each day in order, none before the one before it."""
        times = sent_times([line.day for line in self.lines], rng_key)
        return tuple(map(self._message, self.lines, self._texts(), times))

    def _message(self, line: Line, text: str, sent_at: dt.datetime) -> Message:
        return Message(
            message_key=f"{self._sub_plan.key}.t{line.turn_index}.n{line.ordinal}",
            role=line.role,
            speaker=line.role.value,
            kind=line.kind,
            session=self._session,
            plan_index=self._sub_plan.plan_index,
            sub_plan_index=self._sub_plan.sub_plan_index,
            turn_index=line.turn_index,
            bullet_ids=line.bullet_ids,
            sent_at=sent_at,
            content=text,
            tokens=line.tokens,
        )
