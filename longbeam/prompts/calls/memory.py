"""The typed inputs and outputs of the prompts that memory systems ask."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from pydantic import Field

from longbeam.schemas.calls import PromptInputs, ReplyModel


class ExtractKeysInputs(PromptInputs):
    """Under which words will an exchange be looked for?"""

    before: str
    """What was said just before, for who and what is meant; empty at the beginning."""
    exchange: str


class KeyValue(ReplyModel):
    """Something that an exchange tells about an entity."""

    key: str
    value: str


class ExtractKeysReply(ReplyModel):
    """What an exchange is indexed under."""

    entries: tuple[KeyValue, ...]
    summary: str = Field(min_length=1)


class TakeNotesInputs(PromptInputs):
    """What of an exchange is worth remembering?"""

    before: str
    """What was said just before; empty at the beginning."""
    exchange: str
    said_on: dt.date


class TakeNotesReply(ReplyModel):
    """Notes, each of which stands by itself; none where nothing is worth remembering."""

    notes: tuple[str, ...]


class CompressNotesInputs(PromptInputs):
    """Shorten a scratchpad."""

    notes: str
    max_tokens: int
    """What the result may have."""


class NotesRelevantInputs(PromptInputs):
    """Does a piece of the scratchpad help with a question?"""

    question: str
    notes: str


class NotesRelevantReply(ReplyModel):
    """The verdict alone: it is asked hundreds of times for one question."""

    verdict: Literal["yes", "no"]


class SelectNotesInputs(PromptInputs):
    """Which pieces of the scratchpad help with a question?"""

    question: str
    pieces: tuple[str, ...]


class SelectNotesReply(ReplyModel):
    """Numbers of the pieces, from 0."""

    pieces: tuple[int, ...]


class UpdateSummaryInputs(PromptInputs):
    """Take what was said into a running summary."""

    summary: str
    """So far; empty at the beginning."""
    said: str
    max_tokens: int
    """What the new summary may have."""


ArtifactKind = Literal[
    "decision", "todo", "key_fact", "reminder", "insight", "person_attribute", "event", "relationship"
]


class ExtractArtifactsInputs(PromptInputs):
    """What of an exchange is worth keeping, word for word?"""

    known: tuple[str, ...]
    """Artifacts of what was said before; empty at the beginning."""
    exchange: str
    said_on: dt.date


class GleanArtifactsInputs(PromptInputs):
    """What did the first look at an exchange miss?"""

    found: tuple[str, ...]
    """Artifacts of the first look."""
    exchange: str
    said_on: dt.date


class ArtifactDraft(ReplyModel):
    """Something worth keeping, with the words that say so."""

    kind: ArtifactKind
    content: str = Field(min_length=1)
    citation: str = Field(min_length=1)
    """As it was said."""
    context: str = ""
    confidence: float = Field(default=0.8, ge=0, le=1)
    time_expression: str = ""
    """Words of the citation that say when; empty for none."""


class ArtifactsReply(ReplyModel):
    """Artifacts; none where nothing is worth keeping."""

    artifacts: tuple[ArtifactDraft, ...]


class ReasonedAnswerInputs(PromptInputs):
    """Answer from artifacts, after working out how they hang together."""

    context: str
    question: str
    asked_on: dt.date
    may_abstain: bool = True
    """Whether the answer may be that nothing is there."""


class ReasonedAnswerReply(ReplyModel):
    """The reasoning first; only the answer is judged."""

    reasoning: str = ""
    answer: str = Field(min_length=1)


class SearchStepInputs(PromptInputs):
    """Search the memory once more, or answer."""

    question: str
    asked_on: dt.date
    found: str
    """What earlier searches found; empty before the first."""
    searches: tuple[str, ...]
    """Queries so far."""
    searches_left: int


class SearchStepReply(ReplyModel):
    """A query, or the answer; the other one is empty."""

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
    """Pages of which only the bookmark is there."""
    recalled: tuple[int, ...]
    """Pages recalled so far."""
    recalls_left: int


class RecallStepReply(ReplyModel):
    """The arguments of the tool `recall`, or the answer; the other one is empty."""

    page_ids: tuple[int, ...] = ()
    answer: str = ""


class PageToBookmark(PromptInputs):
    """A page of which only keywords will be left."""

    page_id: int
    text: str


class BookmarkPagesInputs(PromptInputs):
    """By which words will pages be recognised?"""

    pages: tuple[PageToBookmark, ...]
    others: tuple[str, ...]
    """Bookmarks that there are: of other pages, or of these, which the new words complete."""
    most: int
    """Keywords of a page."""


class BookmarkDraft(ReplyModel):
    """Keywords of a page."""

    page_id: int
    keywords: tuple[str, ...]


class BookmarkPagesReply(ReplyModel):
    """One entry a page."""

    bookmarks: tuple[BookmarkDraft, ...]
