"""Refusals: the reasons why an act of a reviewer is not carried out. The web app answers with them as JSON."""

from __future__ import annotations

from longbeam.review.diffs import ChangeView
from longbeam.schemas.base import Record
from longbeam.schemas.review import Gate, LeaseView


class Problem(Record):
    """Content of a refusal."""

    error: str
    """`not_found`, `forbidden`, `csrf`, `host`, `invalid`, `stale`, `leased`, `gates`, `conflict`."""
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
