"""The log as a viewer may read it: own events, and those of others on items that are no longer blind."""

from __future__ import annotations

from longbeam.annotation_ui.causes import item_href
from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.fold import in_force
from longbeam.annotation_ui.people import Viewer
from longbeam.annotation_ui.ratings import ratings_of
from longbeam.annotation_ui.views import EventView, HistoryView
from longbeam.schemas.review import EventKind, ReviewEvent

LEADS_ONLY = frozenset({EventKind.GOLD_SET})


def history_view(
    desk: Desk,
    viewer: Viewer,
    *,
    item_id: str | None = None,
    reviewer: str = "",
    kind: str = "",
    first: int = 0,
    count: int = 200,
) -> HistoryView:
    """Return events, newest first; drafts are the business of whoever wrote them."""
    events = desk.log.events() if item_id is None else list(desk.log.of_item(item_id))
    counted = {e.event_id for e in in_force(events)}
    shown = [
        e
        for e in reversed(events)
        if reviewer in ("", e.reviewer_id) and kind in ("", e.kind.value) and may_see(desk, viewer, e)
    ]
    views = [
        event_view(e, is_undone=e.event_id not in counted and e.kind is not EventKind.UNDONE)
        for e in shown[first : first + count]
    ]
    return HistoryView(total=len(shown), events=tuple(views))


def event_view(event: ReviewEvent, *, is_undone: bool = False) -> EventView:
    """Return an event as it is shown."""
    is_snapshot = event.kind is EventKind.OPENED
    return EventView(
        event_id=event.event_id,
        item_id=event.item_id,
        href=href_of(event),
        reviewer_id=event.reviewer_id,
        kind=event.kind.value,
        target=event.target,
        before=event.before,
        after=None if is_snapshot else event.after,
        reason_code=event.reason_code,
        note=event.note,
        guideline_version=event.guideline_version,
        created_at=event.created_at,
        is_undone=is_undone,
    )


def href_of(event: ReviewEvent) -> str:
    """Return the page that an event is about."""
    if "/" in event.item_id:
        return item_href(event.item_id)
    return f"/conversations/{event.item_id}" if event.item_id else "/guidelines"


def may_see(desk: Desk, viewer: Viewer, event: ReviewEvent) -> bool:
    """Whether a viewer may read an event: blind until all opinions that were wanted are saved."""
    if event.kind in LEADS_ONLY:
        return viewer.is_lead
    if event.reviewer_id == viewer.reviewer_id:
        return True
    if event.kind in (EventKind.DRAFTED, EventKind.OPENED):
        return False
    if event.kind in (EventKind.GUIDED, EventKind.CONFIGURED):
        return True
    try:
        if "/" in event.item_id:
            return desk.state(event.item_id).is_open
        given = ratings_of(desk, event.item_id)
        return all(len(by) >= desk.settings.overlap for by in given.values())
    except KeyError:  # of a conversation that is no longer there
        return viewer.is_lead
