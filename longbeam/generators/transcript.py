"""What was said in one sub-plan so far, in little memory: dozens of dialogues wait for their calls at a time.

A line is its text in UTF-8 and a few references; messages are made of the lines when the dialogue is over. A `Message`
for each line would take three times as much: its fields, which of them were set, and the text twice, because a string
that was once counted or stored may keep its UTF-8 beside itself. Packing the texts would halve the rest, for 0.08 ms of
CPU a message.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from longbeam.generators.clock import sent_times
from longbeam.schemas.dialogue import Message, MessageKind, Role
from longbeam.schemas.plans import SubPlan

MOST_OF_A_TURN = 8
"""Messages that a turn has at most: a question, two answers or follow-ups, and a reply to each."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message as a dialogue holds it."""

    role: Role
    kind: MessageKind
    turn_index: int
    ordinal: int
    """In its turn."""
    day: dt.date
    tokens: int
    bullet_ids: tuple[str, ...]
    utf8: bytes

    @property
    def content(self) -> str:
        """The text, decoded each time."""
        return self.utf8.decode()


class Transcript:
    """The lines of one sub-plan, in order."""

    def __init__(self, sub_plan: SubPlan, session: int, said: Sequence[Message] = ()) -> None:
        self.lines: list[Line] = []
        self._sub_plan = sub_plan
        self._session = session
        self._hashes: set[int] = set()
        """Python's hashes of the texts: what has none of them was not said."""
        for m in said:
            self.add(m.role, m.kind, m.turn_index or 0, m.content, m.sent_at.date(), m.tokens, m.bullet_ids)

    def add(
        self,
        role: Role,
        kind: MessageKind,
        turn_index: int,
        text: str,
        day: dt.date,
        tokens: int,
        bullet_ids: tuple[str, ...] = (),
    ) -> None:
        """Append what was said."""
        ordinal = len(self.turn(turn_index))
        self.lines.append(Line(role, kind, turn_index, ordinal, day, tokens, bullet_ids, text.encode()))
        self._hashes.add(hash(text))

    def turn(self, turn_index: int) -> list[Line]:
        """The lines of the newest turn, if that is its index."""
        return [line for line in self.lines[-MOST_OF_A_TURN:] if line.turn_index == turn_index]

    def has(self, text: str) -> bool:
        """Whether somebody said exactly this."""
        return hash(text) in self._hashes and any(line.content == text for line in self.lines)

    def messages(self, rng_key: str) -> tuple[Message, ...]:
        """The messages with their times: within each day in order, none before the one before it."""
        times = sent_times([line.day for line in self.lines], rng_key)
        return tuple(self._message(line, at) for line, at in zip(self.lines, times, strict=True))

    def _message(self, line: Line, sent_at: dt.datetime) -> Message:
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
            content=line.content,
            tokens=line.tokens,
        )
