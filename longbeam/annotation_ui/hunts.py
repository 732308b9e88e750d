"""What helps to judge an item, each part asked for on its own so that the item page itself opens at once."""

from __future__ import annotations

from fastapi import APIRouter

from longbeam.annotation_ui.absence import AbsenceView, absence_view
from longbeam.annotation_ui.archive import OpenConversation
from longbeam.annotation_ui.context import DeskOf, ItemOf, ViewerOf
from longbeam.annotation_ui.counter import CounterView, counter_evidence
from longbeam.annotation_ui.dates import DatesView, dates_view
from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.fold import Opinion
from longbeam.annotation_ui.panel import PanelView, panel_view
from longbeam.annotation_ui.people import Viewer
from longbeam.annotation_ui.whatif import WhatIfView, what_if
from longbeam.schemas.probes import Probe

router = APIRouter(prefix="/items/{conversation_id}/{probe_id}")


@router.get("/counter.json")
def counter(desk: DeskOf, viewer: ViewerOf, item_id: ItemOf, conversation_id: str, most: int = 30) -> CounterView:
    """Other messages that could change the answer, best first."""
    conversation, probe, opinion = _worked_on(desk, viewer, item_id)
    return counter_evidence(
        conversation, conversation_id, probe, cleared=opinion.cleared, most=min(max(most, 1), 200), item_id=item_id
    )


@router.get("/absence.json")
def absence(desk: DeskOf, viewer: ViewerOf, item_id: ItemOf) -> AbsenceView:
    """The searches that show that something is not there."""
    conversation, _, opinion = _worked_on(desk, viewer, item_id)
    return absence_view(conversation, opinion, desk.settings.min_searches)


@router.get("/dates.json")
def dates(desk: DeskOf, viewer: ViewerOf, item_id: ItemOf) -> DatesView:
    """Dates and lengths of time of the probe and its evidence, computed."""
    conversation, probe, _ = _worked_on(desk, viewer, item_id)
    return dates_view(conversation, probe)


@router.get("/what-if.json")
def try_rubric(desk: DeskOf, viewer: ViewerOf, item_id: ItemOf, conversation_id: str) -> WhatIfView:
    """The rubric on the gold and on wrong answers."""
    _, probe, _ = _worked_on(desk, viewer, item_id)
    return what_if(probe, desk.probes(conversation_id).values())


@router.get("/panel.json")
def panel(desk: DeskOf, viewer: ViewerOf, item_id: ItemOf, conversation_id: str) -> PanelView:
    """What the panel of the item's ability is made of."""
    conversation, probe, _ = _worked_on(desk, viewer, item_id)
    return panel_view(conversation, conversation_id, probe, item_id)


def _worked_on(desk: Desk, viewer: Viewer, item_id: str) -> tuple[OpenConversation, Probe, Opinion]:
    """The probe as the viewer has it: with own edits, else as decided."""
    state = desk.state(item_id)
    opinion = state.opinion(viewer.reviewer_id)
    probe = opinion.probe if opinion.is_edited else state.probe
    return desk.conversation(item_id.partition("/")[0]), probe, opinion
