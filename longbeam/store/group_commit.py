"""The SQLite connection of a work log: safe to share by threads, and able to commit several writes together.

A transaction has reached the operating system when the method that writes returns, so a SIGKILL afterwards loses
nothing. `commit_in_groups` puts the commit of grouped writes off to the next turn of an event loop.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from longbeam.errors import StoreError
from longbeam.store.files import describe_os_error
from longbeam.store.sqlite import integrity_faults, transaction, translated_errors

_ROWS_PER_PAGE = 1000

WRITES_PER_GROUP = 64
"""Upper limit of the writes of a group."""


ROOM_BYTES = 16 * 2**20
"""Room on the disk for the replies to the calls in flight, each of which takes some 25 KB; with less, none is sent."""


class GroupedConnection:
    """A SQLite connection whose grouped writes share a transaction, and whose other writes have one each."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db
        self._identity = self._found()
        self._lock = threading.RLock()
        self._call_soon: Callable[[Callable[[], None]], object] | None = None
        self._most = WRITES_PER_GROUP
        self._open_writes = 0
        """Writes in the open transaction of a group."""
        self._fault: Exception | None = None
        """Error of the last commit of a group; the next write raises it."""
        self._failure: Exception | None = None
        """Error of the last write that failed; `require_room` repeats it."""
        self._rollback_listeners: list[Callable[[], None]] = []

    @property
    def changes(self) -> int:
        """Number of rows written since the file was opened."""
        return self._db.total_changes

    def close(self) -> None:
        """Commit the open group and close the file."""
        with self._lock:
            try:
                self._commit_group()
            finally:
                with translated_errors(self.path):
                    self._db.close()

    # --- reading ------------------------------------------------------------------------------------------------

    def one(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        """Return the first row of a query; None if it has none."""
        with self._lock, translated_errors(self.path):
            row: tuple[Any, ...] | None = self._db.execute(statement, values).fetchone()
            return row

    def all(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self._lock, translated_errors(self.path):
            return self._db.execute(statement, values).fetchall()

    def paged(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query, some at a time.

        The query's first column is an id, by which it is ordered; its one parameter is the id after which it begins.
        """
        # A cursor left open between two rows would keep the write-ahead log from being folded in.
        last = 0
        while rows := self.all(f"{statement} LIMIT {_ROWS_PER_PAGE}", last):
            yield from rows
            last = rows[-1][0]

    def integrity_faults(self) -> list[str]:
        """Return what SQLite finds wrong with the file's pages and indexes."""
        with self._lock, translated_errors(self.path):
            return list(integrity_faults(self._db))

    # --- writing ------------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Commit what the block writes, all or nothing, after the open group."""
        with self._lock, self._noted_failure():
            self._commit_group()
            with translated_errors(self.path), transaction(self._db):
                yield self._db

    @contextmanager
    def grouped(self) -> Iterator[sqlite3.Connection]:
        """Add what the block writes to the group; without groups, commit it when the block ends.

        The block undoes its own statements if it fails: an error must not take the rest of the group with it.
        """
        with self._lock, self._noted_failure(), translated_errors(self.path):
            self._begin_group()
            try:
                yield self._db
            except BaseException:
                if not (self._open_writes and self._db.in_transaction):  # a full disk ends the whole transaction
                    self._roll_back_group()
                raise
            self._open_writes += 1
            if self._call_soon is None or self._open_writes >= self._most:
                self._commit_group()

    def require_room(self) -> None:
        """Raise StoreError where a write would be lost: after a failed commit, with little room, without the file."""
        self.require_written()
        self.require_file()
        with translated_errors(self.path):
            free = os.statvfs(self.path)
        if free.f_blocks and free.f_bavail * free.f_frsize < ROOM_BYTES:
            raise StoreError(
                f"{self.path}: the disk is almost full: fewer than {ROOM_BYTES // 2**20} MB are free; free some space "
                "and run the command again: everything is recorded"
            )

    def require_written(self) -> None:
        """Raise StoreError if a write has failed."""
        if self._failure is not None:
            raise StoreError(str(self._failure)) from self._failure

    def require_file(self) -> None:
        """Raise StoreError if the file was removed or replaced since it was opened."""
        if self._found() != self._identity:
            raise StoreError(
                f"{self.path}: was removed or replaced while a run was writing it; what the run made is lost. Put the "
                "folder back, or generate the benchmark again"
            )

    def _found(self) -> tuple[int, int]:
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return 0, 0
        except OSError as exc:
            raise StoreError(describe_os_error(self.path, exc, "read")) from exc
        return found.st_dev, found.st_ino

    def commit_in_groups(self, call_soon: Callable[[Callable[[], None]], object], most: int) -> None:
        """Commit the grouped writes of one turn of an event loop together, at most so many of them.

        `call_soon` is the loop's method.
        """
        self._call_soon, self._most = call_soon, most

    def commit_group(self) -> None:
        """Commit the open group now, if there is one."""
        with self._lock:
            self._commit_group()

    def on_rollback(self, listener: Callable[[], None]) -> None:
        """Call `listener` whenever a group is rolled back: what it wrote is not in the file."""
        self._rollback_listeners.append(listener)

    @contextmanager
    def _noted_failure(self) -> Iterator[None]:
        try:
            yield
        except StoreError as exc:
            self._failure = exc
            raise

    def _begin_group(self) -> None:
        self._raise_fault()
        if not self._open_writes:
            self._db.execute("BEGIN IMMEDIATE")
            if self._call_soon is not None:
                self._call_soon(self._end_turn)

    def _end_turn(self) -> None:
        try:
            self.commit_group()
        except (StoreError, sqlite3.Error) as exc:  # an event loop only logs what a callback raises
            self._fault = self._failure = exc

    def _commit_group(self) -> None:
        self._raise_fault()
        if self._open_writes:
            try:
                with translated_errors(self.path):
                    self._db.execute("COMMIT")
                self._open_writes = 0
            except BaseException:
                self._roll_back_group()
                raise

    def _roll_back_group(self) -> None:
        self._open_writes = 0
        for listener in self._rollback_listeners:
            listener()
        if self._db.in_transaction:  # a full disk may have ended it already
            self._db.execute("ROLLBACK")

    def _raise_fault(self) -> None:
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise fault
