"""Windows of a conversation: messages by ordinal, each clamped, with evidence and search hits marked."""

from __future__ import annotations

import bisect
import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Literal

from longbeam.annotation_ui.archive import Line, OpenConversation
from longbeam.annotation_ui.rendering import Mark, clamp, render
from longbeam.annotation_ui.search import places_of
from longbeam.schemas.base import Record
from longbeam.schemas.dialogue import Message

CLAMP = 2_000
"""Characters of a message that are shown until it is opened."""
MOST_MESSAGES = 100
MOST_CHARS = 20_000
"""Characters of one window inside a message."""


class MessageView(Record):
    """A message as it is shown."""

    message_id: int
    message_key: str
    role: str
    speaker: str
    kind: str
    session: int
    plan_index: int | None
    sub_plan_index: int | None
    turn_index: int | None
    bullet_ids: tuple[str, ...]
    sent_at: dt.datetime
    tokens: int
    chars: int
    """Code points of the whole message."""
    start: int
    """What is shown of it, in code points."""
    end: int
    is_whole: bool
    html: str
    marks: tuple[Mark, ...]
    """In code points of the whole message, those that are not shown included."""
    evidence_ids: tuple[str, ...] = ()
    comments: int = 0


class TranscriptView(Record):
    """Messages `first` to `first + len(messages) - 1` of `total`."""

    conversation_id: str
    total: int
    first: int
    messages: tuple[MessageView, ...]


class MessagePart(Record):
    """A window inside one message, and where a text stands in all of it."""

    message: MessageView
    find: str = ""
    found: tuple[int, ...] = ()
    """Code points; at most a thousand places."""
    found_total: int = 0


class Border(Record):
    """Where a session, a plan or a day begins."""

    message_id: int
    label: str


class MinimapView(Record):
    """The whole conversation without its text: parallel lists, one value per message, and where things change."""

    conversation_id: str
    total: int
    chars: tuple[int, ...]
    roles: str
    """One letter per message: `u` or `a`."""
    sessions: tuple[Border, ...]
    plans: tuple[Border, ...]
    dates: tuple[Border, ...]
    """The first message of each day."""
    evidence: tuple[int, ...] = ()
    comments: tuple[int, ...] = ()


def window(
    conversation: OpenConversation,
    conversation_id: str,
    first: int,
    count: int,
    *,
    marks: Mapping[str, Sequence[Mark]] | None = None,
    evidence_ids: Mapping[str, Sequence[str]] | None = None,
    comments: Mapping[str, int] | None = None,
    query: str = "",
) -> TranscriptView:
    """Return messages by ordinal; `marks`, `evidence_ids` and `comments` are by message key."""
    total = len(conversation.lines)
    count = max(1, min(count, MOST_MESSAGES))
    first = max(0, min(first, total - 1))
    views = [
        view_of(
            message,
            (*(marks or {}).get(message.message_key, ()), *_hits(message.content, query)),
            evidence_ids=(evidence_ids or {}).get(message.message_key, ()),
            comments=(comments or {}).get(message.message_key, 0),
        )
        for message in conversation.messages(first, count)
    ]
    return TranscriptView(conversation_id=conversation_id, total=total, first=first, messages=tuple(views))


def view_of(
    message: Message,
    marks: Sequence[Mark] = (),
    *,
    evidence_ids: Sequence[str] = (),
    comments: int = 0,
    limit: int = CLAMP,
    at: int | None = None,
) -> MessageView:
    """Return a message as it is shown; a long one opens at its first mark, or at `at`."""
    content = message.content
    evidence = [m for m in marks if m.kind == "evidence"] or list(marks)
    around = (evidence[0].start, evidence[0].end) if evidence else None
    part = clamp(content, limit, (at, at + 1) if at is not None else around)
    inside = [
        Mark(start=max(m.start, part.start) - part.start, end=min(m.end, part.end) - part.start, kind=m.kind)
        for m in marks
        if m.start < part.end and m.end > part.start
    ]
    return MessageView(
        message_id=message.message_id or 0,
        message_key=message.message_key,
        role=message.role.value,
        speaker=message.speaker,
        kind=message.kind.value,
        session=message.session,
        plan_index=message.plan_index,
        sub_plan_index=message.sub_plan_index,
        turn_index=message.turn_index,
        bullet_ids=message.bullet_ids,
        sent_at=message.sent_at,
        tokens=message.tokens,
        chars=len(content),
        start=part.start,
        end=part.end,
        is_whole=part.start == 0 and part.end == len(content),
        html=render(content[part.start : part.end], inside),
        marks=tuple(marks),
        evidence_ids=tuple(evidence_ids),
        comments=comments,
    )


def part_of_message(message: Message, *, at: int, size: int, find: str = "", marks: Sequence[Mark] = ()) -> MessagePart:
    """Return a window of `size` characters inside a message, from `at` on, and all places of `find`."""
    places = places_of(message.content, find, most=1_000_000) if find.strip() else []
    found = [Mark(start=a, end=b, kind="search") for a, b in places[:1000]]
    size = max(200, min(size, MOST_CHARS))
    at = max(0, min(at, max(len(message.content) - 1, 0)))
    shown = message.content[at : at + size]
    inside = [
        Mark(start=max(m.start - at, 0), end=min(m.end - at, len(shown)), kind=m.kind)
        for m in (*marks, *found)
        if m.start < at + size and m.end > at
    ]
    view = view_of(message, (), limit=size).model_copy(
        update={
            "start": at,
            "end": at + len(shown),
            "is_whole": len(shown) == len(message.content),
            "html": render(shown, inside),
            "marks": tuple(marks),
        }
    )
    return MessagePart(message=view, find=find, found=tuple(a for a, _ in places[:1000]), found_total=len(places))


def minimap(
    conversation: OpenConversation, conversation_id: str, evidence: Sequence[int], comments: Sequence[int]
) -> MinimapView:
    """Return what a strip of the whole conversation is drawn from; no text is read."""
    lines = conversation.lines
    return MinimapView(
        conversation_id=conversation_id,
        total=len(lines),
        chars=tuple(line.chars for line in lines),
        roles="".join("u" if line.role == "user" else "a" for line in lines),
        sessions=_borders(lines, "session"),
        plans=_borders(lines, "plan_index"),
        dates=_borders(lines, "date"),
        evidence=tuple(sorted(set(evidence))),
        comments=tuple(sorted(set(comments))),
    )


def locate(
    conversation: OpenConversation, by: Literal["date", "plan", "session", "key", "id"], value: str
) -> Line | None:
    """Return the first message of a day or the next one that has any, of a plan, of a session, or the one named."""
    lines = conversation.lines
    try:
        if by == "date":
            day = dt.datetime.combine(dt.date.fromisoformat(value), dt.time())
            place = bisect.bisect_left([line.sent_at for line in lines], day)
        elif by == "key":
            place = conversation.ids.get(value, -1)
        elif by == "id":
            place = int(value)
        else:
            wanted = int(value)
            found = (i for i, line in enumerate(lines) if wanted == (line.plan_index if by == "plan" else line.session))
            place = next(found, -1)
    except ValueError:
        return None
    return lines[place] if 0 <= place < len(lines) else None


def _borders(lines: Sequence[Line], what: str) -> tuple[Border, ...]:
    borders: list[Border] = []
    last: object = object()
    for line in lines:
        value = line.sent_at.date() if what == "date" else getattr(line, what)
        if value != last and value is not None:
            borders.append(Border(message_id=line.message_id, label=str(value)))
        last = value
    return tuple(borders)


def _hits(content: str, query: str) -> list[Mark]:
    if not query.strip():
        return []
    return [Mark(start=a, end=b, kind="search") for a, b in places_of(content, query.strip(), most=100)]
