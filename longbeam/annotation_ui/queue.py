"""The queue: which items there are for whom, filtered and ordered by what the address says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pydantic import Field

from longbeam.annotation_ui.causes import item_href
from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.fold import Opinion
from longbeam.annotation_ui.people import Viewer
from longbeam.annotation_ui.selection import Entry
from longbeam.annotation_ui.state import FINAL, ItemState, ItemStatus
from longbeam.annotation_ui.views import QueueRow, QueueView
from longbeam.schemas.base import Record
from longbeam.schemas.findings import Finding
from longbeam.schemas.review import Verdict
from longbeam.store.reviews import StoredLease

VIEWS = ("all", "mine", "pending", "second", "conflict", "returned", "flagged", "done")
"""`mine`: still to be done by me. `second`: somebody's opinion is there, another is wanted."""
ORDERS = ("place", "findings")


class QueueFilter(Record):
    """What of the queue is wanted; it is the page's address."""

    view: str = "all"
    ability: str = ""
    conversation: str = ""
    severity: str = ""
    """`error`, `warning`, `info`: items with at least one finding of it."""
    q: str = ""
    """Text in question or gold answer."""
    order: str = "place"
    """`place`: by conversation, ability, rank. `findings`: most errors first."""
    first: int = Field(default=0, ge=0)
    count: int = Field(default=100, ge=1, le=1000)


def queue_view(desk: Desk, viewer: Viewer, wanted: QueueFilter) -> QueueView:
    """Return the rows of a queue, and how many items each view has."""
    rows = all_rows(desk, viewer)
    shown = ordered([r for r in rows if _passes(r, wanted, viewer)], wanted.order)
    mine = [r for r in rows if _is_for_me(r, viewer)]
    return QueueView(
        benchmark=desk.archive.name,
        view=wanted.view,
        total=len(shown),
        first=wanted.first,
        rows=tuple(shown[wanted.first : wanted.first + wanted.count]),
        counts={view: sum(_is_in(r, view, viewer) for r in rows) for view in VIEWS},
        abilities=dict(Counter(r.ability for r in rows)),
        conversations=dict(Counter(r.conversation_id for r in rows)),
        overlap=desk.settings.overlap,
        resume=_resume(mine),
    )


def wanted_rows(desk: Desk, viewer: Viewer, wanted: QueueFilter) -> list[QueueRow]:
    """Return all rows of a queue, in its order."""
    return ordered([r for r in all_rows(desk, viewer) if _passes(r, wanted, viewer)], wanted.order)


def all_rows(desk: Desk, viewer: Viewer) -> list[QueueRow]:
    """Return one row per item under review, by conversation, ability and rank."""
    held, findings = desk.leases(), desk.grouped_findings()
    rows = []
    for conversation_id in desk.archive.conversation_ids:
        for item_id, (state, entry) in desk.entry_states(conversation_id).items():
            found = findings.get((conversation_id, state.base.probe_id), ())
            rows.append(_row(viewer, item_id, state, entry, found, held.get(item_id, ())))
    return rows


def ordered(rows: Sequence[QueueRow], order: str) -> list[QueueRow]:
    """Return rows in the order asked for."""
    if order == "findings":
        return sorted(rows, key=lambda r: (-r.errors, -r.warnings))
    return list(rows)


def my_state(opinion: Opinion) -> str:
    """Return how far a reviewer is with an item."""
    if opinion.is_saved:
        return "saved"
    if opinion.verdict is Verdict.SKIP:
        return "skipped"
    if opinion.is_lapsed:
        return "lapsed"
    return "draft" if opinion.edits or opinion.labels or opinion.drafts else "none"


def _row(
    viewer: Viewer,
    item_id: str,
    state: ItemState,
    entry: Entry,
    findings: Sequence[Finding],
    leases: Sequence[StoredLease],
) -> QueueRow:
    mine = state.opinion(viewer.reviewer_id)
    shown = mine.probe if mine.is_edited else state.probe
    conversation_id, _, probe_id = item_id.partition("/")
    severities = Counter(f.severity.value for f in findings)
    return QueueRow(
        item_id=item_id,
        href=item_href(item_id),
        conversation_id=conversation_id,
        probe_id=probe_id,
        ability=shown.ability,
        difficulty=shown.difficulty.value,
        question=shown.question,
        status=state.status.value,
        mine=my_state(mine),
        saved=len(state.saved),
        errors=severities["error"],
        warnings=severities["warning"],
        infos=severities["info"],
        flags=len(state.flags),
        comments=len([c for c in state.comments if state.is_open or c.reviewer_id == viewer.reviewer_id]),
        leased_to=tuple(lease.reviewer_id for lease in leases),
        evidence=len(shown.evidence),
        nuggets=len(shown.rubric),
        is_candidate=entry is not Entry.SEALED,
    )


def _passes(row: QueueRow, wanted: QueueFilter, viewer: Viewer) -> bool:
    severities = {"error": row.errors, "warning": row.warnings, "info": row.infos}
    return (
        _is_in(row, wanted.view, viewer)
        and wanted.ability in ("", row.ability)
        and wanted.conversation in ("", row.conversation_id)
        and (not wanted.severity or severities.get(wanted.severity, 0) > 0)
        and wanted.q.casefold() in row.question.casefold()
    )


def _is_in(row: QueueRow, view: str, viewer: Viewer) -> bool:
    match view:
        case "mine":
            return _is_for_me(row, viewer)
        case "pending":
            return row.status in (ItemStatus.PENDING, ItemStatus.IN_REVIEW)
        case "second":
            return row.status == ItemStatus.IN_REVIEW
        case "conflict" | "returned":
            return row.status == view
        case "flagged":
            return row.flags > 0
        case "done":
            return row.status in FINAL
    return view == "all"


def _is_for_me(row: QueueRow, viewer: Viewer) -> bool:
    """Whether the viewer has still to do something: an opinion is wanted, not given, and nobody else is at it."""
    is_open = row.status in (ItemStatus.PENDING, ItemStatus.IN_REVIEW)
    is_taken = bool(row.leased_to) and viewer.reviewer_id not in row.leased_to
    return viewer.can_write and is_open and row.mine not in ("saved", "skipped") and not is_taken


def _resume(mine: Sequence[QueueRow]) -> str | None:
    """Return the address of the first item begun and not finished, else of the first not begun."""
    begun = [r for r in mine if r.mine in ("draft", "lapsed")]
    found = next(iter(begun or mine), None)
    return found.href if found else None
