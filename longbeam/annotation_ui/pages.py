"""Routes of the pages: an address with `.json` answers with a view, without it with a template around that view."""

from __future__ import annotations

import csv
import functools
import hashlib
import inspect
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.templating import Jinja2Templates
from markupsafe import Markup

from longbeam.annotation_ui.context import (
    ConversationOf,
    ItemOf,
    MarksOf,
    QueueOf,
    SessionView,
    ViewerOf,
    WorkspaceOf,
    session_view,
)
from longbeam.annotation_ui.conversations import conversation_view, conversations_view
from longbeam.annotation_ui.folders import ProvenanceView, provenance_view
from longbeam.annotation_ui.items import item_view
from longbeam.annotation_ui.keyboard import KEYS
from longbeam.annotation_ui.links import item_href, message_href
from longbeam.annotation_ui.rendering import STATIC, page_environment
from longbeam.annotation_ui.reviews import (
    HistoryFilter,
    adjudication_page,
    anchors_page,
    decisions_view,
    guidelines_view,
    history_view,
    queue_view,
)
from longbeam.annotation_ui.transcript import (
    LocatedView,
    MessagePart,
    MessagePlace,
    MinimapView,
    SearchResult,
    TranscriptView,
    WantedWindow,
    locate,
    minimap,
    part_of_message,
    search_view,
    window,
)
from longbeam.annotation_ui.views import (
    AdjudicationPage,
    AnchorsPage,
    ConversationsView,
    ConversationView,
    GuidelinesView,
    HistoryView,
    ItemView,
    QueueView,
)
from longbeam.review import (
    AgreementPage,
    PeopleProblem,
    ProgressPage,
    RatingsPage,
    SearchFilter,
    agreement_page,
    all_items,
    as_jsonl,
    not_found,
    progress_page,
    ratings_page,
    wanted_items,
)
from longbeam.schemas import Record

_FILES = sorted(f for f in STATIC.rglob("*") if f.is_file())
STATIC_BUILD = hashlib.sha256(b"".join(f.read_bytes() for f in _FILES)).hexdigest()[:12]
_FORMULA = re.compile(r"[\t\r\n]|\s*[=+@＝＋＠－-]")
"""A text that a spreadsheet would take for a formula, or would take white space off to find one."""
STATIC_PATH = f"/static/{STATIC_BUILD}"
"""Scripts and styles have a hash of their content in their address, so that browsers can cache them for ever."""
router = APIRouter()
templates = Jinja2Templates(env=page_environment())


def as_json(value: Record | Sequence[Record]) -> Markup:
    """Return records as JSON for a `<script type="application/json">`; no text in it can end the element."""
    text = (
        value.model_dump_json()
        if isinstance(value, Record)
        else "[" + ",".join(v.model_dump_json() for v in value) + "]"
    )
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def first_window(message_id: int, item_id: str) -> dict[str, str]:
    """Return the first request of `static/talk/talk.js` for an item, so that the page can preload its answer."""
    return {"first": str(max(message_id - 3, 0)), "count": "12", "item": item_id, "q": ""}


_NO_MODULES = ("bundle.js", "theme.js")
SCRIPTS = tuple(f.relative_to(STATIC).as_posix() for f in _FILES if f.suffix == ".js" and f.name not in _NO_MODULES)
"""Modules, so that the item page can ask for all of them at once."""
templates.env.globals.update(as_json=as_json, static=STATIC_PATH, first_window=first_window, scripts=SCRIPTS)


def page(path: str, template: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a view at `path` + `.json`, and the page with a template around it at `path`."""

    def register(view: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(view)
        def html(**given: Any) -> HTMLResponse:
            request: Request = given["request"]
            shown: dict[str, Any] = {
                "view": view(**given),
                "session": session_view(request),
                "page": template.removesuffix(".html"),
            }
            shown["keys"] = KEYS
            return templates.TemplateResponse(request, template, shown)

        # FastAPI reads the parameters of a route from its signature: the page has those of the view.
        html.__annotations__ = {**view.__annotations__, "return": HTMLResponse}
        html.__signature__ = inspect.signature(view).replace(return_annotation=HTMLResponse)  # type: ignore[attr-defined]
        router.add_api_route(f"{path}.json", view, methods=["GET"], name=f"{template}.json")
        router.add_api_route(path, html, methods=["GET"], response_class=HTMLResponse, response_model=None)
        return view

    return register


class ProblemPage(Record):
    """A page that says why another one is not shown."""

    title: str
    message: str


def problem_page(request: Request, problem: PeopleProblem, status: int) -> HTMLResponse:
    """Return a refusal as a page."""
    title = "There is no such page" if status == 404 else "This does not work"
    message = f"{problem.message[:1].upper()}{problem.message[1:]}."
    shown = {"view": ProblemPage(title=title, message=message), "session": session_view(request), "page": "problem"}
    return templates.TemplateResponse(request, "problem.html", shown, status_code=status)


@router.get("/", include_in_schema=False)
def home(viewer: ViewerOf) -> RedirectResponse:
    """Redirect to the queue, or to the first page for one who has no name yet."""
    return RedirectResponse("/queue" if viewer.can_write else "/session", status_code=303)


@page("/session", "session.html")
def session(request: Request) -> SessionView:
    """Return the viewer and the settings; the page lets a reviewer choose a name."""
    return session_view(request)


@page("/queue", "queue.html")
def queue(request: Request, workspace: WorkspaceOf, viewer: ViewerOf, wanted: QueueOf) -> QueueView:
    """Return the items of the queue, filtered and ordered."""
    return queue_view(workspace, viewer, wanted)


@page("/items/{conversation_id}/{probe_id}/history", "history.html")
def item_history(request: Request, workspace: WorkspaceOf, viewer: ViewerOf, item_id: ItemOf) -> HistoryView:
    """Return the log of an item, newest event first."""
    return history_view(workspace, viewer, HistoryFilter(item_id=item_id, count=1000))


@page("/items/{conversation_id}/{probe_id}/provenance", "provenance.html")
def provenance(request: Request, workspace: WorkspaceOf, viewer: ViewerOf, item_id: ItemOf) -> ProvenanceView:
    """Return one page about one probe, to print and to cite."""
    return provenance_view(workspace, item_id, viewer)


@page("/items/{conversation_id}/{probe_id}", "item.html")
def item(request: Request, workspace: WorkspaceOf, viewer: ViewerOf, wanted: QueueOf, item_id: ItemOf) -> ItemView:
    """Return one probe under review; the parameters of the queue determine the next item."""
    return item_view(workspace, viewer, item_id, wanted)


@page("/conversations", "conversations.html")
def conversations(request: Request, workspace: WorkspaceOf) -> ConversationsView:
    """Return all conversations, unfinished ones included."""
    return conversations_view(workspace)


@page("/conversations/{conversation_id}/messages/{message_id}", "message.html")
def message(
    request: Request,
    marks_of: MarksOf,
    conversation: ConversationOf,
    message_id: int,
    given: Annotated[MessagePlace, Depends()],
) -> MessagePart:
    """Return a window inside one message, however long it is."""
    found = conversation.messages(message_id, 1) if message_id >= 0 else []
    if not found:
        raise not_found(f"message {message_id} in {marks_of.conversation_id}")
    marks = marks_of(given.item)
    key = found[0].message_key
    part = part_of_message(found[0], given, marks.of(key).marks)
    if not marks.is_known:
        return part
    update = {"item": given.item, "item_href": item_href(given.item), "comments": tuple(marks.said.get(key, ()))}
    return part.model_copy(update=update)


@page("/conversations/{conversation_id}/messages", "messages.html")
def messages(
    request: Request,
    marks_of: MarksOf,
    conversation: ConversationOf,
    wanted: Annotated[WantedWindow, Depends()],
) -> TranscriptView:
    """Return a window of the conversation by ordinal, or from `before` messages ahead of the message key `around`."""
    if wanted.around and wanted.around not in conversation.ids:
        raise not_found(f"message {wanted.around!r} in {marks_of.conversation_id}")
    return window(conversation, marks_of.conversation_id, wanted, marks_of(wanted.item))


@router.get("/conversations/{conversation_id}/minimap.json")
def minimap_of(conversation: ConversationOf, conversation_id: str) -> MinimapView:
    """Return the whole conversation without its text."""
    return minimap(conversation, conversation_id)


@dataclass(frozen=True)
class HitParameters:
    """Text of a search, and the page of hits."""

    q: str = ""
    first: int = 0
    count: int = 20


@page("/conversations/{conversation_id}/search", "search.html")
def search_in(
    request: Request,
    conversation: ConversationOf,
    wanted: Annotated[SearchFilter, Depends()],
    given: Annotated[HitParameters, Depends()],
) -> SearchResult:
    """Return the hits of a text, with exact counts."""
    return search_view(conversation, given.q, wanted, first=max(given.first, 0), count=max(given.count, 1))


@router.get("/conversations/{conversation_id}/locate.json")
def locate_in(
    conversation: ConversationOf,
    conversation_id: str,
    by: Literal["date", "plan", "session", "key", "id"],
    value: str,
) -> LocatedView:
    """Return the first message of a day (or of the next day that has any), plan or session; or one by key or id."""
    line = locate(conversation, by, value)
    if line is None:
        raise not_found(f"{by} {value!r} in {conversation_id}")
    return LocatedView.taken_from(line, href=message_href(conversation_id, line.message_id))


@page("/conversations/{conversation_id}", "conversation.html")
def conversation(
    request: Request, workspace: WorkspaceOf, viewer: ViewerOf, conversation: ConversationOf, conversation_id: str
) -> ConversationView:
    """Return one conversation, without its messages."""
    return conversation_view(workspace, viewer, conversation_id)


@page("/adjudication", "adjudication.html")
def adjudication(request: Request, workspace: WorkspaceOf, viewer: ViewerOf) -> AdjudicationPage:
    """Return the items on which reviewers differ, all versions side by side."""
    return adjudication_page(workspace, viewer)


@page("/agreement", "agreement.html")
def agreement(request: Request, workspace: WorkspaceOf, viewer: ViewerOf) -> AgreementPage:
    """Return the agreement of reviewers by ability, nugget, aspect and pair."""
    return agreement_page(workspace, viewer)


@page("/progress", "progress.html")
def progress(request: Request, workspace: WorkspaceOf, viewer: ViewerOf) -> ProgressPage:
    """Return the progress of the review and of each reviewer."""
    return progress_page(workspace, viewer)


@page("/ratings", "ratings.html")
def ratings(request: Request, workspace: WorkspaceOf, viewer: ViewerOf) -> RatingsPage:
    """Return ratings of conversations beside BEAM's Table 4."""
    return ratings_page(workspace, viewer)


@page("/anchors", "anchors.html")
def anchors(request: Request, workspace: WorkspaceOf) -> AnchorsPage:
    """Return the quotes that reviewers saw or added, and where they stand now."""
    return anchors_page(workspace)


@router.get("/log.jsonl", response_class=Response)
def export(workspace: WorkspaceOf, viewer: ViewerOf) -> Response:
    """Return the log as `longbeam reviews import` reads it: all of it for a lead, else the viewer's own acts."""
    viewer.require_write()
    events = workspace.log.events()
    own = events if viewer.is_lead else [e for e in events if e.reviewer_id == viewer.reviewer_id]
    return _download(as_jsonl(own), "application/jsonl", f"{workspace.archive.name}-review.jsonl")


@router.get("/queue.csv", response_class=Response)
def export_queue(workspace: WorkspaceOf, viewer: ViewerOf, wanted: QueueOf) -> Response:
    """Return the items of a filtered queue as a table for a spreadsheet."""
    rows = wanted_items(all_items(workspace, viewer), viewer, wanted)
    columns = ("item_id", "ability", "question", "status", "mine", "saved", "errors", "warnings", "flags")
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(columns)
    for row in rows:
        cells = [str(getattr(row, name)) for name in columns]
        table.writerow([f"'{cell}" if _FORMULA.match(cell) else cell for cell in cells])
    return _download(text.getvalue(), "text/csv", f"{workspace.archive.name}-queue.csv")


def _download(text: str, media_type: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=media_type, headers=headers)


@router.get("/decisions.json")
def decisions(workspace: WorkspaceOf, viewer: ViewerOf) -> HistoryView:
    """Return the viewer's last fifty acts that can be undone."""
    return decisions_view(workspace, viewer)


@page("/guidelines", "guidelines.html")
def guidelines(request: Request, workspace: WorkspaceOf) -> GuidelinesView:
    """Return the guidelines in force."""
    return guidelines_view(workspace)


@page("/log", "history.html")
def log(
    request: Request, workspace: WorkspaceOf, viewer: ViewerOf, wanted: Annotated[HistoryFilter, Depends()]
) -> HistoryView:
    """Return all events that the viewer may see, newest first."""
    return history_view(workspace, viewer, wanted)
