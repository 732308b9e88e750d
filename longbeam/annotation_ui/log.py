"""The review log as the server holds it: events by item, read on as others append, and states folded when asked for."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from threading import RLock

from pydantic import JsonValue

from longbeam import __version__
from longbeam.annotation_ui.fold import in_force
from longbeam.annotation_ui.settings import ReviewSettings
from longbeam.schemas.review import ITEM_TARGET, EventKind, ReviewEvent
from longbeam.store.reviews import ReviewStore, in_order

UI_BUILD = f"longbeam {__version__}"
BENCHMARK_ITEM = ""


class ReviewLog:
    """All events, by item, in the order in which they count."""

    def __init__(self, store: ReviewStore) -> None:
        self.store = store
        self._lock = RLock()
        self._read = 0
        self._by_item: dict[str, list[ReviewEvent]] = defaultdict(list)
        self._by_id: dict[str, ReviewEvent] = {}
        self._items: dict[str, dict[str, None]] = defaultdict(dict)
        self._counts: dict[str, int] = defaultdict(int)

    def refresh(self) -> None:
        """Read what was appended since, by this process or another."""
        with self._lock:
            for sequence, event in self.store.events(self._read):
                self._read = sequence
                self._by_id[event.event_id] = event
                self._items[event.conversation_id][event.item_id] = None
                self._counts[event.conversation_id] += 1
                of_item = self._by_item[event.item_id]
                of_item.append(event)
                if len(of_item) > 1 and of_item[-2].created_at >= event.created_at:
                    self._by_item[event.item_id] = in_order(of_item)

    @property
    def position(self) -> int:
        """Grows whenever something was read."""
        return self._read

    def of_item(self, item_id: str) -> tuple[ReviewEvent, ...]:
        """Events on an item, undone ones and undos included."""
        with self._lock:
            return tuple(self._by_item.get(item_id, ()))

    def items_of(self, conversation_id: str) -> tuple[str, ...]:
        """Items of a conversation that have events, itself included."""
        with self._lock:
            return tuple(self._items.get(conversation_id, ()))

    def count_of(self, conversation_id: str) -> int:
        """Events on a conversation and its probes: grows whenever one was read."""
        return self._counts.get(conversation_id, 0)

    def event(self, event_id: str) -> ReviewEvent | None:
        """The event of this id."""
        return self._by_id.get(event_id)

    def events(self) -> list[ReviewEvent]:
        """All events in the order in which they count."""
        with self._lock:
            return in_order(e for events in self._by_item.values() for e in events)

    def append(self, *events: ReviewEvent) -> list[ReviewEvent]:
        """Append events and return them as kept."""
        kept = self.store.append(events)
        self.refresh()
        return kept

    def settings(self) -> ReviewSettings:
        """The settings in force."""
        given: dict[str, JsonValue] = {}
        for event in in_force(self.of_item(BENCHMARK_ITEM)):
            if event.kind is EventKind.CONFIGURED:
                given[event.target] = event.after
        return ReviewSettings.model_validate(given)


def new_event(
    kind: EventKind,
    item_id: str,
    reviewer_id: str,
    *,
    target: str = ITEM_TARGET,
    before: JsonValue = None,
    after: JsonValue = None,
    item_version: str = "",
    probe_version: str = "",
    reason_code: str = "",
    note: str = "",
    guideline_version: str = "",
    active_ms: int = 0,
) -> ReviewEvent:
    """Return an event that happens now."""
    return ReviewEvent(
        event_id=uuid.uuid4().hex,
        item_id=item_id,
        item_version=item_version,
        probe_version=probe_version,
        reviewer_id=reviewer_id,
        kind=kind,
        target=target,
        before=before,
        after=after,
        reason_code=reason_code,
        note=note,
        guideline_version=guideline_version,
        ui_build=UI_BUILD,
        created_at=datetime.now(UTC),
        active_ms=active_ms,
    )


UNDOABLE = frozenset(EventKind) - {EventKind.OPENED, EventKind.DRAFTED, EventKind.SEARCHED, EventKind.UNDONE}
"""Kinds that the undo key takes back; the rest is no decision."""


def next_undo(events: Sequence[ReviewEvent], reviewer_id: str) -> ReviewEvent | None:
    """Return the reviewer's last act in force; `events` of all items, in order."""
    mine = [e for e in events if e.reviewer_id == reviewer_id]
    found = [e for e in in_force(mine) if e.kind in UNDOABLE]
    return found[-1] if found else None


def next_redo(events: Sequence[ReviewEvent], reviewer_id: str) -> ReviewEvent | None:
    """Return the reviewer's last undo in force if nothing was decided after it: what redo takes back.

    An undo whose own undo was undone counts again, so undo and redo may alternate for ever.
    """
    mine = [e for e in events if e.reviewer_id == reviewer_id and (e.kind in UNDOABLE or e.kind is EventKind.UNDONE)]
    undone = {e.target for e in _undos_in_force(mine)}
    by_id = {e.event_id: e for e in mine}
    for event in reversed(mine):
        if event.kind is not EventKind.UNDONE:
            return None
        if event.event_id in undone:
            continue
        target = by_id.get(event.target)
        if target is not None and target.kind is not EventKind.UNDONE:
            return event
    return None


def _undos_in_force(events: Sequence[ReviewEvent]) -> list[ReviewEvent]:
    undone: set[str] = set()
    found = []
    for event in reversed(events):
        if event.kind is EventKind.UNDONE and event.event_id not in undone:
            undone.add(event.target)
            found.append(event)
    return found
