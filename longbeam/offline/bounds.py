"""What the story of one plan of several may use, and what it knows already."""

from __future__ import annotations

from dataclasses import dataclass

from longbeam.schemas.plans import Value


@dataclass(frozen=True)
class Bounds:
    """What the story of one plan may not use because of other plans, and what it knows of the earlier ones."""

    forbidden: frozenset[str] = frozenset()
    """Things of other plans, case-folded."""
    shared: frozenset[str] = frozenset()
    """Things that are divided over the plans, this plan's own included."""
    passed: int = 0
    """How many earlier plans have told of the pack's other things."""
    settled: frozenset[tuple[str, str]] = frozenset()
    """Subject and attribute of what happened once, in an earlier plan."""
    known: tuple[tuple[str, str, Value], ...] = ()
    """Subject, attribute and value of facts of earlier plans."""
    is_last: bool = True
    """Whether no plan follows, so that the last word can be said."""


NO_BOUNDS = Bounds()
