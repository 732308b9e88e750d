"""The record behind an abstention (X3): which searches were run, what they hit, and which sessions were looked at."""

from __future__ import annotations

from collections import Counter

from longbeam.annotation_ui.archive import OpenConversation
from longbeam.annotation_ui.fold import Opinion
from longbeam.annotation_ui.search import distinct_queries
from longbeam.schemas.base import Record


class SessionCoverage(Record):
    """One session: how many of its messages a reviewer had before the eyes as hits."""

    session: int
    messages: int
    looked_at: int


class AbsenceView(Record):
    """What was done to show that something is not there."""

    needed: int
    """Distinct searches before acceptance."""
    made: int
    queries: tuple[str, ...]
    """As made, oldest first, each once."""
    hits: int
    """Of all searches together."""
    looked_at: int
    """Messages."""
    claimed: tuple[str, ...]
    """Searches that whoever made the probe says to have run."""
    missing: str
    sessions: tuple[SessionCoverage, ...]


def absence_view(conversation: OpenConversation, opinion: Opinion, needed: int) -> AbsenceView:
    """Return a reviewer's searches for an item, and their coverage by session."""
    looked_at = {i for s in opinion.searches for i in s.looked_at if 0 <= i < len(conversation.lines)}
    sizes = Counter(line.session for line in conversation.lines)
    seen = Counter(conversation.lines[i].session for i in looked_at)
    queries = tuple(dict.fromkeys(s.query for s in opinion.searches))
    return AbsenceView(
        needed=needed,
        made=len(distinct_queries(queries)),
        queries=queries,
        hits=sum(s.total for s in opinion.searches),
        looked_at=len(looked_at),
        claimed=opinion.probe.details.searches,
        missing=opinion.probe.details.missing,
        sessions=tuple(SessionCoverage(session=s, messages=n, looked_at=seen[s]) for s, n in sorted(sizes.items())),
    )
