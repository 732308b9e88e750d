"""Records of the item page, and those of them that other pages show, too: opinions, evidence, comments."""

from __future__ import annotations

import datetime as dt

from pydantic import JsonValue

from longbeam.annotation_ui.links import FindingView, item_href, message_href
from longbeam.annotation_ui.panel_kinds import PanelKind
from longbeam.annotation_ui.rendering import Mark
from longbeam.annotation_ui.transcript import MessageMarks, MessageView, view_of
from longbeam.keys import conversation_of
from longbeam.review.anchors import Anchor, CitedQuote, cited_quotes, evidence_id_of
from longbeam.review.archive import OpenConversation
from longbeam.review.checks import CheckRow
from longbeam.review.diffs import ChangeView, DiffPart, change_view
from longbeam.review.fold import MESSAGE, Opinion, probe_changes
from longbeam.review.names import field_name
from longbeam.schemas.base import Record
from longbeam.schemas.probes import Probe, ProbeDetails
from longbeam.schemas.review import ITEM_TARGET, Gate, LeaseView, ReviewEvent


class NuggetView(Record):
    """A nugget with the reviewer's edits and label."""

    nugget_id: str
    text: str
    sealed_text: str | None
    """None: the reviewer added it."""
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


class SearchMade(Record):
    """A search recorded for this item."""

    query: str
    total: int


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
    stale: tuple[str, ...]
    drafts: dict[str, JsonValue]
    searches: tuple[SearchMade, ...]
    cleared: tuple[str, ...]
    probe: Probe
    unsaved: dict[str, str]
    """Texts that were typed and not saved, by target."""
    changes: tuple[ChangeView, ...]
    """Differences from the sealed probe."""
    saved_at: dt.datetime | None
    guideline_version: str
    active_ms: int


class CommentView(Record):
    """A comment on the item or on a message."""

    event_id: str
    reviewer_id: str
    target: str
    name: str
    """Name of the target for people."""
    text: str
    created_at: dt.datetime
    href: str
    """Address of the message or the item."""


class FlagView(Record):
    """A flag for a lead."""

    event_id: str
    reviewer_id: str
    target: str
    name: str
    note: str


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
    probe_id: str
    rank: int
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
    """Progress of the viewer and of the review."""

    mine: int
    """Items that the viewer has judged."""
    mine_wanted: int
    """Items that the viewer has judged or may still judge."""
    finished: int
    items: int


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
    """Messages around the evidence if `k` asks for them: in order, each once, the evidence included."""
    spread: int
    """Distance between the first and the last piece of evidence, in message_ids."""
    sessions_touched: int
    diffs: dict[str, tuple[DiffPart, ...]]
    """Word diffs from the sealed texts to the shown ones, by target; texts that did not change are left out."""
    sealed: Probe
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
    is_blind: bool
    """Whether other opinions are hidden, because not all wanted ones are saved."""
    is_guessable: bool
    """Whether a model that saw nothing of the conversation met the whole rubric (`validate --model-checks`)."""
    mine: OpinionView | None
    """None for viewers who only read."""
    others: tuple[OpinionView, ...]
    adjudication: AdjudicationView | None
    returned: CommentView | None
    former_verdicts: int
    """Verdicts on earlier versions of the sealed probe; they no longer count."""
    flags: tuple[FlagView, ...]
    comments: tuple[CommentView, ...]
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
    guideline_version: str
    reason_codes: tuple[str, ...]
    can_write: bool
    is_gold: bool | None = None
    """Shown to leads only."""


def opinion_view(opinion: Opinion, sealed: Probe) -> OpinionView:
    """Return an opinion as pages show it."""
    return OpinionView(
        reviewer_id=opinion.reviewer_id,
        verdict=opinion.verdict.value if opinion.verdict else None,
        is_saved=opinion.is_saved,
        is_lapsed=opinion.is_lapsed,
        reason_code=opinion.reason_code,
        note=opinion.note,
        labels={k: v.value for k, v in opinion.labels.items()},
        stale=tuple(opinion.stale),
        drafts=opinion.drafts,
        searches=tuple(SearchMade(query=s.query, total=s.total) for s in opinion.searches),
        cleared=tuple(sorted(opinion.cleared)),
        unsaved=opinion.unsaved,
        probe=opinion.probe,
        changes=changes_between(sealed, opinion.probe),
        saved_at=opinion.saved_at,
        guideline_version=opinion.guideline_version,
        active_ms=opinion.active_ms,
    )


def changes_between(before: Probe, after: Probe) -> tuple[ChangeView, ...]:
    """Return the differences of two versions of a probe as pages show them."""
    return tuple(change_view(c, field_name(after, c.target)) for c in probe_changes(before, after))


def evidence_views(conversation: OpenConversation, probe: Probe, sealed: Probe) -> list[EvidenceView]:
    """Return the evidence of a probe, each message opened at its quote."""
    known = {evidence_id_of(e) for e in sealed.evidence}
    return [
        _evidence_view(conversation, quote, is_added=evidence_id_of(quote.evidence) not in known)
        for quote in cited_quotes(conversation, probe)
    ]


def comment_view(event: ReviewEvent, conversation: OpenConversation, item_id: str) -> CommentView:
    """Return a comment with the address of its place."""
    key = event.target.removeprefix(MESSAGE)
    message_id = conversation.ids.get(key) if event.target.startswith(MESSAGE) else None
    conversation_id = conversation_of(item_id)
    place = item_href(item_id) if message_id is None else message_href(conversation_id, message_id, item_id)
    return CommentView(
        event_id=event.event_id,
        reviewer_id=event.reviewer_id,
        target=event.target,
        name=field_name(None, event.target) if event.target != ITEM_TARGET else "the item",
        text=event.note,
        created_at=event.created_at,
        href=f"{place}#comment-{event.event_id}",
    )


def _evidence_view(conversation: OpenConversation, quote: CitedQuote, *, is_added: bool) -> EvidenceView:
    evidence, message, place = quote.evidence, quote.message, quote.place
    evidence_id = evidence_id_of(evidence)
    marks = [Mark(start=place[0], end=place[1])] if place else []
    return EvidenceView(
        evidence_id=evidence_id,
        message_key=evidence.message_key,
        message_id=conversation.ids.get(evidence.message_key),
        quote=evidence.quote,
        part=evidence.part,
        group=evidence.group,
        nugget_ids=evidence.nugget_ids,
        attachment=quote.attachment,
        anchor=quote.anchor,
        start=place[0] if place else 0,
        end=place[1] if place else 0,
        sent_at=message.sent_at if message else None,
        session=message.session if message else None,
        plan_index=message.plan_index if message else None,
        is_added=is_added,
        message=view_of(message, MessageMarks(marks, [evidence_id])) if message else None,
    )
