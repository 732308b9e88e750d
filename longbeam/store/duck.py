"""DuckDB files: written as a whole, with core DuckDB only; errors are reported in one line.

Files are always attached to a database in memory, never opened by path: DuckDB keeps one instance per path
and process, and would go on showing a file that has been replaced meanwhile.

Rows go through newline-delimited JSON and `read_ndjson` (20,000 messages of 4 KB: 1.0 s of CPU; `VALUES` of many rows
takes 6 s with DuckDB 1.5.5 and 2.0.0; unnested lists 1.3 s with 2.0.0, but 19 s with 1.5.5).
"""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pydantic_core

from longbeam.errors import DamageError, StoreError
from longbeam.store.digests import put_with_digest, require_recorded
from longbeam.store.files import describe_os_error, scratch_beside
from longbeam.terminal import both_ends

STORAGE_VERSION = "v1.5.0"
"""Every DuckDB that longbeam supports reads this version; 1.5 cannot open the default of 2.0."""

BLOCK_BYTES = 16_384
"""DuckDB's smallest block: a short conversation takes 0.2 MB instead of 3; 20,000 messages 31 MB instead of 34."""

ROW_GROUP = 2_048
"""Rows that are held and compressed together; DuckDB's default of 122,880 messages would take half a gigabyte."""

_WRITING = (f"STORAGE_VERSION '{STORAGE_VERSION}'", f"BLOCK_SIZE {BLOCK_BYTES}", f"ROW_GROUP_SIZE {ROW_GROUP}")

_MIN_OBJECT_BYTES = 16 * 2**20
_WRITTEN_AT_ONCE = 2**20
_LOADED_AT_ONCE = 2**20
"""Bytes of rows in one INSERT; DuckDB holds several times as much until the statement ends."""

_MOST_HELD = 16 * 1024
"""Rows of a table after which the file is closed and opened again, which saves 18 MB at 50M tokens."""
_MOST_HELD_BETWEEN = 4096
"""Rows after which the file is closed and opened again before the next table."""

_KEYS_AT_ONCE = 20_000
"""Keys of a table that are compared at a time; all those of 50M tokens would take 7 MB."""

_DAMAGED_BYTES = 2**30
"""A damaged file asks for more in one block; no sound one does."""
_TROUBLE = (
    duckdb.IOException,
    duckdb.FatalException,
    duckdb.InternalException,
    duckdb.SerializationException,
    duckdb.OutOfMemoryException,
    duckdb.TransactionException,
)
"""Errors of DuckDB about the file, the disk or the memory; its other errors are bugs of longbeam."""

Row = Mapping[str, Any]

_COMMENT = re.compile(r'^ +"?(\w+)"? [A-Z].*?-- (.+)$', re.M)
_TABLE = re.compile(r"CREATE TABLE (\w+)")

to_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""Encodes a value for a `JSON` column. One encoder is shared, because `json.dumps` makes one for each call."""


@dataclass(frozen=True)
class Kind:
    """A kind of DuckDB file. Its tables need no migrations: files are made again from the work log."""

    name: str
    """Name in error messages: `sealed conversation`."""
    version: int
    """Version of the tables; increased with each change of a table."""
    tables: tuple[str, ...]
    """Statements that create the tables."""
    remedy: str = "`longbeam resume` makes it again"
    """How the file is made again."""
    oldest_readable: int = 0
    """Oldest version whose files can be read: they lack tables, and have no other columns; 0: this version alone."""

    def explained(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the name of each table, and the comments on its columns."""
        for statement in self.tables:
            yield _TABLE.findall(statement)[0], dict(_COMMENT.findall(statement))


class Loader:
    """Fills the tables of a file that is being written."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path) -> None:
        """`path` is attached as `file`; the folder around it is for scratch."""
        self._connection = connection
        self._path = path
        self._rows = path.parent / "rows.ndjson"
        self._held = 0
        """Rows that were loaded since the file was opened."""

    def load(self, table: str, rows: Iterable[Row]) -> int:
        """Append rows, given by column name, to a table of the file; return how many there were.

        Values are JSON: dates in ISO form, a `JSON` column as text. A few megabytes of rows are in memory at a time.
        """
        left, loaded, is_more = iter(rows), 0, True
        while is_more:
            if self._held >= (_MOST_HELD if loaded else _MOST_HELD_BETWEEN):
                self._reopen()
            count, is_more = self._load_some(table, left)
            loaded += count
        return loaded

    def _load_some(self, table: str, rows: Iterator[Row]) -> tuple[int, bool]:
        """Append rows until _MOST_HELD are held; return their number, and whether more may follow."""
        columns = ", ".join(f"'{name}': '{kind}'" for name, kind in self._columns(table))
        before, is_more = self._held, True
        # In one transaction DuckDB writes a row group as soon as it is full.
        self._connection.execute("BEGIN")
        while is_more and self._held < _MOST_HELD:
            count, longest, is_more = self._write(rows)
            if not count:
                break
            try:
                self._connection.execute(
                    f"INSERT INTO {table} BY NAME SELECT * FROM read_ndjson(?, columns = {{{columns}}},"
                    f" maximum_object_size = {max(longest, _MIN_OBJECT_BYTES)}, hive_partitioning = false)",
                    [str(self._rows)],
                )
            except (duckdb.InvalidInputException, duckdb.ConversionException) as exc:
                problem = str(exc).partition("Try setting")[0].replace(str(self._rows), "")
                raise ValueError(f"a value that no column of {table!r} can hold: {problem}") from exc
            self._held += count
        self._connection.execute("COMMIT")
        return self._held - before, is_more

    def checkpoint(self) -> None:
        """Write everything that is loaded. Closing the file would write too, but would not report a full disk."""
        self._connection.execute("CHECKPOINT file")

    def _reopen(self) -> None:
        """Close the file and open it again: an open file keeps some memory for every row that was loaded."""
        self.checkpoint()
        self._connection.execute("USE memory; DETACH file")
        _attach_for_writing(self._connection, self._path)
        self._held = 0

    def check_unique(self, table: str, column: str) -> None:
        """Raise ValueError if two rows have the same value in this column."""
        (rows,) = self._connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0]
        parts = 1 + rows // _KEYS_AT_ONCE
        query = f"SELECT {column} FROM {table} WHERE hash({column}) % {parts} = ? GROUP BY ALL HAVING count(*) > 1"
        for part in range(parts):
            if twice := self._connection.execute(query, [part]).fetchone():
                raise ValueError(f"{table}: two rows have the {column} {twice[0]!r}")

    def _write(self, rows: Iterator[Row]) -> tuple[int, int, bool]:
        """Write rows to the scratch file; return their number, the longest one's bytes, and whether more may follow."""
        count = longest = written = 0
        with self._rows.open("wb", buffering=_WRITTEN_AT_ONCE) as file:
            for row in rows:
                line = pydantic_core.to_json(row) + b"\n"
                written += file.write(line)
                count, longest = count + 1, max(longest, len(line))
                if written >= _LOADED_AT_ONCE:
                    return count, longest, True
        return count, longest, False

    def _columns(self, table: str) -> list[tuple[str, str]]:
        described = self._connection.execute(f"DESCRIBE {table}").fetchall()
        # JSON is read as text and checked on its way into the column: parsed and written anew, it would lose
        # the digits of large numbers.
        return [(name, "VARCHAR" if kind == "JSON" else kind) for name, kind, *_ in described]


@contextmanager
def replaced_file(path: Path, kind: Kind) -> Iterator[Loader]:
    """Yield a loader for a new file that takes the place of `path` when the block ends without an error.

    Raises StoreError if the disk or DuckDB refuses; then `path` is as it was.
    """
    _trim_memory()
    with scratch_beside(path) as scratch, translated_errors(path, kind):
        written = scratch / "file.duckdb"
        with connect(scratch / "spill") as connection:
            # The rows come one after another: a second thread would make it no faster, and cost a tenth more.
            connection.execute("SET threads = 1")
            # Memory of a row group is freed when it is written, and not kept until half a gigabyte is free.
            connection.execute("SET allocator_bulk_deallocation_flush_threshold = '16MB'")
            # One row group at a time instead of five: five of messages take 12 MB more and are written no faster.
            connection.execute("SET write_buffer_row_group_count = 1")
            _attach_for_writing(connection, written)
            connection.execute("CREATE TABLE about (kind VARCHAR, version INTEGER)")
            connection.execute("INSERT INTO about VALUES (?, ?)", [kind.name, kind.version])
            for table in kind.tables:
                connection.execute(table)
            explain(connection, {f"{t}.{c}": text for t, columns in kind.explained() for c, text in columns.items()})
            loader = Loader(connection, written)
            yield loader
            loader.checkpoint()
        put_with_digest(written, path)


def explain(connection: duckdb.DuckDBPyConnection, comments: Mapping[str, str]) -> None:
    """Put comments on columns, by `table.column`, which `duckdb_columns()` shows."""
    for column, text in comments.items():
        quoted = text.replace("'", "''")
        connection.execute(f"COMMENT ON COLUMN {column} IS '{quoted}'")


def connect(spill: Path | None = None) -> duckdb.DuckDBPyConnection:
    """Return a database in memory that loads no extension and sees no variables of Python.

    DuckDB writes to the folder `spill` when its memory limit is reached; without a folder it writes to no disk.
    """
    return duckdb.connect(
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "python_enable_replacements": "false",
            "temp_directory": str(spill or ""),
        }
    )


def attach_read_only(connection: duckdb.DuckDBPyConnection, path: Path, alias: str, kind: Kind) -> int:
    """Attach a file of this kind under a name, and return the version of its tables.

    Raises StoreError if it is something else, damaged, or of a version that cannot be read.
    """
    if not path.is_file():
        raise StoreError(f"{path}: there is no {kind.name} here")
    require_recorded(path, f"delete it: {kind.remedy}")
    with translated_errors(path, kind):
        _attach(connection, path, alias, "READ_ONLY")
        try:
            found = connection.execute(f"SELECT kind, version FROM {alias}.about").fetchone()
        except duckdb.CatalogException:
            found = None
    if found is None or found[0] != kind.name:
        raise StoreError(f"{path}: is a DuckDB file, but no {kind.name}; name another path or move it away")
    version = int(found[1])
    if not (kind.oldest_readable or kind.version) <= version <= kind.version:
        raise StoreError(
            f"{path}: {kind.name} of version {found[1]}, this longbeam reads version {kind.version}; {kind.remedy}"
        )
    return version


def read_whole(path: Path, kind: Kind) -> None:
    """Read every row of a file, of which DuckDB then checks every block; DamageError if one is damaged."""
    with connect() as connection:
        attach_read_only(connection, path, "whole", kind)
        with translated_errors(path, kind):
            for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
                cursor = connection.execute(f'SELECT * FROM whole."{table}"')
                while cursor.fetchmany(ROW_GROUP):
                    continue


@contextmanager
def translated_errors(path: Path, kind: Kind) -> Iterator[None]:
    """Turn errors of DuckDB or the system about the file or the disk into a StoreError of one line."""
    try:
        yield
    except duckdb.Error as exc:
        # A wrong checksum comes as the base class itself.
        if type(exc) is duckdb.Error or isinstance(exc, _TROUBLE):
            raise _error_of(exc, path, kind) from exc
        raise
    except UnicodeDecodeError as exc:
        raise DamageError(f"{path}: is damaged (a text is not UTF-8); delete it: {kind.remedy}") from exc
    except OSError as exc:
        raise StoreError(describe_os_error(path, exc)) from exc


def select(columns: Sequence[str], table: str, tail: str = "") -> str:
    """Return a SELECT statement with quoted columns, because some have names that are SQL keywords."""
    quoted = ", ".join(f'"{name}"' for name in columns)
    return f"SELECT {quoted} FROM {table} {tail}"


def _trim_memory() -> None:
    """Return freed memory to the system, because DuckDB's own allocator cannot use it.

    Returns 8 MB when a conversation of 10M tokens is sealed, 4 MB at 1M, and takes 2 ms. Only glibc has `malloc_trim`.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _attach_for_writing(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    _attach(connection, path, "file", ", ".join(_WRITING))
    connection.execute("USE file")


def _attach(connection: duckdb.DuckDBPyConnection, path: Path, alias: str, option: str) -> None:
    if "?" in str(path.resolve()):
        raise StoreError(f"{path}: DuckDB cannot use a path with a question mark; rename the folder")
    quoted = str(path.resolve()).replace("'", "''")
    connection.execute(f"ATTACH '{quoted}' AS {alias} (TYPE duckdb, {option})")


def _error_of(exc: duckdb.Error, path: Path, kind: Kind) -> StoreError:
    whole = str(exc).split("\n", 1)[0]  # the reason stands behind a path, which may be long
    said = both_ends(whole, 200)
    if "No space left" in whole or "File too large" in whole or "quota" in whole.casefold():
        return StoreError(f"{path}: the disk is full ({said}); free some space and run the command again")
    if "not a valid DuckDB database" in whole:
        return DamageError(f"{path}: is not a DuckDB file, or its first page is damaged; delete it: {kind.remedy}")
    if isinstance(exc, duckdb.OutOfMemoryException):
        asked = re.search(r"block of (\d+) bytes", whole)
        if asked is not None and int(asked[1]) < _DAMAGED_BYTES:
            return StoreError(
                f"{path}: there is not enough memory to read it ({int(asked[1]):,} bytes more were asked for); close "
                "other programs, or raise the limit (`ulimit -v`)"
            )
        return StoreError(f"{path}: DuckDB says {said}; if the file is damaged, delete it: {kind.remedy}")
    return DamageError(f"{path}: is damaged, or cannot be read (DuckDB says {said}); delete it: {kind.remedy}")
