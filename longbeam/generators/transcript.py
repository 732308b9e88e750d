"""The messages of one sub-plan's dialogue so far, and what later messages may know of them.

A `Transcript` holds the lines before they have times. `SaidSoFar` keeps, beside it, the history that prompts show,
the bullets that were voiced, the people and things that were named, and the values that the user may state.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from longbeam.generators.closed_world import ClosedWorld, world_of
from longbeam.generators.dialogue_history import DialogueHistory, history_tokens
from longbeam.generators.dialogue_material import Appeared, SubPlanMaterial, carried_wishes
from longbeam.generators.ledger import replaced_wishes, standing_bullets
from longbeam.generators.tuning import DIALOGUE
from longbeam.keys import MessageKey
from longbeam.models import Asker
from longbeam.prompts.calls import LedgerLine
from longbeam.schemas import Bullet, BulletKind, ChatMessage, Message, MessageKind, MessageRole, SubPlan, UserTurn
from longbeam.text import Hours, greeted_hours

FIRST_HOUR, LAST_HOUR = 7, 23
"""Waking hours, in which messages are sent."""
HOURS = (3, 6, 6, 6, 5, 6, 7, 6, 6, 6, 7, 9, 10, 9, 6, 2)
"""Weight of each waking hour, from FIRST_HOUR on. Chosen: some before work, most from early afternoon to evening.
LoCoMo's 86 sessions lie there, too (65 of them after 1 pm)."""


def sent_times(
    lines: Sequence[tuple[dt.date, int]], rng_key: str, greeted: Mapping[int, Hours] | None = None
) -> list[dt.datetime]:
    """Return one time per message, each given as its day and its turn; the days never decrease.

    `greeted`: the hours of turns that say a part of the day, which begin in these hours, or half an hour or so off.
    The times of a day depend on its own messages only, so adding days at the end changes no earlier time.
    """
    times: list[dt.datetime] = []
    for day, group in groupby(lines, key=lambda line: line[0]):
        rng = random.Random(f"{rng_key}/{day.isoformat()}")
        counts = {turn: len(list(messages)) for turn, messages in groupby(group, key=lambda line: line[1])}
        spans = [(greeted or {}).get(turn, (FIRST_HOUR, LAST_HOUR)) for turn in counts]
        midnight = dt.datetime.combine(day, dt.time())
        seconds = _seconds(list(counts.values()), spans, rng)
        times += [midnight + dt.timedelta(seconds=int(at)) for at in seconds]
    return times


def _seconds(counts: Sequence[int], spans: Sequence[Hours], rng: random.Random) -> list[float]:
    """Return the seconds from midnight of a day's messages; `counts`, `spans`: messages and hours of each turn."""
    sittings: list[list[float]] = []
    hours: list[Hours] = []
    for i, (count, (first, last)) in enumerate(zip(counts, spans, strict=True)):
        if i == 0 or rng.random() >= DIALOGUE.sitting:
            sittings.append([0.0])
            hours.append((first, last))
        else:
            sittings[-1].append(sittings[-1][-1] + rng.uniform(*DIALOGUE.next_turn_s))
            hours[-1] = max(hours[-1][0], first), min(hours[-1][1], last)
        for j in range(1, count):
            sittings[-1].append(sittings[-1][-1] + rng.uniform(*(DIALOGUE.reply_s if j % 2 else DIALOGUE.answer_s)))
    drawn = [rng.choices(range(len(HOURS)), _weights(span))[0] for span in _in_order(hours)]
    begins = sorted((hour + rng.random()) / len(HOURS) for hour in drawn)
    return _packed(sittings, begins)


def _in_order(spans: Sequence[Hours]) -> list[Hours]:
    """Return the hours left for each sitting: none begins before one in front of it can, or after one behind it has to.

    Where two sittings contradict each other, the one in front holds.
    """
    firsts = list(accumulate((first for first, _ in spans), max))
    lasts = list(accumulate((last for _, last in reversed(spans)), min))[::-1]
    return [(first, max(last, first + 1)) for first, last in zip(firsts, lasts, strict=True)]


def _weights(span: Hours) -> list[int]:
    return [weight if span[0] <= hour < span[1] else 0 for hour, weight in enumerate(HOURS, FIRST_HOUR)]


def _packed(sittings: Sequence[Sequence[float]], begins: Sequence[float]) -> list[float]:
    """Return the seconds of all messages; sittings begin at these shares of the free time and do not overlap."""
    day = (LAST_HOUR - FIRST_HOUR) * 3600.0
    lengths = [sitting[-1] + DIALOGUE.next_turn_s[0] for sitting in sittings]
    # A day of hundreds of messages is told faster.
    pace = min(1.0, 0.9 * day / sum(lengths))
    free, passed = day - pace * sum(lengths), 0.0
    seconds: list[float] = []
    for sitting, begin, length in zip(sittings, begins, lengths, strict=True):
        start = FIRST_HOUR * 3600 + free * begin + passed
        seconds += [start + pace * offset for offset in sitting]
        passed += pace * length
    return seconds


@dataclass(frozen=True, slots=True)
class TranscriptLine:
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
        self.lines: list[TranscriptLine] = []
        self._texts: set[str] = set()
        self._sub_plan = sub_plan
        self._session = session
        for m in said:
            self.add(
                TranscriptLine(m.role, m.kind, m.turn_index or 0, m.sent_at.date(), m.tokens, m.bullet_ids, m.content)
            )

    def add(self, line: TranscriptLine) -> None:
        """Append a line."""
        self.lines.append(line)
        self._texts.add(line.text)

    def take_back(self) -> TranscriptLine:
        """Remove and return the last line."""
        last = self.lines.pop()
        if all(line.text != last.text for line in self.lines):
            self._texts.discard(last.text)
        return last

    def turn(self, turn_index: int) -> list[TranscriptLine]:
        """Return the lines of the newest turn; empty if it has another index."""
        return [line for line in self.lines[-DIALOGUE.messages_per_turn :] if line.turn_index == turn_index]

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

    def _message(self, line: TranscriptLine, ordinal: int, sent_at: dt.datetime) -> Message:
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


class SaidSoFar:
    """Everything that was said in one sub-plan, as the writers of its next message may know it."""

    def __init__(self, asker: Asker, material: SubPlanMaterial, before: Sequence[Message] = ()) -> None:
        """Take in the messages that the sub-plan has already."""
        sub_plan, frame = material.sub_plan, material.frame
        self.transcript = Transcript(sub_plan, material.first_session + sub_plan.sub_plan_index, before)
        self.history = DialogueHistory(history_tokens(asker.spec))
        self.appeared = Appeared(material)
        self.world: ClosedWorld | None = world_of(asker, "user_answer", frame, material.ledger, material.earlier_plans)
        """The values that the user may state; None where they are not checked."""
        self.slips = {turn.bullet_ids: turn.slip for turn in material.turns if turn.slip}
        self.turn_index = max((m.turn_index or 0 for m in before), default=-1)
        """Index of the current turn. Turns are numbered in the order asked, which may differ from the planned order."""
        self._material = material
        self._bullets = material.ledger.bullet
        self._carried = carried_wishes(material)
        self.heard = [self._bullets[i] for m in before if m.role is MessageRole.USER for i in m.bullet_ids]
        """Bullets voiced so far, in order; those of a message that is taken back are removed."""
        for said in before:
            self.history.add(said.role, said.content, said.tokens)
            self.appeared.hear(said.content)
            self._hear(said.role, said.content, said.sent_at.date(), said.bullet_ids)

    def add(self, line: TranscriptLine) -> None:
        """Append a line; a question also voices its bullets."""
        self._hear(line.role, line.text, line.day, line.bullet_ids)
        self.transcript.add(line)
        self.history.add(line.role, line.text, line.tokens)
        if line.kind is MessageKind.QUESTION:
            self.heard += [self._bullets[i] for i in line.bullet_ids]

    def take_back(self) -> TranscriptLine:
        """Remove and return the last line, which nobody replies to; a question with the bullets that it voices."""
        line = self.transcript.take_back()
        self.history.take_back()
        if line.kind is MessageKind.QUESTION:
            self.turn_index -= 1
            del self.heard[len(self.heard) - len(line.bullet_ids) :]
        return line

    def told(self) -> tuple[str, ...]:
        """Return the texts of this sub-plan's bullets that were told and are true."""
        heard = {b.bullet_id for b in self.heard}
        bullets = self._material.sub_plan.bullets
        return tuple(b.text for b in bullets if b.bullet_id in heard and b.kind is not BulletKind.CONTRADICTION)

    def changed(self) -> tuple[LedgerLine, ...]:
        """Return the facts that the messages have changed, with their present values."""
        return self._material.ledger.lines_updated_by(self.heard)

    def wishes(self) -> tuple[str, ...]:
        """Return the standing wishes that the messages have told and that still hold."""
        return tuple(b.text for b in standing_bullets(self.heard))

    def replaced(self) -> tuple[str, ...]:
        """Return the wishes that the messages have replaced."""
        return tuple(b.text for b in replaced_wishes([*self._carried, *self.heard]))

    def newest_exchanged(self) -> tuple[ChatMessage, ...]:
        """Return the newest messages, with the whole current turn, as the user's side sees them."""
        return self.history.exchanged_end(len(self.transcript.turn(self.turn_index)))

    def exchange(self) -> tuple[str, ...]:
        """Return the texts of the current turn."""
        return tuple(m.content for m in self.history.messages[-len(self.transcript.turn(self.turn_index)) :])

    def _hear(self, speaker: MessageRole, text: str, day: dt.date, bullet_ids: tuple[str, ...]) -> None:
        """Let later messages take up the values of a message, but not those of a slip or of a pasted document."""
        if self.world is None:
            return
        told: list[Bullet] = [self._bullets[i] for i in bullet_ids] if speaker is MessageRole.USER else []
        pasted = (b.text for b in told if b.kind is BulletKind.PASTED)
        slip = self.slips.get(bullet_ids, "") if told else ""
        self.world.hear(text, day, speaker, untrue=" ".join([slip, *pasted]))


def turns_asked(planned: Sequence[UserTurn], messages: Sequence[Message]) -> tuple[UserTurn, ...]:
    """Return the turns of a sub-plan as the user finally asked them, numbered like their messages."""
    about = {t.text: t.about_bullet_ids for t in planned}
    wants = {t.bullet_ids: t.wants for t in planned if t.bullet_ids}
    return tuple(
        UserTurn(
            turn_id=str(MessageKey.parse(m.message_key).turn),
            text=m.content,
            bullet_ids=m.bullet_ids,
            about_bullet_ids=about.get(m.content, ()),
            wants=wants.get(m.bullet_ids),
        )
        for m in messages
        if m.kind is MessageKind.QUESTION
    )
