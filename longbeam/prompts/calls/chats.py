"""Inputs and reply of the prompt that reads the ledger out of somebody's own chats."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from pydantic import Field

from longbeam.schemas import MessageRole, PromptInputs, Record, ReplyModel

MOST_STATEMENTS = 40
"""Statements of one passage; the template says this number."""
Says = Literal["fact", "change", "denial", "instruction", "preference", "list"]


class ReadMessage(Record):
    """A message, or a part of a long one, as it is read."""

    number: int
    """Number of the message in the reply."""
    role: MessageRole
    said_on: dt.date
    content: str


class ExtractFactsInputs(PromptInputs):
    """Find what a passage of a chat states and what may be asked for later."""

    messages: tuple[ReadMessage, ...]
    known: tuple[str, ...] = ()
    """Statements of earlier passages: speaker, subject, attribute and value, or a wish, a line each."""
    reads_lists: bool = False
    """Whether options and steps that the assistant lists are noted, too."""


class StatementDraft(ReplyModel):
    """One statement of a message."""

    message: int
    quote: str
    """Words of the message, as they stand there, that say it."""
    says: Says
    subject: str
    attribute: str = ""
    value: str = ""
    """Value of a fact, as it stands in the quote."""
    condition: str = ""
    requirement: str = ""
    items: list[str] = Field(default_factory=list)
    """Options or steps of a list, as they stand in the message."""


class ExtractFactsReply(ReplyModel):
    """The statements, in the order of the messages."""

    statements: list[StatementDraft] = Field(default_factory=list, max_length=MOST_STATEMENTS)
