"""The queue: the items under review as one viewer sees them, filtered and ordered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from longbeam.keys import ItemId
from longbeam.review.fold import Opinion
from longbeam.review.guidelines import changed_since, decided_under
from longbeam.review.leases import saved_by
from longbeam.review.people import Viewer
from longbeam.review.routing import Doubts
from longbeam.review.state import FINAL, ItemState, ItemStatus
from longbeam.review.workspace import Entry, Workspace
from longbeam.schemas.review import Verdict

VIEWS = ("all", "mine", "pending", "second", "conflict", "returned", "flagged", "outdated", "done")
"""`mine`: the viewer still has to judge it. `second`: one opinion is saved, another is wanted. `outdated`: decided
under guidelines that have changed since."""


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """Filter and order of the queue; the address of the page carries them."""

    view: str = "all"
    ability: str = ""
    conversation: str = ""
    severity: str = ""
    """`error`, `warning`, `info`: items with at least one finding of it."""
    q: str = ""
    """Text in question or gold answer."""
    order: str = "place"
    """`place`: by conversation, ability, rank. `findings`: most errors first. `doubt`: most signs of doubt first."""
    first: int = 0
    count: int = 100


@dataclass(frozen=True, slots=True)
class QueueItem:
    """One item of the queue, as one viewer sees it."""

    item_id: str
    conversation_id: str
    probe_id: str
    ability: str
    difficulty: str
    question: str
    status: str
    mine: str
    """The viewer's own progress: `none`, `draft`, `saved`, `skipped` or `lapsed`."""
    saved: int
    errors: int
    warnings: int
    infos: int
    flags: int
    comments: int
    leased_to: tuple[str, ...]
    evidence: int
    nuggets: int
    places: int
    """Reviewers who may still begin: opinions wanted minus those saved and those being made."""
    is_outdated: bool
    """Decided under guidelines that have changed since."""
    doubt: float
    """Signs that a second look is worth its time (`longbeam.review.routing`); 0 where no list is ordered by them."""
    is_candidate: bool
    """Moved up or taken in from the pool, or written by hand."""


def all_items(workspace: Workspace, viewer: Viewer, *, with_doubt: bool = False) -> list[QueueItem]:
    """Return the items under review, by conversation, ability and rank; doubt is weighed only if it is asked for."""
    held, findings = workspace.leases(), workspace.grouped_findings()
    doubts = Doubts(workspace) if with_doubt else None
    items = []
    for conversation_id in workspace.archive.conversation_ids:
        for item_id, (state, entry) in workspace.entry_states(conversation_id).items():
            fields = _fields_of(viewer, item_id, state)
            severities = Counter(f.severity.value for f in findings.get((conversation_id, state.base.probe_id), ()))
            items.append(
                QueueItem(
                    **fields,
                    is_candidate=entry is not Entry.SEALED,
                    doubt=doubts.of(item_id, state, severities) if doubts else 0.0,
                    is_outdated=bool(changed_since(workspace, fields["ability"], decided_under(state))),
                    errors=severities["error"],
                    warnings=severities["warning"],
                    infos=severities["info"],
                    leased_to=(holders := tuple(lease.reviewer_id for lease in held.get(item_id, ()))),
                    places=state.overlap - len(state.saved) - len(set(holders) - saved_by(state)),
                )
            )
    return items


def wanted_items(items: Sequence[QueueItem], viewer: Viewer, wanted: QueueFilter) -> list[QueueItem]:
    """Return the items that a filter lets through, in the order it asks for."""
    found = [item for item in items if _passes(item, wanted, viewer)]
    if wanted.order == "findings":
        found.sort(key=lambda item: (-item.errors, -item.warnings))
    if wanted.order == "doubt":
        found.sort(key=lambda item: -item.doubt)
    return found


def resume_at(items: Sequence[QueueItem], viewer: Viewer) -> QueueItem | None:
    """Return the first item that the viewer has begun and not finished, else the first that waits for the viewer."""
    mine = [item for item in items if is_in_view(item, "mine", viewer)]
    begun = [item for item in mine if item.mine in ("draft", "lapsed")]
    return next(iter(begun or mine), None)


def own_progress(opinion: Opinion) -> str:
    """Return a reviewer's progress on an item: `saved`, `skipped`, `lapsed`, `draft` or `none`."""
    if opinion.is_saved:
        return "saved"
    if opinion.verdict is Verdict.SKIP:
        return "skipped"
    if opinion.is_lapsed:
        return "lapsed"
    return "draft" if opinion.edits or opinion.labels or opinion.drafts else "none"


def _fields_of(viewer: Viewer, item_id: str, state: ItemState) -> dict[str, Any]:
    """Return the fields of an item that follow from its state alone."""
    mine = state.opinion(viewer.reviewer_id)
    shown = mine.probe if mine.is_edited else state.probe
    conversation_id, probe_id = ItemId.parse(item_id)
    return {
        "item_id": item_id,
        "conversation_id": conversation_id,
        "probe_id": probe_id,
        "ability": shown.ability,
        "difficulty": shown.difficulty.value,
        "question": shown.question,
        "status": state.status.value,
        "mine": own_progress(mine),
        "saved": len(state.saved),
        "flags": len(state.flags),
        "comments": len(state.comments_for(viewer)),
        "evidence": len(shown.evidence),
        "nuggets": len(shown.rubric),
    }


def _passes(item: QueueItem, wanted: QueueFilter, viewer: Viewer) -> bool:
    severities = {"error": item.errors, "warning": item.warnings, "info": item.infos}
    return (
        is_in_view(item, wanted.view, viewer)
        and wanted.ability in ("", item.ability)
        and wanted.conversation in ("", item.conversation_id)
        and (not wanted.severity or severities.get(wanted.severity, 0) > 0)
        and wanted.q.casefold() in item.question.casefold()
    )


def is_in_view(item: QueueItem, view: str, viewer: Viewer) -> bool:
    """Whether a view of the queue shows the item to the viewer."""
    match view:
        case "mine":
            return _is_for_me(item, viewer)
        case "pending":
            return item.status in (ItemStatus.PENDING, ItemStatus.IN_REVIEW)
        case "second":
            return item.status == ItemStatus.IN_REVIEW
        case "conflict" | "returned":
            return item.status == view
        case "flagged":
            return item.flags > 0
        case "outdated":
            return item.is_outdated
        case "done":
            return item.status in FINAL
    return view == "all"


def _is_for_me(item: QueueItem, viewer: Viewer) -> bool:
    """Whether an opinion of the viewer is wanted and not given yet, and others leave a place for it."""
    is_open = item.status in (ItemStatus.PENDING, ItemStatus.IN_REVIEW)
    is_taken = item.places <= 0 and viewer.reviewer_id not in item.leased_to
    return viewer.can_write and is_open and item.mine not in ("saved", "skipped") and not is_taken
