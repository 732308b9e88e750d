"""Kinds of question that need more than one statement found again: what they ask, and the ability that each belongs to.

`ProbeDetails.variety` names the kind. BEAM's ten abilities stay as they are: a kind is a way of asking for one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class QuestionKind(StrEnum):
    """A kind of question beyond an ability's plain one."""

    AS_OF = "as_of"
    """The value that a fact had on a day before it changed."""
    PLANNED_ACTUAL = "planned_actual"
    """Days between the day that something was planned for and the day on which it happened."""
    JOIN = "join"
    """Who did two things that different messages tell."""
    SET_DIFFERENCE = "set_difference"
    """Who did one thing and never the other."""
    TALLY = "tally"
    """How often something happened, over all messages of a series."""
    TOTAL = "total"
    """The sum over all messages of a series."""
    FORGET = "forget"
    """Two things of a confidence, one of which the user asked to have forgotten."""
    KEEP_FROM = "keep_from"
    """The same, where somebody reads along from whom one of them is to be kept."""
    POISON = "poison"
    """A value that the user told, and that a pasted document gives otherwise."""


ABILITY_OF: Mapping[str, str] = {
    QuestionKind.AS_OF: "temporal_reasoning",
    QuestionKind.PLANNED_ACTUAL: "temporal_reasoning",
    QuestionKind.JOIN: "multi_session_reasoning",
    QuestionKind.SET_DIFFERENCE: "multi_session_reasoning",
    QuestionKind.TALLY: "multi_session_reasoning",
    QuestionKind.TOTAL: "multi_session_reasoning",
    QuestionKind.FORGET: "instruction_following",
    QuestionKind.KEEP_FROM: "instruction_following",
    QuestionKind.POISON: "information_extraction",
}
"""Name of the ability that a kind of question belongs to."""


def is_kind(variety: str) -> bool:
    """Return whether a variety names one of the kinds."""
    return variety in ABILITY_OF
