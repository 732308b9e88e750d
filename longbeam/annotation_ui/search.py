"""Search in one conversation: case-insensitive text, exact counts, in one scan of its text.

Measured at 10M tokens (28,734 messages, 44 MB): see benchmarks/bench_review.py. A scan needs no index beside the
file, finds parts of words, and counts what is really there.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence

from pydantic import Field

from longbeam.annotation_ui.archive import Line, OpenConversation
from longbeam.annotation_ui.rendering import Mark, render_plain
from longbeam.schemas.base import Record

MOST_HITS = 200
AROUND = 90


class SearchFilter(Record):
    """Which messages count; empty filters let all through."""

    speaker: str = ""
    """A role (`user`, `assistant`) or a speaker's name."""
    date_from: dt.date | None = None
    date_to: dt.date | None = None
    """Included."""
    session: int | None = None
    plan: int | None = None


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
    """How often."""
    at: int
    """First place, in code points: the message opens there."""
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
    took_ms: float = 0


def search(
    conversation: OpenConversation, query: str, wanted: SearchFilter, *, first: int = 0, count: int = 20
) -> SearchResult:
    """Return where a text stands; an empty one is found nowhere."""
    query = query.strip()
    if not query:
        return SearchResult(query=query, total=0, messages=0, hits=(), first=first)
    needle = query.lower().encode()
    texts = conversation.lowered
    rows = [
        (line.message_id, times)
        for line in conversation.lines
        if _passes(line, wanted) and (times := texts[line.message_id].count(needle))
    ]
    page = rows[first : first + min(count, MOST_HITS)]
    counts = dict(page)
    shown = {m.message_id: m.content for m in conversation.messages_of(counts)}
    hits = [_hit(conversation, message_id, counts[message_id], shown[message_id], query) for message_id, _ in page]
    return SearchResult(
        query=query,
        total=sum(times for _, times in rows),
        messages=len(rows),
        hits=tuple(hits),
        first=first,
        message_ids=tuple(message_id for message_id, _ in rows),
    )


def _hit(conversation: OpenConversation, message_id: int, times: int, content: str, query: str) -> Hit:
    line = conversation.lines[message_id]
    start, end = place_of(content, query)
    low, high = max(start - AROUND, 0), min(end + AROUND, len(content))
    excerpt = " ".join(content[low:high].split("\n"))
    shown = render_plain(excerpt, [Mark(start=start - low, end=end - low, kind="search")])
    return Hit(
        message_id=message_id,
        message_key=line.message_key,
        role=line.role,
        speaker=line.speaker,
        session=line.session,
        plan_index=line.plan_index,
        sent_at=line.sent_at,
        count=times,
        at=start,
        excerpt_html=("… " if low else "") + shown + (" …" if high < len(content) else ""),
    )


def place_of(content: str, query: str) -> tuple[int, int]:
    """Return the first place of a text, whatever the case; the beginning where folding has changed its length."""
    places = places_of(content, query, most=1)
    return places[0] if places else (0, 0)


def places_of(content: str, query: str, most: int = 1000) -> list[tuple[int, int]]:
    """Return the first places of a text in a message, in code points."""
    found = []
    for match in re.finditer(re.escape(query), content, re.IGNORECASE):
        found.append((match.start(), match.end()))
        if len(found) == most:
            break
    return found


def _passes(line: Line, wanted: SearchFilter) -> bool:
    return (
        wanted.speaker in ("", line.role, line.speaker)
        and (wanted.date_from is None or line.sent_at.date() >= wanted.date_from)
        and (wanted.date_to is None or line.sent_at.date() <= wanted.date_to)
        and wanted.session in (None, line.session)
        and wanted.plan in (None, line.plan_index)
    )


def distinct_queries(queries: Sequence[str]) -> set[str]:
    """Return the queries that differ in more than case and white space."""
    return {" ".join(q.casefold().split()) for q in queries if q.strip()}
