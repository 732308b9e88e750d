"""SQLite files of longbeam: recognised, migrated, opened in WAL mode; errors are reported in one line.

A file belongs to a format when it has the format's `application_id`; `user_version` counts its migrations.
Both are set in the transaction of the migration, so a killed process leaves the old version or the new one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any

from longbeam.errors import DamageError, StoreError
from longbeam.store.digests import checksum_of
from longbeam.store.files import describe_os_error

BUSY_TIMEOUT_S = 5.0
"""With one writer and WAL, a process waits only while the log is folded into the file."""

PAGES_PER_FOLDING = 16_000
"""Pages of the write-ahead log (64 MB) before they are folded into the file. Folding waits 15 to 45 ms for the disk;
with SQLite's default of 1,000 pages every hundredth model call would wait for it."""

_UNREADABLE_TEXT = 0
"""Code of the one error about a file that the module raises itself: a text is not UTF-8."""
_LARGEST_ID = 2**40
"""More rows than a table has."""
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, _UNREADABLE_TEXT})
_PRIMARY_CODE = 0xFF
"""SQLite's extended result codes carry the primary one in their low byte."""


Row = tuple[Any, ...]


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
    with translated_errors(path), _no_empty_file(path):
        db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
        try:
            _is_ours(db, path, fmt)  # raises if it is something else; an empty file will be ours
            version = _checked_version(db, path, fmt)
            _add_functions(db)
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


def integrity_faults(db: sqlite3.Connection) -> Iterator[str]:
    """Yield what SQLite finds wrong with the pages and indexes of a file, one line each."""
    for (found,) in db.execute("PRAGMA integrity_check").fetchall():
        yield from (line for line in found.splitlines() if line not in ("ok", "*** in database main ***"))


def readable_rows(db: sqlite3.Connection, table: str, id_column: str, columns: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a table by id, as far as a damaged file can be read: what lies on damaged pages is left out."""
    query = f"SELECT {id_column}, {', '.join(columns)} FROM {table} WHERE {id_column} > ? ORDER BY {id_column} LIMIT 1"
    last, step = 0, 1
    while step <= _LARGEST_ID:
        try:
            row = db.execute(query, (last + step - 1,)).fetchone()
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            step *= 2  # over the damaged page; a few rows behind it may be left out, too
            continue
        if row is None:
            return
        if row[0] <= last:  # the ids of a damaged page may be out of order, and would be read for ever
            step *= 2
            continue
        last, step = row[0], 1
        yield row[1:]


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
            if not is_bug and (code := _code_of(exc)) != sqlite3.SQLITE_ERROR:
                kind = DamageError if code in _DAMAGE else StoreError
                raise kind(f"{self._path}: {_reason_of(exc)}") from exc
        elif isinstance(exc, UnicodeDecodeError):  # the module could not even read SQLite's error message
            raise DamageError(f"{self._path}: is damaged (a name in it is not UTF-8); {_REMEDY}") from exc
        elif isinstance(exc, OSError):
            raise StoreError(describe_os_error(self._path, exc)) from exc


@contextmanager
def _no_empty_file(path: Path) -> Iterator[None]:
    """Remove a file that the block created and could not fill: an empty one would stop whoever reads it next."""
    existed = path.exists()
    try:
        yield
    except BaseException:
        with suppress(OSError):
            if not existed and path.stat().st_size == 0:
                path.unlink()
        raise


def _code_of(exc: sqlite3.DatabaseError) -> int:
    """Return SQLite's primary result code; 0 where the module itself raised the error."""
    return int(getattr(exc, "sqlite_errorcode", 0)) & _PRIMARY_CODE


def _reason_of(exc: sqlite3.DatabaseError) -> str:
    said = " ".join(str(exc).split())[:200]
    match _code_of(exc):
        case sqlite3.SQLITE_FULL:
            return "the disk is full; free some space and run the command again: what was recorded so far is kept"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "another process keeps it locked; close it and run the command again"
        case sqlite3.SQLITE_NOTADB:
            return f"is not a SQLite file, or its first page is damaged; {_REMEDY}"
        case code if code in _DAMAGE:
            return f"is damaged ({said}); {_REMEDY}"
        case sqlite3.SQLITE_READONLY:
            return f"cannot be written here ({said}); it was opened for reading, or its folder is write-protected"
        case sqlite3.SQLITE_CANTOPEN:
            return "cannot be opened; see that it is a file and that it and its folder may be read and written"
        case _:
            return f"SQLite says {said}; see that the disk is healthy and not full, then run the command again"


_REMEDY = "put back a copy, or run `longbeam verify NAME --repair`, which keeps what is sound"


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
    if _columns(db) != _columns_of(fmt, version):
        raise DamageError(
            f"{path}: is damaged: its tables are not those of a {fmt.name} of version {version}; {_REMEDY}"
        )
    return version


@lru_cache
def _columns_of(fmt: Format, version: int) -> list[tuple[str, str]]:
    """Return the columns that a file of this version has, by table."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        _add_functions(db)
        for statements in fmt.migrations[:version]:
            for statement in statements:
                db.execute(statement)
        return _columns(db)


def _columns(db: sqlite3.Connection) -> list[tuple[str, str]]:
    query = "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table'"
    return db.execute(f"{query} ORDER BY m.name, c.cid").fetchall()


def _add_functions(db: sqlite3.Connection) -> None:
    db.create_function("checksum", -1, checksum_of, deterministic=True)


def _migrate(db: sqlite3.Connection, fmt: Format, number: int) -> None:
    with transaction(db):
        for statement in fmt.migrations[number]:
            db.execute(statement)
        if number == 0:
            db.execute(f"PRAGMA application_id = {fmt.application_id}")
        db.execute(f"PRAGMA user_version = {number + 1}")
