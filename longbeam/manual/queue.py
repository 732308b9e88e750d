"""The queue of requests that wait for a reply: one SQLite file, shared by the server and any number of writers.

A request has one slot, found by its messages and form, so that a client that asks again gets the same reply. Every
change is one transaction; a server or writer that is killed loses nothing that was accepted.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json

from longbeam.errors import UserError
from longbeam.manual.forms import checked_reply, key_of, text_of
from longbeam.store import Format, describe_os_error, open_for_writing, transaction
from longbeam.store.sqlite import translated_errors

CLAIM_S = 900.0
"""Seconds for which a claim keeps a request from other writers."""
FILE_NAME = "queue.sqlite"
_CREATE = (
    """
CREATE TABLE slots (
  number        INTEGER PRIMARY KEY,
  key           TEXT NOT NULL UNIQUE,      -- SHA-256 of the messages and the form
  prompt        TEXT NOT NULL,             -- name of the prompt; empty where it is not known
  asked_at      REAL NOT NULL,             -- seconds since 1970; the first time
  asks          INTEGER NOT NULL,          -- times that it was asked
  clients       INTEGER NOT NULL,          -- that wait now
  writer        TEXT NOT NULL DEFAULT '',  -- who claimed or answered it
  claimed_until REAL NOT NULL DEFAULT 0,
  reply         TEXT,                      -- NULL: not answered
  replied_at    REAL,
  body          TEXT NOT NULL              -- the request, JSON; last, as the other columns are read without it
)""",
    # Servers look for new requests and replies several times a second.
    "CREATE INDEX unanswered ON slots (number) WHERE reply IS NULL",
    """
CREATE TABLE shown (
  -- Message texts that a writer has read; later requests shorten them.
  writer TEXT NOT NULL,
  sha256 BLOB NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (writer, sha256)
) WITHOUT ROWID""",
)
QUEUE = Format(name="queue of requests", application_id=0x4C424D51, migrations=(_CREATE,))  # "LBMQ"
_COLUMNS = "number, prompt, body, asked_at, asks, clients, writer, claimed_until, reply, replied_at"


def name_of(number: int) -> str:
    """Return the number of a request as files and commands name it: `0007`."""
    return f"{number:04d}"


@dataclass(frozen=True)
class Slot:
    """One request and its reply."""

    number: int
    prompt: str
    """Name of the prompt; empty where it is not known."""
    body: Mapping[str, Any]
    asked_at: float
    """Seconds since 1970, of the first time."""
    asks: int
    clients: int
    """Clients that wait for the reply now."""
    writer: str
    """Who claimed or answered the request; empty for nobody."""
    claimed_until: float
    reply: str | None
    replied_at: float | None

    @property
    def name(self) -> str:
        """The number as files and commands name it."""
        return name_of(self.number)

    def state(self, now: float) -> str:
        """Return `answered`, `claimed` or `open`."""
        if self.reply is not None:
            return "answered"
        return "claimed" if self.claimed_until > now else "open"


@dataclass
class Queue:
    """The requests of one folder; for the processes of one machine."""

    folder: Path
    clock: Callable[[], float] = time.time
    """Seconds since 1970."""
    _db: sqlite3.Connection = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Open or make the queue; StoreError if the folder cannot hold it."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise UserError(describe_os_error(self.folder, exc)) from exc
        self._db = open_for_writing(self.path, QUEUE)

    @property
    def path(self) -> Path:
        """The SQLite file."""
        return self.folder / FILE_NAME

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def begin(self) -> None:
        """Forget the clients of a server that has ended; a server calls this when it starts."""
        with self._changing() as db:
            db.execute("UPDATE slots SET clients = 0")

    def ask(self, body: Mapping[str, Any], prompt: str) -> Slot:
        """Return the slot of a request, which is made if nobody asked the same before; a client waits from now on."""
        key = key_of(body)
        with self._changing() as db:
            db.execute(
                "INSERT INTO slots (key, prompt, body, asked_at, asks, clients) VALUES (?, ?, ?, ?, 0, 0) "
                "ON CONFLICT (key) DO NOTHING",
                (key, prompt, to_json(body).decode(), self.clock()),
            )
            db.execute("UPDATE slots SET asks = asks + 1, clients = clients + 1 WHERE key = ?", (key,))
            return self._one("key = ?", key)

    def leave(self, number: int) -> None:
        """Count one client less that waits for a slot: it has its reply, or gave up."""
        with self._changing() as db:
            db.execute("UPDATE slots SET clients = max(0, clients - 1) WHERE number = ?", (number,))

    def slot(self, number: int) -> Slot:
        """Return a slot; UserError if there is none of this number."""
        # SQLite holds no greater number.
        return self._one("number = ?", number if abs(number) < 2**63 else -1)

    def reply_of(self, number: int) -> str | None:
        """Return the accepted reply of a slot; None while there is none."""
        with translated_errors(self.path):
            row = self._db.execute("SELECT reply FROM slots WHERE number = ?", (number,)).fetchone()
        return row[0] if row else None

    def unanswered(self, prompt: str = "") -> list[Slot]:
        """Return the requests without a reply by number, of all prompts or of one."""
        return self._read("reply IS NULL AND (? = '' OR prompt = ?) ORDER BY number", prompt, prompt)

    def answered(self, prompt: str = "", most: int = 50) -> list[Slot]:
        """Return the requests that were answered last, latest first, of all prompts or of one."""
        order = "reply IS NOT NULL AND (? = '' OR prompt = ?) ORDER BY replied_at DESC, number DESC LIMIT ?"
        return self._read(order, prompt, prompt, most)

    def counts(self) -> list[tuple[str, int, int]]:
        """Return each prompt with the numbers of its requests and of those without a reply, in order of asking."""
        query = "SELECT prompt, count(*), sum(reply IS NULL) FROM slots GROUP BY prompt ORDER BY min(number)"
        with translated_errors(self.path):
            return self._db.execute(query).fetchall()

    def claim(self, writer: str, most: int = 1, *, prompt: str = "", lasts_s: float = CLAIM_S) -> list[Slot]:
        """Return up to `most` unanswered requests that nobody else has claimed, claimed for `writer`.

        Requests for which a client waits come first, then the oldest. What the writer holds already is not repeated.
        """
        now = self.clock()
        with self._changing() as db:
            found = self._read(
                "reply IS NULL AND claimed_until <= ? AND (? = '' OR prompt = ?) ORDER BY clients = 0, number LIMIT ?",
                *(now, prompt, prompt, most),
            )
            for slot in found:
                claimed = (writer, now + lasts_s, slot.number)
                db.execute("UPDATE slots SET writer = ?, claimed_until = ? WHERE number = ?", claimed)
        return [self.slot(slot.number) for slot in found]

    def reply(self, number: int, text: str, writer: str = "") -> Slot:
        """Accept a reply and return the slot.

        Raises UserError if the reply has another form than the request asks for, the request is answered, or another
        writer has claimed it. An empty `writer` is the person at this machine, whom no claim stops.
        """
        now = self.clock()
        with self._changing() as db:
            slot = self.slot(number)
            if slot.reply is not None:
                by = f" by {slot.writer}" if slot.writer else ""
                raise UserError(f"request {slot.name} is answered already{by}; `reopen` it to answer it again")
            if writer and slot.state(now) == "claimed" and slot.writer != writer:
                left = round(slot.claimed_until - now)
                raise UserError(f"request {slot.name} is claimed by {slot.writer} for {left} more seconds")
            try:
                said = checked_reply(text, slot.body)
            except UserError as exc:
                raise UserError(f"request {slot.name}: {exc}") from exc
            changed = (said, now, writer, number)
            db.execute("UPDATE slots SET reply = ?, replied_at = ?, writer = ? WHERE number = ?", changed)
        return self.slot(number)

    def reopen(self, number: int) -> None:
        """Drop a reply and a claim, so that the request is answered anew when it is asked again."""
        with self._changing() as db:
            self.slot(number)
            reset = "reply = NULL, replied_at = NULL, writer = '', claimed_until = 0"
            db.execute(f"UPDATE slots SET {reset} WHERE number = ?", (number,))

    def unseen(self, writer: str, slot: Slot) -> list[int | None]:
        """Return, for each message, the number of the request in which the writer read the same text before.

        None for a message that is new to the writer, which counts as read from now on.
        """
        found: list[int | None] = []
        with self._changing() as db:
            for message in slot.body["messages"]:
                digest = hashlib.sha256(text_of(message).encode("utf-8", "replace")).digest()
                known = (writer, digest)
                row = db.execute("SELECT number FROM shown WHERE writer = ? AND sha256 = ?", known).fetchone()
                found.append(row[0] if row and row[0] != slot.number else None)
                db.execute("INSERT OR IGNORE INTO shown VALUES (?, ?, ?)", (*known, slot.number))
        return found

    def _one(self, where: str, value: object) -> Slot:
        found = self._read(where, value)
        if not found:
            raise UserError(f"there is no request {value} in {self.path}; `longbeam serve-manual pending` lists them")
        return found[0]

    def _read(self, where: str, *values: object) -> list[Slot]:
        with translated_errors(self.path):
            rows: Sequence[tuple[Any, ...]] = self._db.execute(
                f"SELECT {_COLUMNS} FROM slots WHERE {where}", values
            ).fetchall()
        return [Slot(number, prompt, from_json(body), *rest) for number, prompt, body, *rest in rows]

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with translated_errors(self.path), transaction(self._db):
            yield self._db
