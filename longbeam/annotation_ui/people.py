"""Who is looking, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass

from longbeam.annotation_ui.errors import forbidden
from longbeam.schemas.review import ReviewerRole


@dataclass(frozen=True)
class Viewer:
    """Whoever sent a request; without a name they only read."""

    reviewer_id: str = ""
    role: ReviewerRole | None = None

    @property
    def can_write(self) -> bool:
        """Whether acts are taken from them."""
        return bool(self.reviewer_id)

    @property
    def is_lead(self) -> bool:
        """Whether they adjudicate."""
        return self.role is ReviewerRole.LEAD

    def require_write(self) -> None:
        """Refuse those who only read."""
        if not self.can_write:
            raise forbidden("you are reading only; choose a name first")

    def require_lead(self) -> None:
        """Refuse those who are not leads."""
        self.require_write()
        if not self.is_lead:
            raise forbidden("only a lead may do this")
