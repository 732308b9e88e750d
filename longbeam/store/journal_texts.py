"""Texts of a journal: a repeated text is stored once, and requests refer to it by number."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from longbeam.schemas.calls import ChatMessage
from longbeam.schemas.hashing import message_hash

MOST_KNOWN = 8_192
"""Texts in each of the two sets that a work log remembers (3 MB); hundreds of dialogues at once repeat fewer."""


class TextWriter:
    """Writes texts and remembers, by hash, which of the newest and the recently repeated are in the file.

    A unique index would know all texts, but would write a random page for each. A text that was not repeated for long
    is stored a second time.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._newer: dict[bytes, int] = {}
        self._older: dict[bytes, int] | None = None
        """None: not read from the file yet."""

    def put(self, messages: Sequence[ChatMessage]) -> list[int]:
        """Return the numbers of the messages, in order; those not known to be in the file are written."""
        return [self._newer.get(m.hash) or self._number_of(m.hash, m.role, m.content) for m in messages]

    def put_reply(self, text: str) -> tuple[int, bytes]:
        """Return number and hash of a reply's text, which is written unless it is known to be in the file."""
        digest = message_hash("assistant", text)
        return self._number_of(digest, "assistant", text), digest

    def forget(self) -> None:
        """Forget all texts, because a transaction that wrote some of them was rolled back."""
        self._newer, self._older = {}, None

    def _number_of(self, digest: bytes, role: str, content: str) -> int:
        if len(self._newer) >= MOST_KNOWN:
            self._newer, self._older = {}, self._newer
        if self._older is None:
            newest = "SELECT sha256, text_id FROM texts ORDER BY text_id DESC LIMIT ?"
            self._older = dict(self._db.execute(newest, (MOST_KNOWN,)))
        number = self._newer.get(digest) or self._older.get(digest)
        if number is None:
            row = digest, role, content.encode()  # SQLite's own encoding would stay cached in the string
            number = self._db.execute(_INSERT, row).lastrowid
            assert number is not None  # an INSERT has one
        self._newer[digest] = number
        return number


_INSERT = "INSERT INTO texts (sha256, role, content) VALUES (?, ?, CAST(? AS TEXT))"
