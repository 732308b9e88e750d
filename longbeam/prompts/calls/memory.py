"""The typed inputs and outputs of the prompts that memory systems ask."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from pydantic import Field

from longbeam.schemas import PromptInputs, ReplyModel


class ExtractKeysInputs(PromptInputs):
    """Asks for the words that a search for this exchange would use."""

    before: str
    """Preceding text, which resolves references; empty at the beginning."""
    exchange: str


class KeyValue(ReplyModel):
    """A statement of an exchange on an entity."""

    key: str
    value: str


class ExtractKeysReply(ReplyModel):
    """Index entries of an exchange."""

    entries: tuple[KeyValue, ...]
    summary: str = Field(min_length=1)


class TakeNotesInputs(PromptInputs):
    """Asks for the parts of an exchange that are worth remembering."""

    before: str
    """Preceding text; empty at the beginning."""
    exchange: str
    said_on: dt.date


class TakeNotesReply(ReplyModel):
    """Self-contained notes; none if nothing is worth remembering."""

    notes: tuple[str, ...]


class CompressNotesInputs(PromptInputs):
    """Shorten a scratchpad."""

    notes: str
    max_tokens: int
    """Most tokens of the result."""


class NotesRelevantInputs(PromptInputs):
    """Does a piece of the scratchpad help with a question?"""

    question: str
    notes: str


class NotesRelevantReply(ReplyModel):
    """The verdict alone, as one question takes hundreds of these calls."""

    verdict: Literal["yes", "no"]


class SelectNotesInputs(PromptInputs):
    """Asks for the pieces of the scratchpad that help with a question."""

    question: str
    pieces: tuple[str, ...]


class SelectNotesReply(ReplyModel):
    """Numbers of the pieces, from 0."""

    pieces: tuple[int, ...]


class UpdateSummaryInputs(PromptInputs):
    """Update a running summary with new exchanges."""

    summary: str
    """Summary so far; empty at the beginning."""
    said: str
    max_tokens: int
    """Most tokens of the new summary."""


ArtifactKind = Literal[
    "decision", "todo", "key_fact", "reminder", "insight", "person_attribute", "event", "relationship"
]


class ExtractArtifactsInputs(PromptInputs):
    """Asks for the parts of an exchange that are worth keeping verbatim."""

    known: tuple[str, ...]
    """Artifacts of earlier exchanges; empty at the beginning."""
    exchange: str
    said_on: dt.date


class GleanArtifactsInputs(PromptInputs):
    """Asks for the artifacts that the first pass over an exchange missed."""

    found: tuple[str, ...]
    """Artifacts of the first pass."""
    exchange: str
    said_on: dt.date


class ArtifactDraft(ReplyModel):
    """Something worth keeping, with the words that state it."""

    kind: ArtifactKind
    content: str = Field(min_length=1)
    citation: str = Field(min_length=1)
    """Verbatim words of the exchange."""
    context: str = ""
    confidence: float = Field(default=0.8, ge=0, le=1)
    time_expression: str = ""
    """Words of the citation that name a time; empty for none."""


class ArtifactsReply(ReplyModel):
    """Artifacts; none if nothing is worth keeping."""

    artifacts: tuple[ArtifactDraft, ...]


class ReasonedAnswerInputs(PromptInputs):
    """Answer from artifacts, after reasoning on their relations."""

    context: str
    question: str
    asked_on: dt.date
    may_abstain: bool = True
    """Whether the answer may be that there is no information."""


class ReasonedAnswerReply(ReplyModel):
    """The reasoning first; only the answer is judged."""

    reasoning: str = ""
    answer: str = Field(min_length=1)


class SearchStepInputs(PromptInputs):
    """Search the memory once more, or answer."""

    question: str
    asked_on: dt.date
    found: str
    """Results of earlier searches; empty before the first."""
    searches: tuple[str, ...]
    """Queries so far."""
    searches_left: int


class SearchStepReply(ReplyModel):
    """A query or the answer; the other is empty."""

    action: Literal["search", "answer"]
    query: str = ""
    answer: str = ""


class RecallStepInputs(PromptInputs):
    """Recall pages, or answer."""

    question: str
    asked_on: dt.date
    context: str
    """Resident and recalled pages, and the bookmarks of the others."""
    page_ids: tuple[int, ...]
    """Pages of which the context has the bookmark only."""
    recalled: tuple[int, ...]
    """Pages recalled so far."""
    recalls_left: int


class RecallStepReply(ReplyModel):
    """The arguments of the tool `recall`, or the answer; the other is empty."""

    page_ids: tuple[int, ...] = ()
    answer: str = ""


class PageToBookmark(PromptInputs):
    """A page that keywords will replace."""

    page_id: int
    text: str


class BookmarkPagesInputs(PromptInputs):
    """Asks for keywords that identify these pages."""

    pages: tuple[PageToBookmark, ...]
    others: tuple[str, ...]
    """Existing bookmarks: of other pages, or of these pages, which the new keywords complete."""
    most: int
    """Keywords of a page."""


class BookmarkDraft(ReplyModel):
    """Keywords of a page."""

    page_id: int
    keywords: tuple[str, ...]


class BookmarkPagesReply(ReplyModel):
    """One entry for each page."""

    bookmarks: tuple[BookmarkDraft, ...]
