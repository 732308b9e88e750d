"""Content-addressed texts of a work log: each message is stored once, requests refer to it by hash."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence

HASH_BYTES = 32

MAX_CHARACTERS = 8_000_000
"""Remembered per work log, 8 to 32 MB; hundreds of dialogues of 40 messages at once fit."""

RoleAndContent = tuple[str, str]


def hash_of(role: str, content: str) -> bytes:
    """Return the SHA-256 of role, a zero byte and content."""
    return hashlib.sha256(f"{role}\0{content}".encode()).digest()


def request_digest(messages: Iterable[RoleAndContent]) -> bytes:
    """Return the SHA-256 of the hashes of a request's messages, in order."""
    return digest_of_hashes(b"".join(hash_of(*message) for message in messages))


def digest_of_hashes(hashes: bytes) -> bytes:
    """Return the same of the hashes, as a work log holds them."""
    return hashlib.sha256(hashes).digest()


class TextWriter:
    """Puts texts into the file unless they are there, and remembers which are.

    `Record.digest` is not used: a copy made with `model_copy(update=...)` carries the digest of its original.
    A dictionary of contents costs less than hashing, because a string remembers its own Python hash.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._known: dict[RoleAndContent, bytes] = {}
        self._characters = 0

    def put(self, texts: Sequence[RoleAndContent]) -> list[bytes]:
        """Return the hashes of the texts, in order; the oldest ones are forgotten beyond MAX_CHARACTERS."""
        known = self._known
        hashes = []
        for text in texts:
            digest = known.get(text)
            if digest is None:
                digest = known[text] = self._insert(text)
                self._characters += len(text[1])
            hashes.append(digest)
        while self._characters > MAX_CHARACTERS:
            oldest = next(iter(known))
            del known[oldest]
            self._characters -= len(oldest[1])
        return hashes

    def forget(self) -> None:
        """Forget all texts: the transaction that put the last of them was rolled back."""
        self._known.clear()
        self._characters = 0

    def _insert(self, text: RoleAndContent) -> bytes:
        digest = hash_of(*text)
        row = digest, text[0], text[1].encode()  # a string that is encoded for SQLite would keep its UTF-8
        self._db.execute("INSERT OR IGNORE INTO texts (sha256, role, content) VALUES (?, ?, CAST(? AS TEXT))", row)
        return digest
