"""What changes something: acts on items, undo, leases, sessions, ratings, checks. Every answer is JSON."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from longbeam.annotation_ui import leases
from longbeam.annotation_ui.acts import act_on_item, open_item, redo, undo
from longbeam.annotation_ui.checking import check_item
from longbeam.annotation_ui.context import (
    CheckerOf,
    ConversationOf,
    DeskOf,
    ItemOf,
    QueueOf,
    WriterOf,
    access_of,
    session_view,
)
from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.errors import forbidden
from longbeam.annotation_ui.history import event_view, href_of
from longbeam.annotation_ui.items import item_view
from longbeam.annotation_ui.people import Viewer
from longbeam.annotation_ui.ratings import rate, rating_views
from longbeam.annotation_ui.views import (
    Act,
    ActResult,
    ItemView,
    LeaseView,
    RatingView,
    SessionView,
    SignIn,
    UndoResult,
)
from longbeam.annotation_ui.writing import Draft, WrittenView, write_probe
from longbeam.schemas.review import ReviewEvent

router = APIRouter(prefix="/api")
SESSION_S = 180 * 86_400
Around = Annotated[int, Query(ge=0, le=20)]


class Rating(BaseModel):
    """Body of a rating."""

    model_config = ConfigDict(extra="forbid")
    aspect: str
    score: int = Field(ge=1, le=5)
    note: str = Field(default="", max_length=20_000)
    active_ms: int = Field(default=0, ge=0)


@router.post("/session")
def sign_in(request: Request, response: Response, body: SignIn) -> SessionView:
    """Choose a name; on an address that needs a token, names come from invitations instead."""
    access = access_of(request)
    if access.needs_token:
        raise forbidden("open the link that you were sent; this server does not let names be chosen")
    if access.offered and body.reviewer_id not in access.offered:
        raise forbidden(f"choose one of {', '.join(access.offered)}")
    viewer = Viewer(body.reviewer_id, access.offered.get(body.reviewer_id, body.role))
    return _enter(request, response, viewer)


@router.post("/session/leave")
def sign_out(request: Request, response: Response) -> SessionView:
    """Read only from now on."""
    access = access_of(request)
    response.delete_cookie(access.cookie, path="/")
    request.cookies.pop(access.cookie, None)
    return session_view(request)


@router.post("/items/{conversation_id}/{probe_id}/open")
def open_(
    desk: DeskOf, checker: CheckerOf, viewer: WriterOf, item_id: ItemOf, wanted: QueueOf, k: Around = 0
) -> ItemView:
    """Take the item for a while and record that it was opened."""
    open_item(desk, viewer, item_id)
    checker.warm(item_id.partition("/")[0])
    return item_view(desk, viewer, item_id, k=k, wanted=wanted)


@router.post("/items/{conversation_id}/{probe_id}/lease")
def renew(desk: DeskOf, viewer: WriterOf, item_id: ItemOf) -> LeaseView:
    """Show a sign of life: the lease runs on from now."""
    return leases.take(desk, item_id, viewer)


@router.post("/items/{conversation_id}/{probe_id}/release")
def release(desk: DeskOf, viewer: WriterOf, item_id: ItemOf) -> ActResult:
    """Leave the item to others."""
    desk.log.store.release_lease(item_id, viewer.reviewer_id)
    return ActResult(event_ids=(), item=None)


@router.post("/items/{conversation_id}/{probe_id}/acts")
def act(desk: DeskOf, viewer: WriterOf, item_id: ItemOf, wanted: QueueOf, body: Act, k: Around = 0) -> ActResult:
    """Do something to the item: see docs/review-api.md for the kinds."""
    with desk.acting:
        event = act_on_item(desk, viewer, item_id, body)
    return ActResult(event_ids=(event.event_id,), item=item_view(desk, viewer, item_id, k=k, wanted=wanted))


@router.post("/items/{conversation_id}/{probe_id}/check")
def check(
    desk: DeskOf, checker: CheckerOf, viewer: WriterOf, item_id: ItemOf, wanted: QueueOf, k: Around = 0
) -> ActResult:
    """Run the checks on the item as I have it; the answer has the new findings."""
    event = check_item(desk, checker, viewer, item_id)
    return ActResult(event_ids=(event.event_id,), item=item_view(desk, viewer, item_id, k=k, wanted=wanted))


@router.post("/conversations/{conversation_id}/probes")
def write(
    desk: DeskOf,
    checker: CheckerOf,
    viewer: WriterOf,
    conversation: ConversationOf,
    conversation_id: str,
    body: Draft,
) -> WrittenView:
    """Check a probe written by hand, and put it into the review where `is_saved`."""
    return write_probe(desk, checker, viewer, conversation_id, body)


@router.post("/undo")
def undo_last(desk: DeskOf, viewer: WriterOf, wanted: QueueOf, k: Around = 0) -> UndoResult:
    """Take back my last act, on whichever item."""
    with desk.acting:
        event = undo(desk, viewer)
    return _undone(desk, viewer, event, wanted, k)


@router.post("/redo")
def redo_last(desk: DeskOf, viewer: WriterOf, wanted: QueueOf, k: Around = 0) -> UndoResult:
    """Make my last undone act again, if I did nothing since."""
    with desk.acting:
        event = redo(desk, viewer)
    return _undone(desk, viewer, event, wanted, k)


@router.post("/conversations/{conversation_id}/ratings")
def rate_conversation(
    desk: DeskOf, viewer: WriterOf, conversation: ConversationOf, conversation_id: str, body: Rating
) -> dict[str, RatingView]:
    """Rate one aspect of a conversation from 1 to 5."""
    with desk.acting:
        rate(desk, viewer, conversation_id, body.aspect, body.score, body.note, body.active_ms)
    return rating_views(desk, viewer, conversation_id)


def _undone(desk: Desk, viewer: Viewer, event: ReviewEvent | None, wanted: QueueOf, k: int) -> UndoResult:
    if event is None:
        return UndoResult(event=None, href=None, item=None)
    item = item_view(desk, viewer, event.item_id, k=k, wanted=wanted) if "/" in event.item_id else None
    return UndoResult(event=event_view(event), href=href_of(event), item=item)


def _enter(request: Request, response: Response, viewer: Viewer) -> SessionView:
    """Set the session's cookie and return the session as it is from now on."""
    access = access_of(request)
    cookie = access.session_of(viewer)
    response.set_cookie(access.cookie, cookie, max_age=SESSION_S, httponly=True, samesite="strict", path="/")
    request.cookies[access.cookie] = cookie
    return session_view(request)
