"""Artifacts.

Facts remembered from an exchange, with their words and place, and their text for the reader in the paper's
three forms.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field
from rapidfuzz.fuzz import partial_ratio_alignment

from longbeam.prompts.calls import ArtifactKind
from longbeam.schemas import Message, MessageRole, Record
from longbeam.text import TimeSpan, format_date

Kind = ArtifactKind | Literal["chunk"]
MARKS: dict[Kind, str] = {
    "decision": "D", "todo": "T", "key_fact": "F", "reminder": "R", "insight": "I",
    "person_attribute": "P", "event": "E", "relationship": "L", "chunk": "C",
}  # fmt: skip
"""Letter of each kind in a context."""
_LEAST_ALIKE = 90.0
"""Similarity, of 100, from which words of the source count as the ones that a citation meant."""
_MOST_DUPLICATE = 0.8
_BLANKS = re.compile(r"\s+")


class Artifact(Record):
    """A node of the canvas."""

    number: int
    """Dense, in the order of the conversation."""
    kind: Kind
    content: str
    citation: str = ""
    """The source's words; empty for chunks, whose content is verbatim already."""
    context: str = ""
    source: str = ""
    """Speaker of the citation; empty for chunks."""
    message_keys: tuple[str, ...] = ()
    """Messages that the artifact was made from."""
    span: tuple[int, int] | None = None
    """Place of the citation in its message; None for chunks, and for citations that were not checked."""
    position: int
    """Position of its exchange."""
    turn: int
    """Number of its exchange or batch, which the windows of the link rules count."""
    said_at: datetime
    confidence: float = Field(default=1.0, ge=0, le=1)
    event_time: TimeSpan | None = None
    """Time of the event; None if no words state it."""
    event_time_raw: str = ""
    """The words that state the time."""

    @property
    def text(self) -> str:
        """Text that is indexed, embedded and reranked."""
        return self.content if self.citation in self.content else f"{self.content} {self.citation}"


class Citation(Record):
    """Words of a message, with their place in it."""

    text: str
    message: Message
    span: tuple[int, int]


def locate(citation: str, messages: Sequence[Message]) -> Citation | None:
    """Return the words of the source that a citation means, and their place; None if no message has them.

    Blanks and capitals may differ. If no message has the words, the most similar passage counts if nine letters in ten
    agree.
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
        # rapidfuzz would align a source that is shorter inside the citation, and return a part of the citation.
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
    """Return whether another content repeats this one: they share more than four fifths of the shorter one's words."""
    words = set(content.casefold().split())
    for other in others:
        theirs = set(other.casefold().split())
        if words and theirs and len(words & theirs) / min(len(words), len(theirs)) > _MOST_DUPLICATE:
            return True
    return False


Form = Literal["compact", "markdown", "json"]
_MARKDOWN_CITATION, _JSON_CITATION = 150, 100
"""Characters of a citation, at most."""


def written(artifact: Artifact, form: Form) -> str:
    """Return an artifact as text: `[D] **May 8, 2023**: ...`, a list item with its citation, or a JSON object."""
    day = format_date(artifact.said_at.date())
    if form == "json":
        shown = {"type": artifact.kind, "said_on": day, "by": artifact.source, "content": artifact.content,
                 "quote": _cut(artifact.citation, _JSON_CITATION)}  # fmt: skip
        if artifact.event_time:
            shown["time"] = artifact.event_time.text
        return json.dumps(shown, ensure_ascii=False)
    by = f" ({artifact.source})" if artifact.source == MessageRole.ASSISTANT.value else ""
    line = f"[{MARKS[artifact.kind]}] **{day}**{by}: {artifact.content}{_when(artifact)}"
    if form == "markdown" and artifact.citation and artifact.citation not in artifact.content:
        return f'- {line}\n  > "{_cut(artifact.citation, _MARKDOWN_CITATION)}"'
    return f"- {line}" if form == "markdown" else line


def _when(artifact: Artifact) -> str:
    """Return the time that a phrase such as `last Friday` means; empty if the content names the time itself."""
    time = artifact.event_time
    if time is None or time.text in artifact.content or str(time.first.year) in artifact.event_time_raw:
        return ""
    return f" ({artifact.event_time_raw}: {time.text})"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
