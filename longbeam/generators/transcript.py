"""The messages of one sub-plan's dialogue so far, before they have times."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from longbeam.generators.clock import sent_times
from longbeam.keys import MessageKey
from longbeam.schemas.dialogue import Message, MessageKind, MessageRole, UserTurn
from longbeam.schemas.plans import SubPlan
from longbeam.text.greetings import greeted_hours

MESSAGES_PER_TURN = 8
"""Upper limit: a question, two answers or follow-ups, and a reply to each."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message of a dialogue under way; a `Message` of it would take three times the memory."""

    role: MessageRole
    kind: MessageKind
    turn_index: int
    day: dt.date
    tokens: int
    bullet_ids: tuple[str, ...]
    text: str


class Transcript:
    """The lines of one sub-plan, in order."""

    def __init__(self, sub_plan: SubPlan, session: int, said: Sequence[Message] = ()) -> None:
        self.lines: list[Line] = []
        self._texts: set[str] = set()
        self._sub_plan = sub_plan
        self._session = session
        for m in said:
            self.add(Line(m.role, m.kind, m.turn_index or 0, m.sent_at.date(), m.tokens, m.bullet_ids, m.content))

    def add(self, line: Line) -> None:
        """Append a line."""
        self.lines.append(line)
        self._texts.add(line.text)

    def take_back(self) -> Line:
        """Remove and return the last line."""
        last = self.lines.pop()
        if all(line.text != last.text for line in self.lines):
            self._texts.discard(last.text)
        return last

    def turn(self, turn_index: int) -> list[Line]:
        """Return the lines of the newest turn; empty if it has another index."""
        return [line for line in self.lines[-MESSAGES_PER_TURN:] if line.turn_index == turn_index]

    @property
    def last_text(self) -> str:
        """Text of the last line."""
        return self.lines[-1].text

    @property
    def asked(self) -> tuple[str, ...]:
        """The questions that replies end with, in order: their last lines."""
        replies = (line.text for line in self.lines if line.role is MessageRole.ASSISTANT and line.text.endswith("?"))
        return tuple(text.rsplit("\n", 1)[-1] for text in replies)

    def has(self, text: str) -> bool:
        """Return whether a line has exactly this text."""
        return text in self._texts

    def messages(self, rng_key: str) -> tuple[Message, ...]:
        """Return the messages with their times: within each day in order, none before the one before it."""
        greeted = {
            line.turn_index: hours
            for line in self.lines
            if line.kind is MessageKind.QUESTION and (hours := greeted_hours(line.text)) is not None
        }
        times = sent_times([(line.day, line.turn_index) for line in self.lines], rng_key, greeted)
        turns = groupby(zip(self.lines, times, strict=True), key=lambda timed: timed[0].turn_index)
        return tuple(
            self._message(line, ordinal, sent_at) for _, turn in turns for ordinal, (line, sent_at) in enumerate(turn)
        )

    def _message(self, line: Line, ordinal: int, sent_at: dt.datetime) -> Message:
        plan_index, sub_plan_index = self._sub_plan.plan_index, self._sub_plan.sub_plan_index
        return Message(
            message_key=str(MessageKey(plan_index, sub_plan_index, line.turn_index, ordinal)),
            role=line.role,
            speaker=line.role.value,
            kind=line.kind,
            session=self._session,
            plan_index=plan_index,
            sub_plan_index=sub_plan_index,
            turn_index=line.turn_index,
            bullet_ids=line.bullet_ids,
            sent_at=sent_at,
            content=line.text,
            tokens=line.tokens,
        )


def turns_asked(planned: Sequence[UserTurn], messages: Sequence[Message]) -> tuple[UserTurn, ...]:
    """Return the turns of a sub-plan as the user finally asked them, numbered like their messages."""
    about = {t.text: t.about_bullet_ids for t in planned}
    return tuple(
        UserTurn(
            turn_id=str(MessageKey.parse(m.message_key).turn),
            text=m.content,
            bullet_ids=m.bullet_ids,
            about_bullet_ids=about.get(m.content, ()),
        )
        for m in messages
        if m.kind is MessageKind.QUESTION
    )
