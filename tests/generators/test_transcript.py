"""The messages of a dialogue under way."""

from __future__ import annotations

import datetime as dt

from longbeam.generators import Line, Transcript
from longbeam.schemas import MessageKind, MessageRole
from tests.generators.test_dialogue import _material

DAY = dt.date(2024, 3, 5)
SUB_PLAN = _material(1_000).sub_plan


def _transcript() -> Transcript:
    transcript = Transcript(SUB_PLAN, session=7)
    transcript.add(Line(MessageRole.USER, MessageKind.QUESTION, 4, DAY, 6, ("p0.s0.b1",), "Is it café or cafe?"))
    transcript.add(Line(MessageRole.ASSISTANT, MessageKind.REPLY, 4, DAY, 2, (), "Café."))
    later = DAY + dt.timedelta(days=2)
    transcript.add(Line(MessageRole.USER, MessageKind.QUESTION, 5, later, 5, (), "And a naïve one?"))
    return transcript


def test_messages_say_what_was_said_and_where_it_stands() -> None:
    first, second, third = _transcript().messages("5/c000")
    assert [m.message_key for m in (first, second, third)] == [
        f"{SUB_PLAN.key}.t4.n0",
        f"{SUB_PLAN.key}.t4.n1",
        f"{SUB_PLAN.key}.t5.n0",
    ]
    assert (first.content, first.tokens, first.bullet_ids, first.session) == (
        "Is it café or cafe?",
        6,
        ("p0.s0.b1",),
        7,
    )
    assert (second.role, second.speaker, second.kind) == (MessageRole.ASSISTANT, "assistant", MessageKind.REPLY)
    assert first.sent_at < second.sent_at < third.sent_at
    assert third.sent_at.date() == DAY + dt.timedelta(days=2)


def test_transcript_of_messages_gives_the_same_messages() -> None:
    said = _transcript().messages("5/c000")
    assert Transcript(SUB_PLAN, session=7, said=said).messages("5/c000") == said


def test_only_exactly_what_was_said_is_known() -> None:
    transcript = _transcript()
    assert transcript.has("Café.")
    assert not transcript.has("Cafe.")
    assert transcript.last_text == "And a naïve one?"
    assert [line.turn_index for line in transcript.turn(5)] == [5]
    assert transcript.turn(3) == []
