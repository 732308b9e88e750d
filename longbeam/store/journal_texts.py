"""Texts of a work log: what is said again and again is stored once, requests refer to it by its number."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from longbeam.schemas.calls import ChatMessage
from longbeam.schemas.hashing import message_hash

MOST_KNOWN = 8_192
"""Texts remembered per work log, and as many of those before: 3 MB; hundreds of dialogues at once repeat fewer."""


class TextWriter:
    """Puts texts into the file and remembers, by their hash, which of the newest and the newly repeated are there.

    An index of the file would know all of them, but each text would cost a page of it, written at random. One that
    was not said for so long is stored a second time.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._newer: dict[bytes, int] = {}
        self._older: dict[bytes, int] | None = None
        """None: not yet read from the file."""

    def put(self, messages: Sequence[ChatMessage]) -> list[int]:
        """Return the numbers of the messages, in order, each put into the file unless it is known to be there."""
        return [self._newer.get(m.hash) or self._number_of(m.hash, m.role, m.content) for m in messages]

    def put_reply(self, text: str) -> int:
        """Return the number of a reply's text, put into the file unless it is known to be there."""
        return self._number_of(message_hash("assistant", text), "assistant", text)

    def forget(self) -> None:
        """Forget all texts: the transaction that put the last of them was rolled back."""
        self._newer, self._older = {}, None

    def _number_of(self, digest: bytes, role: str, content: str) -> int:
        if len(self._newer) >= MOST_KNOWN:
            self._newer, self._older = {}, self._newer
        if self._older is None:
            newest = "SELECT sha256, text_id FROM texts ORDER BY text_id DESC LIMIT ?"
            self._older = dict(self._db.execute(newest, (MOST_KNOWN,)))
        number = self._newer.get(digest) or self._older.get(digest)
        if number is None:
            row = digest, role, content.encode()  # a string that is encoded for SQLite would keep its UTF-8
            number = self._db.execute(_INSERT, row).lastrowid
            assert number is not None  # an INSERT has one
        self._newer[digest] = number
        return number


_INSERT = "INSERT INTO texts (sha256, role, content) VALUES (?, ?, CAST(? AS TEXT))"
