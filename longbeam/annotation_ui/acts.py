"""Routes that change something, and those of the aids for judging an item. Every answer is JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from longbeam.annotation_ui.aids import ItemPlace, counter_view, panel_view
from longbeam.annotation_ui.context import (
    CheckerOf,
    ItemOf,
    QueueOf,
    SealedIdOf,
    SessionView,
    ViewerOf,
    WorkspaceOf,
    WriterOf,
    access_of,
    session_view,
)
from longbeam.annotation_ui.conversations import rating_views
from longbeam.annotation_ui.items import item_view
from longbeam.annotation_ui.links import finding_views
from longbeam.annotation_ui.reviews import event_view, guidelines_view, href_of
from longbeam.annotation_ui.views import (
    CounterView,
    EventView,
    FindingView,
    GuidelinesView,
    ItemView,
    PanelView,
    RatingView,
)
from longbeam.keys import conversation_of
from longbeam.review import (
    AbsenceView,
    Act,
    Body,
    Bulk,
    DatesView,
    Decision,
    Draft,
    GuidelineText,
    OpenConversation,
    Opinion,
    QueueFilter,
    Rating,
    RubricTrial,
    TrainingResult,
    Viewer,
    Workspace,
    absence_view,
    act_on_item,
    act_on_items,
    adjudicate,
    check_item,
    configure,
    counter_evidence,
    dates_view,
    forbidden,
    not_found,
    open_item,
    rate,
    redo,
    set_gold,
    take_lease,
    training_result,
    undo,
    write_guideline,
    write_probe,
)
from longbeam.schemas import (
    ITEM_TARGET,
    EventKind,
    LeaseView,
    Probe,
    Record,
    ReviewerRole,
    ReviewEvent,
    ReviewSettings,
    Verdict,
)

router = APIRouter(prefix="/api")
aids = APIRouter(prefix="/items/{conversation_id}/{probe_id}")


class SignIn(Body):
    """Body of POST /api/session."""

    reviewer_id: str = Field(min_length=1, max_length=64, pattern=r"^[\w][\w .@-]*$")
    role: ReviewerRole = ReviewerRole.ANNOTATOR


class UndoBody(Body):
    """Body of POST /api/undo."""

    event_id: str = ""
    """The act to take back; empty: the last one."""


class ActResult(Record):
    """Answer to an act."""

    event_ids: tuple[str, ...]
    item: ItemView | None
    """The item after the act; None if the act was on another subject."""
    training: TrainingResult | None = None
    """Whether the verdict was right; only in a training set."""


class UndoResult(Record):
    """Answer to undo and redo."""

    event: EventView | None
    """The act that was undone or redone; None if there was none."""
    href: str | None
    item: ItemView | None


class WrittenView(Record):
    """A probe written by hand, and the findings of the checks on it."""

    probe: Probe
    findings: tuple[FindingView, ...]
    item_id: str | None
    """None: the probe was checked and not saved."""


@dataclass(frozen=True)
class ItemPage:
    """The item page of a viewer: acts answer with the page as it is after the act."""

    workspace: Workspace
    viewer: Viewer
    wanted: QueueFilter

    def view(self, item_id: str) -> ItemView:
        """Return the page of an item."""
        return item_view(self.workspace, self.viewer, item_id, self.wanted)

    def result(self, event: ReviewEvent) -> ActResult:
        """Return the answer to an act on an item."""
        training = None
        if event.kind is EventKind.JUDGED and event.target == ITEM_TARGET:
            opinion = self.workspace.state(event.item_id).opinion(self.viewer.reviewer_id)
            training = training_result(self.workspace, event.item_id, opinion)
        return ActResult(event_ids=(event.event_id,), item=self.view(event.item_id), training=training)

    def undone(self, event: ReviewEvent | None) -> UndoResult:
        """Return the answer to undo or redo of an event."""
        if event is None:
            return UndoResult(event=None, href=None, item=None)
        item = self.view(event.item_id) if event.is_on_probe else None
        return UndoResult(event=event_view(event), href=href_of(event), item=item)


async def item_page(workspace: WorkspaceOf, viewer: WriterOf, wanted: QueueOf) -> ItemPage:
    """Return the item page that acts of this request answer with."""
    return ItemPage(workspace, viewer, wanted)


ItemPageOf = Annotated[ItemPage, Depends(item_page)]


@router.post("/session")
def sign_in(request: Request, response: Response, body: SignIn) -> SessionView:
    """Choose a name; on an address that needs a token, names come from personal links instead."""
    access = access_of(request)
    if access.reach.needs_token:
        raise forbidden("open the link that you were sent; this server does not let names be chosen")
    if access.reach.offered and body.reviewer_id not in access.reach.offered:
        raise forbidden(f"choose one of {', '.join(access.reach.offered)}")
    role = access.reach.offered.get(body.reviewer_id, body.role)
    if body.role is ReviewerRole.LEAD and role is not ReviewerRole.LEAD:
        raise forbidden(f"{body.reviewer_id} reviews here; only those named with :lead when the review began lead it")
    viewer = Viewer(body.reviewer_id, role)
    return _enter(request, response, viewer)


@router.post("/session/leave")
def sign_out(request: Request, response: Response) -> SessionView:
    """Forget the name; the session only reads from now on."""
    access = access_of(request)
    response.delete_cookie(access.cookie, path="/")
    request.cookies.pop(access.cookie, None)
    return session_view(request)


@router.post("/items/{conversation_id}/{probe_id}/open")
def open_(page: ItemPageOf, checker: CheckerOf, item_id: ItemOf) -> ItemView:
    """Take the lease of the item and record that it was opened."""
    with page.workspace.acting:
        open_item(page.workspace, page.viewer, item_id)
    checker.warm(conversation_of(item_id))
    return page.view(item_id)


@router.post("/items/{conversation_id}/{probe_id}/lease")
def renew(workspace: WorkspaceOf, viewer: WriterOf, item_id: ItemOf) -> LeaseView:
    """Renew the lease; it lasts from now."""
    return take_lease(workspace, item_id, viewer)


@router.post("/items/{conversation_id}/{probe_id}/release")
def release(workspace: WorkspaceOf, viewer: WriterOf, item_id: ItemOf) -> ActResult:
    """Give the lease back."""
    workspace.log.store.release_lease(item_id, viewer.reviewer_id)
    return ActResult(event_ids=(), item=None)


@router.post("/items/{conversation_id}/{probe_id}/acts")
def act(page: ItemPageOf, item_id: ItemOf, body: Act) -> ActResult:
    """Act on the item; docs/review-api.md describes the kinds of acts."""
    with page.workspace.acting:
        event = act_on_item(page.workspace, page.viewer, item_id, body)
    return page.result(event)


@router.post("/items/{conversation_id}/{probe_id}/check")
def check(page: ItemPageOf, checker: CheckerOf, item_id: ItemOf) -> ActResult:
    """Run the checks on the item with the viewer's edits, and return the item with the new findings."""
    return page.result(check_item(page.workspace, checker, page.viewer, item_id))


@router.post("/conversations/{conversation_id}/probes")
def write(
    workspace: WorkspaceOf, checker: CheckerOf, viewer: WriterOf, conversation_id: SealedIdOf, body: Draft
) -> WrittenView:
    """Check a probe written by hand, and put it into the review if `is_saved`."""
    probe, findings, item_id = write_probe(workspace, checker, viewer, conversation_id, body)
    views = finding_views(workspace, conversation_id, item_id or "", findings)
    return WrittenView(probe=probe, findings=tuple(views), item_id=item_id)


@router.post("/undo")
def undo_last(page: ItemPageOf, body: UndoBody | None = None) -> UndoResult:
    """Undo the viewer's last act, on any item, or the act that the body names."""
    with page.workspace.acting:
        event = undo(page.workspace, page.viewer, body.event_id if body else "")
    return page.undone(event)


@router.post("/redo")
def redo_last(page: ItemPageOf) -> UndoResult:
    """Redo the act that the viewer undid last, if nothing was done since."""
    with page.workspace.acting:
        event = redo(page.workspace, page.viewer)
    return page.undone(event)


@router.post("/conversations/{conversation_id}/ratings")
def rate_conversation(
    workspace: WorkspaceOf, viewer: WriterOf, conversation_id: SealedIdOf, body: Rating
) -> dict[str, RatingView]:
    """Rate one aspect of a conversation from 1 to 5."""
    with workspace.acting:
        rate(workspace, viewer, conversation_id, body)
    return rating_views(workspace, viewer, conversation_id)


def _enter(request: Request, response: Response, viewer: Viewer) -> SessionView:
    """Set the session's cookie and return the session as it is from now on."""
    access = access_of(request)
    request.cookies[access.cookie] = access.keep_session(response, viewer)
    return session_view(request)


class Gold(Body):
    """Body of POST /api/items/{conversation_id}/{probe_id}/gold."""

    verdict: Verdict | None
    """The right verdict; None makes the item an ordinary one again."""


class Setting(Body):
    """Body of POST /api/settings."""

    name: str
    value: int


@router.post("/items/{conversation_id}/{probe_id}/adjudicate")
def decide(page: ItemPageOf, item_id: ItemOf, body: Decision) -> ActResult:
    """Decide an item that has all its opinions."""
    with page.workspace.acting:
        event = adjudicate(page.workspace, page.viewer, item_id, body)
    return page.result(event)


@router.post("/items/{conversation_id}/{probe_id}/gold")
def mark_gold(page: ItemPageOf, item_id: ItemOf, body: Gold) -> ActResult:
    """Set the right verdict, so that the item measures reviewers silently."""
    return page.result(set_gold(page.workspace, page.viewer, item_id, body.verdict))


@router.post("/guidelines")
def guide(workspace: WorkspaceOf, viewer: WriterOf, body: GuidelineText) -> GuidelinesView:
    """Write a new text of a section of the guidelines."""
    write_guideline(workspace, viewer, body)
    return guidelines_view(workspace)


class BulkAct(Body):
    """Body of POST /api/bulk: one act on many items."""

    item_ids: list[str] = Field(min_length=1, max_length=1_000)
    act: Literal["assign", "flag", "return"]
    people: list[str] = Field(default_factory=list, max_length=50)
    """`assign`: the people who get the items; empty: anybody."""
    note: str = Field(default="", max_length=20_000)


@router.post("/bulk")
def act_on_many(workspace: WorkspaceOf, viewer: WriterOf, body: BulkAct) -> ActResult:
    """Give many items to people, flag them, or send them back to their author: all of them or none."""
    with workspace.acting:
        events = act_on_items(workspace, viewer, body.item_ids, Bulk(body.act, body.people, body.note))
    return ActResult(event_ids=tuple(e.event_id for e in events), item=None)


@router.post("/settings")
def change_setting(workspace: WorkspaceOf, viewer: WriterOf, body: Setting) -> ReviewSettings:
    """Change a setting of the review."""
    configure(workspace, viewer, body.name, body.value)
    return workspace.settings


@aids.get("/counter.json")
def counter(workspace: WorkspaceOf, viewer: ViewerOf, item_id: ItemOf, most: int = 30) -> CounterView:
    """Return other messages that could change the answer, best first."""
    conversation, probe, opinion = _worked_on(workspace, viewer, item_id)
    found = counter_evidence(conversation, probe, most=min(max(most, 1), 200))
    return counter_view(ItemPlace(conversation, item_id), found, opinion.cleared)


@aids.get("/absence.json")
def absence(workspace: WorkspaceOf, viewer: ViewerOf, item_id: ItemOf) -> AbsenceView:
    """Return the searches that support an abstention."""
    conversation, _, opinion = _worked_on(workspace, viewer, item_id)
    return absence_view(conversation, opinion, workspace.settings.min_searches)


@aids.get("/dates.json")
def dates(workspace: WorkspaceOf, viewer: ViewerOf, item_id: ItemOf) -> DatesView:
    """Return the dates and lengths of time of the probe and its evidence."""
    conversation, probe, _ = _worked_on(workspace, viewer, item_id)
    return dates_view(conversation, probe)


@aids.get("/what-if.json")
def what_if(workspace: WorkspaceOf, viewer: ViewerOf, item_id: ItemOf) -> RubricTrial:
    """Return how the rubric scores the gold answer and wrong answers."""
    _, probe, _ = _worked_on(workspace, viewer, item_id)
    trial = workspace.rubric_trial(item_id, probe)
    if trial is None:
        raise not_found("judge; start the server with one")
    return trial


@aids.get("/panel.json")
def panel(workspace: WorkspaceOf, viewer: ViewerOf, item_id: ItemOf) -> PanelView:
    """Return the data of the panel of the item's ability."""
    conversation, probe, _ = _worked_on(workspace, viewer, item_id)
    return panel_view(ItemPlace(conversation, item_id), probe)


def _worked_on(workspace: Workspace, viewer: Viewer, item_id: str) -> tuple[OpenConversation, Probe, Opinion]:
    """Return the probe with the viewer's own edits, or as decided if the viewer has made none."""
    state = workspace.state(item_id)
    opinion = state.opinion(viewer.reviewer_id)
    probe = opinion.probe if opinion.is_edited else state.probe
    return workspace.conversation(conversation_of(item_id)), probe, opinion
