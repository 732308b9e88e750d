"""Views of conversations: the list, unfinished ones included, and one conversation with its ratings and findings."""

from __future__ import annotations

from collections import Counter
from statistics import fmean

from longbeam.annotation_ui.links import conversation_href
from longbeam.annotation_ui.views import (
    ConversationFinding,
    ConversationRow,
    ConversationsView,
    ConversationView,
    RatingView,
)
from longbeam.errors import StoreError
from longbeam.keys import ItemId
from longbeam.review import FINAL, OpenConversation, Viewer, Workspace, is_rating_open, ratings_of
from longbeam.schemas import Finding, Severity

MOST_FINDINGS = 200


def conversations_view(workspace: Workspace) -> ConversationsView:
    """Return all conversations of the benchmark, sealed or not."""
    benchmark = workspace.archive.benchmark
    sealed = set(workspace.archive.conversation_ids)
    progress = {} if sealed.issuperset(benchmark.conversation_ids) else _progress(workspace)
    rows = [
        _sealed_row(workspace, i) if i in sealed else _unsealed_row(i, progress.get(i, "not begun"))
        for i in benchmark.conversation_ids
    ]
    return ConversationsView(benchmark=workspace.archive.name, conversations=tuple(rows))


def conversation_view(workspace: Workspace, viewer: Viewer, conversation_id: str) -> ConversationView:
    """Return one conversation without its messages."""
    conversation = workspace.conversation(conversation_id)
    lines = conversation.lines
    ((title, theme, domain, user),) = conversation.rows(
        "SELECT seed.title, seed.theme, seed.domain, coalesce(profile.name, '') FROM sealed.conversation"
    )
    found = _findings(workspace, conversation_id)
    known = workspace.probes(conversation_id)
    abilities = Counter(known[i].ability for i in workspace.entries(conversation_id) if i in known)
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
        ratings=rating_views(workspace, viewer, conversation_id),
        findings=tuple(_finding_view(conversation, conversation_id, f) for f in found[:MOST_FINDINGS]),
        findings_total=len(found),
    )


def rating_views(workspace: Workspace, viewer: Viewer, conversation_id: str) -> dict[str, RatingView]:
    """Return the ratings that the viewer may see: those of others once all wanted are in, and the viewer has rated."""
    views = {}
    for aspect, given in ratings_of(workspace, conversation_id).items():
        # Beside the buttons of a rating nobody is told another one, not even a lead.
        is_open = is_rating_open(workspace, viewer, given) and (viewer.reviewer_id in given or not viewer.can_write)
        others = {r: score for r, score in given.items() if is_open and r != viewer.reviewer_id}
        views[aspect] = RatingView(
            mine=given.get(viewer.reviewer_id),
            others=others,
            saved=len(given),
            mean=fmean(given.values()) if is_open and given else None,
        )
    return views


def _findings(workspace: Workspace, conversation_id: str) -> list[Finding]:
    probes = {*workspace.probes(conversation_id), *workspace.written(conversation_id)}
    found = [f for f in workspace.archive.findings if f.conversation_id == conversation_id and f.subject not in probes]
    return sorted(found, key=lambda f: list(Severity).index(f.severity))


def _finding_view(conversation: OpenConversation, conversation_id: str, finding: Finding) -> ConversationFinding:
    keys = [k for k in (finding.subject, *finding.evidence) if k in conversation.ids]
    return ConversationFinding.taken_from(
        finding,
        href=f"{conversation_href(conversation_id)}/messages?first={conversation.ids[keys[0]]}" if keys else None,
    )


def _sealed_row(workspace: Workspace, conversation_id: str) -> ConversationRow:
    conversation = workspace.conversation(conversation_id)
    entries = workspace.entries(conversation_id)
    statuses = [workspace.state(str(ItemId(conversation_id, probe_id))).status for probe_id in entries]
    ((messages, tokens),) = conversation.rows("SELECT count(*), coalesce(sum(tokens), 0) FROM sealed.messages")
    ((domain,),) = conversation.rows("SELECT seed.domain FROM sealed.conversation")
    return ConversationRow(
        conversation_id=conversation_id,
        href=conversation_href(conversation_id),
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
    href = conversation_href(conversation_id)
    return ConversationRow(conversation_id=conversation_id, href=href, is_sealed=False, state=state)


def _progress(workspace: Workspace) -> dict[str, str]:
    """Return the progress of a run by conversation, from the work logs; empty if a log cannot be read just now."""
    # This import loads the generators, a third of the server's start-up time, and is needed only while a run goes on.
    from longbeam.pipeline import benchmark_status

    try:
        found = benchmark_status(workspace.archive.benchmark)
    except StoreError:
        return {}
    return {
        c.conversation_id: ", ".join(f"{stage} {n}" for stage, n in c.done.items()) or "not begun"
        for c in found.conversations
    }
