"""Every page: a function from the address to a view. As `.json` it is that view, without it a template around it."""

from __future__ import annotations

import datetime as dt
import functools
import hashlib
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.templating import Jinja2Templates
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from longbeam.abilities.registry import ability_of
from longbeam.annotation_ui.adjudication import AdjudicationPage, adjudication_page
from longbeam.annotation_ui.anchor_report import AnchorsPage, anchors_page
from longbeam.annotation_ui.causes import message_href
from longbeam.annotation_ui.context import (
    ConversationOf,
    DeskOf,
    ItemOf,
    QueueOf,
    ViewerOf,
    session_view,
)
from longbeam.annotation_ui.conversations import conversation_view, conversations_view, marks_for
from longbeam.annotation_ui.errors import not_found
from longbeam.annotation_ui.figures import (
    AgreementPage,
    ProgressPage,
    RatingsPage,
    agreement_page,
    progress_page,
    ratings_page,
)
from longbeam.annotation_ui.guidelines import GuidelinesView, guidelines_view
from longbeam.annotation_ui.history import history_view
from longbeam.annotation_ui.items import item_view
from longbeam.annotation_ui.keys import KEYS
from longbeam.annotation_ui.passport import PassportView, passport_view
from longbeam.annotation_ui.queue import queue_view
from longbeam.annotation_ui.search import SearchFilter, SearchResult, search
from longbeam.annotation_ui.transcript import (
    MessagePart,
    MinimapView,
    TranscriptView,
    locate,
    minimap,
    part_of_message,
    window,
)
from longbeam.annotation_ui.views import (
    ConversationsView,
    ConversationView,
    HistoryView,
    ItemView,
    LocatedView,
    QueueView,
    SessionView,
)
from longbeam.schemas.base import Record

TEMPLATES = Path(__file__).parent / "templates"
STATIC = Path(__file__).parent / "static"
STATIC_BUILD = hashlib.sha256(b"".join(f.read_bytes() for f in sorted(STATIC.iterdir()))).hexdigest()[:12]
STATIC_PATH = f"/static/{STATIC_BUILD}"
"""Scripts and styles have their content in their address: a browser keeps them, and never those of another version."""
router = APIRouter()
templates = Jinja2Templates(
    env=Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
)
templates.env.filters["ability_title"] = lambda name: ability_of(name).shown_as


def as_json(value: Record | Sequence[Record]) -> Markup:
    """Return records as JSON that may stand in a `<script type="application/json">`, which nothing in it can end."""
    text = (
        value.model_dump_json()
        if isinstance(value, Record)
        else "[" + ",".join(v.model_dump_json() for v in value) + "]"
    )
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def first_window(message_id: int, item_id: str) -> dict[str, str]:
    """Return what `static/transcript.js` asks for first of an item, so that the page may ask for it at once."""
    return {"first": str(max(message_id - 3, 0)), "count": "12", "item": item_id, "q": ""}


templates.env.globals.update(as_json=as_json, static=STATIC_PATH, first_window=first_window)


def page(path: str, template: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a view at `path` + `.json`, and the page of the template around it at `path`."""

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

        # Each route needs the parameters of the view; what it answers with is a page.
        html.__annotations__ = {**view.__annotations__, "return": HTMLResponse}
        html.__signature__ = inspect.signature(view).replace(return_annotation=HTMLResponse)  # type: ignore[attr-defined]
        router.add_api_route(f"{path}.json", view, methods=["GET"], name=f"{template}.json")
        router.add_api_route(path, html, methods=["GET"], response_class=HTMLResponse, response_model=None)
        return view

    return register


@router.get("/", include_in_schema=False)
def home() -> RedirectResponse:
    """Lead to the queue."""
    return RedirectResponse("/queue", status_code=303)


@page("/session", "session.html")
def session(request: Request) -> SessionView:
    """Who is looking: choose a name, see the settings."""
    return session_view(request)


@page("/queue", "queue.html")
def queue(request: Request, desk: DeskOf, viewer: ViewerOf, wanted: QueueOf) -> QueueView:
    """The items, filtered; the address is the list."""
    return queue_view(desk, viewer, wanted)


@page("/items/{conversation_id}/{probe_id}/history", "history.html")
def item_history(request: Request, desk: DeskOf, viewer: ViewerOf, item_id: ItemOf) -> HistoryView:
    """What was done to an item, newest first."""
    return history_view(desk, viewer, item_id=item_id)


@page("/items/{conversation_id}/{probe_id}/passport", "passport.html")
def passport(request: Request, desk: DeskOf, viewer: ViewerOf, item_id: ItemOf) -> PassportView:
    """One page about one probe, to print and to cite."""
    return passport_view(desk, viewer, item_id)


@page("/items/{conversation_id}/{probe_id}", "item.html")
def item(request: Request, desk: DeskOf, viewer: ViewerOf, item_id: ItemOf, wanted: QueueOf, k: int = 0) -> ItemView:
    """One probe under review; the parameters of the queue say what is next."""
    return item_view(desk, viewer, item_id, k=min(max(k, 0), 20), wanted=wanted)


@page("/conversations", "conversations.html")
def conversations(request: Request, desk: DeskOf, viewer: ViewerOf) -> ConversationsView:
    """All conversations, those being made included."""
    return conversations_view(desk, viewer)


@page("/conversations/{conversation_id}/messages/{message_id}", "message.html")
def message(
    request: Request,
    desk: DeskOf,
    viewer: ViewerOf,
    conversation: ConversationOf,
    conversation_id: str,
    message_id: int,
    at: int = 0,
    size: int = 4_000,
    find: str = "",
    item: str = "",
) -> MessagePart:
    """A window inside one message, however long it is."""
    found = conversation.messages(message_id, 1) if message_id >= 0 else []
    if not found:
        raise not_found(f"message {message_id} in {conversation_id}")
    marks = marks_for(desk, viewer, conversation, item).marks.get(found[0].message_key, ())
    return part_of_message(found[0], at=at, size=size, find=find, marks=marks)


@page("/conversations/{conversation_id}/messages", "messages.html")
def messages(
    request: Request,
    desk: DeskOf,
    viewer: ViewerOf,
    conversation: ConversationOf,
    conversation_id: str,
    first: int = 0,
    count: int = 20,
    around: str = "",
    before: int = 3,
    item: str = "",
    q: str = "",
) -> TranscriptView:
    """A window of the conversation by ordinal, or `before` messages ahead of the one with the key `around`."""
    if around:
        if around not in conversation.ids:
            raise not_found(f"message {around!r} in {conversation_id}")
        first = conversation.ids[around] - max(before, 0)
    shown = marks_for(desk, viewer, conversation, item)
    return window(
        conversation,
        conversation_id,
        first,
        count,
        marks=shown.marks,
        evidence_ids=shown.evidence_ids,
        comments=shown.comments,
        query=q,
    )


@router.get("/conversations/{conversation_id}/minimap.json")
def minimap_of(
    desk: DeskOf, viewer: ViewerOf, conversation: ConversationOf, conversation_id: str, item: str = ""
) -> MinimapView:
    """The whole conversation without its text."""
    shown, ids = marks_for(desk, viewer, conversation, item), conversation.ids
    evidence = [ids[key] for key in shown.evidence_ids if key in ids]
    return minimap(conversation, conversation_id, evidence, [ids[key] for key in shown.comments if key in ids])


@page("/conversations/{conversation_id}/search", "search.html")
def search_in(
    request: Request,
    conversation: ConversationOf,
    conversation_id: str,
    q: str = "",
    speaker: str = "",
    date_from: dt.date | None = None,
    date_to: dt.date | None = None,
    session: int | None = None,
    plan: int | None = None,
    first: int = 0,
    count: int = 20,
) -> SearchResult:
    """Where a text stands, with exact counts."""
    wanted = SearchFilter(speaker=speaker, date_from=date_from, date_to=date_to, session=session, plan=plan)
    return search(conversation, q, wanted, first=max(first, 0), count=max(count, 1))


@router.get("/conversations/{conversation_id}/locate.json")
def locate_in(
    conversation: ConversationOf,
    conversation_id: str,
    by: Literal["date", "plan", "session", "key", "id"],
    value: str,
) -> LocatedView:
    """Where a jump leads: the first message of a day (or the next that has any), plan, session; or one by key or id."""
    line = locate(conversation, by, value)
    if line is None:
        raise not_found(f"{by} {value!r} in {conversation_id}")
    return LocatedView(
        message_id=line.message_id,
        message_key=line.message_key,
        sent_at=line.sent_at,
        href=message_href(conversation_id, line.message_id),
    )


@page("/conversations/{conversation_id}", "conversation.html")
def conversation(
    request: Request, desk: DeskOf, viewer: ViewerOf, conversation: ConversationOf, conversation_id: str
) -> ConversationView:
    """One conversation, without its messages."""
    return conversation_view(desk, viewer, conversation_id)


@page("/adjudication", "adjudication.html")
def adjudication(request: Request, desk: DeskOf, viewer: ViewerOf) -> AdjudicationPage:
    """Items on which reviewers differ, all versions side by side."""
    return adjudication_page(desk, viewer)


@page("/agreement", "agreement.html")
def agreement(request: Request, desk: DeskOf) -> AgreementPage:
    """How far reviewers agree, by ability, nugget, aspect and pair."""
    return agreement_page(desk)


@page("/progress", "progress.html")
def progress(request: Request, desk: DeskOf, viewer: ViewerOf) -> ProgressPage:
    """How far the review and each reviewer is."""
    return progress_page(desk, viewer)


@page("/ratings", "ratings.html")
def ratings(request: Request, desk: DeskOf) -> RatingsPage:
    """Ratings of conversations beside BEAM's Table 4."""
    return ratings_page(desk)


@page("/anchors", "anchors.html")
def anchors(request: Request, desk: DeskOf) -> AnchorsPage:
    """Quotes that reviewers saw or added, and where they stand now."""
    return anchors_page(desk)


@page("/guidelines", "guidelines.html")
def guidelines(request: Request, desk: DeskOf) -> GuidelinesView:
    """What reviewers judge by."""
    return guidelines_view(desk)


@page("/log", "history.html")
def log(
    request: Request,
    desk: DeskOf,
    viewer: ViewerOf,
    reviewer: str = "",
    kind: str = "",
    first: int = 0,
    count: int = 100,
) -> HistoryView:
    """All events that the viewer may see, newest first."""
    return history_view(desk, viewer, reviewer=reviewer, kind=kind, first=max(first, 0), count=min(max(count, 1), 1000))
