"""Routes of the aids for judging an item; each is requested on its own, so that the item page opens at once."""

from __future__ import annotations

from fastapi import APIRouter

from longbeam.annotation_ui.context import ItemOf, ViewerOf, WorkspaceOf
from longbeam.annotation_ui.panels import CounterView, ItemPlace, PanelView, counter_view, panel_view
from longbeam.keys import conversation_of
from longbeam.review.archive import OpenConversation
from longbeam.review.counter_evidence import counter_evidence
from longbeam.review.dates import DatesView, dates_view
from longbeam.review.fold import Opinion
from longbeam.review.people import Viewer
from longbeam.review.refusals import not_found
from longbeam.review.rubric_trial import RubricTrial
from longbeam.review.search import AbsenceView, absence_view
from longbeam.review.workspace import Workspace
from longbeam.schemas.probes import Probe

router = APIRouter(prefix="/items/{conversation_id}/{probe_id}")


@router.get("/counter.json")
def counter(workspace: WorkspaceOf, viewer: ViewerOf, item_id: ItemOf, most: int = 30) -> CounterView:
    """Return other messages that could change the answer, best first."""
    conversation, probe, opinion = _worked_on(workspace, viewer, item_id)
    found = counter_evidence(conversation, probe, most=min(max(most, 1), 200))
    return counter_view(ItemPlace(conversation, item_id), found, opinion.cleared)


@router.get("/absence.json")
def absence(workspace: WorkspaceOf, viewer: ViewerOf, item_id: ItemOf) -> AbsenceView:
    """Return the searches that support an abstention."""
    conversation, _, opinion = _worked_on(workspace, viewer, item_id)
    return absence_view(conversation, opinion, workspace.settings.min_searches)


@router.get("/dates.json")
def dates(workspace: WorkspaceOf, viewer: ViewerOf, item_id: ItemOf) -> DatesView:
    """Return the dates and lengths of time of the probe and its evidence."""
    conversation, probe, _ = _worked_on(workspace, viewer, item_id)
    return dates_view(conversation, probe)


@router.get("/what-if.json")
def what_if(workspace: WorkspaceOf, viewer: ViewerOf, item_id: ItemOf) -> RubricTrial:
    """Return how the rubric scores the gold answer and wrong answers."""
    _, probe, _ = _worked_on(workspace, viewer, item_id)
    trial = workspace.rubric_trial(item_id, probe)
    if trial is None:
        raise not_found("judge; start the server with one")
    return trial


@router.get("/panel.json")
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
