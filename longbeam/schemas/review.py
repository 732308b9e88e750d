"""What reviewers did: append-only events; the state is a fold over them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from longbeam.schemas.base import Record


class ReviewEvent(Record):
    """One act of one reviewer on one subject."""

    event_id: str
    conversation_id: str
    subject: str
    reviewer: str
    action: str
    at: datetime
    payload: dict[str, Any] = Field(default_factory=dict)
