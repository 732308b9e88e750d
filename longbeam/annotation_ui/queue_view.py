"""View of the queue page; the address of the page carries its filter."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass

from longbeam.annotation_ui.links import item_href
from longbeam.review.people import Viewer
from longbeam.review.queue import VIEWS, QueueFilter, QueueItem, all_items, is_in_view, resume_at, wanted_items
from longbeam.review.workspace import Workspace
from longbeam.schemas.base import Record


@dataclass(frozen=True, kw_only=True)
class QueueRow(QueueItem):
    """One item of the queue, and the address of its page."""

    href: str


class QueueView(Record):
    """The queue page."""

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
    """Address of the first item that the viewer has not finished."""
    is_new: bool
    """Whether the viewer has not begun any item."""
    waiting_for: str
    """Line that says what the review waits for while the benchmark is being generated; empty if it is complete."""


def queue_view(workspace: Workspace, viewer: Viewer, wanted: QueueFilter) -> QueueView:
    """Return the wanted rows of the queue, and how many items each view has."""
    items = all_items(workspace, viewer, with_doubt=wanted.order == "doubt")
    shown = wanted_items(items, viewer, wanted)
    resume = resume_at(items, viewer)
    page = shown[wanted.first : wanted.first + wanted.count]
    return QueueView(
        benchmark=workspace.archive.name,
        view=wanted.view,
        total=len(shown),
        first=wanted.first,
        rows=tuple(QueueRow(href=item_href(item.item_id), **asdict(item)) for item in page),
        counts={view: sum(is_in_view(item, view, viewer) for item in items) for view in VIEWS},
        abilities=dict(Counter(item.ability for item in items)),
        conversations=dict(Counter(item.conversation_id for item in items)),
        overlap=workspace.settings.overlap,
        resume=item_href(resume.item_id) if resume else None,
        is_new=all(item.mine == "none" for item in items),
        waiting_for=_waiting_for(workspace),
    )


def _waiting_for(workspace: Workspace) -> str:
    all_ids, sealed = workspace.archive.benchmark.conversation_ids, workspace.archive.conversation_ids
    missing = len(all_ids) - len(sealed)
    if not missing:
        return ""
    if not sealed:
        return "No conversation is finished yet. The items of the first one appear here as soon as it is."
    return f"{len(sealed)} of {len(all_ids)} conversations are finished; items of the others appear as they are."
