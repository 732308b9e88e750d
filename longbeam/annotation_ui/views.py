"""View records: the data of every page, written once.

A page shows one of these records, its address with `.json` returns it, and the types of the scripts are generated from
them (`tests/script_types.py`).
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from pydantic import JsonValue

from longbeam.annotation_ui.transcript import MessageView
from longbeam.review import Anchor, ChangeView, CheckRow, DiffPart, QueueItem, TypedText
from longbeam.schemas import Gate, LeaseView, Probe, ProbeDetails, Record


class MessageLink(Record):
    """A link to a message."""

    message_key: str
    message_id: int
    href: str


class FindingView(Record):
    """A finding of a check, with a link to the place it is about."""

    check: str
    severity: str
    doc: str
    message: str
    href: str
    """The field, nugget or message that the finding is about."""
    place: str
    """Name of that place for people."""
    messages: tuple[MessageLink, ...]


class NuggetView(Record):
    """A nugget with the reviewer's edits and label."""

    nugget_id: str
    text: str
    label: str | None
    """`yes`, `no` or none yet."""
    is_stale: bool
    """Whether a field that the nugget depends on was edited since it was labelled."""


class EvidenceView(Record):
    """A cited message, its place, and whether it still contains the quote."""

    evidence_id: str
    message_key: str
    message_id: int | None
    """None: the message does not exist."""
    quote: str
    part: str
    role: str
    """What the message is to the answer, for people: `old value`, `one side`, the item; empty: it supports it."""
    group: int | None
    nugget_ids: tuple[str, ...]
    attachment: str
    """`attached`, `moved` or `broken`; `whole` where the source has no quote."""
    anchor: Anchor
    start: int
    end: int
    sent_at: dt.datetime | None
    session: int | None
    message: MessageView | None


class OpinionView(Record):
    """One reviewer's opinion."""

    reviewer_id: str
    verdict: str | None
    is_saved: bool
    is_lapsed: bool
    """Whether the probe was edited after a verdict, so that the verdict must be given again."""
    reason_code: str
    note: str
    labels: dict[str, str]
    probe: Probe
    unsaved: tuple[TypedText, ...]
    """Texts that were typed and not saved."""
    changes: tuple[ChangeView, ...]
    """Differences from the sealed probe."""
    guideline_version: str


class NoteView(Record):
    """A comment, a flag for a lead, or why an item was sent back."""

    event_id: str
    reviewer_id: str
    kind: str
    """`commented`, `flagged` or `returned`."""
    target: str
    name: str
    """Name of the target for people."""
    text: str
    created_at: dt.datetime
    href: str
    """Address of the message or the item."""


class AdjudicationView(Record):
    """Decision of a lead."""

    reviewer_id: str
    verdict: str
    taxonomy: str
    confidence: int
    note: str
    judged: tuple[str, ...]
    """Events that hold the opinions on which the lead decided."""
    changes: tuple[ChangeView, ...]


class CandidateLink(Record):
    """A candidate of the same ability."""

    item_id: str
    name: str
    question: str
    is_in_queue: bool
    """Whether it is under review and not rejected."""
    status: str


class QueuePlace(Record):
    """Place of the item in the queue that the address names."""

    index: int | None
    total: int
    previous: str | None
    """Address of the item page."""
    next: str | None


class OwnProgress(Record):
    """Progress of the viewer."""

    mine: int
    """Items that the viewer has judged."""
    mine_wanted: int
    """Items that the viewer has judged or may still judge."""
    today: int
    """Items that the viewer has judged today, by the clock of the server."""
    pace: float | None
    """Items an hour of the viewer's work today; None before the first three."""


class Outdated(Record):
    """A section of the guidelines that has changed since the viewer's opinion, or the decision, was given."""

    section: str
    parts: tuple[DiffPart, ...]
    """Word diff from the text then to the text now."""


class JudgeSays(Record):
    """The judge's verdict on the rubric, beside the reviewer's; hidden until the reviewer has saved."""

    verdict: str
    """`accept`: gold answer scored in full, wrong answers not; else `reject`."""
    text: str


class Solved(Record):
    """The viewer's own answer, given before the gold answer was shown."""

    answer: str
    score: float | None


class ItemView(Record):
    """The item page."""

    item_id: str
    name: str
    """Name of the item for people."""
    item_version: str
    """Every act sends this version; an act on an old version is refused with the differences."""
    conversation_id: str
    ability: str
    ability_title: str
    """Name of the ability for people."""
    panel: PanelKind
    difficulty: str
    question: str
    moment: str
    """The moment for which the answer must be right, if that is not the end of the conversation; else empty."""
    gold_answer: str
    details: ProbeDetails
    rubric: tuple[NuggetView, ...]
    evidence: tuple[EvidenceView, ...]
    opens_at: int
    """Place in `evidence` at which the conversation opens: the newest value of an update, else the first piece."""
    spread: int
    """Distance between the first and the last piece of evidence, in message_ids."""
    sessions_touched: int
    diffs: dict[str, tuple[DiffPart, ...]]
    """Word diffs from the sealed texts to the shown ones, by target; texts that did not change are left out."""
    is_checking: bool
    """Whether the checks run on the benchmark just now."""
    is_checked: bool
    """Whether findings are known: `validate` ran, or the item was checked here."""
    is_findings_current: bool
    """Whether the checks ran on the item as it is now."""
    findings: tuple[FindingView, ...]
    checks: tuple[CheckRow, ...]
    status: str
    overlap: int
    saved: int
    """Opinions saved so far, by anybody."""
    wanted: int
    """Opinions that are still wanted."""
    assigned: tuple[str, ...]
    """People to whom a lead gave the item; empty: anybody."""
    is_blind: bool
    """Whether other opinions are hidden, because not all wanted ones are saved."""
    is_guessable: bool
    """Whether a model that saw nothing of the conversation met the whole rubric (`validate --model-checks`)."""
    mine: OpinionView | None
    """None for viewers who only read."""
    others: tuple[OpinionView, ...]
    adjudication: AdjudicationView | None
    returned: NoteView | None
    notes: tuple[NoteView, ...]
    """Flags, then comments, oldest first."""
    gates: tuple[Gate, ...]
    lease: LeaseView | None
    """The viewer's lease, or the lease that keeps the viewer out."""
    candidates: tuple[CandidateLink, ...]
    place: QueuePlace
    progress: OwnProgress
    outdated: Outdated | None
    judge: JudgeSays | None
    """None before the viewer has saved an opinion."""
    solved: Solved | None
    reasons: dict[str, str]
    """Reasons to reject an item, in the order of their digits, and what each means."""
    can_write: bool
    is_lead: bool
    is_gold: bool | None
    """Shown to leads only."""


class PanelKind(Record):
    """Parts of a panel beyond those of every panel; the pages of the browser read it as JSON."""

    name: str
    further: str = ""
    """Another view that the panel fetches and shows: `absence` or `dates`."""
    has_sessions: bool = False
    """Whether the answer needs several sessions, so that no message may answer the question alone."""
    draft_field: str = ""
    """Field of `ProbeDetails` that a probe written by hand needs: `items` or `missing`."""
    draft_hint: str = ""
    """Hint in that field's input."""


class CounterRow(Record):
    """A message that might change the answer."""

    message_id: int
    message_key: str
    href: str
    speaker: str
    sent_at: dt.datetime
    signs: tuple[str, ...]
    """`other_value`, `change`, `negation`, `same_value`, `same_name`, `later`."""
    excerpt_html: str
    quote: str
    """Text that is cited if the reviewer adopts the message."""
    is_cleared: bool


class CounterView(Record):
    """Ranked messages that could change the answer, without the evidence."""

    terms: tuple[str, ...]
    """Words of the question by which its topic is known."""
    candidates: tuple[CounterRow, ...]


class LedgerValue(Record):
    """One value of a fact, from the plan's ledger."""

    subject: str
    attribute: str
    value: str
    standing: str
    """How the value stands to the others of its fact, in words: `the last value`, `one of two sides`."""
    messages: tuple[MessageLink, ...]
    """User messages that voice the value."""
    sent_at: dt.datetime | None


class DetailRow(Record):
    """Something that a probe says of itself, with its name for people: `old value`, `must not be said`."""

    name: str
    text: str


class Doubt(Record):
    """Something that a person should look at, though no check calls it wrong."""

    text: str
    messages: tuple[MessageLink, ...] = ()


class PanelView(Record):
    """Data of all panels; fields that do not apply to an ability are empty."""

    ability: str
    details: tuple[DetailRow, ...]
    values: tuple[LedgerValue, ...]
    doubts: tuple[Doubt, ...]


@dataclass(frozen=True, kw_only=True)
class QueueRow(QueueItem):
    """One item of the queue, its name, and the address of its page."""

    href: str
    name: str
    ability_title: str


class QueueView(Record):
    """The queue page."""

    benchmark: str
    view: str
    views: dict[str, str]
    """Names of the views for people."""
    people: tuple[str, ...]
    """Reviewers to whom a lead may give items."""
    total: int
    first: int
    rows: tuple[QueueRow, ...]
    counts: dict[str, int]
    """Items in each view."""
    abilities: dict[str, int]
    conversations: dict[str, int]
    overlap: int
    resume: str | None
    """Address of the first item that the viewer has not finished."""
    is_new: bool
    """Whether the viewer has not begun any item."""
    progress: OwnProgress
    waiting_for: str
    """Line that says what the review waits for while the benchmark is being generated; empty if it is complete."""


class FieldCell(Record):
    """A field in one reviewer's version."""

    parts: tuple[DiffPart, ...]
    """Word diff from the text as generated; empty if it is the same."""
    label: str
    """The reviewer's mark on a nugget; empty if there is none."""


class CitedLine(Record):
    """A cited message and its quote, in one line."""

    message_id: int
    speaker: str
    quote: str
    dropped_by: tuple[str, ...]
    """Reviewers who no longer cite it."""


class FieldRow(Record):
    """A field as generated, and in the version of each reviewer."""

    name: str
    target: str
    nugget_id: str
    """Empty for question and gold answer."""
    text: str
    """As the viewer has it: as generated, or with the viewer's own edits."""
    own: tuple[DiffPart, ...]
    """Word diff from the text as generated to the viewer's own; empty if it is the same."""
    cells: tuple[FieldCell, ...]
    """In the order of the opinions."""
    evidence: tuple[CitedLine, ...]
    """Quotes that are cited for the field; for the gold answer, those that name no nugget."""
    is_disputed: bool
    """Whether reviewers marked the nugget differently, one of them "no", or the viewer's edits make it doubtful: a lead
    rules on it."""


class ConflictView(Record):
    """An item on which reviewers differ or differed."""

    item_id: str
    item_version: str
    """Version of the viewer's own opinion, which a decision must name."""
    href: str
    sealed: Probe
    opinions: tuple[OpinionView, ...]
    """All versions, in the order of saving; none stands out."""
    fields: tuple[FieldRow, ...]
    """Question, gold answer and nuggets, each version beside the others."""
    evidence: tuple[int, ...]
    """Cited messages, in the order of the conversation."""
    opens_at: int
    """The message at which the conversation opens: a quote of what is in dispute."""
    is_edited: bool
    """Whether the viewer has edited the item."""
    findings: tuple[FindingView, ...]
    """What the checks say of the viewer's version."""
    name: str
    """Name of the item for people."""
    differs: tuple[str, ...]
    """Names of what reviewers differ in: `the verdict`, `nugget 2`, `the quote of #76`, ..."""
    is_decided: bool


class AdjudicationPage(Record):
    """Conflicts for a lead to decide, and those decided."""

    open: int
    decided: int
    items: tuple[ConflictView, ...]
    """Open conflicts first."""
    taxonomy: dict[str, str]
    """Why reviewers may differ, each with its name for people."""


class AnchorRow(Record):
    """A quote that no longer stands where the reviewer saw it."""

    item_id: str
    href: str
    anchor: Anchor
    attachment: str
    message_key: str
    """Key of the message that contains the quote now; empty if there is none."""


class AnchorsPage(Record):
    """State of all anchors of a benchmark after conversations were generated again."""

    anchors: int
    attached: int
    moved: int
    broken: int
    reattached: float | None
    """Share of the displaced anchors that were found elsewhere; None if none is displaced."""
    rows: tuple[AnchorRow, ...]
    """Moved and broken anchors."""


class GuidelineView(Record):
    """The text for one ability, or `general`."""

    section: str
    name: str
    """Name of the section for people."""
    text: str
    html: str
    version: str
    """The version in which this section was last changed."""


class GuidelinesView(Record):
    """All sections of the guidelines in force."""

    version: str
    sections: tuple[GuidelineView, ...]


class EventView(Record):
    """One event of the log."""

    event_id: str
    item_id: str
    href: str
    item_name: str
    """Name of the subject for people."""
    reviewer_id: str
    kind: str
    target: str
    name: str
    """The act in words for people: `edited the gold answer`."""
    parts: tuple[DiffPart, ...]
    """Word diff from `before` to `after`."""
    value: str
    """The value chosen, searched, or typed; empty where `parts` say it."""
    before: JsonValue
    after: JsonValue
    reason_code: str
    note: str
    guideline_version: str
    created_at: dt.datetime
    is_undone: bool


class HistoryView(Record):
    """Events that the viewer may see, newest first."""

    subject: str
    """Name of the item for people; empty: the whole benchmark."""
    total: int
    events: tuple[EventView, ...]


class ConversationRow(Record):
    """One conversation of the benchmark."""

    conversation_id: str
    href: str
    is_sealed: bool
    title: str = ""
    domain: str = ""
    messages: int = 0
    tokens: int = 0
    items: int = 0
    finished: int = 0
    state: str
    """`sealed`, or the progress of the run."""


class ConversationsView(Record):
    """All conversations of the benchmark, unfinished ones included."""

    benchmark: str
    conversations: tuple[ConversationRow, ...]


class ConversationFinding(Record):
    """A finding on a conversation outside its probes."""

    check: str
    severity: str
    subject: str
    message: str
    href: str | None
    """The transcript at the message of the finding; None if it is about no message."""


class RatingView(Record):
    """Ratings of one aspect."""

    mine: int | None
    others: dict[str, int]
    """By reviewer; empty while blind."""
    saved: int
    mean: float | None


class ConversationView(Record):
    """One conversation: subject, size and parts; its messages are read by window."""

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
    """Findings on messages, plans or the whole, worst first; the item pages show findings on probes."""
    findings_total: int
