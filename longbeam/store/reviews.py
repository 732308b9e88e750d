"""Store of a benchmark's review, `reviews.sqlite`: events, which are appended and never changed, and leases on items.

Any number of processes may read and append (WAL): a server, an import of another log, an export. Leases are no
history; they are deleted after they end.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import NamedTuple, Self

from longbeam.errors import StoreError
from longbeam.schemas import YEARS, ReviewEvent, fault_of
from longbeam.store.digests import checksum_of, damaged
from longbeam.store.sqlite import (
    Format,
    OlderFileError,
    integrity_faults,
    open_for_reading,
    open_for_writing,
    readable_rows,
    transaction,
    translated_errors,
)

_CREATE = (
    """
CREATE TABLE events (
  -- What reviewers did. The triggers below refuse changes: undo is one more row.
  sequence   INTEGER PRIMARY KEY,  -- in the order of arrival, imports included
  event_id   TEXT NOT NULL UNIQUE,
  item_id    TEXT NOT NULL,        -- c000/abstention.0, c000, or empty
  created_at TEXT NOT NULL,        -- UTC; the order in which events count
  json       TEXT NOT NULL         -- the ReviewEvent
)""",
    "CREATE INDEX events_by_time ON events (created_at)",
    """
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN
  SELECT RAISE(ABORT, 'review events are never changed');
END""",
    """
CREATE TRIGGER events_are_kept BEFORE DELETE ON events BEGIN
  SELECT RAISE(ABORT, 'review events are never deleted');
END""",
    """
CREATE TABLE leases (
  -- Who has an item open. A row whose time has passed means nothing.
  item_id     TEXT NOT NULL,
  reviewer_id TEXT NOT NULL,
  expires_at  REAL NOT NULL,       -- seconds since 1970
  PRIMARY KEY (item_id, reviewer_id)
) WITHOUT ROWID""",
    """
CREATE TABLE secrets (
  -- What links and cookies are signed with; made once, never exported.
  name  TEXT PRIMARY KEY,
  value BLOB NOT NULL
) WITHOUT ROWID""",
)

_ADD_CHECKSUMS = (
    "DROP TRIGGER events_stay",
    # `store.checksums.checksum_of` of the other columns; rows of an older longbeam are taken as they are.
    "ALTER TABLE events ADD COLUMN checksum INTEGER NOT NULL DEFAULT -1",
    "UPDATE events SET checksum = checksum(sequence, event_id, item_id, created_at, json)",
    _CREATE[2],
)

_ADD_IMPORTS = (
    """
CREATE TABLE imports (
  -- What came from another log in one transaction, so that it can be taken back.
  number INTEGER PRIMARY KEY,
  source TEXT NOT NULL,       -- name of the file
  first  INTEGER NOT NULL,    -- sequence numbers of its events
  last   INTEGER NOT NULL
)""",
)

_MIGRATIONS = (_CREATE, _ADD_CHECKSUMS, _ADD_IMPORTS)
REVIEWS = Format(name="review log", application_id=0x4C425256, migrations=_MIGRATIONS)  # "LBRV"
_TICK = timedelta(microseconds=1)


class StoredLease(NamedTuple):
    """A lease: the reviewer who has an item open, and its end in seconds since 1970."""

    item_id: str
    reviewer_id: str
    expires_at: float


class StoredImport(NamedTuple):
    """Events that came from another log in one transaction."""

    number: int
    source: str
    first: int
    last: int


class ReviewStore:
    """An open review log; safe to use from several threads."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open the log, or create it; StoreError if the file is something else or damaged."""
        self.path = path
        self._lock = Lock()
        self._db = (_open_for_reading if read_only else open_for_writing)(path, REVIEWS)

    def append(self, events: Sequence[ReviewEvent]) -> list[ReviewEvent]:
        """Append events in one transaction and return them as stored, each with a time of its own.

        An event that is not later than all others gets the next microsecond. So the last act counts last, even if the
        clock was set back.
        """
        with self._lock, translated_errors(self.path), transaction(self._db):
            last = self._last_time()
            kept = []
            for event in events:
                at = event.created_at.astimezone(UTC)
                if last is not None and at <= last:
                    at = last + _TICK
                last = at
                kept.append(event.model_copy(update={"created_at": at}))
            for event in kept:
                self._insert(event)
        return kept

    def merge(self, events: Iterable[ReviewEvent], source: str = "") -> tuple[int, int]:
        """Append the events of another log unchanged; return how many were new and how many were known.

        With a `source` the new events are kept as one import (`imports`).
        """
        new = known = 0
        with self._lock, translated_errors(self.path), transaction(self._db):
            for event in events:
                is_new = self._insert(event)
                new, known = (new + 1, known) if is_new else (new, known + 1)
            if source and new:
                (last,) = self._db.execute("SELECT max(sequence) FROM events").fetchone()
                self._db.execute(
                    "INSERT INTO imports (source, first, last) VALUES (?, ?, ?)", (source, last - new + 1, last)
                )
        return new, known

    def imports(self) -> list[StoredImport]:
        """Return the imports of other logs, oldest first."""
        with self._lock, translated_errors(self.path):
            return [StoredImport(*row) for row in self._db.execute("SELECT * FROM imports ORDER BY number")]

    def events(self, after: int = 0) -> Iterator[tuple[int, ReviewEvent]]:
        """Yield events with their sequence number, those after `after` in the order of arrival.

        Raises DamageError at an event that is not as it was stored, and where one is missing.
        """
        with self._lock, translated_errors(self.path):
            rows = self._db.execute(f"{_SELECT} WHERE sequence > ? ORDER BY sequence", (after,)).fetchall()
        for expected, row in enumerate(rows, start=after + 1):
            if row[0] != expected or checksum_of(*row[:-1]) != row[-1]:
                raise damaged(self.path, f"the review event {expected}")
            yield row[0], ReviewEvent.model_validate_json(row[-2])

    def faults(self) -> Iterator[str]:
        """Yield a line for each fault of the file, and for each event that is not as it was stored."""
        with self._lock, translated_errors(self.path):
            yield from integrity_faults(self._db)
            rows = self._db.execute(f"{_SELECT} ORDER BY sequence").fetchall()
        if missing := {*range(1, len(rows) + 1)} - {row[0] for row in rows}:
            yield f"{len(missing)} events are missing, the first of them event {min(missing)}"
        for row in rows:
            if checksum_of(*row[:-1]) != row[-1]:
                yield f"event {row[0]}"
            elif fault := fault_of(ReviewEvent.model_validate_json(row[-2])):
                yield f"event {row[0]} counts for nothing: {fault}"

    def sound_events(self) -> Iterator[ReviewEvent]:
        """Yield the events of a damaged log that are as they were stored, as far as the file can be read."""
        for row in readable_rows(self._db, "events", "sequence", _COLUMNS):
            if checksum_of(*row[:-1]) == row[-1]:
                yield ReviewEvent.model_validate_json(row[-2])

    def leases(self, now: float) -> list[StoredLease]:
        """Return the leases that hold at this time."""
        with self._lock, translated_errors(self.path):
            rows = self._db.execute("SELECT * FROM leases WHERE expires_at > ? ORDER BY 1, 2", (now,)).fetchall()
        return [StoredLease(*row) for row in rows]

    def take_lease(self, wanted: StoredLease, capacity: int, now: float, uncounted: Collection[str] = ()) -> bool:
        """Give or renew a lease in one step; False if `capacity` others hold the item, those `uncounted` left out.

        A holder's lease is renewed before the capacity is checked: a full item must not lock its holder out.
        """
        item_id, reviewer_id, expires_at = wanted
        with self._lock, translated_errors(self.path), transaction(self._db):
            holders = {
                row[0]
                for row in self._db.execute(
                    "SELECT reviewer_id FROM leases WHERE item_id = ? AND expires_at > ?", (item_id, now)
                )
            }
            if reviewer_id not in holders and len(holders.difference(uncounted)) >= capacity:
                return False
            self._db.execute("DELETE FROM leases WHERE expires_at <= ?", (now,))
            self._db.execute(
                "INSERT INTO leases VALUES (?, ?, ?) "
                "ON CONFLICT (item_id, reviewer_id) DO UPDATE SET expires_at = excluded.expires_at",
                (item_id, reviewer_id, expires_at),
            )
        return True

    def release_lease(self, item_id: str, reviewer_id: str) -> None:
        """End a lease; a missing lease has ended already."""
        with self._lock, translated_errors(self.path):
            self._db.execute("DELETE FROM leases WHERE item_id = ? AND reviewer_id = ?", (item_id, reviewer_id))

    def secret(self, name: str) -> bytes:
        """Return the 32 random bytes of this name; they never change."""
        with self._lock, translated_errors(self.path), transaction(self._db):
            self._db.execute(
                "INSERT INTO secrets VALUES (?, ?) ON CONFLICT DO NOTHING", (name, secrets.token_bytes(32))
            )
            return bytes(self._db.execute("SELECT value FROM secrets WHERE name = ?", (name,)).fetchone()[0])

    def fold(self) -> bool:
        """Copy the write-ahead log into the file, so that a plain copy of the file alone is whole; True if all went in.

        The connection is its own, and the checkpoint passive: no append waits for it.
        """
        with translated_errors(self.path), closing(sqlite3.connect(self.path, timeout=1.0)) as db:
            _, logged, copied = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        return bool(logged == copied)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _insert(self, event: ReviewEvent) -> bool:
        """Append an event to the open transaction; False if it is there already."""
        if self._db.execute("SELECT 1 FROM events WHERE event_id = ?", (event.event_id,)).fetchone():
            return False
        (last,) = self._db.execute("SELECT coalesce(max(sequence), 0) FROM events").fetchone()
        row = (last + 1, *_row(event))
        self._db.execute(_INSERT, (*row, checksum_of(*row)))
        return True

    def _last_time(self) -> datetime | None:
        # A time at the end of the calendar, of a log that somebody imported, must not push every later act beyond it.
        query = "SELECT max(created_at) FROM events WHERE created_at < ?"
        found = self._db.execute(query, (str(YEARS[1] + 1),)).fetchone()[0]
        return None if found is None else datetime.fromisoformat(found)


_COLUMNS = ("sequence", "event_id", "item_id", "created_at", "json", "checksum")
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM events"
_INSERT = f"INSERT INTO events ({', '.join(_COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?)"


def _open_for_reading(path: Path, fmt: Format) -> sqlite3.Connection:
    """Open a log for reading; one that an older longbeam wrote is migrated first."""
    try:
        return open_for_reading(path, fmt)
    except OlderFileError:
        open_for_writing(path, fmt).close()
        return open_for_reading(path, fmt)


def _row(event: ReviewEvent) -> tuple[str, str, str, str]:
    at = event.created_at.astimezone(UTC).isoformat(timespec="microseconds")
    return event.event_id, event.item_id, at, json.dumps(event.model_dump(mode="json"), ensure_ascii=False)


def backup_reviews(path: Path, target: Path) -> int:
    """Copy a review log into a new file while others read and write it, and return the number of its events.

    Raises StoreError if there is no log, or the target exists or cannot be written.
    """
    if target.exists():
        raise StoreError(f"{target}: exists already; name a new file")
    with (
        closing(_open_for_reading(path, REVIEWS)) as source,
        translated_errors(target),
        closing(sqlite3.connect(target)) as copy,
    ):
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it
        return int(copy.execute("SELECT count(*) FROM events").fetchone()[0])


def has_reviews(path: Path) -> bool:
    """Return whether there is a review log: an empty file is what a review left that could not begin."""
    return path.exists() and path.stat().st_size > 0


def stored_events(path: Path) -> list[ReviewEvent]:
    """Return all events of a log in the order in which they count; none if there is no log."""
    if not has_reviews(path):
        return []
    with ReviewStore(path, read_only=True) as store:
        return in_order(event for _, event in store.events())


def in_order(events: Iterable[ReviewEvent]) -> list[ReviewEvent]:
    """Return events in the order in which they count, whatever order they arrived in."""
    return sorted(events, key=lambda e: (e.created_at, e.event_id))
