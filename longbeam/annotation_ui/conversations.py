"""The pages about conversations: the list, with those still being made; one of them; and what an item marks in it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from longbeam.annotation_ui.anchors import evidence_id_of, find_quote
from longbeam.annotation_ui.archive import OpenConversation
from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.fold import MESSAGE
from longbeam.annotation_ui.people import Viewer
from longbeam.annotation_ui.ratings import rating_views
from longbeam.annotation_ui.rendering import Mark
from longbeam.annotation_ui.state import FINAL
from longbeam.annotation_ui.views import ConversationFinding, ConversationRow, ConversationsView, ConversationView
from longbeam.errors import StoreError
from longbeam.schemas.findings import Finding, Severity
from longbeam.schemas.review import probe_item_id

MOST_FINDINGS = 200


@dataclass
class Shown:
    """What is to be seen in the messages of a conversation while an item is open; by message key."""

    marks: dict[str, list[Mark]] = field(default_factory=dict)
    evidence_ids: dict[str, list[str]] = field(default_factory=dict)
    comments: dict[str, int] = field(default_factory=dict)


def marks_for(desk: Desk, viewer: Viewer, conversation: OpenConversation, item_id: str) -> Shown:
    """Return the evidence of an item, as the viewer has it, and the comments on messages; nothing for no item."""
    shown = Shown()
    try:
        state = desk.state(item_id)
    except KeyError:
        return shown
    opinion = state.opinion(viewer.reviewer_id)
    probe = opinion.probe if opinion.is_edited else state.probe
    ids = conversation.ids
    messages = {
        m.message_key: m.content
        for m in conversation.messages_of(ids[e.message_key] for e in probe.evidence if e.message_key in ids)
    }
    for evidence in probe.evidence:
        key = evidence.message_key
        shown.evidence_ids.setdefault(key, []).append(evidence_id_of(evidence))
        if key in messages and (place := find_quote(messages[key], evidence.quote)):
            shown.marks.setdefault(key, []).append(Mark(start=place[0], end=place[1]))
    for comment in state.comments:
        if comment.target.startswith(MESSAGE) and (state.is_open or comment.reviewer_id == viewer.reviewer_id):
            key = comment.target.removeprefix(MESSAGE)
            shown.comments[key] = shown.comments.get(key, 0) + 1
    return shown


def conversations_view(desk: Desk, viewer: Viewer) -> ConversationsView:
    """Return all conversations of the benchmark, sealed or not."""
    benchmark = desk.archive.benchmark
    sealed = set(desk.archive.conversation_ids)
    progress = {} if sealed.issuperset(benchmark.conversation_ids) else _progress(desk)
    rows = [
        _sealed_row(desk, i) if i in sealed else _unsealed_row(i, progress.get(i, "not begun"))
        for i in benchmark.conversation_ids
    ]
    return ConversationsView(
        benchmark=desk.archive.name, is_import=bool(benchmark.spec.imported_from), conversations=tuple(rows)
    )


def conversation_view(desk: Desk, viewer: Viewer, conversation_id: str) -> ConversationView:
    """Return one conversation without its messages."""
    conversation = desk.conversation(conversation_id)
    lines = conversation.lines
    ((title, theme, domain, user),) = conversation.rows(
        "SELECT seed.title, seed.theme, seed.domain, coalesce(profile.name, '') FROM sealed.conversation"
    )
    found = _findings(desk, conversation_id)
    abilities = Counter(desk.probes(conversation_id)[p].ability for p in _sealed_entries(desk, conversation_id))
    return ConversationView(
        conversation_id=conversation_id,
        title=title,
        theme=theme,
        domain=domain,
        first_day=lines[0].sent_at.date() if lines else None,
        last_day=lines[-1].sent_at.date() if lines else None,
        user=user,
        messages=len(lines),
        tokens=sum(line.tokens for line in lines),
        sessions=len({line.session for line in lines}),
        plans=len({line.plan_index for line in lines} - {None}),
        abilities=dict(abilities),
        ratings=rating_views(desk, viewer, conversation_id),
        findings=tuple(_finding_view(conversation, conversation_id, f) for f in found[:MOST_FINDINGS]),
        findings_total=len(found),
    )


def _findings(desk: Desk, conversation_id: str) -> list[Finding]:
    probes = {*desk.probes(conversation_id), *desk.written(conversation_id)}
    found = [f for f in desk.archive.findings if f.conversation_id == conversation_id and f.subject not in probes]
    return sorted(found, key=lambda f: list(Severity).index(f.severity))


def _finding_view(conversation: OpenConversation, conversation_id: str, finding: Finding) -> ConversationFinding:
    keys = [k for k in (finding.subject, *finding.evidence) if k in conversation.ids]
    return ConversationFinding(
        check=finding.check,
        severity=finding.severity.value,
        subject=finding.subject,
        message=finding.message,
        href=f"/conversations/{conversation_id}/messages?first={conversation.ids[keys[0]]}" if keys else None,
    )


def _sealed_entries(desk: Desk, conversation_id: str) -> list[str]:
    known = desk.probes(conversation_id)
    return [probe_id for probe_id in desk.entries(conversation_id) if probe_id in known]


def _sealed_row(desk: Desk, conversation_id: str) -> ConversationRow:
    conversation = desk.conversation(conversation_id)
    entries = desk.entries(conversation_id)
    statuses = [desk.state(probe_item_id(conversation_id, probe_id)).status for probe_id in entries]
    ((messages, tokens),) = conversation.rows("SELECT count(*), coalesce(sum(tokens), 0) FROM sealed.messages")
    ((domain,),) = conversation.rows("SELECT seed.domain FROM sealed.conversation")
    return ConversationRow(
        conversation_id=conversation_id,
        href=f"/conversations/{conversation_id}",
        is_sealed=True,
        title=conversation.title,
        domain=domain,
        messages=messages,
        tokens=int(tokens),
        items=len(entries),
        finished=sum(status in FINAL for status in statuses),
        state="sealed",
    )


def _unsealed_row(conversation_id: str, state: str) -> ConversationRow:
    return ConversationRow(
        conversation_id=conversation_id,
        href=f"/conversations/{conversation_id}",
        is_sealed=False,
        title="",
        domain="",
        messages=0,
        tokens=0,
        items=0,
        finished=0,
        state=state,
    )


def _progress(desk: Desk) -> dict[str, str]:
    """How far a run is, from the work logs; a log that cannot be read just now says nothing."""
    # Brings the generators in, a third of the time that a server takes to start; needed only while a run goes on.
    from longbeam.pipeline.status import benchmark_status

    try:
        found = benchmark_status(desk.archive.benchmark)
    except StoreError:
        return {}
    return {
        c.conversation_id: ", ".join(f"{stage} {n}" for stage, n in c.done.items()) or "not begun"
        for c in found.conversations
    }
