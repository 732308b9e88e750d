"""Search in one conversation, and the record of a reviewer's searches that an abstention needs.

A search is one case-insensitive scan of the text, with exact counts. A scan needs no index beside the file, finds
beginnings of words, so that "rent" is not found in "different", and counts real occurrences. Its price at 10M tokens
(28,734 messages, 44 MB) is measured by benchmarks/bench_review.py.
"""

from __future__ import annotations

import datetime as dt
import re

from longbeam.review.archive import ArchiveLine, OpenConversation
from longbeam.review.state import Opinion
from longbeam.review.tuning import REVIEWING
from longbeam.schemas import Probe, Record
from longbeam.text import content_words


class SearchFilter(Record):
    """Filter of the messages that a search considers; empty fields let all messages through."""

    speaker: str = ""
    """A role (`user`, `assistant`) or a speaker's name."""
    date_from: dt.date | None = None
    date_to: dt.date | None = None
    """Included."""
    session: int | None = None
    plan: int | None = None


class QueryMade(Record):
    """A search that the reviewer made for the item."""

    query: str
    total: int
    """Hits."""
    is_counted: bool


class AbsenceView(Record):
    """Searches that support the claim that the conversation never says something."""

    needed: int
    """Distinct searches before acceptance."""
    made: int
    """Searches that count, and searches of which a hit was gone to; no more than are needed."""
    is_by_rote: bool
    """Whether no hit was gone to, and no search is the reviewer's own: the gate stays closed."""
    queries: tuple[QueryMade, ...]
    """Queries in the order in which they were made, each once."""
    hits: int
    """Hits of all distinct searches together."""
    looked_at: int
    """Hits that the reviewer went to."""
    suggested: tuple[str, ...]
    """Searches to begin with: the author's, then words of what is said to be missing and of the question."""


def count_hits(conversation: OpenConversation, query: str, wanted: SearchFilter) -> dict[int, int]:
    """Return occurrences of a text by message_id, for the messages that contain it; nothing for an empty text."""
    query = query.strip().lower()
    if not query:
        return {}
    texts, pattern = conversation.lowered, re.compile(_at_beginnings(query).encode())
    return {
        line.message_id: times
        for line in conversation.lines
        if _passes(line, wanted) and (times := len(pattern.findall(texts[line.message_id])))
    }


def _at_beginnings(query: str) -> str:
    """Return a pattern for a text that begins a word, if its first character is one of English words."""
    text = re.escape(query)
    begins = query[:1].isascii() and query[:1].isalnum()
    # The text comes first, so that it is searched for like a plain one; what is before it is looked at behind it.
    return f"{text}(?<![0-9A-Za-z]{text})" if begins else text


def places_of(content: str, query: str, most: int = 1000) -> list[tuple[int, int]]:
    """Return start and end of the first occurrences of a text in a message, in code points."""
    found = []
    for match in re.finditer(_at_beginnings(query), content, re.IGNORECASE):
        found.append((match.start(), match.end()))
        if len(found) == most:
            break
    return found


def counted_queries(opinion: Opinion) -> list[frozenset[str]]:
    """Return what speaks for an abstention, as the stems of the words that were searched for.

    A search counts if it shares a word with the question, the gold answer or the author's own searches: three searches
    for nonsense prove nothing. Any search counts, or counts once more, where the reviewer went to one of its hits.
    """
    probe = opinion.probe
    known = (probe.question, probe.gold_answer, probe.details.missing, *probe.details.searches)
    words = content_words(" ".join(known))
    looked_for = {_stems(query) for query in opinion.looked_for}
    made = {_stems(s.query) for s in opinion.searches if s.query.strip()}
    return [query for query in made if query & words or not words] + [query for query in made if query in looked_for]


def is_searched_by_rote(opinion: Opinion) -> bool:
    """Return whether a reviewer went to no hit, and searched in vain for nothing but what was suggested.

    A search in vain for a synonym is one of the reviewer's own, although it shares no word with the question.
    """
    suggested = set(map(_stems, suggested_searches(opinion.probe)))
    return not opinion.looked_for and all(s.total or _stems(s.query) in suggested for s in opinion.searches)


def needed_searches(probe: Probe, least: int) -> int:
    """Return the searches that accepting an abstention needs: `least`, but no more than can be suggested."""
    return min(least, max(len(suggested_searches(probe)), 1))


def suggested_searches(probe: Probe) -> tuple[str, ...]:
    """Return searches that could disprove an abstention, each once: the author's, then the longest words that count."""
    said = re.findall(r"\w+", f"{probe.details.missing} {probe.question}")
    words = sorted((word for word in said if content_words(word)), key=lambda word: (-len(word), word))
    found: dict[frozenset[str], str] = {}
    for query in (*probe.details.searches, *words):
        found.setdefault(_stems(query), query)
    return tuple(found.values())[: REVIEWING.most_suggested]


def absence_view(conversation: OpenConversation, opinion: Opinion, least: int) -> AbsenceView:
    """Return a reviewer's searches for an item, and their coverage by session."""
    looked_at = {i for i in opinion.looked_at if 0 <= i < len(conversation.lines)}
    last = {" ".join(s.query.casefold().split()): s for s in opinion.searches}
    counted, needed = counted_queries(opinion), needed_searches(opinion.probe, least)
    return AbsenceView(
        needed=needed,
        made=min(len(counted), needed),
        is_by_rote=is_searched_by_rote(opinion),
        queries=tuple(
            QueryMade(query=s.query, total=s.total, is_counted=_stems(s.query) in counted) for s in last.values()
        ),
        hits=sum(s.total for s in last.values()),
        looked_at=len(looked_at),
        suggested=suggested_searches(opinion.probe),
    )


def _stems(query: str) -> frozenset[str]:
    """Return what makes two searches the same: the stems of their words, or the text where it has none."""
    return content_words(query) or frozenset({query.strip().casefold()})


def _passes(line: ArchiveLine, wanted: SearchFilter) -> bool:
    return (
        wanted.speaker in ("", line.role, line.speaker)
        and (wanted.date_from is None or line.sent_at.date() >= wanted.date_from)
        and (wanted.date_to is None or line.sent_at.date() <= wanted.date_to)
        and wanted.session in (None, line.session)
        and wanted.plan in (None, line.plan_index)
    )
