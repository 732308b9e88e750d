"""Refusals of the review server: what the client gets as JSON with its status code."""

from __future__ import annotations

from collections.abc import Sequence

from longbeam.annotation_ui.views import Change, Gate, LeaseView, Problem


class Refusal(Exception):
    """An answer other than yes; `status` is the HTTP status."""

    def __init__(
        self,
        status: int,
        error: str,
        message: str,
        *,
        changes: Sequence[Change] = (),
        item_version: str = "",
        gates: Sequence[Gate] = (),
        lease: LeaseView | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.problem = Problem(
            error=error,
            message=message,
            changes=tuple(changes),
            item_version=item_version,
            gates=tuple(gates),
            lease=lease,
        )


def not_found(what: str) -> Refusal:
    """Return the refusal for something that is not there."""
    return Refusal(404, "not_found", f"there is no {what}")


def forbidden(message: str) -> Refusal:
    """Return the refusal for something that this person may not do."""
    return Refusal(403, "forbidden", message)


def invalid(message: str) -> Refusal:
    """Return the refusal for a body that makes no sense."""
    return Refusal(422, "invalid", message)
