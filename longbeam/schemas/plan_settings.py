"""Settings of a spec for its plans and probes: the tables [plan] and [probes]."""

from __future__ import annotations

from pydantic import Field

from longbeam.schemas.base import Record


class PlanShares(Record):
    """Special bullets of each kind, as factors on the numbers of docs/lengths.md."""

    update: float = Field(default=1.0, ge=0, le=3)
    contradiction: float = Field(default=1.0, ge=0, le=3)
    instruction: float = Field(default=1.0, ge=0, le=3)
    preference: float = Field(default=1.0, ge=0, le=3)


class PlanSettings(Record):
    """How plans are written."""

    shares: PlanShares = PlanShares()
    """Special bullets of each kind around which a plan's numbers are drawn."""
    spread: float = Field(default=0.25, ge=0, le=0.5)
    """Relative standard deviation of these numbers between plans; 0: all plans of a length have the same."""

    group: int = Field(default=6, ge=1, le=40)
    """Bullets that one call writes at first. Groups that are accepted at once make the next ones larger, up to three
    times as large; refused ones make them smaller."""


class ProbeSettings(Record):
    """Settings for the selection of probes, and for when they are asked."""

    assistant_share: float = Field(default=0.25, ge=0, le=0.5)
    """Share of the selected probes that need a message of the assistant's; 0: the assistant brings nothing in."""
    kinds_share: float = Field(default=0.5, ge=0, le=1)
    """Share of an ability's selected probes that are of the further kinds of question, where the conversation gives
    such questions: joins, counts, what held on a day, what is to stay unsaid."""
    on_the_way: float = Field(default=0.1, ge=0, le=1)
    """Share of the selected probes that are asked on the way; the others are asked after the last message."""
    hard: bool = False
    """Whether probes that trivial memories answer least are selected first (`details.difficulty`)."""
