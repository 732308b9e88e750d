"""What only leads may do: decide conflicts, write guidelines, set gold items, settings."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from longbeam.annotation_ui.adjudication import adjudicate
from longbeam.annotation_ui.context import DeskOf, ItemOf, QueueOf, WriterOf
from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.errors import invalid
from longbeam.annotation_ui.guidelines import GuidelinesView, built_in, guidelines_view
from longbeam.annotation_ui.items import item_view
from longbeam.annotation_ui.log import BENCHMARK_ITEM, new_event
from longbeam.annotation_ui.people import Viewer
from longbeam.annotation_ui.settings import ReviewSettings
from longbeam.annotation_ui.views import ActResult, Decision
from longbeam.schemas.review import EventKind, Verdict

router = APIRouter(prefix="/api")
Around = Annotated[int, Query(ge=0, le=20)]


class Guideline(BaseModel):
    """Body of POST /api/guidelines."""

    model_config = ConfigDict(extra="forbid")
    section: str
    text: str = Field(min_length=1, max_length=50_000)
    note: str = Field(default="", max_length=20_000)
    """What has changed and why."""


class Gold(BaseModel):
    """Body of POST /api/items/{conversation_id}/{probe_id}/gold."""

    model_config = ConfigDict(extra="forbid")
    verdict: Verdict | None
    """The right one; none makes it a plain item again."""


class Setting(BaseModel):
    """Body of POST /api/settings."""

    model_config = ConfigDict(extra="forbid")
    name: str
    value: int


@router.post("/items/{conversation_id}/{probe_id}/adjudicate")
def decide(
    desk: DeskOf, viewer: WriterOf, item_id: ItemOf, wanted: QueueOf, body: Decision, k: Around = 0
) -> ActResult:
    """A lead's final word on an item that has all its opinions."""
    with desk.acting:
        event = adjudicate(desk, viewer, item_id, body)
    return ActResult(event_ids=(event.event_id,), item=item_view(desk, viewer, item_id, k=k, wanted=wanted))


@router.post("/items/{conversation_id}/{probe_id}/gold")
def set_gold(desk: DeskOf, viewer: WriterOf, item_id: ItemOf, wanted: QueueOf, body: Gold) -> ActResult:
    """Let the item measure reviewers silently: this is the right verdict."""
    viewer.require_lead()
    before = desk.gold_verdict(item_id)
    (event,) = desk.log.append(
        new_event(
            EventKind.GOLD_SET,
            item_id,
            viewer.reviewer_id,
            before=before and before.value,
            after=body.verdict and body.verdict.value,
            probe_version=desk.state(item_id).version,
        )
    )
    return ActResult(event_ids=(event.event_id,), item=item_view(desk, viewer, item_id, wanted=wanted))


@router.post("/guidelines")
def guide(desk: DeskOf, viewer: WriterOf, body: Guideline) -> GuidelinesView:
    """Write a section of the guidelines anew; judgements keep the version that they were made under."""
    viewer.require_lead()
    known = {s.section: s.text for s in guidelines_view(desk).sections}
    abilities = {p.ability for _, probes in desk.archive.probes() for p in probes.values()}
    if body.section not in known and body.section not in abilities:
        raise invalid(
            f"section {body.section!r}: there are {', '.join([*built_in(), *sorted(abilities - set(known))])}"
        )
    _note(desk, viewer, EventKind.GUIDED, f"guideline/{body.section}", known.get(body.section), body.text, body.note)
    return guidelines_view(desk)


@router.post("/settings")
def configure(desk: DeskOf, viewer: WriterOf, body: Setting) -> ReviewSettings:
    """Change a setting of the review."""
    viewer.require_lead()
    now = desk.settings.model_dump()
    if body.name not in now:
        raise invalid(f"setting {body.name!r}: there are {', '.join(now)}")
    try:
        ReviewSettings.model_validate({**now, body.name: body.value})
    except ValidationError as exc:
        raise invalid(f"{body.name}: {exc.errors()[0]['msg']}") from exc
    _note(desk, viewer, EventKind.CONFIGURED, body.name, now[body.name], body.value, "")
    return desk.settings


def _note(
    desk: Desk, viewer: Viewer, kind: EventKind, target: str, before: str | int | None, after: str | int, note: str
) -> None:
    event = new_event(kind, BENCHMARK_ITEM, viewer.reviewer_id, target=target, before=before, after=after, note=note)
    desk.log.append(event)
