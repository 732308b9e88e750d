"""Viewers, what they send, and refusals: the reasons why an act of a reviewer is not carried out.

The web app answers with refusals as JSON. A browser can send half of a surrogate pair, for instance when a text is cut
inside an emoji; bodies replace it, because no file can hold it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from longbeam.review.names import ChangeView
from longbeam.schemas import Gate, LeaseView, Record, ReviewerRole
from longbeam.terminal import whole_text


class Problem(Record):
    """Content of a refusal."""

    error: str
    """`not_found`, `forbidden`, `csrf`, `signed_out`, `host`, `invalid`, `stale`, `leased`, `gates`, `conflict`."""
    message: str
    changes: tuple[ChangeView, ...] = ()
    """`stale`: the differences from the version that was sent."""
    item_version: str = ""
    gates: tuple[Gate, ...] = ()
    lease: LeaseView | None = None


class Refusal(Exception):
    """An act that is not carried out, and why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def not_found(what: str) -> Refusal:
    """Return the refusal for something that is not there."""
    return Refusal(Problem(error="not_found", message=f"there is no {what}"))


def forbidden(message: str) -> Refusal:
    """Return the refusal for something that this person may not do."""
    return Refusal(Problem(error="forbidden", message=message))


def invalid(message: str) -> Refusal:
    """Return the refusal for a body that makes no sense."""
    return Refusal(Problem(error="invalid", message=message))


@dataclass(frozen=True)
class Viewer:
    """The person who sent a request; a viewer without a name only reads."""

    reviewer_id: str = ""
    role: ReviewerRole | None = None

    @property
    def can_write(self) -> bool:
        """Whether this viewer may act."""
        return bool(self.reviewer_id)

    @property
    def is_lead(self) -> bool:
        """Whether this viewer adjudicates."""
        return self.role is ReviewerRole.LEAD

    def require_write(self) -> None:
        """Raise Refusal `forbidden` for a viewer who only reads."""
        if not self.can_write:
            raise forbidden("you are reading only; choose a name first")

    def require_lead(self) -> None:
        """Raise Refusal `forbidden` for everybody but leads."""
        self.require_write()
        if not self.is_lead:
            raise forbidden("only a lead may do this")


READER = Viewer()
"""A viewer without a name."""


class Body(BaseModel):
    """Body of a POST."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        return whole_text(given)
