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


def queue_view(workspace: Workspace, viewer: Viewer, wanted: QueueFilter) -> QueueView:
    """Return the wanted rows of the queue, and how many items each view has."""
    items = all_items(workspace, viewer)
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
    )
