"""Views of a conversation's text: windows of messages, search hits, the minimap. Long messages are clamped."""

from __future__ import annotations

import bisect
import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import Field

from longbeam.abilities import QuestionKind
from longbeam.annotation_ui.rendering import TextMark, clamp, render, render_plain
from longbeam.review import (
    ArchiveLine,
    OpenConversation,
    SearchFilter,
    Viewer,
    Workspace,
    count_hits,
    evidence_id_of,
    find_quote,
    places_of,
)
from longbeam.schemas import MESSAGE, EventKind, Evidence, EvidencePart, Message, Probe, Record

AROUND_HIT = 90
MOST_HITS = 200
CLAMP = 2_000
"""Characters of a message that a page shows until the message is opened."""
MOST_MESSAGES = 100
MOST_CHARS = 20_000
"""Characters of one window inside a message."""


class MessageView(Record):
    """A message as pages show it."""

    message_id: int
    message_key: str
    role: str
    speaker: str
    session: int
    plan_index: int | None
    sent_at: dt.datetime
    tokens: int
    chars: int
    """Code points of the whole message."""
    start: int
    """Start of the part that is shown, in code points."""
    end: int
    is_whole: bool
    html: str
    marks: tuple[TextMark, ...]
    """In code points of the whole message; marks outside the shown part are included."""
    evidence: dict[str, str] = Field(default_factory=dict)
    """Roles of the pieces of evidence that cite the message, by evidence_id."""
    comments: int = 0


class TranscriptView(Record):
    """Messages `first` to `first + len(messages) - 1` of `total`."""

    conversation_id: str
    total: int
    first: int
    messages: tuple[MessageView, ...]


class MessageComment(Record):
    """A comment of a reviewer on a message."""

    event_id: str
    reviewer_id: str
    text: str
    created_at: dt.datetime


class MessagePart(Record):
    """A window inside one message, and the places of a text in the whole message."""

    message: MessageView
    find: str = ""
    found: tuple[int, ...] = ()
    """Code points; at most a thousand places."""
    found_total: int = 0
    item: str = ""
    """The item in whose light the message is read."""
    item_href: str = ""
    comments: tuple[MessageComment, ...] = ()
    """Comments on this message that the viewer may see, oldest first."""


class Border(Record):
    """The first message of a session, a plan or a day."""

    message_id: int
    label: str


class MinimapView(Record):
    """The whole conversation without its text: its length, and the borders of its parts."""

    conversation_id: str
    total: int
    sessions: tuple[Border, ...]
    plans: tuple[Border, ...]
    dates: tuple[Border, ...]
    """The first message of each day."""


class Hit(Record):
    """A message that holds the text."""

    message_id: int
    message_key: str
    role: str
    speaker: str
    session: int
    plan_index: int | None
    sent_at: dt.datetime
    count: int
    """Occurrences in the message."""
    at: int
    """First occurrence, in code points; the message opens there."""
    excerpt_html: str


class SearchResult(Record):
    """One page of hits in the order of the conversation, and the counts over all of it."""

    query: str
    total: int
    """Occurrences."""
    messages: int
    """Messages that hold the text."""
    hits: tuple[Hit, ...]
    first: int
    message_ids: tuple[int, ...] = Field(default=())
    """All messages that hold it, for the minimap."""


class LocatedView(Record):
    """The message that a jump leads to."""

    message_id: int
    message_key: str
    sent_at: dt.datetime
    href: str


@dataclass(frozen=True, slots=True)
class MessageMarks:
    """Highlights of one message, the evidence that cites it, and the number of comments on it."""

    marks: Sequence[TextMark] = ()
    evidence: Mapping[str, str] = field(default_factory=dict)
    comments: int = 0


@dataclass
class ItemMarks:
    """Marks of an item in the messages of its conversation, by message key."""

    marks: dict[str, list[TextMark]] = field(default_factory=dict)
    evidence: dict[str, dict[str, str]] = field(default_factory=dict)
    said: dict[str, list[MessageComment]] = field(default_factory=dict)
    """Comments on messages."""
    is_known: bool = False
    """Whether there is such an item."""

    def of(self, message_key: str) -> MessageMarks:
        """Return the marks of one message."""
        marks, evidence = self.marks.get(message_key, ()), self.evidence.get(message_key, {})
        return MessageMarks(marks, evidence, len(self.said.get(message_key, ())))


@dataclass(frozen=True, slots=True)
class MessagePlace:
    """A window inside one message, as an address carries it."""

    at: int = 0
    """First character, in code points."""
    size: int = 4_000
    find: str = ""
    """Text whose places are wanted."""
    item: str = ""
    """The item in whose light the message is read."""


@dataclass(frozen=True, slots=True)
class WantedWindow:
    """A window of a conversation, as an address carries it."""

    first: int = 0
    count: int = 20
    around: str = ""
    """Key of a message; the window then begins `before` messages ahead of it."""
    before: int = 3
    item: str = ""
    q: str = ""


def window(
    conversation: OpenConversation, conversation_id: str, wanted: WantedWindow, shown: ItemMarks
) -> TranscriptView:
    """Return the messages of a window; hits of the query are marked as well as `shown`."""
    total = len(conversation.lines)
    count = max(1, min(wanted.count, MOST_MESSAGES))
    first = conversation.ids[wanted.around] - max(wanted.before, 0) if wanted.around else wanted.first
    first = max(0, min(first, total - 1))
    views = []
    for message in conversation.messages(first, count):
        marks = shown.of(message.message_key)
        hits = _hits(message.content, wanted.q)
        views.append(view_of(message, replace(marks, marks=(*marks.marks, *hits))))
    return TranscriptView(conversation_id=conversation_id, total=total, first=first, messages=tuple(views))


def marks_for(workspace: Workspace, viewer: Viewer, conversation: OpenConversation, item_id: str) -> ItemMarks:
    """Return the evidence of an item, as the viewer has it, and the comments on messages; nothing for no item."""
    shown = ItemMarks()
    try:
        state = workspace.state(item_id)
    except KeyError:
        return shown
    shown.is_known = True
    opinion = state.opinion(viewer.reviewer_id)
    probe = opinion.probe if opinion.is_edited else state.probe
    ids = conversation.ids
    messages = {
        m.message_key: m.content
        for m in conversation.messages_of(ids[e.message_key] for e in probe.evidence if e.message_key in ids)
    }
    for evidence in probe.evidence:
        key = evidence.message_key
        shown.evidence.setdefault(key, {})[evidence_id_of(evidence)] = role_of(probe, evidence)
        if key in messages and (place := find_quote(messages[key], evidence.quote)):
            shown.marks.setdefault(key, []).append(mark_of(evidence, place))
    for comment in state.notes_for(viewer, EventKind.COMMENTED):
        if comment.target.startswith(MESSAGE):
            view = MessageComment.taken_from(comment, text=comment.note)
            shown.said.setdefault(comment.target.removeprefix(MESSAGE), []).append(view)
    return shown


ROLES: dict[str, str] = {
    EvidencePart.SUPPORT: "",
    EvidencePart.ORIGINAL: "old value",
    EvidencePart.UPDATED: "new value",
    EvidencePart.STATEMENT: "one side",
    EvidencePart.DENIAL: "the other side",
    EvidencePart.PASTED: "pasted, not the user's word",
}
"""Names for people of the parts whose own name says too little."""
ROLES_THEN: dict[str, str] = {EvidencePart.FIRST: "held then", EvidencePart.SECOND: "later value"}
"""The same, where the question asks for an earlier day."""
LOOKS: dict[str, str] = {
    **dict.fromkeys((EvidencePart.ORIGINAL, EvidencePart.PASTED), "doubted"),
    **dict.fromkeys((EvidencePart.STATEMENT, EvidencePart.DENIAL), "contested"),
}
"""Highlights of parts that are not simply right: superseded, or one of two sides."""


def role_of(probe: Probe, evidence: Evidence) -> str:
    """Return what a cited message is to the answer, for people."""
    items, group = probe.details.items, evidence.group
    if group is not None and 0 <= group < len(items):
        return f"{group + 1}: {items[group]}"
    if probe.details.variety == QuestionKind.AS_OF:
        return ROLES_THEN.get(evidence.part, evidence.part)
    return ROLES.get(evidence.part, evidence.part.replace("_", " "))


def mark_of(evidence: Evidence, place: tuple[int, int]) -> TextMark:
    """Return the highlight of a quote; one that is superseded or contested does not look like a proof."""
    return TextMark(start=place[0], end=place[1], kind=LOOKS.get(evidence.part, "evidence"))


def view_of(message: Message, shown: MessageMarks, limit: int = CLAMP) -> MessageView:
    """Return a message as pages show it; a message longer than `limit` opens at its first mark."""
    marks = shown.marks
    content = message.content
    # A long message opens at cited evidence rather than at a search hit.
    evidence = [m for m in marks if m.kind != "search"] or list(marks)
    around = (evidence[0].start, evidence[0].end) if evidence else None
    part = clamp(content, limit, around)
    inside = [
        TextMark(start=max(m.start, part.start) - part.start, end=min(m.end, part.end) - part.start, kind=m.kind)
        for m in marks
        if m.start < part.end and m.end > part.start
    ]
    return MessageView.taken_from(
        message,
        message_id=message.message_id or 0,
        chars=len(content),
        start=part.start,
        end=part.end,
        is_whole=part.start == 0 and part.end == len(content),
        html=render(content[part.start : part.end], inside),
        marks=tuple(marks),
        evidence=dict(shown.evidence),
        comments=shown.comments,
    )


def part_of_message(message: Message, wanted: MessagePlace, marks: Sequence[TextMark] = ()) -> MessagePart:
    """Return a window inside a message, and all places of the text to find."""
    find = wanted.find
    places = places_of(message.content, find, most=1_000_000) if find.strip() else []
    found = [TextMark(start=a, end=b, kind="search") for a, b in places[:1000]]
    size = max(200, min(wanted.size, MOST_CHARS))
    at = max(0, min(wanted.at, max(len(message.content) - 1, 0)))
    shown = message.content[at : at + size]
    inside = [
        TextMark(start=max(m.start - at, 0), end=min(m.end - at, len(shown)), kind=m.kind)
        for m in (*marks, *found)
        if m.start < at + size and m.end > at
    ]
    view = view_of(message, MessageMarks(), limit=size).model_copy(
        update={
            "start": at,
            "end": at + len(shown),
            "is_whole": len(shown) == len(message.content),
            "html": render(shown, inside),
            "marks": tuple(marks),
        }
    )
    return MessagePart(message=view, find=find, found=tuple(a for a, _ in places[:1000]), found_total=len(places))


def search_view(
    conversation: OpenConversation, query: str, wanted: SearchFilter, *, first: int = 0, count: int = 20
) -> SearchResult:
    """Return one page of the hits of a text, with exact counts over the whole conversation."""
    query = query.strip()
    counts = count_hits(conversation, query, wanted)
    page = list(counts)[first : first + min(count, MOST_HITS)]
    contents = {m.message_id: m.content for m in conversation.messages_of(page)}
    return SearchResult(
        query=query,
        total=sum(counts.values()),
        messages=len(counts),
        hits=tuple(_hit(conversation.lines[i], counts[i], contents[i], query) for i in page),
        first=first,
        message_ids=tuple(counts),
    )


def minimap(conversation: OpenConversation, conversation_id: str) -> MinimapView:
    """Return the data of a strip of the whole conversation; no text is read."""
    lines = conversation.lines
    return MinimapView(
        conversation_id=conversation_id,
        total=len(lines),
        sessions=_borders(lines, "session"),
        plans=_borders(lines, "plan_index"),
        dates=_borders(lines, "date"),
    )


def locate(
    conversation: OpenConversation, by: Literal["date", "plan", "session", "key", "id"], value: str
) -> ArchiveLine | None:
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


def _borders(lines: Sequence[ArchiveLine], what: str) -> tuple[Border, ...]:
    borders: list[Border] = []
    last: object = object()
    for line in lines:
        value = line.sent_at.date() if what == "date" else getattr(line, what)
        if value != last and value is not None:
            borders.append(Border(message_id=line.message_id, label=str(value)))
        last = value
    return tuple(borders)


def _hits(content: str, query: str) -> list[TextMark]:
    if not query.strip():
        return []
    return [TextMark(start=a, end=b, kind="search") for a, b in places_of(content, query.strip(), most=100)]


def _hit(line: ArchiveLine, times: int, content: str, query: str) -> Hit:
    # Lower-casing may change the length of a text: then the exact place is unknown, and the message opens at its start.
    start, end = next(iter(places_of(content, query, most=1)), (0, 0))
    low, high = max(start - AROUND_HIT, 0), min(end + AROUND_HIT, len(content))
    excerpt = " ".join(content[low:high].split("\n"))
    shown = render_plain(excerpt, [TextMark(start=start - low, end=end - low, kind="search")])
    return Hit.taken_from(
        line,
        count=times,
        at=start,
        excerpt_html=("… " if low else "") + shown + (" …" if high < len(content) else ""),
    )
