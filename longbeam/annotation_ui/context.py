"""Dependencies of the routes: workspace, viewer, and the item or conversation that the address names.

Dependencies that read no file are async: FastAPI runs all others in a thread, which costs more than their work.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends, Request

from longbeam.annotation_ui.security import CSRF_HEADER, Access
from longbeam.annotation_ui.transcript import ItemMarks, marks_for
from longbeam.keys import ItemId
from longbeam.review import (
    UI_BUILD,
    Checker,
    OpenConversation,
    PeopleProblem,
    QueueFilter,
    Refusal,
    Viewer,
    Workspace,
    not_found,
)
from longbeam.schemas import Record, ReviewerRole


class SessionView(Record):
    """The viewer behind a request, and the settings of the review."""

    benchmark: str
    reviewer_id: str | None
    role: ReviewerRole | None
    can_write: bool
    csrf: str
    """Every POST sends this as the header `X-CSRF-Token`; empty for viewers who only read."""
    offered: dict[str, ReviewerRole]
    """Names that may be chosen, with the role of each; empty: any name, in either role."""
    needs_token: bool
    overlap: int
    lease_s: int
    every_nugget: bool
    ui_build: str


def workspace_of(request: Request) -> Workspace:
    """Return the workspace, with the log as it is now."""
    workspace: Workspace = request.app.state.workspace
    workspace.log.refresh()
    return workspace


def access_of(request: Request) -> Access:
    """Return the access control of this server."""
    access: Access = request.app.state.access
    return access


async def viewer_of(request: Request) -> Viewer:
    """Return the viewer behind a request."""
    access = access_of(request)
    return access.viewer_of(request.cookies.get(access.cookie))


async def writer_of(request: Request) -> Viewer:
    """Return the viewer who acts; Refusal for readers, and for a request without the CSRF token of its session."""
    access = access_of(request)
    cookie = request.cookies.get(access.cookie, "")
    viewer = access.viewer_of(cookie)
    if not viewer.can_write:
        raise Refusal(PeopleProblem(error="signed_out", message="you are not signed in; choose your name to go on"))
    if request.headers.get(CSRF_HEADER, "") != access.csrf_of(cookie):
        text = "this page belongs to another sign-in of this browser (X-CSRF-Token)"
        raise Refusal(PeopleProblem(error="csrf", message=text))
    return viewer


async def checker_of(request: Request) -> Checker:
    """Return the checker of probes."""
    checker: Checker = request.app.state.checker
    return checker


CheckerOf = Annotated[Checker, Depends(checker_of)]
WorkspaceOf = Annotated[Workspace, Depends(workspace_of)]
ViewerOf = Annotated[Viewer, Depends(viewer_of)]
WriterOf = Annotated[Viewer, Depends(writer_of)]


def item_of(workspace: WorkspaceOf, conversation_id: str, probe_id: str) -> str:
    """Return the item that the address names; Refusal `not_found` if there is none."""
    item_id = str(ItemId(conversation_id, probe_id))
    try:
        workspace.base(item_id)
    except KeyError as exc:
        raise not_found(f"item {item_id!r}") from exc
    return item_id


def conversation_of(workspace: WorkspaceOf, conversation_id: str) -> OpenConversation:
    """Return the conversation that the address names; Refusal `not_found` if it is not sealed."""
    try:
        return workspace.conversation(conversation_id)
    except KeyError as exc:
        raise not_found(f"finished conversation {conversation_id!r}") from exc


ItemOf = Annotated[str, Depends(item_of)]
ConversationOf = Annotated[OpenConversation, Depends(conversation_of)]


async def sealed_id_of(conversation: ConversationOf, conversation_id: str) -> str:
    """Return the id of the conversation that the address names; Refusal `not_found` if it is not sealed."""
    return conversation_id


SealedIdOf = Annotated[str, Depends(sealed_id_of)]


async def queue_filter(given: Annotated[QueueFilter, Depends()]) -> QueueFilter:
    """Return the filter of the queue that an address carries; a page has 1 to 1000 items."""
    return replace(given, first=max(given.first, 0), count=min(max(given.count, 1), 1000))


@dataclass(frozen=True)
class ConversationMarks:
    """Marks of items in the conversation that the address names, as the viewer may see them."""

    workspace: Workspace
    viewer: Viewer
    conversation: OpenConversation
    conversation_id: str

    def __call__(self, item_id: str) -> ItemMarks:
        """Return the marks of one item; none for an unknown item."""
        return marks_for(self.workspace, self.viewer, self.conversation, item_id)


async def marks_of(
    workspace: WorkspaceOf, viewer: ViewerOf, conversation: ConversationOf, conversation_id: str
) -> ConversationMarks:
    """Return the marks of items in the conversation that the address names."""
    return ConversationMarks(workspace, viewer, conversation, conversation_id)


MarksOf = Annotated[ConversationMarks, Depends(marks_of)]
QueueOf = Annotated[QueueFilter, Depends(queue_filter)]


def session_view(request: Request) -> SessionView:
    """Return the viewer behind a request, and what this viewer may do."""
    access, workspace = access_of(request), workspace_of(request)
    cookie = request.cookies.get(access.cookie, "")
    viewer = access.viewer_of(cookie)
    settings = workspace.settings
    return SessionView.taken_from(
        settings,
        benchmark=workspace.archive.name,
        reviewer_id=viewer.reviewer_id or None,
        role=viewer.role,
        can_write=viewer.can_write,
        csrf=access.csrf_of(cookie) if viewer.can_write else "",
        offered=dict(access.reach.offered),
        needs_token=access.reach.needs_token,
        ui_build=UI_BUILD,
    )
