"""What reviewers did: append-only events; the state of an item is a fold over them.

An item is a probe (`c000/abstention.0`), a conversation (`c000`, for ratings) or the benchmark (empty, for
guidelines and settings). Nothing is ever deleted: undo is an event, and so is redo (the undoing of an undo).
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, JsonValue

from longbeam.schemas.base import Record


class EventKind(StrEnum):
    """What was done; `docs/review-api.md` says what target, before and after hold for each."""

    OPENED = "opened"
    """The item was opened; `after` keeps the probe as sealed where this version of it was not met before."""
    DRAFTED = "drafted"
    """What stands in a field but is not saved; the last draft of a target counts."""
    JUDGED = "judged"
    """A verdict on the item, or yes / no on one nugget."""
    EDITED = "edited"
    """Question, gold answer, difficulty, items, or a nugget (added, changed, removed)."""
    EVIDENCE_ADDED = "evidence_added"
    EVIDENCE_REMOVED = "evidence_removed"
    SEARCHED = "searched"
    """A search of the conversation made while the item was open."""
    CLEARED = "cleared"
    """A message offered as counter-evidence was looked at and changes nothing."""
    CHECKED = "checked"
    """The checks ran on the item as it stands."""
    FLAGGED = "flagged"
    COMMENTED = "commented"
    RETURNED = "returned"
    """Sent back to the author, with a reason."""
    ADJUDICATED = "adjudicated"
    """A lead's final word; `after` holds the probe as decided."""
    RATED = "rated"
    """1 to 5 for one aspect of a conversation."""
    WRITTEN = "written"
    """A probe written by hand."""
    CHOSEN = "chosen"
    """A candidate of the pool was taken in."""
    GOLD_SET = "gold_set"
    """A lead knows the right verdict: the item silently measures reviewers."""
    GUIDED = "guided"
    """A new text of the guidelines."""
    CONFIGURED = "configured"
    """A setting of the review."""
    UNDONE = "undone"
    """`target` is the event that no longer counts; undoing an undo is a redo."""


class Verdict(StrEnum):
    """On a probe."""

    ACCEPT = "accept"
    REJECT = "reject"
    SKIP = "skip"
    """The reviewer leaves it to somebody else; the opinion does not count."""


class NuggetLabel(StrEnum):
    """On a nugget."""

    YES = "yes"
    NO = "no"


class ReviewerRole(StrEnum):
    """Leads adjudicate, write guidelines and see gold items."""

    ANNOTATOR = "annotator"
    LEAD = "lead"


class Taxonomy(StrEnum):
    """Why reviewers disagreed, as a lead sees it."""

    AMBIGUOUS = "ambiguous"
    GUIDELINE_GAP = "guideline_gap"
    ANNOTATOR_ERROR = "annotator_error"
    EDGE_CASE = "edge_case"
    OTHER = "other"


REASON_CODES = (
    "wrong_gold",
    "wrong_evidence",
    "missing_evidence",
    "bad_rubric",
    "ambiguous_question",
    "guessable",
    "outdated",
    "duplicate",
    "other",
)
"""Why a probe is rejected or returned; keys 1 to 9 in this order."""

RATED_ASPECTS = ("coherence_and_flow", "realism", "complexity_and_depth")
"""BEAM's Table 4."""

ITEM_TARGET = "item"


class ReviewEvent(Record):
    """One act of one person on one item."""

    event_id: str = Field(min_length=1, max_length=64)
    """Unique over all machines."""
    item_id: str
    item_version: str = ""
    """Hash of what the reviewer saw of the item when acting, own edits and verdicts included."""
    probe_version: str = ""
    """Hash of the probe as it was sealed; a judgement counts while the probe is still that one."""
    reviewer_id: str = Field(min_length=1, max_length=64)
    kind: EventKind
    target: str = ITEM_TARGET
    """`item`, `question`, `gold_answer`, `nugget/<nugget_id>`, `evidence/<evidence_id>`, `message/<key>`, ..."""
    before: JsonValue = None
    after: JsonValue = None
    reason_code: str = ""
    note: str = ""
    guideline_version: str = ""
    ui_build: str = ""
    created_at: datetime
    """UTC; events are folded in this order, equal times by event_id, so that merged logs give one state."""
    active_ms: int = Field(default=0, ge=0)
    """Time spent on the item since the last event, without pauses."""

    @property
    def conversation_id(self) -> str:
        """The conversation it is about; empty for the benchmark."""
        return self.item_id.partition("/")[0]


def probe_item_id(conversation_id: str, probe_id: str) -> str:
    """Return the item_id of a probe."""
    return f"{conversation_id}/{probe_id}"
