"""View of the item page: a probe, its evidence, the findings, and the opinions that the viewer may see."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from longbeam.abilities import QuestionKind, ability_of
from longbeam.annotation_ui.aids import panel_kind_of
from longbeam.annotation_ui.links import finding_views, item_href, message_href
from longbeam.annotation_ui.rendering import TextMark
from longbeam.annotation_ui.transcript import MessageMarks, MessageView, mark_of, role_of, view_of
from longbeam.annotation_ui.views import (
    AdjudicationView,
    CandidateLink,
    EvidenceView,
    ItemView,
    JudgeSays,
    NoteView,
    NuggetView,
    OpinionView,
    Outdated,
    OwnProgress,
    QueuePlace,
    Solved,
)
from longbeam.keys import ItemId, conversation_of
from longbeam.review import (
    Adjudication,
    AnchoredQuote,
    ChangeView,
    ItemState,
    OpenConversation,
    Opinion,
    QueueFilter,
    QueueItem,
    Viewer,
    Workspace,
    all_items,
    change_view,
    changed_since,
    check_rows,
    cited_quotes,
    decided_under,
    evidence_id_of,
    field_name,
    gates_of,
    is_field,
    is_in_view,
    item_name,
    known_findings,
    lease_of,
    probe_changes,
    probe_name,
    section_name,
    shown_status,
    wanted_items,
    word_diff,
)
from longbeam.schemas import ITEM_TARGET, MESSAGE, NUGGET, REASON_CODES, EventKind, EvidencePart, Probe, ReviewEvent


def opinion_view(opinion: Opinion, sealed: Probe) -> OpinionView:
    """Return an opinion as pages show it."""
    return OpinionView.taken_from(opinion, changes=changes_between(sealed, opinion.probe))


def changes_between(before: Probe, after: Probe) -> tuple[ChangeView, ...]:
    """Return the differences of two versions of a probe as pages show them."""
    return tuple(change_view(c, field_name(after, c.target)) for c in probe_changes(before, after))


def evidence_views(conversation: OpenConversation, probe: Probe) -> list[EvidenceView]:
    """Return the evidence of a probe, each message opened at its quote."""
    return [_evidence_view(conversation, probe, quote) for quote in cited_quotes(conversation, probe)]


def note_view(event: ReviewEvent, conversation: OpenConversation, item_id: str) -> NoteView:
    """Return a comment or a flag with the address of its place."""
    key = event.target.removeprefix(MESSAGE)
    message_id = conversation.ids.get(key) if event.target.startswith(MESSAGE) else None
    conversation_id = conversation_of(item_id)
    place = item_href(item_id) if message_id is None else message_href(conversation_id, message_id, item_id)
    return NoteView.taken_from(
        event,
        name=field_name(None, event.target) if event.target != ITEM_TARGET else "the item",
        text=event.note,
        href=f"{place}#comment-{event.event_id}",
    )


def _evidence_view(conversation: OpenConversation, probe: Probe, quote: AnchoredQuote) -> EvidenceView:
    evidence, message, place = quote.evidence, quote.message, quote.place
    evidence_id = evidence_id_of(evidence)
    marks = [mark_of(evidence, place)] if place else []
    return EvidenceView.taken_from(
        evidence,
        evidence_id=evidence_id,
        role=role_of(probe, evidence),
        message_id=conversation.ids.get(evidence.message_key),
        attachment=quote.attachment,
        anchor=quote.anchor,
        start=place[0] if place else 0,
        end=place[1] if place else 0,
        sent_at=message.sent_at if message else None,
        session=message.session if message else None,
        message=view_of(message, MessageMarks(marks, {evidence_id: role_of(probe, evidence)})) if message else None,
    )


LEAST_FOR_PACE = 3
"""Items of today below which no pace is shown: one item says nothing."""
GUESSED = "gate.guessed"
"""Finding of the gate: a reader answered the question without its conversation."""


def item_view(workspace: Workspace, viewer: Viewer, item_id: str, wanted: QueueFilter | None = None) -> ItemView:
    """Return the view of an item, at its place in the queue `wanted`; raises KeyError if there is no such item."""
    state = workspace.state(item_id)
    conversation_id = conversation_of(item_id)
    conversation = workspace.conversation(conversation_id)
    opinion = state.opinion(viewer.reviewer_id)
    # A viewer who has edited sees the own version; others see the decided probe, or the probe as sealed.
    shown = opinion.probe if opinion.is_edited else state.probe
    evidence = evidence_views(conversation, shown)
    is_checked, is_current, findings = known_findings(workspace, item_id, state, opinion)
    is_open = state.is_open_to(viewer)
    places = [e.message_id for e in evidence if e.message_id is not None]
    wanted = wanted or QueueFilter()
    items = all_items(workspace, viewer, with_doubt=wanted.order == "doubt")
    return ItemView.taken_from(
        shown,
        item_id=item_id,
        name=item_name(item_id),
        item_version=opinion.version,
        moment=_moment(conversation, shown),
        conversation_id=conversation_id,
        ability_title=ability_of(shown.ability).shown_as,
        panel=panel_kind_of(shown.ability),
        rubric=_nugget_views(shown, opinion),
        evidence=tuple(evidence),
        opens_at=_opens_at(shown, evidence),
        spread=max(places) - min(places) if places else 0,
        sessions_touched=len({e.session for e in evidence if e.session is not None}),
        diffs={c.target: c.parts for c in changes_between(state.base, shown) if is_field(c.target)},
        is_checking=workspace.is_checking,
        is_checked=is_checked,
        is_findings_current=is_current,
        findings=tuple(finding_views(workspace, conversation_id, item_id, findings)),
        checks=tuple(check_rows(is_checked, findings)),
        status=shown_status(state, viewer),
        overlap=state.overlap,
        saved=len(state.saved),
        wanted=state.wanted,
        assigned=state.assigned,
        is_blind=not is_open,
        is_guessable=_is_guessable(workspace, item_id, opinion),
        mine=opinion_view(opinion, state.base) if viewer.can_write else None,
        others=tuple(
            opinion_view(o, state.base) for o in state.saved if is_open and o.reviewer_id != viewer.reviewer_id
        ),
        adjudication=_adjudication_view(state.adjudication, state.base) if is_open else None,
        returned=note_view(state.returned, conversation, item_id) if state.returned else None,
        notes=tuple(
            note_view(note, conversation, item_id)
            for kind in (EventKind.FLAGGED, EventKind.COMMENTED)
            for note in state.notes_for(viewer, kind)
        ),
        gates=tuple(gates_of(workspace, item_id, state, opinion)),
        lease=lease_of(workspace, item_id, viewer),
        candidates=tuple(_candidates(workspace, viewer, conversation_id, shown.ability)),
        place=_place([i.item_id for i in wanted_items(items, viewer, wanted)], item_id),
        progress=own_work(items, viewer),
        outdated=_outdated(workspace, state, opinion),
        judge=_judge_says(workspace, item_id, opinion) if opinion.is_saved else None,
        solved=Solved(answer=opinion.solved, score=opinion.solved_score) if opinion.solved else None,
        reasons=REASON_CODES,
        can_write=viewer.can_write,
        is_lead=viewer.is_lead,
        is_gold=(workspace.gold_verdict(item_id) is not None) if viewer.is_lead else None,
    )


def _opens_at(probe: Probe, evidence: Sequence[EvidenceView]) -> int:
    """Return the piece that a reviewer reads first: the last new value of an update, else the first one."""
    there = [i for i, e in enumerate(evidence) if e.message_id is not None]
    new = [i for i in there if probe.details.new_value and probe.evidence[i].part == EvidencePart.UPDATED]
    return new[-1] if new else next(iter(there), 0)


def _moment(conversation: OpenConversation, probe: Probe) -> str:
    """Return the moment for which the answer must be right; empty for the end of the conversation."""
    if probe.asked_at is not None:
        last = max((line.message_id for line in conversation.lines if line.sent_at <= probe.asked_at), default=0)
        return f"Asked on {probe.asked_at:%Y-%m-%d %H:%M}, after message #{last}: later messages do not count."
    if probe.details.variety == QuestionKind.AS_OF:
        return "Asks about an earlier day: right is what held then, even if it changed later."
    return ""


def _nugget_views(shown: Probe, opinion: Opinion) -> tuple[NuggetView, ...]:
    return tuple(
        NuggetView.taken_from(
            n, label=opinion.labels.get(n.nugget_id), is_stale=f"{NUGGET}{n.nugget_id}" in opinion.stale
        )
        for n in shown.rubric
    )


def messages_around(conversation: OpenConversation, evidence: Sequence[EvidenceView], k: int) -> list[MessageView]:
    """Return the cited messages and `k` on either side of each, in order, each once."""
    marks: dict[str, list[TextMark]] = {}
    cited: dict[str, dict[str, str]] = {}
    wanted: set[int] = set()
    for e in evidence:
        if e.message_id is not None:
            wanted |= set(range(max(e.message_id - k, 0), e.message_id + k + 1))
            cited.setdefault(e.message_key, {})[e.evidence_id] = e.role
            if e.end > e.start:
                marks.setdefault(e.message_key, []).append(TextMark(start=e.start, end=e.end))
    return [
        view_of(m, MessageMarks(marks.get(m.message_key, ()), cited.get(m.message_key, {})))
        for m in conversation.messages_of(wanted)
        if m.message_id in wanted
    ]


def _adjudication_view(adjudication: Adjudication | None, sealed: Probe) -> AdjudicationView | None:
    if adjudication is None:
        return None
    return AdjudicationView.taken_from(adjudication, changes=changes_between(sealed, adjudication.probe))


def _candidates(workspace: Workspace, viewer: Viewer, conversation_id: str, ability: str) -> list[CandidateLink]:
    entries = workspace.entries(conversation_id)
    links = []
    for probe in (*workspace.probes(conversation_id).values(), *workspace.written(conversation_id).values()):
        if probe.ability == ability:
            item_id = str(ItemId(conversation_id, probe.probe_id))
            status = shown_status(workspace.state(item_id), viewer)
            links.append(
                CandidateLink.taken_from(
                    probe,
                    item_id=item_id,
                    name=probe_name(probe.probe_id),
                    is_in_queue=probe.probe_id in entries and status != "rejected",
                    status=status,
                )
            )
    return links


def own_work(items: Sequence[QueueItem], viewer: Viewer) -> OwnProgress:
    """Return the progress of the viewer."""
    midnight = dt.datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    today = [item for item in items if item.mine == "saved" and item.mine_at and item.mine_at >= midnight]
    hours = sum(item.mine_ms for item in today) / 3_600_000
    mine = sum(item.mine == "saved" for item in items)
    waiting = sum(is_in_view(item, "mine", viewer) for item in items)
    return OwnProgress(
        mine=mine,
        mine_wanted=mine + waiting,
        today=len(today),
        pace=len(today) / hours if len(today) >= LEAST_FOR_PACE and hours > 0 else None,
    )


def _outdated(workspace: Workspace, state: ItemState, opinion: Opinion) -> Outdated | None:
    """Return the first section of the guidelines that is newer than the opinion, or than the decision."""
    decided = opinion.guideline_version if opinion.is_saved else decided_under(state)
    for change in changed_since(workspace, state.base.ability, decided):
        return Outdated(section=section_name(change.section), parts=word_diff(change.before, change.after))
    return None


def _is_guessable(workspace: Workspace, item_id: str, opinion: Opinion) -> bool:
    """Return whether the gate found that the item as sealed needs no conversation; edits make it unknown."""
    conversation_id, probe_id = ItemId.parse(item_id)
    found = workspace.findings(conversation_id, probe_id)
    return not opinion.is_edited and any(f.check == GUESSED for f in found)


def _judge_says(workspace: Workspace, item_id: str, opinion: Opinion) -> JudgeSays | None:
    trial = workspace.rubric_trial(item_id, opinion.probe)
    if trial is None:
        return None
    odd = [row.answer_kind.replace("_", " ") for row in trial.rows if not row.is_as_expected]
    verdict = "reject" if odd else "accept"
    text = "scores the gold answer in full and no wrong answer" if not odd else f"scores {', '.join(odd)} wrongly"
    return JudgeSays(verdict=verdict, text=f"The judge {text}: by that, {verdict}.")


def _place(ids: Sequence[str], item_id: str) -> QueuePlace:
    if item_id not in ids:  # a filtered queue loses an item when it is judged; the queue then starts from its first
        return QueuePlace(index=None, total=len(ids), previous=None, next=item_href(ids[0]) if ids else None)
    at = ids.index(item_id)
    return QueuePlace(
        index=at,
        total=len(ids),
        previous=item_href(ids[at - 1]) if at else None,
        next=item_href(ids[at + 1]) if at + 1 < len(ids) else None,
    )
