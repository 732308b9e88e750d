"""Figures of what the form of messages gives away, without their meaning."""

from __future__ import annotations

from enum import StrEnum

from longbeam.schemas.base import Record


class FormTask(StrEnum):
    """Kinds of messages and sentences that a classifier tries to tell from form."""

    EVIDENCE = "evidence"
    """The user's messages that a selected probe cites, from the user's others."""
    CONTRADICTION = "contradiction"
    """Messages that contradict an earlier one, from other planned messages (imports: that such a probe cites)."""
    UPDATE = "update"
    """Messages that change a value, from other planned messages (imports: that such a probe cites)."""
    SENTENCE = "sentence"
    """Sentences that a selected probe quotes, from the others of the same message."""
    FOLLOW_UP = "follow_up"
    """Answers and follow-ups, which the dialogue makes, from planned messages."""


class FormFigure(Record):
    """How well one thing can be told from form, in conversations that the classifier had not seen."""

    task: FormTask
    auc: float
    """Mean over conversations of the area under the ROC curve within each; 0.5 is chance, 1 is certainty."""
    low: float | None
    """Lower end of its 95 % interval, from conversations drawn with replacement; None with fewer than three."""
    high: float | None
    conversations: int
    """Those that have both kinds."""
    told: int
    """Messages or sentences that were to be found."""
    others: int
    bound: float
    """Largest area that stays without a warning."""
    phrases: tuple[str, ...]
    """Words (values and names as `_`) and measures of form that speak most for it, strongest first."""

    @property
    def is_given_away(self) -> bool:
        """Whether form tells more than it may."""
        return self.auc > self.bound

    @property
    def interval(self) -> str:
        """The interval as text."""
        return "-" if self.low is None or self.high is None else f"{self.low:.3f} to {self.high:.3f}"
