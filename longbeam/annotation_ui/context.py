"""What every route is given: the desk, who is looking, the item that the address names."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from longbeam.annotation_ui.archive import OpenConversation
from longbeam.annotation_ui.checking import Checker
from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.errors import Refusal, not_found
from longbeam.annotation_ui.log import UI_BUILD
from longbeam.annotation_ui.people import Viewer
from longbeam.annotation_ui.queue import QueueFilter
from longbeam.annotation_ui.security import CSRF_HEADER, Access
from longbeam.annotation_ui.views import SessionView
from longbeam.schemas.review import probe_item_id


def desk_of(request: Request) -> Desk:
    """Return the desk, with the log as it is now."""
    desk: Desk = request.app.state.desk
    desk.log.refresh()
    return desk


def access_of(request: Request) -> Access:
    """Return how this server is reached."""
    access: Access = request.app.state.access
    return access


def viewer_of(request: Request) -> Viewer:
    """Return who is looking."""
    access = access_of(request)
    return access.viewer_of(request.cookies.get(access.cookie))


def writer_of(request: Request) -> Viewer:
    """Return who is acting; Refusal 403 for readers, and for a request that does not carry the session's token."""
    access = access_of(request)
    cookie = request.cookies.get(access.cookie, "")
    viewer = access.viewer_of(cookie)
    viewer.require_write()
    if request.headers.get(CSRF_HEADER, "") != access.csrf_of(cookie):
        raise Refusal(403, "csrf", "the header X-CSRF-Token is missing or of another session; load the page again")
    return viewer


def checker_of(request: Request) -> Checker:
    """Return what runs checks."""
    checker: Checker = request.app.state.checker
    return checker


CheckerOf = Annotated[Checker, Depends(checker_of)]
DeskOf = Annotated[Desk, Depends(desk_of)]
ViewerOf = Annotated[Viewer, Depends(viewer_of)]
WriterOf = Annotated[Viewer, Depends(writer_of)]


def item_of(desk: DeskOf, conversation_id: str, probe_id: str) -> str:
    """Return the item that the address names; Refusal 404 if there is none."""
    item_id = probe_item_id(conversation_id, probe_id)
    try:
        desk.base(item_id)
    except KeyError as exc:
        raise not_found(f"item {item_id!r}") from exc
    return item_id


def conversation_of(desk: DeskOf, conversation_id: str) -> OpenConversation:
    """Return the conversation that the address names; Refusal 404 if it is not sealed."""
    try:
        return desk.conversation(conversation_id)
    except KeyError as exc:
        raise not_found(f"finished conversation {conversation_id!r}") from exc


ItemOf = Annotated[str, Depends(item_of)]
ConversationOf = Annotated[OpenConversation, Depends(conversation_of)]


def queue_filter(
    view: str = "all",
    ability: str = "",
    conversation: str = "",
    severity: str = "",
    q: str = "",
    order: str = "place",
    first: int = 0,
    count: int = 100,
) -> QueueFilter:
    """Return the queue that an address names."""
    return QueueFilter(
        view=view,
        ability=ability,
        conversation=conversation,
        severity=severity,
        q=q,
        order=order,
        first=max(first, 0),
        count=min(max(count, 1), 1000),
    )


QueueOf = Annotated[QueueFilter, Depends(queue_filter)]


def session_view(request: Request) -> SessionView:
    """Return who is looking and what they may do."""
    access, desk = access_of(request), desk_of(request)
    cookie = request.cookies.get(access.cookie, "")
    viewer = access.viewer_of(cookie)
    settings = desk.settings
    return SessionView(
        benchmark=desk.archive.name,
        reviewer_id=viewer.reviewer_id or None,
        role=viewer.role,
        can_write=viewer.can_write,
        csrf=access.csrf_of(cookie) if viewer.can_write else "",
        offered=tuple(access.offered),
        needs_token=access.needs_token,
        overlap=settings.overlap,
        lease_s=settings.lease_s,
        min_searches=settings.min_searches,
        ui_build=UI_BUILD,
    )
