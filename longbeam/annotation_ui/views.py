"""What the API answers with: one pydantic model per page, and the bodies that it takes."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from longbeam.annotation_ui.anchors import Anchor
from longbeam.annotation_ui.panel_kinds import PanelKind
from longbeam.annotation_ui.transcript import MessageView
from longbeam.schemas.base import Record
from longbeam.schemas.probes import Probe, ProbeDetails
from longbeam.schemas.review import EventKind, ReviewerRole, Taxonomy, Verdict

# --- items ------------------------------------------------------------------------------------------------


class NuggetView(Record):
    """A nugget as the reviewer has left it."""

    nugget_id: str
    text: str
    sealed_text: str | None
    """None: the reviewer added it."""
    label: str | None
    """`yes`, `no` or none yet."""
    is_stale: bool
    """Something it depends on was edited since."""


class EvidenceView(Record):
    """A cited message: where it is, and whether the quote is still there."""

    evidence_id: str
    message_key: str
    message_id: int | None
    """None: the message does not exist."""
    quote: str
    part: str
    group: int | None
    nugget_ids: tuple[str, ...]
    attachment: str
    """`attached`, `moved` or `broken`; `whole` where the source has no quote."""
    anchor: Anchor
    start: int
    end: int
    sent_at: dt.datetime | None
    session: int | None
    plan_index: int | None
    is_added: bool
    message: MessageView | None


class FindingView(Record):
    """What a check found, with a link to its cause."""

    check: str
    severity: str
    doc: str
    message: str
    href: str
    """The field, nugget or message that it is about."""
    messages: tuple[MessageLink, ...]


class MessageLink(Record):
    """A message to look at."""

    message_key: str
    message_id: int
    href: str


class CheckRow(Record):
    """One deterministic check of probes: what it looks for, and how it went for this item."""

    check: str
    doc: str
    state: Literal["ok", "info", "warning", "error", "not_run"]
    count: int


class Gate(Record):
    """What stands between the item and its acceptance."""

    code: str
    """`stale`, `searches`, `error_findings` or `what_if`."""
    message: str
    can_override: bool
    """Whether a save that names the code in `override`, with a note, goes through."""


class OpinionView(Record):
    """One reviewer's opinion."""

    reviewer_id: str
    verdict: str | None
    is_saved: bool
    is_lapsed: bool
    """A verdict was given, and the probe edited since: give it again."""
    reason_code: str
    note: str
    labels: dict[str, str]
    stale: tuple[str, ...]
    drafts: dict[str, JsonValue]
    searches: tuple[SearchMade, ...]
    cleared: tuple[str, ...]
    probe: Probe
    changes: tuple[Change, ...]
    """Against the sealed probe."""
    saved_at: dt.datetime | None
    guideline_version: str
    active_ms: int


class SearchMade(Record):
    """A search recorded for this item."""

    query: str
    total: int
    looked_at: tuple[int, ...]


class Change(Record):
    """One difference between two versions of an item."""

    target: str
    before: JsonValue
    after: JsonValue


class CommentView(Record):
    """A comment on the item or on a message."""

    event_id: str
    reviewer_id: str
    target: str
    text: str
    created_at: dt.datetime
    href: str
    """Opens at the message or the item."""


class FlagView(Record):
    """A flag for a lead."""

    event_id: str
    reviewer_id: str
    target: str
    note: str


class LeaseView(Record):
    """Who has the item open."""

    reviewer_id: str
    expires_at: dt.datetime
    is_mine: bool


class AdjudicationView(Record):
    """A lead's final word."""

    reviewer_id: str
    verdict: str
    taxonomy: str
    confidence: int
    note: str
    judged: tuple[str, ...]
    """Events that hold the opinions it decides upon."""
    changes: tuple[Change, ...]


class CandidateLink(Record):
    """A candidate of the same ability."""

    item_id: str
    probe_id: str
    rank: int
    question: str
    is_in_queue: bool
    """Sealed as selected, taken in, or moved up for a rejected one; and not rejected."""
    status: str


class QueuePlace(Record):
    """Where the item stands in the queue that was asked for."""

    index: int | None
    total: int
    previous: str | None
    """Address of the item page."""
    next: str | None


class ItemView(Record):
    """The item page."""

    item_id: str
    item_version: str
    """To be sent with every act; an act on an old version is refused with the differences."""
    conversation_id: str
    conversation_title: str
    probe_id: str
    ability: str
    ability_title: str
    """Name of the ability for people."""
    panel: PanelKind
    source_category: str
    difficulty: str
    question: str
    gold_answer: str
    details: ProbeDetails
    asked_at: dt.datetime | None
    rubric: tuple[NuggetView, ...]
    evidence: tuple[EvidenceView, ...]
    removed_evidence: tuple[EvidenceView, ...]
    context: tuple[MessageView, ...]
    """Messages around the evidence, where `k` asked for them; in order, each once, evidence itself included."""
    spread: int
    """message_ids between the first and the last piece of evidence."""
    sessions_touched: int
    sealed: Probe
    is_checked: bool
    """Whether findings are known: `validate` ran, or the item was checked here."""
    is_findings_current: bool
    """False: the item was edited after the checks ran."""
    findings: tuple[FindingView, ...]
    checks: tuple[CheckRow, ...]
    status: str
    overlap: int
    saved: int
    """Opinions saved so far, by anybody."""
    is_blind: bool
    """True: others' opinions are hidden until as many are saved as are wanted."""
    mine: OpinionView | None
    """None for those who only read."""
    others: tuple[OpinionView, ...]
    adjudication: AdjudicationView | None
    returned: CommentView | None
    former_verdicts: int
    """Verdicts on earlier versions of the sealed probe; they no longer count."""
    flags: tuple[FlagView, ...]
    comments: tuple[CommentView, ...]
    gates: tuple[Gate, ...]
    lease: LeaseView | None
    """Mine, or that of whoever keeps me out."""
    candidates: tuple[CandidateLink, ...]
    place: QueuePlace
    guideline_version: str
    reason_codes: tuple[str, ...]
    can_write: bool
    is_gold: bool | None = None
    """Only leads are told."""


# --- lists ------------------------------------------------------------------------------------------------


class QueueRow(Record):
    """One item of the queue."""

    item_id: str
    href: str
    conversation_id: str
    probe_id: str
    ability: str
    difficulty: str
    question: str
    status: str
    mine: str
    """My own: `none`, `draft`, `saved`, `skipped` or `lapsed`."""
    saved: int
    errors: int
    warnings: int
    infos: int
    flags: int
    comments: int
    leased_to: tuple[str, ...]
    evidence: int
    nuggets: int
    is_candidate: bool
    """Moved up or taken in from the pool, or written by hand."""


class QueueView(Record):
    """The queue page; its address is the list."""

    benchmark: str
    view: str
    total: int
    first: int
    rows: tuple[QueueRow, ...]
    counts: dict[str, int]
    """Items in each view."""
    abilities: dict[str, int]
    conversations: dict[str, int]
    overlap: int
    resume: str | None
    """Address of the first item that is not finished for me."""


class ConversationRow(Record):
    """One conversation of the benchmark."""

    conversation_id: str
    href: str
    is_sealed: bool
    title: str
    domain: str
    messages: int
    tokens: int
    items: int
    finished: int
    state: str
    """`sealed`, or how far the run is."""


class ConversationsView(Record):
    """All conversations, those that are still being made included."""

    benchmark: str
    is_import: bool
    conversations: tuple[ConversationRow, ...]


class ConversationView(Record):
    """One conversation: what it is about and how it is cut; messages are read by window."""

    conversation_id: str
    title: str
    theme: str
    domain: str
    first_day: dt.date | None
    last_day: dt.date | None
    user: str
    messages: int
    tokens: int
    sessions: int
    plans: int
    abilities: dict[str, int]
    ratings: dict[str, RatingView]
    findings: tuple[ConversationFinding, ...]
    """About messages, plans or the whole, worst first; those about probes stand with their items."""
    findings_total: int


class ConversationFinding(Record):
    """What a check found in a conversation outside its probes."""

    check: str
    severity: str
    subject: str
    message: str
    href: str | None
    """The transcript at the message that it is about."""


class RatingView(Record):
    """Ratings of one aspect."""

    mine: int | None
    others: dict[str, int]
    """By reviewer; empty while blind."""
    saved: int
    mean: float | None


class LocatedView(Record):
    """Where a jump leads."""

    message_id: int
    message_key: str
    sent_at: dt.datetime
    href: str


class EventView(Record):
    """One line of the history."""

    event_id: str
    item_id: str
    href: str
    reviewer_id: str
    kind: str
    target: str
    before: JsonValue
    after: JsonValue
    reason_code: str
    note: str
    guideline_version: str
    created_at: dt.datetime
    is_undone: bool


class HistoryView(Record):
    """Events that the reader may see, newest first."""

    total: int
    events: tuple[EventView, ...]


# --- people -----------------------------------------------------------------------------------------------


class SessionView(Record):
    """Who is looking."""

    benchmark: str
    reviewer_id: str | None
    role: ReviewerRole | None
    can_write: bool
    csrf: str
    """To be sent as the header `X-CSRF-Token` with every POST; empty for those who only read."""
    offered: tuple[str, ...]
    """Names that may be chosen; empty: any name."""
    needs_token: bool
    overlap: int
    lease_s: int
    min_searches: int
    ui_build: str


class SignIn(BaseModel):
    """Body of POST /api/session."""

    model_config = ConfigDict(extra="forbid")
    reviewer_id: str = Field(min_length=1, max_length=64, pattern=r"^[\w][\w .@-]*$")
    role: ReviewerRole = ReviewerRole.ANNOTATOR


# --- bodies -----------------------------------------------------------------------------------------------


class Body(BaseModel):
    """What every body that acts on an item may hold."""

    model_config = ConfigDict(extra="forbid")
    item_version: str = ""
    active_ms: int = Field(default=0, ge=0, le=86_400_000)


class Act(Body):
    """Body of POST /api/items/{conversation_id}/{probe_id}/acts."""

    kind: EventKind
    target: str = Field(default="item", max_length=200)
    after: JsonValue = None
    reason_code: str = Field(default="", max_length=64)
    note: str = Field(default="", max_length=20_000)
    override: tuple[str, ...] = ()
    """Codes of gates that are overridden; needs a note."""


class Decision(Body):
    """Body of POST /api/items/{conversation_id}/{probe_id}/adjudicate (leads)."""

    verdict: Verdict
    content_of: str = ""
    """The reviewer whose version is taken; empty: the lead's own, or the sealed one where nothing was edited."""
    taxonomy: Taxonomy
    confidence: int = Field(default=3, ge=1, le=5)
    note: str = Field(default="", max_length=20_000)


class ActResult(Record):
    """What an act answers with."""

    event_ids: tuple[str, ...]
    item: ItemView | None
    """The item after the act; none where the act was on another subject."""


class UndoResult(Record):
    """What undo and redo answer with; nothing is left to undo where `event` is none."""

    event: EventView | None
    """The act that was taken back or made again."""
    href: str | None
    item: ItemView | None


class Problem(Record):
    """What every refusal answers with."""

    error: str
    """`not_found`, `forbidden`, `csrf`, `host`, `invalid`, `stale`, `leased`, `gates`, `conflict`."""
    message: str
    changes: tuple[Change, ...] = ()
    """`stale`: what has changed since the version that was sent."""
    item_version: str = ""
    gates: tuple[Gate, ...] = ()
    lease: LeaseView | None = None


for _model in (FindingView, OpinionView, ConversationView, ItemView):
    _model.model_rebuild()
