"""SQLite files of longbeam: recognised, migrated, opened in WAL mode; errors are reported in one line.

A file belongs to a format when it has the format's `application_id`; `user_version` counts its migrations.
Both are set in the transaction of the migration, so a killed process leaves the old version or the new one.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from longbeam.errors import StoreError
from longbeam.store.files import describe_os_error

BUSY_TIMEOUT_S = 5.0
"""With one writer and WAL, a process waits only while the log is folded into the file."""

PAGES_PER_FOLDING = 16_000
"""Pages of the write-ahead log (64 MB) before they are folded into the file. Folding waits 15 to 45 ms for the disk;
with SQLite's default of 1,000 pages every hundredth model call would wait for it."""

_PRIMARY_CODE = 0xFF
"""SQLite's extended result codes carry the primary one in their low byte."""


class OlderFileError(StoreError):
    """The file has not had every migration."""


@dataclass(frozen=True)
class Format:
    """A kind of SQLite file."""

    name: str
    """Name in error messages: `work log`."""
    application_id: int
    migrations: tuple[tuple[str, ...], ...]
    """Statements of each migration. A released migration never changes; a new one is appended."""

    @property
    def version(self) -> int:
        """The `user_version` of a file that has had every migration."""
        return len(self.migrations)


def open_for_writing(path: Path, fmt: Format) -> sqlite3.Connection:
    """Return a connection that commits when told to; the file is created or migrated where needed.

    Raises StoreError if the file is something else, damaged, or newer than this version of longbeam.
    """
    with translated_errors(path):
        db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
        try:
            _is_ours(db, path, fmt)  # raises if it is something else; an empty file will be ours
            version = _checked_version(db, path, fmt)
            if db.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
                raise StoreError(f"{path}: this file system cannot hold a {fmt.name}; use a local disk")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute(f"PRAGMA wal_autocheckpoint = {PAGES_PER_FOLDING}")
            db.execute("PRAGMA foreign_keys = ON")
            for number in range(version, fmt.version):
                _migrate(db, fmt, number)
            if 0 < version < fmt.version:
                with suppress(sqlite3.OperationalError):  # where the disk has no room for it, the file stays larger
                    db.execute("VACUUM")
        except BaseException:
            db.close()
            raise
    return db


def open_for_reading(path: Path, fmt: Format) -> sqlite3.Connection:
    """Return a connection that cannot write and never keeps a writer waiting.

    Raises StoreError if there is no such file, or it has another format; OlderFileError if it lacks a migration.
    """
    if not path.is_file():
        raise StoreError(f"{path}: there is no {fmt.name} here")
    with translated_errors(path):
        db = sqlite3.connect(
            path.resolve().as_uri() + "?mode=ro",
            uri=True,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            if not _is_ours(db, path, fmt):
                raise StoreError(f"{path}: this {fmt.name} is empty; start the run again to fill it")
            if _checked_version(db, path, fmt) < fmt.version:
                raise OlderFileError(
                    f"{path}: an older longbeam wrote this {fmt.name}; it has to be opened for writing"
                )
        except BaseException:
            db.close()
            raise
    return db


# Classes, because every statement is run within them: a generator would take three times as long.
class transaction:
    """Commit what the block writes, all or nothing."""

    __slots__ = ("_db",)

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            try:
                self._db.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise
        else:
            self._roll_back()

    def _roll_back(self) -> None:
        if self._db.in_transaction:  # a full disk may have ended it already
            self._db.execute("ROLLBACK")


class translated_errors:
    """Turn errors of SQLite about the file or the disk into a StoreError of one line.

    Broken constraints and wrong statements are bugs and keep their traceback.
    """

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(exc, sqlite3.DatabaseError):
            is_bug = isinstance(exc, sqlite3.IntegrityError | sqlite3.ProgrammingError)
            if not is_bug and _code_of(exc) != sqlite3.SQLITE_ERROR:
                raise StoreError(f"{self._path}: {_reason_of(exc)}") from exc
        elif isinstance(exc, OSError):
            raise StoreError(describe_os_error(self._path, exc)) from exc


def _code_of(exc: sqlite3.DatabaseError) -> int:
    """Return SQLite's primary result code; 0 where the module itself raised the error."""
    return int(getattr(exc, "sqlite_errorcode", 0)) & _PRIMARY_CODE


def _reason_of(exc: sqlite3.DatabaseError) -> str:
    match _code_of(exc):
        case sqlite3.SQLITE_FULL:
            return "the disk is full; free some space and run `longbeam resume`: what was recorded so far is kept"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "another process keeps it locked; close it and run the command again"
        case sqlite3.SQLITE_NOTADB:
            return "is not a SQLite file, or its first page is damaged; put back a copy, or move it away to start over"
        case sqlite3.SQLITE_CORRUPT:
            return f"is damaged ({exc}); put back a copy, or move it away to start over"
        case sqlite3.SQLITE_READONLY:
            return f"cannot be written here ({exc}); it was opened for reading, or its folder is write-protected"
        case sqlite3.SQLITE_CANTOPEN:
            return "cannot be opened; see that it is a file and that it and its folder may be read and written"
        case _:
            return f"SQLite says {exc}; see that the disk is healthy and not full, then run the command again"


def _is_ours(db: sqlite3.Connection, path: Path, fmt: Format) -> bool:
    """Return whether the file is of this format; False if it is empty, StoreError if it is something else."""
    found = db.execute("PRAGMA application_id").fetchone()[0]
    if found == fmt.application_id:
        return True
    if found == 0 and db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        return False
    raise StoreError(f"{path}: is a SQLite file, but no longbeam {fmt.name}; name another path or move it away")


def _checked_version(db: sqlite3.Connection, path: Path, fmt: Format) -> int:
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if not 0 <= version <= fmt.version:
        raise StoreError(
            f"{path}: {fmt.name} of version {version}, this longbeam knows up to {fmt.version}; upgrade longbeam"
        )
    return version


def _migrate(db: sqlite3.Connection, fmt: Format, number: int) -> None:
    with transaction(db):
        for statement in fmt.migrations[number]:
            db.execute(statement)
        if number == 0:
            db.execute(f"PRAGMA application_id = {fmt.application_id}")
        db.execute(f"PRAGMA user_version = {number + 1}")
