"""The SQLite connection of a work log: safe to share by threads, and able to commit several writes together.

A transaction has reached the operating system when the method that writes returns, so a SIGKILL afterwards loses
nothing. `commit_in_groups` puts the commit of grouped writes off to the next turn of an event loop.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from longbeam.errors import StoreError
from longbeam.store.sqlite import transaction, translated_errors

_ROWS_PER_PAGE = 1000

_WRITES_PER_GROUP = 64
"""Upper limit; as many as a run has calls in flight unless its spec says more."""


class GroupedConnection:
    """A SQLite connection whose grouped writes share a transaction, and whose other writes have one each."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db
        self._lock = threading.RLock()
        self._call_soon: Callable[[Callable[[], None]], object] | None = None
        self._open_writes = 0
        """Writes in the open transaction of a group."""
        self._fault: Exception | None = None
        """Error of the last commit of a group; the next write raises it."""
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

    # --- writing ------------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Commit what the block writes, all or nothing, after the open group."""
        with self._lock:
            self._commit_group()
            with translated_errors(self.path), transaction(self._db):
                yield self._db

    @contextmanager
    def grouped(self) -> Iterator[sqlite3.Connection]:
        """Add what the block writes to the group; without groups, commit it when the block ends.

        The block undoes its own statements if it fails: an error must not take the rest of the group with it.
        """
        with self._lock, translated_errors(self.path):
            self._begin_group()
            try:
                yield self._db
            except BaseException:
                if not (self._open_writes and self._db.in_transaction):  # a full disk ends the whole transaction
                    self._roll_back_group()
                raise
            self._open_writes += 1
            if self._call_soon is None or self._open_writes >= _WRITES_PER_GROUP:
                self._commit_group()

    def commit_in_groups(self, call_soon: Callable[[Callable[[], None]], object]) -> None:
        """Commit the grouped writes of one turn of an event loop together; `call_soon` is the loop's method."""
        self._call_soon = call_soon

    def commit_group(self) -> None:
        """Commit the open group now, if there is one."""
        with self._lock:
            self._commit_group()

    def on_rollback(self, listener: Callable[[], None]) -> None:
        """Call `listener` whenever a group is rolled back: what it wrote is not in the file."""
        self._rollback_listeners.append(listener)

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
            self._fault = exc

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
