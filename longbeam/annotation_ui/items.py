"""The item page: a probe with its evidence in place, findings first, opinions as far as the viewer may see them."""

from __future__ import annotations

from collections.abc import Sequence

from longbeam.abilities.registry import ability_of
from longbeam.annotation_ui import causes, leases
from longbeam.annotation_ui.anchors import Anchor, anchor_at, evidence_id_of, find_quote
from longbeam.annotation_ui.archive import OpenConversation
from longbeam.annotation_ui.changes import probe_changes
from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.fold import NUGGET, Opinion
from longbeam.annotation_ui.gates import gates_of
from longbeam.annotation_ui.guidelines import current_version
from longbeam.annotation_ui.panel_kinds import panel_kind_of
from longbeam.annotation_ui.people import Viewer
from longbeam.annotation_ui.queue import QueueFilter, wanted_rows
from longbeam.annotation_ui.rendering import Mark
from longbeam.annotation_ui.state import Adjudication
from longbeam.annotation_ui.transcript import MessageView, view_of
from longbeam.annotation_ui.views import (
    AdjudicationView,
    CandidateLink,
    CommentView,
    EvidenceView,
    FlagView,
    ItemView,
    NuggetView,
    OpinionView,
    QueuePlace,
    SearchMade,
)
from longbeam.schemas.probes import Evidence, Probe
from longbeam.schemas.review import REASON_CODES, ReviewEvent, probe_item_id


def item_view(desk: Desk, viewer: Viewer, item_id: str, *, k: int = 0, wanted: QueueFilter | None = None) -> ItemView:
    """Return the page of an item; `k` messages around each piece of evidence, `wanted` is the queue it is read in.

    Raises KeyError if there is no such item.
    """
    state = desk.state(item_id)
    conversation_id = item_id.partition("/")[0]
    conversation = desk.conversation(conversation_id)
    opinion = state.opinion(viewer.reviewer_id)
    # Whoever has edited sees the own version; others see what was decided, or the probe as sealed.
    shown = opinion.probe if opinion.is_edited else state.probe
    evidence = evidence_views(conversation, shown, state.base)
    is_checked, is_current, findings = causes.known_findings(desk, item_id, state, opinion)
    is_open = state.is_open
    comments = [c for c in state.comments if is_open or c.reviewer_id == viewer.reviewer_id or viewer.is_lead]
    places = [e.message_id for e in evidence if e.message_id is not None]
    return ItemView(
        item_id=item_id,
        item_version=opinion.version,
        conversation_id=conversation_id,
        conversation_title=conversation.title,
        probe_id=shown.probe_id,
        ability=shown.ability,
        ability_title=ability_of(shown.ability).shown_as,
        panel=panel_kind_of(shown.ability),
        source_category=shown.source_category,
        difficulty=shown.difficulty.value,
        question=shown.question,
        gold_answer=shown.gold_answer,
        details=shown.details,
        asked_at=shown.asked_at,
        rubric=_nugget_views(shown, state.base, opinion),
        evidence=tuple(evidence),
        removed_evidence=tuple(_removed(conversation, shown, state.base)),
        context=tuple(_context(conversation, evidence, k)),
        spread=max(places) - min(places) if places else 0,
        sessions_touched=len({e.session for e in evidence if e.session is not None}),
        sealed=state.base,
        is_checked=is_checked,
        is_findings_current=is_current,
        findings=tuple(causes.finding_views(desk, conversation_id, item_id, findings)),
        checks=tuple(causes.check_rows(is_checked, findings)),
        status=state.status.value,
        overlap=state.overlap,
        saved=len(state.saved),
        is_blind=not is_open,
        mine=opinion_view(opinion, state.base) if viewer.can_write else None,
        others=tuple(
            opinion_view(o, state.base) for o in state.saved if is_open and o.reviewer_id != viewer.reviewer_id
        ),
        adjudication=_adjudication_view(state.adjudication, state.base),
        returned=comment_view(state.returned, conversation, item_id) if state.returned else None,
        former_verdicts=state.former,
        flags=tuple(
            FlagView(event_id=f.event_id, reviewer_id=f.reviewer_id, target=f.target, note=f.note)
            for f in state.flags
            if is_open or viewer.is_lead or f.reviewer_id == viewer.reviewer_id
        ),
        comments=tuple(comment_view(c, conversation, item_id) for c in comments),
        gates=tuple(gates_of(desk, item_id, state, opinion)),
        lease=leases.lease_of(desk, item_id, viewer),
        candidates=tuple(_candidates(desk, conversation_id, shown.ability)),
        place=_place(desk, viewer, item_id, wanted or QueueFilter()),
        guideline_version=current_version(desk),
        reason_codes=REASON_CODES,
        can_write=viewer.can_write,
        is_gold=(desk.gold_verdict(item_id) is not None) if viewer.is_lead else None,
    )


def opinion_view(opinion: Opinion, sealed: Probe) -> OpinionView:
    """Return an opinion as it is shown."""
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
        searches=tuple(SearchMade(query=s.query, total=s.total, looked_at=s.looked_at) for s in opinion.searches),
        cleared=tuple(sorted(opinion.cleared)),
        probe=opinion.probe,
        changes=tuple(probe_changes(sealed, opinion.probe)),
        saved_at=opinion.saved_at,
        guideline_version=opinion.guideline_version,
        active_ms=opinion.active_ms,
    )


def evidence_views(conversation: OpenConversation, probe: Probe, sealed: Probe) -> list[EvidenceView]:
    """Return the evidence of a probe, each message opened at its quote."""
    ids = conversation.ids
    known = {evidence_id_of(e) for e in sealed.evidence}
    wanted = [ids[e.message_key] for e in probe.evidence if e.message_key in ids]
    messages = {m.message_key: m for m in conversation.messages_of(wanted)}
    views = []
    for evidence in probe.evidence:
        message = messages.get(evidence.message_key)
        evidence_id = evidence_id_of(evidence)
        place = find_quote(message.content, evidence.quote) if message else None
        view = None
        if message is not None:
            marks = [Mark(start=place[0], end=place[1])] if place else []
            view = view_of(message, marks, evidence_ids=[evidence_id])
        views.append(
            EvidenceView(
                evidence_id=evidence_id,
                message_key=evidence.message_key,
                message_id=ids.get(evidence.message_key),
                quote=evidence.quote,
                part=evidence.part,
                group=evidence.group,
                nugget_ids=evidence.nugget_ids,
                attachment=_attachment(evidence, is_there=message is not None, is_found=place is not None),
                anchor=anchor_at(evidence.message_key, message.content, *place)
                if message and place
                else Anchor(message_key=evidence.message_key, quote=evidence.quote),
                start=place[0] if place else 0,
                end=place[1] if place else 0,
                sent_at=message.sent_at if message else None,
                session=message.session if message else None,
                plan_index=message.plan_index if message else None,
                is_added=evidence_id not in known,
                message=view,
            )
        )
    return views


def comment_view(event: ReviewEvent, conversation: OpenConversation, item_id: str) -> CommentView:
    """Return a comment with the address that opens at it."""
    key = event.target.removeprefix("message/")
    message_id = conversation.ids.get(key) if event.target.startswith("message/") else None
    conversation_id = item_id.partition("/")[0]
    place = (
        causes.item_href(item_id) if message_id is None else causes.message_href(conversation_id, message_id, item_id)
    )
    return CommentView(
        event_id=event.event_id,
        reviewer_id=event.reviewer_id,
        target=event.target,
        text=event.note,
        created_at=event.created_at,
        href=f"{place}#comment-{event.event_id}",
    )


def _attachment(evidence: Evidence, *, is_there: bool, is_found: bool) -> str:
    if is_there and not evidence.quote.strip():
        return "whole"
    return "attached" if is_found else "broken"


def _nugget_views(shown: Probe, sealed: Probe, opinion: Opinion) -> tuple[NuggetView, ...]:
    texts = {n.nugget_id: n.text for n in sealed.rubric}
    return tuple(
        NuggetView(
            nugget_id=n.nugget_id,
            text=n.text,
            sealed_text=texts.get(n.nugget_id),
            label=opinion.labels[n.nugget_id].value if n.nugget_id in opinion.labels else None,
            is_stale=f"{NUGGET}{n.nugget_id}" in opinion.stale,
        )
        for n in shown.rubric
    )


def _removed(conversation: OpenConversation, shown: Probe, sealed: Probe) -> list[EvidenceView]:
    kept = {evidence_id_of(e) for e in shown.evidence}
    gone = sealed.model_copy(update={"evidence": tuple(e for e in sealed.evidence if evidence_id_of(e) not in kept)})
    return evidence_views(conversation, gone, sealed) if gone.evidence else []


def _context(conversation: OpenConversation, evidence: Sequence[EvidenceView], k: int) -> list[MessageView]:
    if k <= 0:
        return []
    marks: dict[str, list[Mark]] = {}
    cited: dict[str, list[str]] = {}
    wanted: set[int] = set()
    for e in evidence:
        if e.message_id is not None:
            wanted |= set(range(max(e.message_id - k, 0), e.message_id + k + 1))
            cited.setdefault(e.message_key, []).append(e.evidence_id)
            if e.end > e.start:
                marks.setdefault(e.message_key, []).append(Mark(start=e.start, end=e.end))
    return [
        view_of(m, marks.get(m.message_key, ()), evidence_ids=cited.get(m.message_key, ()))
        for m in conversation.messages_of(wanted)
        if m.message_id in wanted
    ]


def _adjudication_view(adjudication: Adjudication | None, sealed: Probe) -> AdjudicationView | None:
    if adjudication is None:
        return None
    return AdjudicationView(
        reviewer_id=adjudication.reviewer_id,
        verdict=adjudication.verdict.value,
        taxonomy=adjudication.taxonomy.value,
        confidence=adjudication.confidence,
        note=adjudication.note,
        judged=adjudication.judged,
        changes=tuple(probe_changes(sealed, adjudication.probe)),
    )


def _candidates(desk: Desk, conversation_id: str, ability: str) -> list[CandidateLink]:
    entries = desk.entries(conversation_id)
    links = []
    for probe in (*desk.probes(conversation_id).values(), *desk.written(conversation_id).values()):
        if probe.ability == ability:
            item_id = probe_item_id(conversation_id, probe.probe_id)
            status = desk.state(item_id).status.value
            links.append(
                CandidateLink(
                    item_id=item_id,
                    probe_id=probe.probe_id,
                    rank=probe.rank,
                    question=probe.question,
                    is_in_queue=probe.probe_id in entries and status != "rejected",
                    status=status,
                )
            )
    return links


def _place(desk: Desk, viewer: Viewer, item_id: str, wanted: QueueFilter) -> QueuePlace:
    rows = wanted_rows(desk, viewer, wanted)
    at = next((i for i, row in enumerate(rows) if row.item_id == item_id), None)
    if at is None:  # a filtered queue loses an item when it is judged; the next one still follows its place
        return QueuePlace(index=None, total=len(rows), previous=None, next=rows[0].href if rows else None)
    return QueuePlace(
        index=at,
        total=len(rows),
        previous=rows[at - 1].href if at else None,
        next=rows[at + 1].href if at + 1 < len(rows) else None,
    )
