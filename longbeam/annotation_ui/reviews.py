"""Views of the review as a whole: the queue, conflicts, anchors, guidelines, and the log."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass

from longbeam.abilities import ability_of
from longbeam.annotation_ui.items import opinion_view, own_work
from longbeam.annotation_ui.links import conversation_href, finding_views, item_href
from longbeam.annotation_ui.rendering import render, without_markdown
from longbeam.annotation_ui.views import (
    AdjudicationPage,
    AnchorRow,
    AnchorsPage,
    CitedLine,
    ConflictView,
    EventView,
    FieldCell,
    FieldRow,
    GuidelinesView,
    GuidelineView,
    HistoryView,
    QueueRow,
    QueueView,
)
from longbeam.keys import conversation_of
from longbeam.review import (
    SETTINGS_OWNER,
    VIEWS,
    Attachment,
    DiffPart,
    ItemState,
    ItemStatus,
    OpenConversation,
    Opinion,
    QueueFilter,
    Viewer,
    Workspace,
    act_name,
    all_items,
    anchor_report,
    current_version,
    evidence_id_of,
    field_name,
    guidelines_in_force,
    in_force,
    is_in_view,
    is_rating_open,
    item_name,
    known_findings,
    ratings_of,
    resume_at,
    section_name,
    shown_value,
    text_at,
    undoable,
    wanted_items,
    word_diff,
)
from longbeam.schemas import EVIDENCE, ITEM_TARGET, NUGGET, EventKind, NuggetLabel, Probe, ReviewEvent, Taxonomy


@dataclass(frozen=True)
class HistoryFilter:
    """Filter of the log, as its address carries it."""

    item_id: str = ""
    """Empty: the log of the whole benchmark."""
    reviewer: str = ""
    kind: str = ""
    first: int = 0
    count: int = 100


def queue_view(workspace: Workspace, viewer: Viewer, wanted: QueueFilter) -> QueueView:
    """Return the wanted rows of the queue, and how many items each view has."""
    items = all_items(workspace, viewer, with_doubt=wanted.order == "doubt")
    shown = wanted_items(items, viewer, wanted)
    resume = resume_at(items, viewer)
    page = shown[wanted.first : wanted.first + wanted.count]
    return QueueView(
        benchmark=workspace.archive.name,
        view=wanted.view,
        views=VIEWS,
        people=_people(workspace) if viewer.is_lead else (),
        progress=own_work(items, viewer),
        total=len(shown),
        first=wanted.first,
        rows=tuple(
            QueueRow(
                href=item_href(item.item_id),
                name=item_name(item.item_id),
                ability_title=ability_of(item.ability).shown_as,
                **asdict(item),
            )
            for item in page
        ),
        counts={view: sum(is_in_view(item, view, viewer) for item in items) for view in VIEWS},
        abilities=dict(Counter(item.ability for item in items)),
        conversations=dict(Counter(item.conversation_id for item in items)),
        overlap=workspace.settings.overlap,
        resume=item_href(resume.item_id) if resume else None,
        is_new=all(item.mine == "none" for item in items),
        waiting_for=_waiting_for(workspace),
    )


def _people(workspace: Workspace) -> tuple[str, ...]:
    """Return everybody who has acted in this review."""
    names = {e.reviewer_id for e in workspace.log.events()} - {SETTINGS_OWNER, *workspace.settings.shipped}
    return tuple(sorted(names))


def _waiting_for(workspace: Workspace) -> str:
    all_ids, sealed = workspace.archive.benchmark.conversation_ids, workspace.archive.conversation_ids
    missing = len(all_ids) - len(sealed)
    if not missing:
        return ""
    if not sealed:
        return "No conversation is finished yet. The items of the first one appear here as soon as it is."
    return f"{len(sealed)} of {len(all_ids)} conversations are finished; items of the others appear as they are."


LEADS_ONLY = frozenset({EventKind.GOLD_SET})
QUIET = frozenset({EventKind.OPENED, EventKind.DRAFTED, EventKind.LOOKED})
"""Kinds that the log of a benchmark shows only if they are asked for: they would bury the decisions."""


WHY_THEY_DIFFER: dict[str, str] = {
    Taxonomy.AMBIGUOUS: "the item can be read in two ways",
    Taxonomy.GUIDELINE_GAP: "the guidelines do not say",
    Taxonomy.ANNOTATOR_ERROR: "somebody made a mistake",
    Taxonomy.EDGE_CASE: "it is a rare case",
    Taxonomy.OTHER: "something else",
}


def adjudication_page(workspace: Workspace, viewer: Viewer) -> AdjudicationPage:
    """Return all items in conflict, and those that a lead has decided."""
    found = []
    for item_id in workspace.reviewed_ids():
        state = workspace.state(item_id)
        is_conflict = state.status is ItemStatus.CONFLICT or state.adjudication is not None
        if is_conflict and state.is_open_to(viewer):
            found.append(_conflict(workspace, item_id, viewer))
    decided = [c for c in found if c.is_decided]
    waiting = [c for c in found if not c.is_decided]
    return AdjudicationPage(
        open=len(waiting), decided=len(decided), items=(*waiting, *decided), taxonomy=WHY_THEY_DIFFER
    )


def anchors_page(workspace: Workspace) -> AnchorsPage:
    """Return where every anchor of the log stands now."""
    report = anchor_report(workspace.archive, workspace.log.events())
    return AnchorsPage(
        anchors=sum(report.counts.values()),
        attached=report.counts[Attachment.ATTACHED],
        moved=report.counts[Attachment.MOVED],
        broken=report.counts[Attachment.BROKEN],
        reattached=report.reattached,
        rows=tuple(
            AnchorRow(
                item_id=displaced.item_id,
                href=item_href(displaced.item_id),
                anchor=displaced.anchor,
                attachment=displaced.found.attachment.value,
                message_key=displaced.found.message_key,
            )
            for displaced in report.displaced
        ),
    )


def guidelines_view(workspace: Workspace) -> GuidelinesView:
    """Return the guidelines in force."""
    sections = tuple(
        GuidelineView.taken_from(g, name=section_name(g.section), html=render(g.text, breaks=False))
        for g in guidelines_in_force(workspace).values()
    )
    return GuidelinesView(version=current_version(workspace), sections=sections)


def history_view(workspace: Workspace, viewer: Viewer, wanted: HistoryFilter) -> HistoryView:
    """Return the events that the viewer may see, newest first."""
    events = list(workspace.log.of_item(wanted.item_id)) if wanted.item_id else workspace.log.events()
    counted = {e.event_id for e in in_force(events)}
    shown = [
        e
        for e in reversed(events)
        if wanted.reviewer in ("", e.reviewer_id)
        and (wanted.kind == e.kind.value if wanted.kind else wanted.item_id or e.kind not in QUIET)
        and may_see(workspace, viewer, e)
    ]
    first = max(wanted.first, 0)
    views = [
        event_view(e, is_undone=e.event_id not in counted and e.kind is not EventKind.UNDONE)
        for e in shown[first : first + min(max(wanted.count, 1), 1000)]
    ]
    subject = item_name(wanted.item_id) if wanted.item_id else ""
    return HistoryView(subject=subject, total=len(shown), events=tuple(views))


def decisions_view(workspace: Workspace, viewer: Viewer, most: int = 50) -> HistoryView:
    """Return the viewer's last acts that can be undone."""
    found = undoable(workspace.log.events(), viewer.reviewer_id)[-most:] if viewer.can_write else []
    return HistoryView(subject="", total=len(found), events=tuple(event_view(e) for e in reversed(found)))


def event_view(event: ReviewEvent, *, is_undone: bool = False) -> EventView:
    """Return an event as it is shown."""
    is_snapshot = event.kind is EventKind.OPENED
    is_text = event.kind in (EventKind.EDITED, EventKind.GUIDED)
    return EventView.taken_from(
        event,
        href=href_of(event),
        item_name=item_name(event.item_id),
        name=act_name(event.kind, event.target),
        parts=word_diff(shown_value(event.before), shown_value(event.after)) if is_text else (),
        value="" if is_text or is_snapshot or event.kind is EventKind.ADJUDICATED else shown_value(event.after),
        after=None if is_snapshot else event.after,
        is_undone=is_undone,
    )


def href_of(event: ReviewEvent) -> str:
    """Return the address of the page that shows the subject of an event."""
    if event.is_on_probe:
        return item_href(event.item_id)
    return conversation_href(event.item_id) if event.item_id else "/guidelines"


def may_see(workspace: Workspace, viewer: Viewer, event: ReviewEvent) -> bool:
    """Whether a viewer may read an event: blind until all opinions that were wanted are saved."""
    if event.kind in LEADS_ONLY:
        return viewer.is_lead
    if event.reviewer_id == viewer.reviewer_id:
        return True
    if event.kind in (EventKind.DRAFTED, EventKind.OPENED, EventKind.LOOKED):
        return False
    if event.kind in (EventKind.GUIDED, EventKind.CONFIGURED):
        return True
    try:
        if event.is_on_probe:
            return workspace.state(event.item_id).is_open_to(viewer)
        given = ratings_of(workspace, event.item_id).values()
        return all(is_rating_open(workspace, viewer, by) for by in given)
    except KeyError:  # its conversation is no longer there
        return viewer.is_lead


def _field_rows(conversation: OpenConversation, state: ItemState, own: Opinion) -> tuple[FieldRow, ...]:
    """Return the texts of an item beside those of each version; a nugget that somebody added has no text of its own."""
    ids = conversation.ids
    cited = {evidence_id_of(e): e for p in _versions(state) for e in p.evidence if e.message_key in ids}
    kept = {o.reviewer_id: {evidence_id_of(e) for e in o.probe.evidence} for o in state.saved}
    targets = ["question", "gold_answer"]
    targets += dict.fromkeys(f"{NUGGET}{n.nugget_id}" for p in _versions(state) for n in p.rubric)
    rows = []
    for target in targets:
        nugget_id = target.removeprefix(NUGGET) if target.startswith(NUGGET) else ""
        cells = []
        for opinion in state.saved:
            label = opinion.labels.get(nugget_id)
            cells.append(FieldCell(parts=_changed(state, opinion, target), label=label.value if label else ""))
        labels = {c.label for c in cells}
        is_gold = target == "gold_answer"
        belongs = [e for e in cited.values() if nugget_id in e.nugget_ids or (is_gold and not e.nugget_ids)]
        rows.append(
            FieldRow(
                name=field_name(state.base, target),
                target=target,
                nugget_id=nugget_id,
                text=str(text_at(own.probe, target) or ""),
                own=_changed(state, own, target),
                cells=tuple(cells),
                evidence=tuple(
                    CitedLine(
                        message_id=(at := ids[e.message_key]),
                        speaker=conversation.lines[at].speaker,
                        quote=without_markdown(e.quote),
                        dropped_by=tuple(who for who, own in kept.items() if evidence_id_of(e) not in own),
                    )
                    for e in belongs
                ),
                is_disputed=NuggetLabel.NO in labels or len(labels - {""}) > 1 or target in own.stale,
            )
        )
    # After question and gold answer, what differs comes first: the rest is the same for everybody.
    return (*rows[:2], *sorted(rows[2:], key=_calm))


def _calm(row: FieldRow) -> bool:
    """Whether nobody disputes a field or has changed it."""
    return not row.is_disputed and not any(c.parts for c in row.cells)


def _changed(state: ItemState, opinion: Opinion, target: str) -> tuple[DiffPart, ...]:
    sealed, own = (str(text_at(probe, target) or "") for probe in (state.base, opinion.probe))
    return word_diff(sealed, own) if own != sealed else ()


def _versions(state: ItemState) -> list[Probe]:
    return [state.base, *(opinion.probe for opinion in state.saved)]


def _conflict(workspace: Workspace, item_id: str, viewer: Viewer) -> ConflictView:
    state = workspace.state(item_id)
    conversation = workspace.conversation(conversation_of(item_id))
    ids = conversation.ids
    cited = [{ids[e.message_key] for e in p.evidence if e.message_key in ids} for p in _versions(state)]
    everything = sorted(set.union(*cited))
    opinions = tuple(opinion_view(o, state.base) for o in state.saved)
    own = state.opinion(viewer.reviewer_id)
    fields = _field_rows(conversation, state, own)
    # What is in dispute comes first: a message that not all of them cite, then quotes of a disputed field; a dispute
    # on the whole item opens at the gold answer's own quotes.
    doubted = [i for i in everything if not all(i in of for of in cited)]
    quoted = [line.message_id for row in sorted(fields, key=_calm) for line in row.evidence]
    verdicts = {o.verdict for o in opinions}
    changes = [{c.target: c.after for c in o.changes} for o in opinions]
    targets = dict.fromkeys(target for values in changes for target in values)
    differs = [t for t in targets if len({str(values.get(t, "as sealed")) for values in changes}) > 1]
    named = dict.fromkeys(field_name(state.base, t) for t in differs if not t.startswith(EVIDENCE))
    named |= dict.fromkeys(row.name for row in fields if len({c.label for c in row.cells}) > 1)
    named |= dict.fromkeys(f"the quote of #{i}" for i in doubted)
    return ConflictView(
        item_id=item_id,
        item_version=own.version,
        href=item_href(item_id),
        sealed=state.base,
        opinions=opinions,
        fields=fields,
        evidence=tuple(everything),
        opens_at=next(iter((*doubted, *quoted, *everything)), 0),
        is_edited=own.is_edited,
        findings=tuple(
            finding_views(
                workspace, conversation_of(item_id), item_id, known_findings(workspace, item_id, state, own)[2]
            )
        ),
        name=item_name(item_id),
        differs=((field_name(None, ITEM_TARGET),) if len(verdicts) > 1 else ()) + tuple(named),
        is_decided=state.adjudication is not None,
    )
