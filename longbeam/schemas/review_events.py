"""Faults of review events: an event of another log may hold anything, and one that has a fault is not folded.

Events of this longbeam are checked before they are appended. Imports and older logs are not: their events are judged
here, one by one and by their kind, when they are imported and when they are read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from longbeam.keys import ItemId
from longbeam.schemas.findings import Finding
from longbeam.schemas.probes import Difficulty, Evidence, Probe
from longbeam.schemas.review import (
    EVIDENCE,
    ITEM_TARGET,
    ITEMS_TARGET,
    MESSAGE,
    NUGGET,
    RATED_ASPECTS,
    TEXT_TARGETS,
    EventKind,
    NuggetLabel,
    ReviewEvent,
    ReviewSettings,
    Taxonomy,
    Verdict,
)

YEARS = (2000, 2199)
"""Years of a review. No clock is asked: one that was set back must not make a log unreadable."""


def fault_of(event: ReviewEvent) -> str:
    """Return why an event cannot be folded, with the value and what is allowed; empty if it can."""
    at = event.created_at
    if at.tzinfo is None:
        return f"created_at {at} has no time zone; events are in UTC"
    if not YEARS[0] <= at.year <= YEARS[1]:
        return f"created_at {at.isoformat()} is no time of a review: years are {YEARS[0]} to {YEARS[1]}"
    try:
        _require_subject(event)
        _CHECKS.get(event.kind, _anything)(event)
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(map(str, first["loc"])) or "after"
        return f"{event.kind.value}: {where}: {first['msg']}"
    except ValueError as exc:
        return f"{event.kind.value}: {exc}"
    return ""


def _require_subject(event: ReviewEvent) -> None:
    """Raise ValueError if the subject is none for events of this kind."""
    if event.kind is EventKind.UNDONE:
        return
    if event.kind in (EventKind.GUIDED, EventKind.CONFIGURED):
        if event.item_id:
            raise ValueError(f"item_id {event.item_id!r}: it is about the whole benchmark, and the item_id is empty")
    elif event.kind is EventKind.RATED:
        if not event.item_id or event.is_on_probe:
            raise ValueError(f"item_id {event.item_id!r} is no conversation")
    else:
        ItemId.parse(event.item_id)


def _anything(event: ReviewEvent) -> None:
    """Accept an event whose content the fold does not read."""


def _choice(kind: Any, value: object, name: str) -> None:
    if value not in list(kind):
        raise ValueError(f"{name} {value!r}; there are {', '.join(kind)}")


def _object(event: ReviewEvent) -> dict[str, Any]:
    if not isinstance(event.after, dict):
        raise ValueError(f"after {event.after!r} is no object")
    return event.after


def _has_object(event: ReviewEvent) -> None:
    _object(event)


def _text(value: object) -> None:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"after {value!r} is no text")


def _judged(event: ReviewEvent) -> None:
    after = _object(event)
    if event.target.startswith(NUGGET):
        if after.get("label") is not None:
            _choice(NuggetLabel, after["label"], "label")
    elif event.target == ITEM_TARGET:
        _choice(Verdict, after.get("verdict"), "verdict")
    else:
        raise ValueError(f"target {event.target!r}; there are item and nugget/ID")


def _edited(event: ReviewEvent) -> None:
    if event.target == "difficulty":
        _choice(Difficulty, event.after, "difficulty")
    elif event.target in TEXT_TARGETS:
        _text(event.after)
    elif event.target == ITEMS_TARGET:
        if not isinstance(event.after, list) or not event.after:
            raise ValueError(f"after {event.after!r} is no list of texts")
        for item in event.after:
            _text(item)
    elif event.target.startswith(NUGGET):
        if event.after is not None:
            _text(event.after)
    else:
        raise ValueError(f"target {event.target!r}; there are {', '.join(TEXT_TARGETS)}, {ITEMS_TARGET} and nugget/ID")


def _evidence_added(event: ReviewEvent) -> None:
    after = _object(event)
    at = after.get("at")
    if at is not None and (not isinstance(at, int) or at < 0):
        raise ValueError(f"at {at!r} is no place among the evidence")
    Evidence.model_validate({k: v for k, v in after.items() if k in Evidence.model_fields})


def _about(prefix: str) -> Callable[[ReviewEvent], None]:
    def check(event: ReviewEvent) -> None:
        if not event.target.startswith(prefix):
            raise ValueError(f"target {event.target!r}; it begins with {prefix}")

    return check


def _drafted(event: ReviewEvent) -> None:
    if event.after is not None and not isinstance(event.after, str | list):
        raise ValueError(f"after {event.after!r} is no text")


def _checked(event: ReviewEvent) -> None:
    findings = _object(event).get("findings")
    if not isinstance(findings, list):
        raise ValueError(f"findings {findings!r} is no list")
    for finding in findings:
        Finding.model_validate(finding)


def _adjudicated(event: ReviewEvent) -> None:
    after = _object(event)
    _choice(Verdict, after.get("verdict"), "verdict")
    if after.get("taxonomy"):
        _choice(Taxonomy, after["taxonomy"], "taxonomy")
    _own_probe(event, after.get("probe"))


def _own_probe(event: ReviewEvent, given: object) -> None:
    """Raise ValueError unless this is the probe that the event is about."""
    probe = Probe.model_validate(given)
    if probe.probe_id != ItemId.parse(event.item_id).probe_id:
        raise ValueError(f"probe_id {probe.probe_id!r} is not that of the item")


def _rated(event: ReviewEvent) -> None:
    if event.target not in RATED_ASPECTS:
        raise ValueError(f"target {event.target!r}; there are {', '.join(RATED_ASPECTS)}")
    if isinstance(event.after, bool) or event.after not in (1, 2, 3, 4, 5):
        raise ValueError(f"after {event.after!r} is no rating from 1 to 5")


def _gold_set(event: ReviewEvent) -> None:
    if event.after is not None:
        _choice(Verdict, event.after, "verdict")


def _configured(event: ReviewEvent) -> None:
    if event.target not in ReviewSettings.model_fields:
        raise ValueError(f"target {event.target!r}; there are {', '.join(ReviewSettings.model_fields)}")
    ReviewSettings.model_validate({event.target: event.after})


def _assigned(event: ReviewEvent) -> None:
    if not isinstance(event.after, list) or not all(isinstance(name, str) for name in event.after):
        raise ValueError(f"after {event.after!r} is no list of names")


_CHECKS: dict[EventKind, Callable[[ReviewEvent], None]] = {
    EventKind.JUDGED: _judged,
    EventKind.EDITED: _edited,
    EventKind.EVIDENCE_ADDED: _evidence_added,
    EventKind.EVIDENCE_REMOVED: _about(EVIDENCE),
    EventKind.DRAFTED: _drafted,
    EventKind.SEARCHED: _has_object,
    EventKind.LOOKED: _has_object,
    EventKind.SOLVED: _has_object,
    EventKind.CLEARED: _about(MESSAGE),
    EventKind.CHECKED: _checked,
    EventKind.ADJUDICATED: _adjudicated,
    EventKind.RATED: _rated,
    EventKind.WRITTEN: lambda event: _own_probe(event, event.after),
    EventKind.GOLD_SET: _gold_set,
    EventKind.GUIDED: lambda event: _text(event.after),
    EventKind.CONFIGURED: _configured,
    EventKind.ASSIGNED: _assigned,
}
