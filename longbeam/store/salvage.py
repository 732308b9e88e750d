"""Salvage of damaged files: a new file with every row that is as it was stored; the damaged one is set aside."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from longbeam.errors import StoreError
from longbeam.schemas import message_hash
from longbeam.store.digests import checksum_of
from longbeam.store.files import put_in_place, scratch_beside
from longbeam.store.lease import Lease
from longbeam.store.reviews import ReviewStore
from longbeam.store.sqlite import Row, open_for_writing, readable_rows, transaction
from longbeam.store.worklog_schema import CHECKED_COLUMNS, UNIT_COLUMNS, WORK_LOG

_REPLACED = ("stage", "role", "prompt_id", "model")
_REPLACED_COUNTS = ("prompt_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")


@dataclass(frozen=True)
class Salvage:
    """Result of a salvage."""

    kept: str
    """The rows that were kept, in words: `440 replies, 87 units`."""
    aside: Path
    """Where the damaged file lies now."""


def salvage_work_log(path: Path) -> Salvage:
    """Replace a damaged work log by one with its sound replies and units; StoreError while a run writes it."""
    lease = Lease(path)
    try:
        with scratch_beside(path) as scratch:
            written = scratch / "salvaged.sqlite"
            with closing(open_for_writing(written, WORK_LOG)) as target:
                try:
                    replies, units = _copy_sound(path, target)
                except (sqlite3.DatabaseError, UnicodeDecodeError):  # not even its tables can be found
                    replies = units = 0
                target.execute("PRAGMA journal_mode = DELETE")
            aside = _set_aside(path)
            put_in_place(written, path)
    finally:
        lease.release()
    return Salvage(f"{replies} replies and {units} units are kept", aside)


def salvage_reviews(path: Path) -> Salvage:
    """Replace a damaged review log by one with its sound events."""
    try:
        with ReviewStore(path, read_only=True) as store:
            events = list(store.sound_events())
    except StoreError:
        events = []
    with scratch_beside(path) as scratch:
        written = scratch / "reviews.sqlite"
        with ReviewStore(written) as store:
            store.merge(events)
            store.fold()
        aside = _set_aside(path)
        put_in_place(written, path)
    return Salvage(f"{len(events)} events are kept", aside)


def _set_aside(path: Path) -> Path:
    """Rename a file, with its write-ahead log, to the first free name; return the name."""
    aside = next(a for n in range(1, 10_000) if not (a := path.with_name(f"{path.name}.damaged-{n}")).exists())
    path.rename(aside)
    for suffix in ("-wal", "-shm"):
        if (log := path.with_name(path.name + suffix)).exists():
            log.rename(aside.with_name(aside.name + suffix))
    return aside


def _copy_sound(path: Path, target: sqlite3.Connection) -> tuple[int, int]:
    with closing(sqlite3.connect(path, isolation_level=None)) as source, transaction(target):
        texts = {}
        for number, digest, role, content in _rows(source, "texts", "text_id", ("sha256", "role", "content")):
            if message_hash(role, content) == digest:
                target.execute("INSERT INTO texts VALUES (?, ?, ?, CAST(? AS TEXT))", (number, digest, role, content))
                texts[number] = digest
        replies = _copy_replies(source, target, texts)
        for row in _rows(source, "replaced", "replaced_id", (*_REPLACED, *_REPLACED_COUNTS)):
            if all(type(value) is int for value in row[len(_REPLACED) + 1 :]):
                target.execute(f"INSERT INTO replaced VALUES ({_marks(row)})", row)
        units = _copy_units(source, target)
        _copy_meta(source, target)
        return replies, units


def _copy_replies(source: sqlite3.Connection, target: sqlite3.Connection, texts: dict[int, bytes]) -> int:
    copied, columns = 0, (*CHECKED_COLUMNS, "reply", "checksum")
    for row in _rows(source, "replies", "reply_id", columns):
        _, *checked, reply, checksum = row
        if reply not in texts or checksum_of(*checked, texts[reply].hex()) != checksum:
            continue
        if texts.keys() >= set(json.loads(checked[CHECKED_COLUMNS.index("request")])):
            names = ", ".join(("reply_id", *columns))
            copied += target.execute(f"INSERT OR IGNORE INTO replies ({names}) VALUES ({_marks(row)})", row).rowcount
    return copied


def _copy_units(source: sqlite3.Connection, target: sqlite3.Connection) -> int:
    sums: dict[int, int] = defaultdict(int)
    for _, unit_id, *record in _rows(source, "records", "record_id", _RECORD):
        sums[unit_id] += checksum_of(*record)
    names, kept = (*UNIT_COLUMNS, "records_checksum", "checksum"), set()
    for row in _rows(source, "units", "unit_id", names):
        unit_id, *values, records_checksum, checksum = row
        if checksum_of(*values, records_checksum) == checksum and sums.get(unit_id, 0) == records_checksum:
            columns = ", ".join(("unit_id", *names))
            if target.execute(f"INSERT OR IGNORE INTO units ({columns}) VALUES ({_marks(row)})", row).rowcount:
                kept.add(unit_id)
    for row in _rows(source, "records", "record_id", _RECORD):
        if row[1] in kept:
            target.execute(f"INSERT INTO records VALUES ({_marks(row)})", row)
    return len(kept)


def _copy_meta(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    try:
        rows = source.execute("SELECT name, json, checksum FROM meta").fetchall()
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return
    for name, text, checksum in rows:
        if checksum_of(name, text) == checksum:
            target.execute("INSERT INTO meta (name, json, checksum) VALUES (?, ?, ?)", (name, text, checksum))


_RECORD = ("unit_id", "ordinal", "record_type", "json")


def _rows(db: sqlite3.Connection, table: str, id_column: str, columns: tuple[str, ...]) -> Iterator[Row]:
    return readable_rows(db, table, id_column, (id_column, *columns))


def _marks(row: Row) -> str:
    return ", ".join("?" * len(row))
