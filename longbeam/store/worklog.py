"""The work log of one conversation: a SQLite file with the journal of model calls, and the units with their records.

`synchronous = NORMAL` means that a power cut may lose the last transactions, never part of one; `FULL` runs at a
quarter of the rate, and calls whose replies a power cut loses can be repeated.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from longbeam.errors import StoreError
from longbeam.store.digests import checksum_of, damaged
from longbeam.store.files import describe_os_error, sync_file
from longbeam.store.group_commit import WRITES_PER_GROUP, GroupedConnection
from longbeam.store.journal import ReplyJournal, TextWriter
from longbeam.store.lease import Lease
from longbeam.store.sqlite import OlderFileError, open_for_reading, open_for_writing, translated_errors
from longbeam.store.units import UnitStore
from longbeam.store.worklog_schema import WORK_LOG


class WorkLog:
    """One SQLite file. One process writes it, under a lease; many may read meanwhile. Safe to share by threads."""

    def __init__(self, path: Path, db: sqlite3.Connection, lease: Lease | None) -> None:
        """Use `open` or `open_read_only`."""
        self.path = path
        self._db = GroupedConnection(path, db)
        self._lease = lease
        self.journal = ReplyJournal(self._db, TextWriter(db), is_only_writer=lease is not None)
        self.units = UnitStore(self._db)

    @classmethod
    def open(cls, path: Path) -> WorkLog:
        """Return the work log at `path` for writing, created where there is none.

        Raises StoreError if another process is writing it, or if it is no work log, damaged or too new.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise StoreError(describe_os_error(path, exc)) from exc
        lease = Lease(path)
        try:
            return cls(path, open_for_writing(path, WORK_LOG), lease)
        except BaseException:
            lease.release()
            raise

    @classmethod
    def open_read_only(cls, path: Path) -> WorkLog:
        """Return the work log at `path` for reading, also while a run writes it; StoreError if there is none.

        A file that an older longbeam wrote is migrated first.
        """
        try:
            db = open_for_reading(path, WORK_LOG)
        except OlderFileError:
            cls.open(path).close()
            db = open_for_reading(path, WORK_LOG)
        return cls(path, db, None)

    def close(self) -> None:
        """Fold the write-ahead log into the file and release the lease; closing twice is no error."""
        try:
            self._db.close()
        finally:
            if self._lease is not None:
                self._lease.release()
                self._lease = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def require_file(self) -> None:
        """Raise StoreError if the file was removed or replaced since it was opened."""
        self._db.require_file()

    def copy_to(self, path: Path) -> None:
        """Write a copy of what is committed, also while somebody writes; it is on disk when this returns.

        The copy is one file: it can be read where no write-ahead log may lie.
        """
        self._db.commit_group()
        with translated_errors(path), closing(open_for_reading(self.path, WORK_LOG)) as source:
            path.unlink(missing_ok=True)
            with closing(sqlite3.connect(path, isolation_level=None)) as target:
                source.backup(target)
                target.execute("PRAGMA journal_mode = DELETE")
            sync_file(path)

    def commit_in_groups(self, call_soon: Callable[[Callable[[], None]], object], most: int = WRITES_PER_GROUP) -> None:
        """Commit the replies that arrive in one turn of an event loop together; `call_soon` is the loop's method.

        A commit is half of the cost of recording a reply. The replies of one turn were all in flight when the turn
        began, so a SIGKILL costs no more calls than before. A unit that depends on one of them is committed after it.
        A commit that fails loses the group, which therefore holds at most as many replies as calls may be in flight.
        """
        self._db.commit_in_groups(call_soon, min(most, WRITES_PER_GROUP))

    def commit(self) -> None:
        """Commit the replies of the open group now; StoreError if that fails, or a write has failed before."""
        self._db.commit_group()
        self._db.require_written()

    @property
    def changes(self) -> int:
        """Number of rows written since the file was opened."""
        return self._db.changes

    def require_sound(self) -> None:
        """Raise DamageError, which names the first fault, unless everything in the file is as it was stored."""
        for fault in self._faults():
            raise damaged(self.path, fault)

    def verify(self) -> list[str]:
        """Return the faults of the file, one line each: damaged pages, rows and texts that are not as stored."""
        faults = []
        try:
            for fault in self._faults():
                faults.append(fault)
        except StoreError as exc:  # a page so damaged that the search ends there
            faults.append(str(exc))
        return faults

    def _faults(self) -> Iterator[str]:
        yield from self._db.integrity_faults()
        yield from self.journal.faults()
        yield from self.units.faults()
        for name, text, checksum in self._db.all("SELECT name, json, checksum FROM meta"):
            if checksum_of(name, text) != checksum:
                yield f"the value of {name}"

    def meta_get(self, name: str) -> Any | None:
        """Return the value set under this name; None if there is none."""
        row = self._db.one("SELECT json, checksum FROM meta WHERE name = ?", name)
        if row is None:
            return None
        if checksum_of(name, row[0]) != row[1]:
            raise damaged(self.path, f"the value of {name}")
        return json.loads(row[0])

    def meta_set(self, name: str, value: Any) -> None:
        """Set a JSON value under this name."""
        text = json.dumps(value, sort_keys=True, allow_nan=False)
        with self._db.writing() as db:
            values = name, text, checksum_of(name, text)
            db.execute("INSERT OR REPLACE INTO meta (name, json, checksum) VALUES (?, ?, ?)", values)
