"""The person behind a request, and what this person may do."""

from __future__ import annotations

from dataclasses import dataclass

from longbeam.review.refusals import forbidden
from longbeam.schemas.review import ReviewerRole


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
