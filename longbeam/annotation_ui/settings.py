"""What a review is run with."""

from __future__ import annotations

from pydantic import Field

from longbeam.schemas.base import Record


class ReviewSettings(Record):
    """Settings of a benchmark's review; the last `configured` event of each wins."""

    overlap: int = Field(default=1, ge=1, le=9)
    """Opinions wanted of each probe and conversation."""
    lease_s: int = Field(default=900, ge=30, le=86_400)
    """How long an item is kept for whoever has it open without a sign of life."""
    min_searches: int = Field(default=3, ge=0, le=20)
    """Distinct searches that an abstention needs before it can be accepted."""
