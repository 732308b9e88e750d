"""Ratings of whole conversations, 1 to 5, on the aspects of BEAM's Table 4; blind like everything else."""

from __future__ import annotations

from statistics import fmean

from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.errors import invalid
from longbeam.annotation_ui.fold import in_force
from longbeam.annotation_ui.guidelines import current_version
from longbeam.annotation_ui.log import new_event
from longbeam.annotation_ui.people import Viewer
from longbeam.annotation_ui.views import RatingView
from longbeam.schemas.review import RATED_ASPECTS, EventKind, ReviewEvent


def ratings_of(desk: Desk, conversation_id: str) -> dict[str, dict[str, int]]:
    """Return the ratings in force: by aspect, by reviewer."""
    found: dict[str, dict[str, int]] = {aspect: {} for aspect in RATED_ASPECTS}
    for event in in_force(desk.log.of_item(conversation_id)):
        if event.kind is EventKind.RATED and event.target in found and isinstance(event.after, int):
            found[event.target][event.reviewer_id] = event.after
    return found


def rating_views(desk: Desk, viewer: Viewer, conversation_id: str) -> dict[str, RatingView]:
    """Return the ratings as the viewer may see them: others' once as many are saved as are wanted."""
    overlap = desk.settings.overlap
    views = {}
    for aspect, given in ratings_of(desk, conversation_id).items():
        is_open = len(given) >= overlap
        others = {r: score for r, score in given.items() if is_open and r != viewer.reviewer_id}
        views[aspect] = RatingView(
            mine=given.get(viewer.reviewer_id),
            others=others,
            saved=len(given),
            mean=fmean(given.values()) if is_open and given else None,
        )
    return views


def rate(
    desk: Desk, viewer: Viewer, conversation_id: str, aspect: str, score: int, note: str, active_ms: int
) -> ReviewEvent:
    """Append a rating; Refusal 422 for an aspect or a score that there is not."""
    viewer.require_write()
    if aspect not in RATED_ASPECTS or not 1 <= score <= 5:
        raise invalid(f"rate one of {', '.join(RATED_ASPECTS)} from 1 to 5")
    before = ratings_of(desk, conversation_id)[aspect].get(viewer.reviewer_id)
    (event,) = desk.log.append(
        new_event(
            EventKind.RATED,
            conversation_id,
            viewer.reviewer_id,
            target=aspect,
            before=before,
            after=score,
            note=note,
            guideline_version=current_version(desk),
            active_ms=active_ms,
        )
    )
    return event
