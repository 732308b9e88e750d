"""Conflicts and a lead's final word on them: all versions side by side, nothing overwritten."""

from __future__ import annotations

from longbeam.annotation_ui.causes import item_href
from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.errors import Refusal, invalid
from longbeam.annotation_ui.guidelines import current_version
from longbeam.annotation_ui.items import opinion_view
from longbeam.annotation_ui.log import new_event
from longbeam.annotation_ui.people import Viewer
from longbeam.annotation_ui.state import ItemState, ItemStatus
from longbeam.annotation_ui.views import Decision, OpinionView
from longbeam.schemas.base import Record
from longbeam.schemas.probes import Probe
from longbeam.schemas.review import EventKind, ReviewEvent, Taxonomy


class ConflictView(Record):
    """An item on which reviewers differ, or differed."""

    item_id: str
    item_version: str
    """The viewer's own, which a decision must name."""
    href: str
    ability: str
    question: str
    sealed: Probe
    opinions: tuple[OpinionView, ...]
    """All versions, in the order of saving; none stands out."""
    differs_in: tuple[str, ...]
    """`item` (the verdict), `question`, `gold_answer`, `nugget/ID`, ..."""
    is_decided: bool


class AdjudicationPage(Record):
    """What leads decide."""

    open: int
    decided: int
    items: tuple[ConflictView, ...]
    """Open ones first."""
    taxonomy: tuple[str, ...] = tuple(Taxonomy)


def adjudication_page(desk: Desk, viewer: Viewer) -> AdjudicationPage:
    """Return all items in conflict, and those that a lead has decided."""
    found = []
    for item_id in desk.judged_ids():
        state = desk.state(item_id)
        if state.status is ItemStatus.CONFLICT or state.adjudication is not None:
            found.append(_conflict(item_id, state, viewer))
    decided = [c for c in found if c.is_decided]
    waiting = [c for c in found if not c.is_decided]
    return AdjudicationPage(open=len(waiting), decided=len(decided), items=(*waiting, *decided))


def adjudicate(desk: Desk, viewer: Viewer, item_id: str, decision: Decision) -> ReviewEvent:
    """Append a lead's final word; the opinions stay as they are, and the event names them.

    Raises Refusal: 403 for others than leads, 409 `conflict` before all opinions are saved, 409 `stale` on an old
    version, 422 where the version that is to be taken does not exist or is stale itself.
    """
    viewer.require_lead()
    state = desk.state(item_id)
    own = state.opinion(viewer.reviewer_id)
    if not state.is_open:
        text = f"{len(state.saved)} of {state.overlap} opinions are saved; the item is blind until all are"
        raise Refusal(409, "conflict", text)
    if decision.item_version != own.version:
        raise Refusal(409, "stale", "the item has changed since this page was loaded", item_version=own.version)
    taken = state.opinion(decision.content_of) if decision.content_of else own
    if decision.content_of and decision.content_of not in {o.reviewer_id for o in state.saved}:
        raise invalid(f"{decision.content_of!r} has saved no opinion of this item")
    if taken.stale and decision.verdict == "accept":
        raise invalid(f"this version is not finished: look again at {', '.join(taken.stale)}")
    (event,) = desk.log.append(
        new_event(
            EventKind.ADJUDICATED,
            item_id,
            viewer.reviewer_id,
            before=[{"reviewer_id": o.reviewer_id, "verdict": o.verdict and o.verdict.value} for o in state.saved],
            after={
                "verdict": decision.verdict.value,
                "probe": taken.probe.model_dump(mode="json"),
                "content_of": decision.content_of or viewer.reviewer_id,
                "taxonomy": decision.taxonomy.value,
                "confidence": decision.confidence,
                "judged": [o.saved_by for o in state.saved],
            },
            item_version=own.version,
            probe_version=state.version,
            note=decision.note,
            guideline_version=current_version(desk),
            active_ms=decision.active_ms,
        )
    )
    return event


def _conflict(item_id: str, state: ItemState, viewer: Viewer) -> ConflictView:
    opinions = tuple(opinion_view(o, state.base) for o in state.saved)
    verdicts = {o.verdict for o in opinions}
    changes = [{c.target: c.after for c in o.changes} for o in opinions]
    targets = dict.fromkeys(target for values in changes for target in values)
    differs = [t for t in targets if len({str(values.get(t, "as sealed")) for values in changes}) > 1]
    return ConflictView(
        item_id=item_id,
        item_version=state.opinion(viewer.reviewer_id).version,
        href=item_href(item_id),
        ability=state.base.ability,
        question=state.base.question,
        sealed=state.base,
        opinions=opinions,
        differs_in=(*(["item"] if len(verdicts) > 1 else []), *differs),
        is_decided=state.adjudication is not None,
    )
