"""Artifacts: what is remembered of an exchange, each with the words that say so and where they stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field
from rapidfuzz.fuzz import partial_ratio_alignment

from longbeam.prompts.calls.memory import ArtifactKind
from longbeam.schemas.base import Record
from longbeam.schemas.dialogue import Message
from longbeam.text.time_spans import TimeSpan

Kind = ArtifactKind | Literal["chunk"]
MARKS: dict[Kind, str] = {
    "decision": "D", "todo": "T", "key_fact": "F", "reminder": "R", "insight": "I",
    "person_attribute": "P", "event": "E", "relationship": "L", "chunk": "C",
}  # fmt: skip
"""How a kind is written in a context."""
_LEAST_ALIKE = 90.0
"""Of 100, for words of the source to be what a citation meant."""
_MOST_DUPLICATE = 0.8
_BLANKS = re.compile(r"\s+")


class Artifact(Record):
    """A node of the canvas."""

    number: int
    """Dense, in the order of the conversation."""
    kind: Kind
    content: str
    citation: str = ""
    """As it was said; empty for chunks, whose content it is."""
    context: str = ""
    source: str = ""
    """Who said it; empty for chunks."""
    message_keys: tuple[str, ...] = ()
    """Messages that it was made from."""
    span: tuple[int, int] | None = None
    """Where the citation stands in its message; None for chunks, and for citations that were trusted."""
    position: int
    """Of its exchange."""
    turn: int
    """What the windows of the link rules count: its exchange, or its batch."""
    said_at: datetime
    confidence: float = Field(default=1.0, ge=0, le=1)
    event_time: TimeSpan | None = None
    """When what it tells is; None where nothing says so."""
    event_time_raw: str = ""
    """The words that say so."""

    @property
    def text(self) -> str:
        """What is indexed, embedded and reranked."""
        return self.content if self.citation in self.content else f"{self.content} {self.citation}"


class Citation(Record):
    """Words of a message."""

    text: str
    message: Message
    span: tuple[int, int]


def locate(citation: str, messages: Sequence[Message]) -> Citation | None:
    """Return where a citation stands, in the source's own words; None if nothing of the kind was said.

    Blanks and capitals may differ; beyond that, the passage that is nearest counts if nine letters in ten agree.
    """
    wanted = _BLANKS.sub(" ", citation).strip().strip("\"'“”‘’").casefold()
    if not wanted:
        return None
    pattern = re.compile(r"\s+".join(re.escape(word) for word in wanted.split(" ")), re.IGNORECASE)
    for message in messages:
        if found := pattern.search(message.content):
            return Citation(text=found[0], message=message, span=found.span())
    best, place = 0.0, None
    for message in messages:
        text = message.content.casefold()
        # A shorter source would be aligned inside the citation, which cites nothing then.
        if len(text) < len(wanted) or len(text) != len(message.content):
            continue
        alike = partial_ratio_alignment(wanted, text, score_cutoff=_LEAST_ALIKE)
        if alike is not None and alike.score > best:
            best, place = alike.score, (message, alike.dest_start, alike.dest_end)
    if place is None:
        return None
    message, start, end = place
    start, end = _whole_words(message.content, start, end)
    return Citation(text=message.content[start:end], message=message, span=(start, end))


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
        end += 1
    return start, end


def is_duplicate(content: str, others: Sequence[str]) -> bool:
    """Return whether something says the same: more than four fifths of the shorter one's words are shared."""
    words = set(content.casefold().split())
    for other in others:
        theirs = set(other.casefold().split())
        if words and theirs and len(words & theirs) / min(len(words), len(theirs)) > _MOST_DUPLICATE:
            return True
    return False
