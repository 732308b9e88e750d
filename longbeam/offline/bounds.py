"""Bounds that the other plans of a conversation set to a plan's story."""

from __future__ import annotations

from dataclasses import dataclass

from longbeam.schemas import Value


@dataclass(frozen=True)
class Bounds:
    """Things that a plan's story leaves to other plans, and facts that earlier plans have told."""

    forbidden: frozenset[str] = frozenset()
    """Things reserved for other plans, case-folded."""
    shared: frozenset[str] = frozenset()
    """Things that are divided over the plans, this plan's included; case-folded."""
    passed: int = 0
    """Number of earlier plans that have told the pack's other things."""
    settled: frozenset[tuple[str, str]] = frozenset()
    """Subject and attribute of facts that happened once, in an earlier plan."""
    known: tuple[tuple[str, str, Value], ...] = ()
    """Subject, attribute and value of facts of earlier plans."""
    is_last: bool = True
    """Whether no plan follows, so that the story ends here."""


NO_BOUNDS = Bounds()
