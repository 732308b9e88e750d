"""The review log in memory: events by item, kept up to date as other processes append; undo and redo; JSON lines.

JSON lines hold one event a line, in the order in which events count, and are read back without loss.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock

from pydantic import JsonValue, ValidationError

from longbeam import __version__
from longbeam.errors import UserError
from longbeam.review.state import in_force
from longbeam.schemas import ITEM_TARGET, EventKind, ReviewEvent, ReviewSettings, fault_of
from longbeam.store import ReviewStore, describe_os_error, in_order, read_text, stored_events, write_atomically

UI_BUILD = f"longbeam {__version__}"
BENCHMARK_ITEM = ""
"""Subject of events on the benchmark as a whole: guidelines and settings."""


class ReviewLog:
    """All events by item, in the order in which they count."""

    def __init__(self, store: ReviewStore) -> None:
        self.store = store
        self._lock = RLock()
        self._read = 0
        self._by_item: dict[str, list[ReviewEvent]] = defaultdict(list)
        self._by_id: dict[str, ReviewEvent] = {}
        self._items: dict[str, dict[str, None]] = defaultdict(dict)
        self._counts: dict[str, int] = defaultdict(int)
        self.skipped: dict[int, str] = {}
        """Events that cannot be folded, by sequence number, and why."""

    def refresh(self) -> None:
        """Read the events that this process or another has appended since the last call."""
        with self._lock:
            for sequence, event in self.store.events(self._read):
                self._read = sequence
                if fault := fault_of(event):
                    self.skipped[sequence] = fault
                    continue
                self._by_id[event.event_id] = event
                self._items[event.conversation_id][event.item_id] = None
                self._counts[event.conversation_id] += 1
                of_item = self._by_item[event.item_id]
                of_item.append(event)
                # An imported event may be older than those read before it.
                if len(of_item) > 1 and of_item[-2].created_at >= event.created_at:
                    self._by_item[event.item_id] = in_order(of_item)

    @property
    def position(self) -> int:
        """Sequence number of the last event read; grows with every event."""
        return self._read

    def of_item(self, item_id: str) -> tuple[ReviewEvent, ...]:
        """Return the events on an item, undone events and undos included."""
        with self._lock:
            return tuple(self._by_item.get(item_id, ()))

    def items_of(self, conversation_id: str) -> tuple[str, ...]:
        """Return the subjects of a conversation that have events: its probes, and the conversation itself."""
        with self._lock:
            return tuple(self._items.get(conversation_id, ()))

    def count_of(self, conversation_id: str) -> int:
        """Return how many events there are on a conversation and its probes."""
        return self._counts.get(conversation_id, 0)

    def event(self, event_id: str) -> ReviewEvent | None:
        """Return the event of this id."""
        return self._by_id.get(event_id)

    def events(self) -> list[ReviewEvent]:
        """Return all events in the order in which they count."""
        with self._lock:
            return in_order(e for events in self._by_item.values() for e in events)

    def append(self, *events: ReviewEvent) -> list[ReviewEvent]:
        """Append events and return them as stored."""
        kept = self.store.append(events)
        self.refresh()
        return kept

    def settings(self) -> ReviewSettings:
        """Return the settings in force."""
        given: dict[str, JsonValue] = {}
        for event in in_force(self.of_item(BENCHMARK_ITEM)):
            if event.kind is EventKind.CONFIGURED:
                given[event.target] = event.after
        return ReviewSettings.model_validate(given)


@dataclass(frozen=True, slots=True)
class ActContent:
    """Content of an act, as its event keeps it."""

    target: str = ITEM_TARGET
    before: JsonValue = None
    after: JsonValue = None
    reason_code: str = ""
    note: str = ""
    active_ms: int = 0
    tab: str = ""


@dataclass(frozen=True, slots=True)
class SeenVersions:
    """Versions of the texts that the reviewer saw when acting."""

    item: str = ""
    probe: str = ""
    guidelines: str = ""


def new_event(
    kind: EventKind,
    item_id: str,
    reviewer_id: str,
    content: ActContent = ActContent(),
    seen: SeenVersions = SeenVersions(),
) -> ReviewEvent:
    """Return an event that happens now."""
    return ReviewEvent.taken_from(
        content,
        event_id=uuid.uuid4().hex,
        item_id=item_id,
        item_version=seen.item,
        probe_version=seen.probe,
        reviewer_id=reviewer_id,
        kind=kind,
        guideline_version=seen.guidelines,
        ui_build=UI_BUILD,
        created_at=datetime.now(UTC),
    )


UNDOABLE = frozenset(EventKind) - {
    EventKind.OPENED,
    EventKind.DRAFTED,
    EventKind.SEARCHED,
    EventKind.LOOKED,
    EventKind.SOLVED,
    EventKind.CHECKED,
    EventKind.UNDONE,
}
"""Kinds that the undo key takes back; the other kinds are no decisions."""


def next_undo(events: Sequence[ReviewEvent], reviewer_id: str) -> ReviewEvent | None:
    """Return the reviewer's last act in force; `events` of all items, in order."""
    found = undoable(events, reviewer_id)
    return found[-1] if found else None


def undoable(events: Sequence[ReviewEvent], reviewer_id: str) -> list[ReviewEvent]:
    """Return the reviewer's acts in force that can be taken back, oldest first."""
    mine = [e for e in events if e.reviewer_id == reviewer_id]
    return [e for e in in_force(mine) if e.kind in UNDOABLE]


def next_redo(events: Sequence[ReviewEvent], reviewer_id: str) -> ReviewEvent | None:
    """Return the reviewer's last undo in force if nothing was decided after it: the event that redo takes back.

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


def export_log(reviews_path: Path, target: Path) -> int:
    """Write all events of a benchmark to a file and return how many; UserError if nobody has reviewed."""
    events = stored_events(reviews_path)
    if not events:
        raise UserError(f"{reviews_path}: nobody has reviewed yet; begin with `longbeam review`")
    write_atomically(target, as_jsonl(events))
    return len(events)


@dataclass(frozen=True)
class ImportReport:
    """Outcome of importing the events of another log."""

    new: int
    known: int
    """Events that the log had already."""
    skipped: Sequence[str]
    """A line for each event that cannot be folded, and was left out: its place in the file, and why."""
    number: int
    """Number by which the import is taken back; 0 if nothing was new."""


def import_log(reviews_path: Path, source: Path) -> ImportReport:
    """Add the events of a file to a benchmark's log, in one transaction; events that cannot be folded are left out.

    Raises UserError that names the first line that is no event; then nothing is added.
    """
    try:
        text = read_text(source)
    except (OSError, UnicodeDecodeError) as exc:
        message = describe_os_error(source, exc, "read") if isinstance(exc, OSError) else f"{source}: is not UTF-8 text"
        raise UserError(message) from exc
    sound, skipped = [], []
    for number, event in from_jsonl(text, str(source)):
        if fault := fault_of(event):
            skipped.append(f"{source}:{number}: {fault}")
        else:
            sound.append(event)
    with ReviewStore(reviews_path) as store:
        new, known = store.merge(sound, source.name)
        number = store.imports()[-1].number if new else 0
    return ImportReport(new, known, skipped, number)


def take_back_import(reviews_path: Path, number: int) -> int:
    """Take back what an import has added, in one transaction, and return the number of its events.

    Nothing is deleted: each of its events is undone by an event. Raises UserError for a number that no import has.
    """
    with ReviewStore(reviews_path) as store:
        found = {one.number: one for one in store.imports()}
        if number not in found:
            there = ", ".join(f"{n} ({one.source})" for n, one in found.items()) or "none"
            raise UserError(f"there is no import {number}; there is {there}")
        chosen = found[number]
        events = [e for place, e in store.events() if chosen.first <= place <= chosen.last]
        # An undo that was imported is undone like any other event: what it had taken back counts again.
        undone = [
            new_event(
                EventKind.UNDONE,
                e.item_id,
                e.reviewer_id,
                ActContent(e.event_id, note=f"import {number}"),
                SeenVersions(probe=e.probe_version),
            )
            for e in events
        ]
        store.append(undone)
        return len(events)


def as_jsonl(events: Iterable[ReviewEvent]) -> str:
    """Return events as JSON lines."""
    return "".join(event.model_dump_json() + "\n" for event in events)


def from_jsonl(text: str, name: str) -> Iterator[tuple[int, ReviewEvent]]:
    """Yield the events of JSON lines with the numbers of their lines; UserError for a line that is no event."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            event = ReviewEvent.model_validate_json(line)
        except ValidationError as exc:
            first = exc.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the line"
            raise UserError(f"{name}:{number}: no review event: {where}: {first['msg']}") from exc
        yield number, event
