"""Differences between two versions of an item, target by target: what a stale save is shown."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from longbeam.annotation_ui.anchors import evidence_id_of
from longbeam.annotation_ui.fold import EVIDENCE, ITEMS_TARGET, NUGGET, TEXT_TARGETS, Opinion, fold_opinion
from longbeam.annotation_ui.views import Change
from longbeam.schemas.probes import Probe
from longbeam.schemas.review import ReviewEvent


def probe_changes(before: Probe, after: Probe) -> list[Change]:
    """Return what differs between two versions of a probe, in the order of the page."""
    old, new = _values(before), _values(after)
    targets = list(dict.fromkeys([*old, *new]))
    return [Change(target=t, before=old.get(t), after=new.get(t)) for t in targets if old.get(t) != new.get(t)]


def opinion_changes(before: Opinion, after: Opinion) -> list[Change]:
    """Return what differs between two states of one reviewer's opinion."""
    changes = probe_changes(before.probe, after.probe)
    old, new = before.verdict, after.verdict
    if old != new:
        changes.append(Change(target="item", before=old and old.value, after=new and new.value))
    for nugget_id in dict.fromkeys([*before.labels, *after.labels]):
        first, second = before.labels.get(nugget_id), after.labels.get(nugget_id)
        if first != second:
            changes.append(Change(target=f"{NUGGET}{nugget_id}/label", before=first, after=second))
    return changes


def opinion_at(base: Probe, reviewer_id: str, events: Sequence[ReviewEvent], version: str) -> Opinion | None:
    """Return the opinion as it was when it had this version; None if it never had it."""
    for count in range(len(events), -1, -1):
        opinion = fold_opinion(base, reviewer_id, events[:count])
        if opinion.version == version:
            return opinion
    return None


def _values(probe: Probe) -> dict[str, JsonValue]:
    values: dict[str, JsonValue] = {name: str(getattr(probe, name)) for name in TEXT_TARGETS}
    values[ITEMS_TARGET] = list(probe.details.items)
    values |= {f"{NUGGET}{n.nugget_id}": n.text for n in probe.rubric}
    values |= {f"{EVIDENCE}{evidence_id_of(e)}": e.model_dump(mode="json") for e in probe.evidence}
    return values
