"""The work log of one conversation: the journal of model calls, and the units with their records.

Every method that writes is one transaction and has reached the operating system when it returns: a SIGKILL
afterwards loses nothing. Only `commit_in_groups` puts that off, for replies alone, to the next turn of an event loop.
`synchronous = NORMAL` means that a power cut may lose the last transactions, never
part of one; `FULL` runs at a quarter of the rate, and what a power cut loses can be asked for again.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from pydantic import ValidationError

from longbeam.errors import StoreError
from longbeam.schemas.base import Record
from longbeam.schemas.calls import ChatMessage, ModelReply
from longbeam.schemas.conversation import Author
from longbeam.schemas.hashing import message_hash, request_hash
from longbeam.schemas.usage import COUNTS, Usage
from longbeam.store.files import describe_os_error, sync_file
from longbeam.store.lease import Lease
from longbeam.store.sqlite import OlderFileError, open_for_reading, open_for_writing, transaction, translated_errors
from longbeam.store.texts import TextWriter
from longbeam.store.worklog_schema import WORK_LOG

R = TypeVar("R", bound=Record)

_ROWS_AT_A_TIME = 1000
_KEY_BITS = 2**21
"""256 KB for each open conversation; a set of the hashes would take 0.4 MB for each million tokens."""

_REPLIES_PER_COMMIT = 64
"""At most, in a group: as many as a run has in flight unless its spec says more."""


class UnitStatus(StrEnum):
    """A unit is done or has failed; one that is neither is not in the work log."""

    DONE = "done"
    FAILED = "failed"


class Unit(Record):
    """A done-mark, or a failure."""

    stage: str
    unit_key: str
    status: UnitStatus
    fingerprint: str
    """Of all that the unit depended on; a done-mark counts only while it is equal."""
    generation: int
    """Of a done unit: the one it was made with. Of a failed one: the one to try next."""
    error_kind: str = ""
    error: str = ""
    attempts: int = 0
    """Of the failure; 0 when done."""


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request that has a reply."""

    key: str
    unit_key: str
    generation: int
    hash: bytes
    """`request_hash` of its messages."""


_UNIT_COLUMNS = ", ".join(Unit.model_fields)


class WorkLog:
    """One SQLite file. One process writes it, under a lease; many may read meanwhile. Safe to share by threads."""

    def __init__(self, path: Path, db: sqlite3.Connection, lease: Lease | None) -> None:
        """Use `open` or `open_read_only`."""
        self.path = path
        self._db = db
        self._lease = lease
        self._texts = TextWriter(db)
        self._replied: bytearray | None = None
        """A bit for the hash of each key with a reply, where this process writes the file and so knows them all."""
        self._lock = threading.RLock()
        self._soon: Callable[[Callable[[], None]], object] | None = None
        self._waiting = 0
        """Replies in the open transaction."""
        self._fault: Exception | None = None
        """Why the last group could not be committed; whoever writes next is told."""

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

        One that an older longbeam wrote is brought up to date first.
        """
        try:
            db = open_for_reading(path, WORK_LOG)
        except OlderFileError:
            cls.open(path).close()
            db = open_for_reading(path, WORK_LOG)
        return cls(path, db, None)

    def close(self) -> None:
        """Fold the write-ahead log into the file and give the lease back; closing twice is no error."""
        with self._lock:
            try:
                try:
                    self._commit_group()
                finally:
                    with translated_errors(self.path):
                        self._db.close()
            finally:
                if self._lease is not None:
                    self._lease.release()
                    self._lease = None

    def copy_to(self, path: Path) -> None:
        """Write a copy of what is committed, also while somebody writes; it is on disk when this returns.

        The copy is one file: it can be read where no write-ahead log may lie.
        """
        with self._lock:
            self._commit_group()
        with translated_errors(path), closing(open_for_reading(self.path, WORK_LOG)) as source:
            path.unlink(missing_ok=True)
            with closing(sqlite3.connect(path, isolation_level=None)) as target:
                source.backup(target)
                target.execute("PRAGMA journal_mode = DELETE")
            sync_file(path)

    @property
    def changes(self) -> int:
        """Rows written since it was opened."""
        return self._db.total_changes

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- the journal ------------------------------------------------------------------------------------------

    def reply_of(self, key: str) -> ModelReply | None:
        """Return the recorded reply of the call with this key, or None."""
        if self._lease is not None and not self._may_have(key):
            return None  # as for nearly all calls of a run: a look at the file costs ten times this
        row = self._one(
            f"SELECT content, {_REPLY_COLUMNS} FROM replies JOIN texts ON text_id = reply WHERE key = ?",
            key,
        )
        return None if row is None else ModelReply.model_validate(dict(zip(_REPLY_FIELDS, row, strict=True)))

    def _may_have(self, key: str) -> bool:
        """Whether there may be a reply to this key; at 10M tokens one in fifty that has none may have one."""
        if self._replied is None:
            self._replied = bytearray(_KEY_BITS // 8)
            for known in self.reply_keys():
                self._note(known)
        place = hash(key) % _KEY_BITS
        return bool(self._replied[place >> 3] & 1 << (place & 7))

    def _note(self, key: str) -> None:
        if self._replied is not None:
            place = hash(key) % _KEY_BITS
            self._replied[place >> 3] |= 1 << (place & 7)

    def max_tokens_of(self, key: str) -> int | None:
        """Return the limit under which the call's recorded reply was written; None if none was named.

        Raises KeyError if no reply is recorded.
        """
        row = self._one("SELECT max_tokens FROM replies WHERE key = ?", key)
        if row is None:
            raise KeyError(key)
        return None if row[0] is None else int(row[0])

    def record_reply(
        self,
        *,
        key: str,
        unit_key: str,
        stage: str,
        role: str,
        prompt_id: str,
        prompt_version: int,
        model: str,
        generation: int,
        request: Sequence[ChatMessage],
        reply: ModelReply,
        max_tokens: int | None = None,
    ) -> None:
        """Record a reply with its request; it is durable when this returns, or when its group is committed.

        A second reply to the same key replaces the first: it was asked for because the first was cut short. What
        the first cost is kept.
        """
        asked = (key, unit_key, stage, role, prompt_id, prompt_version, model, generation, max_tokens)
        counted = [getattr(reply, name) for name in _REPLY_FIELDS[1:]]
        with self._lock, translated_errors(self.path):
            self._begin_group()
            try:
                row = (*asked, _list_of(self._texts.put(request)), self._texts.put_reply(reply.text), *counted)
                if self._db.execute(_RECORD_REPLY, row).rowcount == 0:
                    self._replace_reply(key, row)
            except BaseException:
                if not (self._waiting and self._db.in_transaction):  # a full disk ends the whole transaction
                    self._roll_back_group()
                raise
            self._waiting += 1
            self._note(key)
            if self._soon is None or self._waiting >= _REPLIES_PER_COMMIT:
                self._commit_group()

    def _replace_reply(self, key: str, row: tuple[object, ...]) -> None:
        self._db.execute("SAVEPOINT replacing")  # all or nothing, whatever else is in the group
        try:
            self._db.execute(_KEEP_COST, (key,))
            self._db.execute("DELETE FROM replies WHERE key = ?", (key,))
            self._db.execute(_RECORD_REPLY, row)
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK TO replacing")
            raise
        finally:
            if self._db.in_transaction:
                self._db.execute("RELEASE replacing")

    def commit_in_groups(self, soon: Callable[[Callable[[], None]], object]) -> None:
        """Commit the replies that arrive in one turn of an event loop together; `soon` is its `call_soon`.

        A commit is half of what recording a reply costs. Replies of one turn were all in flight when it began, so a
        SIGKILL costs no more calls than before; and what depends on one of them is committed after it, never without.
        """
        self._soon = soon

    def _begin_group(self) -> None:
        self._raise_fault()
        if not self._waiting:
            self._db.execute("BEGIN IMMEDIATE")
            if self._soon is not None:
                self._soon(self._end_turn)

    def _end_turn(self) -> None:
        with self._lock:
            try:
                self._commit_group()
            except (StoreError, sqlite3.Error) as exc:  # in a callback nobody would hear of it
                self._fault = exc

    def _commit_group(self) -> None:
        self._raise_fault()
        if self._waiting:
            try:
                with translated_errors(self.path):
                    self._db.execute("COMMIT")
                self._waiting = 0
            except BaseException:
                self._roll_back_group()
                raise

    def _roll_back_group(self) -> None:
        """Forget the group: what was rolled back is not in the file."""
        self._waiting, self._replied = 0, None
        self._texts.forget()
        if self._db.in_transaction:  # a full disk may have ended it already
            self._db.execute("ROLLBACK")

    def _raise_fault(self) -> None:
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise fault

    def request_of(self, key: str) -> tuple[ChatMessage, ...]:
        """Return the messages that the recorded reply answers; KeyError if no reply is recorded."""
        row = self._one("SELECT request FROM replies WHERE key = ?", key)
        if row is None:
            raise KeyError(key)
        return tuple(self._message(text_id) for text_id in self._numbers_in(row[0]))

    def reply_keys(self) -> Iterator[str]:
        """Yield the keys of all recorded replies, in the order of their arrival."""
        for _, key in self._paged("SELECT reply_id, key FROM replies WHERE reply_id > ? ORDER BY reply_id"):
            yield key

    def requests(self) -> Iterator[RecordedRequest]:
        """Yield the requests of all recorded replies, in the order of the replies' arrival."""
        query = "SELECT reply_id, key, unit_key, generation, request FROM replies WHERE reply_id > ? ORDER BY reply_id"
        hashes: dict[int, bytes] = {}
        newest = 0
        for _, key, unit_key, generation, request in self._paged(query):
            text_ids = self._numbers_in(request)
            if max(text_ids, default=0) > newest:  # whoever writes the file has put more into it
                rows = self._all("SELECT text_id, sha256 FROM texts WHERE text_id > ? ORDER BY text_id", newest)
                hashes.update(rows)
                newest = max(hashes, default=0)
            # Where a text is missing, the hash is that of no request.
            asked = request_hash(hashes.get(i, b"") for i in text_ids)
            yield RecordedRequest(key, unit_key, generation, asked)

    def forget_replies(self, model: str) -> int:
        """Forget what a model replied, so that it is asked again; return how many replies there were."""
        with self._writing() as db:
            forgotten = db.execute("DELETE FROM replies WHERE model = ?", (model,)).rowcount
        self._replied = None
        return forgotten

    def usage(self) -> list[Usage]:
        """Return calls and tokens by stage, role, prompt and model, in this order; those of replaced replies, too."""
        sums = ", ".join(f"sum({name})" for name in COUNTS[1:])
        counted = ", ".join(COUNTS[1:])
        rows = self._all(
            f"SELECT stage, role, prompt_id, model, count(*), {sums} FROM"
            f" (SELECT stage, role, prompt_id, model, {counted} FROM replies"
            f" UNION ALL SELECT stage, role, prompt_id, model, {counted} FROM replaced)"
            " GROUP BY stage, role, prompt_id, model ORDER BY stage, role, prompt_id, model"
        )
        return [Usage.of(row[:4], dict(zip(COUNTS, row[4:], strict=True))) for row in rows]

    def usage_under(self, prefix: str) -> list[Usage]:
        """Return the same of the calls whose unit key begins so, without replaced replies."""
        sums = ", ".join(f"sum({name})" for name in COUNTS[1:])
        rows = self._all(
            f"SELECT stage, role, prompt_id, model, count(*), {sums} FROM replies WHERE substr(unit_key, 1, ?) = ?"
            " GROUP BY stage, role, prompt_id, model ORDER BY stage, role, prompt_id, model",
            len(prefix),
            prefix,
        )
        return [Usage.of(row[:4], dict(zip(COUNTS, row[4:], strict=True))) for row in rows]

    def authors(self) -> tuple[Author, ...]:
        """Return the models that answered, as their endpoints name them, by role and name."""
        rows = self._all("SELECT DISTINCT role, reply_model FROM replies ORDER BY role, reply_model")
        return tuple(Author(role=role, model=model) for role, model in rows)

    def verify(self) -> list[str]:
        """Return what is wrong with the file, one line each: damaged pages, texts that are not what their hash says."""
        faults = []
        try:
            for fault in self._faults():
                faults.append(fault)
        except StoreError as exc:  # a page so damaged that the search ends there
            faults.append(str(exc))
        return faults

    def _faults(self) -> Iterator[str]:
        yield from (row[0] for row in self._all("PRAGMA quick_check") if row[0] != "ok")
        stored = set()
        query = "SELECT text_id, sha256, role, content FROM texts WHERE text_id > ? ORDER BY text_id"
        for text_id, digest, role, content in self._paged(query):
            stored.add(text_id)
            if message_hash(role, content) != digest:
                yield f"text {text_id} is not what its hash says"
        query = "SELECT reply_id, key, request, reply FROM replies WHERE reply_id > ? ORDER BY reply_id"
        for _, key, request, reply in self._paged(query):
            if missing := {*self._numbers_in(request), reply} - stored:
                yield f"reply {key}: {len(missing)} of its texts are missing"

    # --- units and their records --------------------------------------------------------------------------------

    def unit(self, stage: str, unit_key: str) -> Unit | None:
        """Return the unit's done-mark or failure; None if it has neither."""
        row = self._one(f"SELECT {_UNIT_COLUMNS} FROM units WHERE stage = ? AND unit_key = ?", stage, unit_key)
        return None if row is None else _unit_from(row)

    def generation(self, stage: str, unit_key: str) -> int:
        """Return the generation to make the unit with: 0, and one more for each failure at content."""
        row = self._one("SELECT generation FROM units WHERE stage = ? AND unit_key = ?", stage, unit_key)
        return 0 if row is None else int(row[0])

    def finish_unit(self, stage: str, unit_key: str, *, fingerprint: str, records: Sequence[Record]) -> None:
        """Mark the unit done, with these records in place of those it had; its generation stays."""
        rows = [(i, type(r).__name__, r.canonical_json().decode()) for i, r in enumerate(records)]
        with self._writing() as db:
            (unit_id,) = db.execute(_FINISH_UNIT, (stage, unit_key, fingerprint)).fetchone()
            db.execute("DELETE FROM records WHERE unit_id = ?", (unit_id,))
            db.executemany(
                "INSERT INTO records (unit_id, ordinal, record_type, json) VALUES (?, ?, ?, ?)",
                ((unit_id, *row) for row in rows),
            )

    def fail_unit(
        self,
        stage: str,
        unit_key: str,
        *,
        fingerprint: str,
        error_kind: str,
        error: str,
        attempts: int,
        opens_generation: bool = True,
    ) -> None:
        """Keep the failure; records of the unit from before go, because they are not what was asked for.

        The next attempt gets a new generation, so that a bad reply is not replayed for ever. Say
        `opens_generation=False` when not the content failed but the way to it (429, 5xx, a time-out): then the
        replies that did arrive are replayed. `repair` calls this for a done unit that a check refused.
        """
        with self._writing() as db:
            (unit_id,) = db.execute(
                _FAIL_UNIT,
                (stage, unit_key, fingerprint, int(opens_generation), error_kind, _storable(error), attempts),
            ).fetchone()
            db.execute("DELETE FROM records WHERE unit_id = ?", (unit_id,))

    def records(self, stage: str, record_type: type[R], unit_keys: Sequence[str] | None = None) -> Iterator[R]:
        """Yield the records of exactly this class that the stage's done units made, one unit in memory at a time.

        Units come in the order of `unit_keys`; without them all units, `p0.s2` before `p0.s10`. Never in the
        order in which they were finished. A unit that is not done has no records.
        """
        keys = self._unit_keys(stage) if unit_keys is None else unit_keys
        for unit_key in keys:
            rows = self._all(
                "SELECT json FROM records JOIN units USING (unit_id)"
                " WHERE stage = ? AND unit_key = ? AND record_type = ? ORDER BY ordinal",
                stage,
                unit_key,
                record_type.__name__,
            )
            for (text,) in rows:
                yield self._parsed(record_type, text, f"{stage} {unit_key}")

    def remove_units(self, stage: str, keep: Collection[str]) -> int:
        """Remove the stage's units that are not in `keep`, with their records; return how many there were."""
        kept = frozenset(keep)
        with self._writing() as db:
            unwanted = [(stage, key) for key in self._unit_keys(stage) if key not in kept]
            db.executemany("DELETE FROM units WHERE stage = ? AND unit_key = ?", unwanted)
        return len(unwanted)

    def unit_counts(self) -> dict[str, dict[str, int]]:
        """Return how many units of each stage are done and how many failed."""
        counts: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(UnitStatus, 0))
        for stage, status, count in self._all(
            "SELECT stage, status, count(*) FROM units GROUP BY stage, status ORDER BY stage"
        ):
            counts[stage][UnitStatus(status)] = count
        return dict(counts)

    def failures(self) -> list[Unit]:
        """Return the failed units by stage, `p0.s2` before `p0.s10`."""
        rows = self._all(f"SELECT {_UNIT_COLUMNS} FROM units WHERE status = 'failed'")
        return sorted(map(_unit_from, rows), key=lambda u: (u.stage, natural_order(u.unit_key)))

    # --- facts about the conversation ----------------------------------------------------------------------------

    def meta_get(self, name: str) -> Any | None:
        """Return the value set under this name; None if there is none."""
        row = self._one("SELECT json FROM meta WHERE name = ?", name)
        return None if row is None else json.loads(row[0])

    def meta_set(self, name: str, value: Any) -> None:
        """Set a JSON value under this name."""
        text = json.dumps(value, sort_keys=True, allow_nan=False)
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO meta (name, json) VALUES (?, ?)", (name, text))

    # --- how statements are run ----------------------------------------------------------------------------------

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._commit_group()
            with translated_errors(self.path), transaction(self._db):
                yield self._db

    def _one(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        with self._lock, translated_errors(self.path):
            row: tuple[Any, ...] | None = self._db.execute(statement, values).fetchone()
            return row

    def _all(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock, translated_errors(self.path):
            return self._db.execute(statement, values).fetchall()

    def _paged(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement whose one parameter is the id after which it begins, its first column."""
        # A cursor left open between two rows would keep the write-ahead log from being folded in.
        last = 0
        while rows := self._all(f"{statement} LIMIT {_ROWS_AT_A_TIME}", last):
            yield from rows
            last = rows[-1][0]

    def _unit_keys(self, stage: str) -> list[str]:
        rows = self._all("SELECT unit_key FROM units WHERE stage = ?", stage)
        return sorted((key for (key,) in rows), key=natural_order)

    def _numbers_in(self, request: str) -> list[int]:
        try:
            text_ids: list[int] = json.loads(request)
        except ValueError as exc:
            raise StoreError(f"{self.path}: a request is no list of its messages; the file is damaged") from exc
        return text_ids

    def _message(self, text_id: int) -> ChatMessage:
        row = self._one("SELECT role, content FROM texts WHERE text_id = ?", text_id)
        if row is None:
            raise StoreError(f"{self.path}: a message of a request is missing; the file is damaged, put back a copy")
        return ChatMessage(role=row[0], content=row[1])

    def _parsed(self, record_type: type[R], text: str, where: str) -> R:
        try:
            return record_type.model_validate_json(text)
        except ValidationError as exc:
            raise StoreError(
                f"{self.path}: {where} holds a {record_type.__name__} of another version of longbeam; "
                "use that version, or generate the benchmark again"
            ) from exc


_REPLY_FIELDS = tuple(ModelReply.model_fields)  # `text` first: it stands in `texts`
_REPLY_COLUMNS = ", ".join(f"reply_{name}" if name == "model" else name for name in _REPLY_FIELDS[1:])

_RECORD_REPLY = f"""
INSERT INTO replies (key, unit_key, stage, role, prompt_id, prompt_version, model, generation, max_tokens,
                                request, reply, {_REPLY_COLUMNS})
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?{", ?" * (len(_REPLY_FIELDS) - 1)})
ON CONFLICT (key) DO NOTHING"""

_KEEP_COST = f"""
INSERT INTO replaced (stage, role, prompt_id, model, {", ".join(COUNTS[1:])})
SELECT stage, role, prompt_id, model, {", ".join(COUNTS[1:])} FROM replies WHERE key = ?"""

_FINISH_UNIT = """
INSERT INTO units (stage, unit_key, status, fingerprint, generation, error_kind, error, attempts)
VALUES (?, ?, 'done', ?, 0, '', '', 0)
ON CONFLICT (stage, unit_key) DO UPDATE
SET status = 'done', fingerprint = excluded.fingerprint, error_kind = '', error = '', attempts = 0
RETURNING unit_id"""

_FAIL_UNIT = """
INSERT INTO units (stage, unit_key, status, fingerprint, generation, error_kind, error, attempts)
VALUES (?, ?, 'failed', ?, ?, ?, ?, ?)
ON CONFLICT (stage, unit_key) DO UPDATE
SET status = 'failed', fingerprint = excluded.fingerprint, generation = generation + excluded.generation,
    error_kind = excluded.error_kind, error = excluded.error, attempts = excluded.attempts
RETURNING unit_id"""


def natural_order(key: str) -> tuple[list[str | int], str]:
    """Return a sort key that puts `p0.s2` before `p0.s10`."""
    parts = re.split(r"([0-9]+)", key)
    # Text and numbers alternate, text first, so two keys never compare one with the other.
    return [int(part) if i % 2 else part for i, part in enumerate(parts)], key


def _unit_from(row: tuple[Any, ...]) -> Unit:
    return Unit.model_validate(dict(zip(Unit.model_fields, row, strict=True)))


def _list_of(text_ids: Sequence[int]) -> str:
    return f"[{','.join(map(str, text_ids))}]"


def _storable(text: str) -> str:
    # Error texts may quote undecodable bytes; not being able to store the failure would hide it.
    return text.encode("utf-8", "replace").decode()
