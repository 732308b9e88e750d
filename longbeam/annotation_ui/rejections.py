"""What the review decided against, for `repair`: rejected probes as they are sealed now, with the reason."""

from __future__ import annotations

from longbeam.annotation_ui.log import ReviewLog
from longbeam.annotation_ui.state import ItemState, ItemStatus
from longbeam.schemas.review import probe_item_id
from longbeam.store.artifacts import SealedConversation
from longbeam.store.layout import Benchmark
from longbeam.store.reviews import ReviewStore


def rejections_of(benchmark: Benchmark) -> dict[str, dict[str, str]]:
    """Return the rejected candidates of each conversation; a verdict on another wording of a probe does not count."""
    if not benchmark.reviews_path.exists():
        return {}
    found: dict[str, dict[str, str]] = {}
    with ReviewStore(benchmark.reviews_path, read_only=True) as store:
        log = ReviewLog(store)
        log.refresh()
        overlap = log.settings().overlap
        for conversation_id in benchmark.sealed_ids:
            if not log.count_of(conversation_id):
                continue
            with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
                for probe in sealed.probes():
                    events = log.of_item(probe_item_id(conversation_id, probe.probe_id))
                    state = ItemState(probe, events, overlap)
                    if events and state.status is ItemStatus.REJECTED:
                        found.setdefault(conversation_id, {})[probe.probe_id] = _reason(state)
    return found


def _reason(state: ItemState) -> str:
    if state.adjudication is not None:
        return state.adjudication.note or f"rejected by {state.adjudication.reviewer_id}"
    first = state.saved[0]
    return first.note or first.reason_code or f"rejected by {first.reviewer_id}"
