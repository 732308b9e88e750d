"""Records of the review: append-only events, settings, and the reasons why an act can be refused.

The state of an item is a fold over its events. An item is a probe (`c000/abstention.0`), a conversation (`c000`, for
ratings) or the benchmark (empty, for guidelines and settings). Nothing is ever deleted: undo is an event, and so is
redo (the undoing of an undo).
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, JsonValue

from longbeam.keys import conversation_of
from longbeam.schemas.base import Record


class EventKind(StrEnum):
    """Kinds of acts; `docs/review-api.md` says what target, before and after hold for each."""

    OPENED = "opened"
    """The item was opened; the first event of a version of the probe keeps the sealed probe in `after`."""
    DRAFTED = "drafted"
    """Unsaved text of a field; the last draft of a target counts."""
    JUDGED = "judged"
    """A verdict on the item, or yes / no on one nugget."""
    EDITED = "edited"
    """Question, gold answer, difficulty, items, or a nugget (added, changed, removed)."""
    EVIDENCE_ADDED = "evidence_added"
    EVIDENCE_REMOVED = "evidence_removed"
    SEARCHED = "searched"
    """A search of the conversation made while the item was open."""
    LOOKED = "looked"
    """Hits of a search that were shown to the reviewer."""
    SOLVED = "solved"
    """The reviewer's own answer, given before the gold answer was shown."""
    CLEARED = "cleared"
    """A message offered as counter-evidence was looked at and changes nothing."""
    CHECKED = "checked"
    """The checks ran on the item as it stands."""
    FLAGGED = "flagged"
    COMMENTED = "commented"
    RETURNED = "returned"
    """Sent back to the author, with a reason."""
    ADJUDICATED = "adjudicated"
    """A lead's decision; `after` holds the probe as decided."""
    RATED = "rated"
    """A rating from 1 to 5 for one aspect of a conversation."""
    WRITTEN = "written"
    """A probe written by hand."""
    CHOSEN = "chosen"
    """A candidate of the pool was taken into the review."""
    GOLD_SET = "gold_set"
    """A lead recorded the right verdict: the item silently measures reviewers."""
    GUIDED = "guided"
    """A new text of the guidelines."""
    CONFIGURED = "configured"
    """A setting of the review."""
    ASSIGNED = "assigned"
    """A lead gave the item to people; `after` lists them, empty: anybody."""
    UNDONE = "undone"
    """`target` is the event that no longer counts; undoing an undo is a redo."""


class Verdict(StrEnum):
    """Verdict of a reviewer on a probe."""

    ACCEPT = "accept"
    REJECT = "reject"
    SKIP = "skip"
    """The reviewer leaves the item to somebody else; the opinion does not count."""


class NuggetLabel(StrEnum):
    """Label of a reviewer on a nugget."""

    YES = "yes"
    NO = "no"


class ReviewerRole(StrEnum):
    """Role of a reviewer; leads adjudicate, write guidelines and see gold items."""

    ANNOTATOR = "annotator"
    LEAD = "lead"


class Taxonomy(StrEnum):
    """Reason why reviewers disagreed, as a lead sees it."""

    AMBIGUOUS = "ambiguous"
    GUIDELINE_GAP = "guideline_gap"
    ANNOTATOR_ERROR = "annotator_error"
    EDGE_CASE = "edge_case"
    OTHER = "other"


REASON_CODES = {
    "wrong_gold": "The conversation says something else.",
    "wrong_evidence": "A quote does not say what it is cited for.",
    "missing_evidence": "A part of the answer rests on no quote.",
    "bad_rubric": "A right answer would lose points, or a wrong one gain them.",
    "ambiguous_question": "It can be read in two ways, or asks two things.",
    "guessable": "One can answer it without the conversation.",
    "outdated": "A later message changes the answer.",
    "duplicate": "Another item asks for the same.",
    "other": "Say what is wrong.",
}
"""Reasons to reject or return a probe and what each means; keys 1 to 9 in this order."""

RATED_ASPECTS = ("coherence_and_flow", "realism", "complexity_and_depth")
"""Aspects of a conversation that BEAM's Table 4 rates."""

ITEM_TARGET, CHECKS_TARGET, ITEMS_TARGET = "item", "checks", "details/items"
TEXT_TARGETS = ("question", "gold_answer", "difficulty")
NUGGET, EVIDENCE, MESSAGE = "nugget/", "evidence/", "message/"
"""Targets of events; the last three are prefixes, an id or a message key follows."""


class ReviewEvent(Record):
    """One act of one person on one item."""

    event_id: str = Field(min_length=1, max_length=64)
    """Unique over all machines."""
    item_id: str
    item_version: str = ""
    """Hash of the item as the reviewer saw it when acting, own edits and verdicts included."""
    probe_version: str = ""
    """Hash of the probe as sealed; a judgement counts while the probe still has this hash."""
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
    tab: str = Field(default="", max_length=64)
    """Tab of the browser in which a draft was typed: drafts of two tabs do not replace each other."""

    @property
    def conversation_id(self) -> str:
        """Conversation of the event's subject; empty for the benchmark."""
        return conversation_of(self.item_id)

    @property
    def is_on_probe(self) -> bool:
        """Whether the subject is a probe, not a conversation or the benchmark."""
        return self.item_id != self.conversation_id


class ReviewSettings(Record):
    """Settings of a benchmark's review; the last `configured` event of each setting wins."""

    overlap: int = Field(default=1, ge=1, le=9)
    """Opinions wanted of each probe and conversation."""
    lease_s: int = Field(default=900, ge=30, le=86_400)
    """Seconds that an item stays leased after the last sign of life of the reviewer who has it open."""
    min_searches: int = Field(default=3, ge=0, le=20)
    """Distinct searches that an abstention needs before it can be accepted."""
    every_nugget: bool = False
    """Whether each nugget must be judged before an item can be accepted."""
    shipped: tuple[str, ...] = ()
    """Reviewers whose opinions came with a sample: they take no place, and nobody sees them before judging."""


class Change(Record):
    """One difference between two versions of an item."""

    target: str
    before: JsonValue
    after: JsonValue


class Gate(Record):
    """A condition that the item does not meet yet and must meet before it can be accepted."""

    code: str
    """`drafts`, `stale`, `checks`, `searches`, `nugget_no`, `nuggets`, `error_findings` or `what_if`."""
    title: str
    """The condition in a few words, for the verdict bar."""
    message: str
    nugget_ids: tuple[str, ...] = ()
    """Nuggets that the gate is about."""
    can_override: bool = False
    """Whether a save that names the code in `override`, with a note, goes through."""


class LeaseView(Record):
    """Lease of an item: the reviewer who has it open, and until when."""

    reviewer_id: str
    expires_at: datetime
    is_mine: bool
