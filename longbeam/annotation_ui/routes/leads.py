"""Routes for leads only: decide conflicts, set gold items, write guidelines, change settings."""

from __future__ import annotations

from fastapi import APIRouter

from longbeam.annotation_ui.context import ItemOf, WorkspaceOf, WriterOf
from longbeam.annotation_ui.review_views import GuidelinesView, guidelines_view
from longbeam.annotation_ui.routes.acts import ActResult, ItemPageOf
from longbeam.review.bodies import Body
from longbeam.review.decisions import Decision, GuidelineText, adjudicate, configure, set_gold, write_guideline
from longbeam.schemas.review import ReviewSettings, Verdict

router = APIRouter(prefix="/api")


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


@router.post("/settings")
def change_setting(workspace: WorkspaceOf, viewer: WriterOf, body: Setting) -> ReviewSettings:
    """Change a setting of the review."""
    configure(workspace, viewer, body.name, body.value)
    return workspace.settings
